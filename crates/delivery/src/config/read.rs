//! From the text of a file to what it says, with the place of each mistake.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::ops::Range;
use std::time::Duration;

use globset::GlobSetBuilder;
use lettre::message::Mailbox;
use queryscope_issues::Kind;
use reqwest::Url;
use reqwest::header::HeaderValue;
use toml::Spanned;

use super::structure::{self, ITEM, LeftOut, Structure};
use super::{Config, GROUP_WAIT, Price, Problem, Receiver, Route};
use crate::addresses::{Allowed, is_host};
use crate::mail::{Mail, Tls};
use crate::owners::{OwnerRule, Owners, glob};
use crate::raw::{RawCost, RawFile, RawList, RawOwner, RawReceiver, RawRoute, RawText};
use crate::secret::{Secret, Secrets};

const GROUP_WAIT_MAX: Duration = Duration::from_mins(10);
/// Characters of the name of a route, a receiver or an owner.
const NAME_CHARS_MAX: usize = 100;
/// Characters of a currency.
const CURRENCY_CHARS_MAX: usize = 10;
/// What takes the place of a secret that is not read.
const NOT_READ: &str = "not-read";
const TYPES: &str = "webhook, slack, alertmanager or email";

pub(super) type Span = Range<usize>;

pub(super) fn read(text: &str, secrets: Secrets) -> Result<Config, Vec<Problem>> {
    let mut reading = Reading { text, secrets, left_out: Vec::new(), problems: Vec::new() };
    let read = structure::read(text);
    let wrong = read.as_ref().map_or_else(|wrong| wrong, |structure| &structure.wrong);
    for (at, cause) in wrong {
        reading.wrong(at.clone(), &**cause);
    }
    if let Ok(Structure { raw, receivers, left_out, .. }) = read {
        reading.left_out = left_out;
        let config = reading.config(raw, &receivers);
        if reading.problems.is_empty() {
            return Ok(config);
        }
    }
    reading.problems.sort_by_key(|problem| (problem.line, problem.column));
    Err(reading.problems)
}

struct Reading<'t> {
    text: &'t str,
    secrets: Secrets,
    /// The fields that were left out as wrong.
    left_out: Vec<LeftOut>,
    problems: Vec<Problem>,
}

