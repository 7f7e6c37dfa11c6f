//! A server of mail.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, Sender as Channel, channel};

use queryscope_delivery::{Config, Outcome, Sender};

use crate::{config, message, notice, now};

/// A letter as the server got it.
#[derive(Debug)]
struct Letter {
    from: String,
    to: Vec<String>,
    lines: Vec<String>,
}

/// Serves one connection after the other. It answers to `DATA` what the sender of each asks for by its local part:
/// `CODE@…`, else 250.
fn server() -> (SocketAddr, Receiver<Letter>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    let (letters, got) = channel();
    std::thread::spawn(move || {
        for connection in listener.incoming().flatten() {
            // A client that goes away is no failure of this.
            let _ = serve(connection, &letters);
        }
    });
    (address, got)
}

fn serve(connection: TcpStream, letters: &Channel<Letter>) -> std::io::Result<()> {
    let mut writer = connection.try_clone()?;
    let mut lines = BufReader::new(connection).lines();
    let (mut from, mut to) = (String::new(), Vec::new());
    writer.write_all(b"220 mail.example.com\r\n")?;
    while let Some(line) = lines.next().transpose()? {
        let (verb, rest) = line.split_once([' ', ':']).unwrap_or((&line, ""));
        let answer = match verb.to_ascii_uppercase().as_str() {
            "EHLO" => "250-mail.example.com\r\n250 8BITMIME\r\n".to_owned(),
            "MAIL" => {
                rest.clone_into(&mut from);
                "250 fine\r\n".into()
            }
            "RCPT" => {
                to.push(rest.to_owned());
                "250 fine\r\n".into()
            }
            "DATA" => {
                writer.write_all(b"354 go on\r\n")?;
                let mut text = Vec::new();
                while let Some(line) = lines.next().transpose()?.filter(|line| line != ".") {
                    text.push(line);
                }
                let code = from.split(['<', '@']).nth(1).filter(|code| code.parse::<u16>().is_ok());
                let answer = format!("{} said so\r\n", code.unwrap_or("250"));
                let letter = Letter { from: from.clone(), to: std::mem::take(&mut to), lines: text };
                letters.send(letter).map_err(std::io::Error::other)?;
                answer
            }
            "QUIT" => return writer.write_all(b"221 bye\r\n"),
            _ => "250 fine\r\n".into(),
        };
        writer.write_all(answer.as_bytes())?;
    }
    Ok(())
}

fn file(address: SocketAddr, from: &str, tls: &str) -> Config {
    config(&format!(
        r#"
        base_url = "https://q.example.com"
        allow_private = ["127.0.0.1"]
        [receivers.mail]
        type = "email"
        host = "127.0.0.1"
        port = {}
        tls = "{tls}"
        from = "queryscope <{from}@example.com>"
        to = ["Ada <ada@example.com>", "team@example.com"]
        [[routes]]
        name = "mail"
        receiver = "mail"
        "#,
        address.port()
    ))
}

async fn send(config: &Config) -> Outcome {
    let sender = Sender::new(config).expect("a sender");
    let message = message(config, notice("orders/däily", "open", 1));
    sender.send(config, config.receiver(&config.routes[0]), &message, None, now()).await
}

#[tokio::test]
async fn a_letter_says_what_happened_to_all_mailboxes() {
    let (address, letters) = server();
    assert_eq!(send(&file(address, "queryscope", "none")).await, Outcome::Sent);
    let letter = letters.recv().expect("a letter");
    assert!(letter.from.contains("queryscope@example.com"), "{letter:?}");
    assert_eq!(letter.to.len(), 2, "{letter:?}");
    let text = letter.lines.join("\n");
    let header = |name: &str| letter.lines.iter().find_map(|line| line.strip_prefix(name)).expect(name);
    assert_eq!(header("Message-ID: "), "<issue-slower-ordersdily.1@example.com>");
    assert!(header("Subject: ").contains("=?utf-8?"), "{text}");
    assert!(header("To: ").contains("team@example.com") && header("To: ").contains("Ada"), "{text}");
    // As its encoding has it.
    let body = text.split_once("\n\n").expect("a body").1.replace("=\n", "").replace("=C3=A4", "ä");
    for part in [
        "orders/däily takes 2.3 times as long",
        "  - more rows: ä < b",
        "project default, service etl",
        "issue-slower-orders%2Fd",
    ] {
        assert!(body.contains(part), "no {part:?} in {body}");
    }
}

#[tokio::test]
async fn what_a_server_answers_decides_on_another_attempt() {
    let (address, letters) = server();
    let temporary = send(&file(address, "451", "none")).await;
    assert!(matches!(&temporary, Outcome::Retry { error, .. } if error.contains("451")), "{temporary:?}");
    let permanent = send(&file(address, "554", "none")).await;
    assert!(matches!(&permanent, Outcome::Refused { error } if error.contains("554")), "{permanent:?}");
    assert_eq!(letters.iter().take(2).count(), 2);
}

#[tokio::test]
async fn a_server_without_encryption_or_not_public_is_sent_nothing() {
    let (address, letters) = server();
    let clear = send(&file(address, "queryscope", "starttls")).await;
    assert!(matches!(&clear, Outcome::Retry { .. } | Outcome::Refused { .. }), "{clear:?}");
    let blocked = config(&format!(
        r#"
        [receivers.mail]
        type = "email"
        host = "localhost"
        port = {}
        tls = "none"
        from = "q@example.com"
        to = ["a@example.com"]
        [[routes]]
        name = "mail"
        receiver = "mail"
        "#,
        address.port()
    ));
    let outcome = send(&blocked).await;
    let says = "is not a public address";
    assert!(matches!(&outcome, Outcome::Retry { error, .. } if error.contains(says)), "{outcome:?}");
    let gone = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr()).expect("a port");
    let down = send(&file(gone, "queryscope", "none")).await;
    assert!(matches!(&down, Outcome::Retry { error, .. } if error.contains("refused")), "{down:?}");
    assert!(letters.try_recv().is_err(), "no letter was sent");
}
