//! Mailboxes, by SMTP.

mod connection;

use std::net::SocketAddr;
use std::time::Duration;

use lettre::message::{Mailbox, MessageBuilder, header};
use lettre::transport::smtp::Error;
use lettre::transport::smtp::client::AsyncSmtpConnection;
use lettre::transport::smtp::commands::{Data, Mail as From, Rcpt};
use lettre::transport::smtp::extension::{Extension, MailBodyParameter, MailParameter};

use crate::addresses::Allowed;
use crate::message::Message;
use crate::redact::Redactor;
use crate::secret::Secret;
use crate::sender::Outcome;
use crate::words::{causes, cut};

/// How long a server may take for the connection, and for all of a letter.
const ANSWER_WITHIN: Duration = Duration::from_secs(10);
const WITHIN: Duration = Duration::from_secs(12);
/// How long a server that took the letter may take to say good-bye.
const QUIT_WITHIN: Duration = Duration::from_millis(500);
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

/// What a server answers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    /// The connection, the encryption, the login and the sender.
    Connect,
    /// A mailbox.
    Mailbox,
    /// The letter.
    Letter,
}

impl Step {
    /// Whether the message will never be taken, by the code of an answer and its text. An answer on the rights of the
    /// client (5.7.x) to a mailbox may be another once somebody mended the access.
    fn is_final(self, code: u16, text: &str) -> bool {
        match self {
            Self::Connect => false,
            Self::Mailbox => matches!(code, 550 | 551 | 553) && !text.starts_with("5.7."),
            Self::Letter => matches!(code, 550 | 552 | 554),
        }
    }
}

/// Why a letter was not taken.
#[derive(Debug)]
struct Failure {
    error: String,
    /// Whether the server said so, and no other address of it is asked.
    is_answer: bool,
    is_final: bool,
}

impl Failure {
    fn new(step: Step, error: &Error) -> Self {
        let code = error.status().map(u16::from);
        let text = std::error::Error::source(error).map(ToString::to_string).unwrap_or_default();
        let is_final = code.is_some_and(|code| step.is_final(code, &text));
        Self { error: causes(error), is_answer: code.is_some(), is_final }
    }

    fn unreached(error: String) -> Self {
        Self { error, is_answer: false, is_final: false }
    }
}

/// Sends a message to all mailboxes at once. Its `Message-ID` is made of its key, so that a server or a reader may know
/// it again.
pub(crate) async fn send(mail: &Mail, allowed: &Allowed, message: &Message) -> Outcome {
    let letter = match letter(mail, message) {
        Ok(letter) => letter,
        Err(error) => return Outcome::Refused { error },
    };
    let redactor = Redactor::of_mail(mail);
    let taken = tokio::time::timeout(WITHIN, async {
        let found = tokio::net::lookup_host((mail.host.as_str(), mail.port));
        let found =
            found.await.map_err(|error| Outcome::retry(format!("{} cannot be found: {error}", mail.host)))?;
        let chosen = allowed.choose(&mail.host, found.collect());
        let chosen = chosen.map_err(|blocked| Outcome::retry(blocked.to_string()))?;
        let mut last = format!("{} has no address", mail.host);
        for address in chosen {
            let failure = match deliver(mail, address, &letter).await {
                Ok(connection) => return Ok(connection),
                Err(failure) => failure,
            };
            let error = redactor.clean(&failure.error);
            if failure.is_final {
                return Err(Outcome::Refused { error: format!("the server answered: {error}") });
            }
            if failure.is_answer {
                return Err(Outcome::retry(format!("the server answered: {error}")));
            }
            last = error;
        }
        Err(Outcome::retry(last))
    });
    match taken.await {
        Ok(Ok(mut connection)) => {
            // The letter is taken, whatever the server says to this.
            let _ = tokio::time::timeout(QUIT_WITHIN, connection.quit()).await;
            Outcome::Sent
        }
        Ok(Err(outcome)) => outcome,
        Err(_) => Outcome::retry(format!("{} did not answer within {} s", mail.host, WITHIN.as_secs())),
    }
}

/// Hands a letter to the server at an address; the connection once it is taken.
async fn deliver(
    mail: &Mail,
    address: SocketAddr,
    letter: &lettre::Message,
) -> Result<AsyncSmtpConnection, Failure> {
    let mut connection = connection::connect(mail, address).await?;
    let (envelope, bytes) = (letter.envelope(), letter.formatted());
    let mut parameters = Vec::new();
    let is_ascii = |mailbox: &Mailbox| AsRef::<str>::as_ref(&mailbox.email).is_ascii();
    let needed = [
        (
            !mail.to.iter().chain([&mail.from]).all(is_ascii),
            Extension::SmtpUtfEight,
            MailParameter::SmtpUtfEight,
        ),
        (!bytes.is_ascii(), Extension::EightBitMime, MailParameter::Body(MailBodyParameter::EightBitMime)),
    ];
    for (_, extension, parameter) in needed.into_iter().filter(|(is_needed, ..)| *is_needed) {
        if !connection.server_info().supports_feature(extension) {
            return Err(Failure::unreached(format!("the server does not know {extension}")));
        }
        parameters.push(parameter);
    }
    let step = |step| move |error: Error| Failure::new(step, &error);
    let from = From::new(envelope.from().cloned(), parameters);
    connection.command(from).await.map_err(step(Step::Connect))?;
    for mailbox in envelope.to() {
        let to = Rcpt::new(mailbox.clone(), Vec::new());
        connection.command(to).await.map_err(step(Step::Mailbox))?;
    }
    connection.command(Data).await.map_err(step(Step::Letter))?;
    connection.message(&bytes).await.map_err(step(Step::Letter))?;
    Ok(connection)
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
        .header(header::MIME_VERSION_1_0)
        .header(header::ContentType::TEXT_PLAIN);
    for mailbox in &mail.to {
        builder = builder.to(mailbox.clone());
    }
    builder.body(text(message)).map_err(|error| format!("the letter cannot be written: {error}"))
}

fn text(message: &Message) -> String {
    let mut lines = vec![message.sentence.clone()];
    for member in message.members.iter().take(LISTED_MAX) {
        if message.members.len() > 1 {
            lines.extend([String::new(), member.sentence.clone()]);
        }
        lines.extend(member.account.iter().map(|cause| format!("  - {cause}")));
        lines.push(format!("  {}", member.whose().join(", ")));
        let is_other = |link: &&String| message.link.as_ref() != Some(*link);
        lines.extend(member.link.iter().filter(is_other).map(|link| format!("  {link}")));
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