impl Reading<'_> {
    fn wrong(&mut self, at: Span, cause: impl Into<String>) {
        let before = self.text.get(..at.start).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        self.problems.push(Problem { line, column, cause: cause.into() });
    }

    /// A value, or a mistake at a place.
    fn take<T>(&mut self, at: Span, value: Result<T, String>) -> Option<T> {
        value.map_err(|cause| self.wrong(at, cause)).ok()
    }

    fn config(&mut self, raw: RawFile, receiver_names: &BTreeSet<String>) -> Config {
        let base_url = raw.base_url.and_then(|url| {
            let read = http_url(url.get_ref());
            let read = read.and_then(|read| {
                if read.query().is_some() || read.fragment().is_some() {
                    return Err("it must end with its path".to_owned());
                }
                let has_login = !read.username().is_empty() || read.password().is_some();
                if has_login { Err("it must hold no user and no password".to_owned()) } else { Ok(read) }
            });
            self.take(url.span(), read)
        });
        let mut allowed = Allowed::default();
        for text in raw.allow_private {
            let added = allowed.add(text.get_ref());
            self.take(text.span(), added);
        }
        let group_wait = raw.group_wait.and_then(|text| {
            let read = humantime::parse_duration(text.get_ref()).ok().filter(|wait| *wait <= GROUP_WAIT_MAX);
            let allowed = "expected a time from 0s to 10m, like 30s";
            self.take(text.span(), read.ok_or_else(|| format!("{:?}: {allowed}", text.get_ref())))
        });
        let owner_names: BTreeSet<String> = raw
            .owners
            .iter()
            .filter_map(|rule| rule.get_ref().owner.as_ref().map(|owner| owner.get_ref().clone()))
            .collect();
        let rules: Vec<OwnerRule> = raw.owners.into_iter().filter_map(|rule| self.owner(rule)).collect();
        let owners = Owners::new(rules);
        let mut receivers: BTreeMap<String, Receiver> = BTreeMap::new();
        for (name, receiver) in raw.receivers {
            self.check_name(&name);
            if let Some(receiver) = self.receiver(receiver, &allowed) {
                // Two routes to one receiver are one message, with one key; two receivers would be told twice.
                let same = |(_, known): &(&String, &Receiver)| known.is_at(&receiver);
                if let Some((known, _)) = receivers.iter().find(same) {
                    self.wrong(name.span(), format!("the receiver {known:?} has the same url"));
                }
                receivers.insert(name.into_inner(), receiver);
            }
        }
        let mut routes: Vec<Route> = Vec::new();
        for route in raw.routes {
            let route = self.route(route, receiver_names, &owner_names);
            if let Some((name_at, route)) = route {
                if routes.iter().any(|known| known.name == route.name) {
                    self.wrong(name_at, format!("another route is named {:?}, too", route.name));
                }
                routes.push(route);
            }
        }
        let group_wait = group_wait.unwrap_or(GROUP_WAIT);
        let price = raw.cost.and_then(|cost| self.price(cost));
        Config { base_url, allowed, group_wait, receivers, routes, owners, price }
    }

    fn check_name(&mut self, name: &Spanned<String>) {
        let text = name.get_ref();
        let is_fine = |char: char| char.is_alphanumeric() || "-_./@#: ".contains(char);
        if text.trim().is_empty() || text.chars().count() > NAME_CHARS_MAX || !text.chars().all(is_fine) {
            let cause = format!(
                "{text:?} is no name: expected 1 to {NAME_CHARS_MAX} letters, digits, spaces and signs of -_./@#:"
            );
            self.wrong(name.span(), cause);
        }
    }

    fn price(&mut self, cost: Spanned<RawCost>) -> Option<Price> {
        let at = cost.span();
        let RawCost { per_core_hour, currency } = cost.into_inner();
        let per_core_hour =
            self.needed(&at, "per_core_hour", per_core_hour, "the cost needs a price per_core_hour");
        let per_core_hour = per_core_hour.and_then(|price| {
            let read = Some(*price.get_ref()).filter(|price| price.is_finite() && *price > 0.0);
            let wrong = || format!("{} is no price: expected a number above 0", price.get_ref());
            self.take(price.span(), read.ok_or_else(wrong))
        });
        let currency = self.needed(&at, "currency", currency, "the cost needs a currency");
        let currency = currency.and_then(|currency| {
            let text = currency.get_ref();
            let is_fine = (1..=CURRENCY_CHARS_MAX).contains(&text.chars().count())
                && !text.chars().any(|char| char.is_whitespace() || char.is_control());
            let wrong = || {
                format!("{text:?} is no currency: expected 1 to {CURRENCY_CHARS_MAX} characters, like EUR")
            };
            self.take(currency.span(), if is_fine { Ok(text.clone()) } else { Err(wrong()) })
        });
        Some(Price { per_core_hour: per_core_hour?, currency: currency? })
    }

    fn owner(&mut self, rule: Spanned<RawOwner>) -> Option<OwnerRule> {
        let at = rule.span();
        let RawOwner { label, path, owner } = rule.into_inner();
        let owner = self.needed(&at, "owner", owner, "a rule of owners needs an owner");
        if let Some(owner) = &owner {
            self.check_name(owner);
        }
        let (is_path, pattern) = match (label, path) {
            (Some(label), None) => (false, label),
            (None, Some(path)) => (true, path),
            _ => {
                self.lacks(&at, &["label", "path"], "a rule of owners needs one of label and path");
                return None;
            }
        };
        let owner = owner?;
        let rule = OwnerRule::new(is_path, pattern.get_ref(), owner.get_ref());
        self.take(pattern.span(), rule)
    }

    fn route(
        &mut self,
        raw: Spanned<RawRoute>,
        receivers: &BTreeSet<String>,
        owner_names: &BTreeSet<String>,
    ) -> Option<(Span, Route)> {
        let at = raw.span();
        let RawRoute { name, receiver, projects, services, labels, kinds, owners: of_owners } =
            raw.into_inner();
        let name = self.needed(&at, "name", name, "a route needs a name");
        let receiver = self.needed(&at, "receiver", receiver, "a route needs a receiver");
        if let Some(name) = &name {
            self.check_name(name);
        }
        if let Some(receiver) = receiver.as_ref().filter(|named| !receivers.contains(named.get_ref())) {
            let cause =
                format!("there is no receiver {:?}: {}", receiver.get_ref(), listed(receivers.iter()));
            self.wrong(receiver.span(), cause);
        }
        let all = "leave it out to keep all";
        let projects = self.list(projects, all);
        let services = self.list(services, all);
        self.no_empty(&projects);
        self.no_empty(&services);
        let labels = self.list(labels, all);
        let kinds = self.list(kinds, "leave it out to keep all but data_grew");
        let of_owners = self.list(of_owners, all);
        let mut globs = GlobSetBuilder::new();
        for label in &labels {
            let read = glob(label.get_ref());
            if let Some(read) = self.take(label.span(), read) {
                globs.add(read);
            }
        }
        let label_globs = (!labels.is_empty()).then(|| globs.build());
        let label_globs = label_globs.transpose().map_err(|error| self.wrong(at, error.to_string()));
        let mut kept = Vec::new();
        for kind in kinds {
            let read = Kind::from_name(kind.get_ref());
            let names = Kind::ALL.map(Kind::name).join(", ");
            let wrong = || format!("{:?} is no kind of issue: expected one of {names}", kind.get_ref());
            kept.extend(self.take(kind.span(), read.ok_or_else(wrong)));
        }
        for owner in &of_owners {
            if !owner_names.contains(owner.get_ref()) {
                let names = listed(owner_names.iter());
                let cause = format!("no rule names the owner {:?}: {names}", owner.get_ref());
                self.wrong(owner.span(), cause);
            }
        }
        let (name, receiver) = (name?, receiver?);
        let at = name.span();
        let route = Route {
            name: name.into_inner(),
            receiver: receiver.into_inner(),
            projects: texts(projects),
            services: texts(services),
            labels: texts(labels),
            label_globs: label_globs.ok()?,
            kinds: kept,
            owners: texts(of_owners),
        };
        Some((at, route))
    }

    fn receiver(&mut self, raw: Spanned<RawReceiver>, allowed: &Allowed) -> Option<Receiver> {
        let at = raw.span();
        let mut raw = raw.into_inner();
        let kind = self.needed(&at, "type", raw.r#type.take(), "a receiver needs a type")?;
        let name = kind.get_ref().clone();
        let has: &[&str] = match name.as_str() {
            "webhook" => &["url", "secret", "authorization"],
            "slack" => &["url"],
            "alertmanager" => &["url", "authorization"],
            "email" => &["host", "port", "tls", "user", "password", "from", "to"],
            other => {
                self.wrong(kind.span(), format!("{other:?} is no type of a receiver: expected {TYPES}"));
                return None;
            }
        };
        let mut is_whole = true;
        for (field, span) in raw.fields() {
            if !has.contains(&field) {
                self.wrong(span, format!("a receiver of the type {name} has no {field}"));
                is_whole = false;
            }
        }
        if name == "email" {
            return self.email(at, raw, allowed).filter(|_| is_whole).map(Receiver::Email);
        }
        let RawReceiver { url, secret, authorization, .. } = raw;
        let url = self.needed(&at, "url", url, &format!("a receiver of the type {name} needs a url"));
        let url = url.and_then(|url| self.url(url, allowed));
        let authorization = authorization.map(|text| self.header(text));
        let secret = secret.map(|text| self.text_of(text).map(|text| Secret::from(&*text)));
        // A secret that is wrong is no receiver without one.
        let (Some(url), true, [None | Some(Some(_)), None | Some(Some(_))]) =
            (url, is_whole, [&authorization, &secret])
        else {
            return None;
        };
        let (authorization, secret) = (authorization.flatten(), secret.flatten());
        Some(match name.as_str() {
            "webhook" => Receiver::Webhook { url, secret, authorization },
            "slack" => Receiver::Slack { url },
            _ => Receiver::Alertmanager { url, authorization },
        })
    }

    /// What something must have.
    fn needed<T>(&mut self, at: &Span, field: &str, value: Option<T>, cause: &str) -> Option<T> {
        if value.is_none() {
            self.lacks(at, &[field], cause);
        }
        value
    }

    /// A table lacks a field, or one of several. One that was left out as wrong has been named.
    fn lacks(&mut self, at: &Span, fields: &[&str], cause: &str) {
        let is_named = |(of, field): &LeftOut| of == at && fields.contains(&&**field);
        if !self.left_out.iter().any(is_named) {
            self.wrong(at.clone(), cause);
        }
    }

    /// The texts of a list; none where it is left out. One that is empty is a mistake, and `instead` what is allowed.
    fn list(&mut self, list: Option<RawList>, instead: &str) -> Vec<Spanned<String>> {
        let Some(list) = list else { return Vec::new() };
        let at = list.span();
        let list = list.into_inner();
        if list.is_empty() {
            self.lacks(&at, &[ITEM], &format!("the list is empty: {instead}"));
        }
        list
    }

    /// Names that an issue may have.
    fn no_empty(&mut self, names: &[Spanned<String>]) {
        for name in names.iter().filter(|name| name.get_ref().is_empty()) {
            self.wrong(name.span(), "it is empty: expected a name");
        }
    }

    /// A text, wherever it is; `None` with a mistake.
    fn text_of(&mut self, text: Spanned<RawText>) -> Option<String> {
        let at = text.span();
        match text.into_inner() {
            RawText::Here(text) if text.is_empty() => {
                self.wrong(at, "it is empty");
                None
            }
            RawText::Here(text) => Some(text),
            RawText::Elsewhere(place) => {
                let read = place.read(self.secrets);
                self.take(at, read).map(|read| read.unwrap_or_else(|| NOT_READ.to_owned()))
            }
        }
    }

    /// The value of a header.
    fn header(&mut self, text: Spanned<RawText>) -> Option<Secret> {
        let at = text.span();
        let text = self.text_of(text)?;
        let read = HeaderValue::from_str(&text).map(|_| Secret::from(&*text));
        self.take(at, read.map_err(|_| "it cannot be sent in a header".to_owned()))
    }

    fn url(&mut self, text: Spanned<RawText>, allowed: &Allowed) -> Option<Secret> {
        let at = text.span();
        let text = self.text_of(text)?;
        if text == NOT_READ && self.secrets == Secrets::Ignore {
            return Some(Secret::from(NOT_READ));
        }
        let read = http_url(&text).and_then(|url| {
            let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).to_owned();
            admitted(&host, allowed).map(|()| Secret::from(&*text))
        });
        self.take(at, read)
    }

    fn email(&mut self, at: Span, raw: RawReceiver, allowed: &Allowed) -> Option<Mail> {
        let RawReceiver { host, port, tls, user, password, from, to, .. } = raw;
        if host.is_none() || from.is_none() || to.is_none() {
            let fields = ["host", "from", "to"];
            self.lacks(&at, &fields, "a receiver of the type email needs host, from and to");
        }
        let to = self.list(to, "expected mailboxes, like [\"ada@example.com\"]");
        // All of it is looked at before anything is given up.
        let tls = match tls {
            None => Some(Tls::Upgraded),
            Some(text) => {
                let read = Tls::from_name(text.get_ref());
                let wrong = || format!("{:?}: expected starttls, tls or none", text.get_ref());
                self.take(text.span(), read.ok_or_else(wrong))
            }
        };
        let mailbox = |reading: &mut Self, text: &Spanned<String>| {
            let read: Result<Mailbox, _> = text.get_ref().parse();
            let read = read.map_err(|error| format!("{:?} is no mailbox: {error}", text.get_ref()));
            reading.take(text.span(), read)
        };
        let sender = from.and_then(|from| mailbox(self, &from));
        let recipients: Vec<Option<Mailbox>> = to.iter().map(|text| mailbox(self, text)).collect();
        let is_alone = user.is_some() != password.is_some();
        if is_alone {
            self.lacks(&at, &["user", "password"], "user and password are given together");
        }
        let has_login = user.is_some() && password.is_some();
        let password = password.map(|password| self.text_of(password));
        let host = host.and_then(|host| {
            let host_at = host.span();
            self.take(host_at, mail_host(host.into_inner(), allowed))
        });
        let port = port.map(|port| {
            let read = Some(*port.get_ref()).filter(|port| *port > 0);
            self.take(port.span(), read.ok_or_else(|| "0 is no port: expected 1 to 65535".to_owned()))
        });
        if has_login && tls == Some(Tls::None) {
            self.wrong(at, "a password is not sent without TLS: tls must be starttls or tls");
            return None;
        }
        let login = match (user, password) {
            (Some(user), Some(password)) => Some((user.into_inner(), Secret::from(&*password?))),
            _ => None,
        };
        let tls = tls?;
        let port = port.unwrap_or(Some(tls.port()))?;
        let to = recipients.into_iter().collect::<Option<Vec<Mailbox>>>()?;
        (!is_alone).then_some(())?;
        Some(Mail { host: host?, port, tls, login, from: sender?, to })
    }
}

