//! Mailboxes, by SMTP.

use std::time::Duration;

use lettre::message::{Mailbox, MessageBuilder, header};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Tls as SmtpTls, TlsParameters};
use lettre::{AsyncSmtpTransport, AsyncTransport, Tokio1Executor};

use crate::addresses::Allowed;
use crate::http::causes;
use crate::message::Message;
use crate::secret::Secret;
use crate::sender::Outcome;
use crate::words::cut;

/// How long a server may take for an answer, and for all of a letter.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const WITHIN: Duration = Duration::from_secs(12);
const SUBJECT_CHARS_MAX: usize = 200;
/// Issues that are listed.
const LISTED_MAX: usize = 50;

/// How a connection to a server of mail is kept from others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Tls {
    /// It begins in the clear, and must go on encrypted.
    Upgraded,
    /// It is encrypted from the first byte.
    Whole,
    /// It is not.
    None,
}

/// A receiver by mail.
#[derive(Debug, Clone)]
pub struct Mail {
    pub(crate) host: String,
    pub(crate) port: u16,
    pub(crate) tls: Tls,
    pub(crate) login: Option<(String, Secret)>,
    pub(crate) from: Mailbox,
    pub(crate) to: Vec<Mailbox>,
}

impl Tls {
    pub(crate) fn from_name(name: &str) -> Option<Self> {
        match name {
            "starttls" => Some(Self::Upgraded),
            "tls" => Some(Self::Whole),
            "none" => Some(Self::None),
            _ => None,
        }
    }

    /// The port that is usual for it.
    pub(crate) fn port(self) -> u16 {
        match self {
            Self::Upgraded => 587,
            Self::Whole => 465,
            Self::None => 25,
        }
    }
}

/// Sends a message to all mailboxes at once. Its `Message-ID` is made of its key, so that a server or a reader may know
/// it again.
pub(crate) async fn send(mail: &Mail, allowed: &Allowed, message: &Message) -> Outcome {
    let letter = match letter(mail, message) {
        Ok(letter) => letter,
        Err(error) => return Outcome::Refused { error },
    };
    let sent = tokio::time::timeout(WITHIN, async {
        let found = tokio::net::lookup_host((mail.host.as_str(), mail.port));
        let found = found.await.map_err(|error| format!("{} cannot be found: {error}", mail.host))?;
        let chosen = allowed.choose(&mail.host, found.collect()).map_err(|blocked| blocked.to_string())?;
        let mut last = format!("{} has no address", mail.host);
        for address in chosen {
            match transport(mail, &address.ip().to_string())?.send(letter.clone()).await {
                Ok(_) => return Ok(Outcome::Sent),
                // What it refuses for good is wrong in the letter, or at its mailboxes.
                Err(error) if error.is_permanent() => {
                    return Ok(Outcome::Refused {
                        error: format!("the server answered: {}", causes(&error)),
                    });
                }
                Err(error) if error.is_transient() => {
                    return Err(format!("the server answered: {}", causes(&error)));
                }
                Err(error) => last = causes(&error),
            }
        }
        Err(last)
    });
    match sent.await {
        Ok(Ok(outcome)) => outcome,
        Ok(Err(error)) => Outcome::retry(error),
        Err(_) => Outcome::retry(format!("{} did not answer within {} s", mail.host, WITHIN.as_secs())),
    }
}

/// A connection to an address, which must show a certificate of the host.
fn transport(mail: &Mail, address: &str) -> Result<AsyncSmtpTransport<Tokio1Executor>, String> {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let parameters =
        || TlsParameters::new(mail.host.clone()).map_err(|error| format!("no certificates: {error}"));
    let tls = match mail.tls {
        Tls::Upgraded => SmtpTls::Required(parameters()?),
        Tls::Whole => SmtpTls::Wrapper(parameters()?),
        Tls::None => SmtpTls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(address)
        .port(mail.port)
        .tls(tls)
        .timeout(Some(ANSWER_WITHIN));
    if let Some((user, password)) = &mail.login {
        builder = builder.credentials(Credentials::new(user.clone(), password.reveal().to_owned()));
    }
    Ok(builder.build())
}

fn letter(mail: &Mail, message: &Message) -> Result<lettre::Message, String> {
    let subject: String =
        message.sentence.chars().map(|char| if char.is_control() { ' ' } else { char }).collect();
    // What a key holds beside letters and digits has no place there.
    let key: String =
        message.id.chars().filter(|char| char.is_ascii_alphanumeric() || "-.".contains(*char)).collect();
    let mut builder: MessageBuilder = lettre::Message::builder()
        .from(mail.from.clone())
        .subject(cut(&subject, SUBJECT_CHARS_MAX))
        .message_id(Some(format!("<{key}@{}>", mail.from.email.domain())))
        .header(header::ContentType::TEXT_PLAIN);
    for mailbox in &mail.to {
        builder = builder.to(mailbox.clone());
    }
    builder.body(text(message)).map_err(|error| format!("the letter cannot be written: {error}"))
}

fn text(message: &Message) -> String {
    let mut lines = vec![message.sentence.clone()];
    for member in message.members.iter().take(LISTED_MAX) {
        let issue = &member.issue;
        if message.members.len() > 1 {
            lines.extend([String::new(), member.sentence.clone()]);
        }
        lines.extend(member.account.iter().map(|cause| format!("  - {cause}")));
        let named = [
            ("project", Some(&issue.project)),
            ("service", issue.service.as_ref()),
            ("environment", issue.environment.as_ref()),
            ("host", issue.host.as_ref()),
            ("owner", member.owner.as_ref()),
        ];
        let named = named.into_iter().filter_map(|(name, value)| Some(format!("{name} {}", value?)));
        lines.push(format!("  {}", named.collect::<Vec<_>>().join(", ")));
        lines.extend(member.link.iter().map(|link| format!("  {link}")));
    }
    let more = message.count.saturating_sub(message.members.len().min(LISTED_MAX) as u64);
    if more > 0 {
        lines.extend([String::new(), format!("and {more} more")]);
    }
    if let Some(link) = &message.link {
        lines.extend([String::new(), link.clone()]);
    }
    lines.push(String::new());
    lines.join("\n")
}