fn texts(list: Vec<Spanned<String>>) -> Vec<String> {
    list.into_iter().map(Spanned::into_inner).collect()
}

/// A host that is an address is judged at once; a name is, where it is connected to.
fn admitted(host: &str, allowed: &Allowed) -> Result<(), String> {
    match host.parse() {
        Ok(address) if !allowed.admits(host, address) => Err(format!(
            "{address} is not a public address: name it in allow_private where messages may go there"
        )),
        _ => Ok(()),
    }
}

/// The host of a server of mail.
fn mail_host(text: String, allowed: &Allowed) -> Result<String, String> {
    let is_address = text.parse::<IpAddr>().is_ok();
    if !is_address && !is_host(text.strip_suffix('.').unwrap_or(&text)) {
        return Err(format!("{text:?} is no host: expected one like smtp.example.com or 198.51.100.7"));
    }
    admitted(&text, allowed).map(|()| text)
}

fn http_url(text: &str) -> Result<Url, String> {
    // The text may hold a secret: it is not shown.
    let url: Url = text.parse().map_err(|error| format!("it is no URL: {error}"))?;
    match url.scheme() {
        "http" | "https" if url.host_str().is_some_and(|host| !host.is_empty()) => Ok(url),
        _ => Err("it must begin with http:// or https:// and a host".into()),
    }
}

fn listed<T: std::fmt::Debug>(all: impl Iterator<Item = T>) -> String {
    let all: Vec<String> = all.map(|one| format!("{one:?}")).collect();
    if all.is_empty() { "the file names none".into() } else { format!("expected one of {}", all.join(", ")) }
}
