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

/// Serves one connection after the other. It answers to the letter what the sender of each asks for by its local part
/// (`CODE@…`, else 250), and to another command what `VERB.TEXT@…` says.
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
        let verb = verb.to_ascii_uppercase();
        if verb == "MAIL" {
            rest.clone_into(&mut from);
        }
        let asked = from.split(['<', '@']).nth(1).unwrap_or_default();
        let asked = asked.strip_prefix(&format!("{verb}.")).map(|text| text.replace('_', " "));
        let answer = match verb.as_str() {
            _ if asked.is_some() => format!("{}\r\n", asked.unwrap_or_default()),
            "EHLO" => "250-mail.example.com\r\n250 8BITMIME\r\n".to_owned(),
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
    assert_eq!(header("MIME-Version: "), "1.0");
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
    let (address, _letters) = server();
    for (from, is_final) in [
        ("451", false),
        ("554", true),
        ("552", true),
        ("550", true),
        ("535", false),
        ("MAIL.530_5.7.0_log_in", false),
        ("MAIL.550_no", false),
        ("MAIL.502_not_now", false),
        ("RCPT.550_5.1.1_no_such_user", true),
        ("RCPT.553_no", true),
        ("RCPT.550_5.7.1_no_relay", false),
        ("RCPT.552_full", false),
        ("RCPT.450_later", false),
        ("DATA.554_no", true),
        ("DATA.503_no", false),
    ] {
        let outcome = send(&file(address, from, "none")).await;
        let (error, was_final) = match outcome {
            Outcome::Retry { error, .. } => (error, false),
            Outcome::Refused { error } => (error, true),
            Outcome::Sent => panic!("{from}: sent"),
        };
        let code = from.split(['.', '_']).find(|part| part.parse::<u16>().is_ok()).expect("a code");
        assert!(error.contains(code) && was_final == is_final, "{from}: {error}");
    }
}

/// Answers the first line of each connection with a text, and all that follow.
fn talker(greeting: Vec<u8>, then: Vec<u8>) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            // A client that goes away is no failure of this.
            let _ = connection.write_all(&greeting);
            let lines = BufReader::new(connection.try_clone().expect("a connection")).lines();
            for _ in lines.map_while(Result::ok) {
                let _ = connection.write_all(&then);
            }
        }
    });
    address
}

#[tokio::test]
async fn a_greeting_that_refuses_is_tried_again() {
    let address = talker(b"554 5.7.1 blocked for an hour\r\n".to_vec(), Vec::new());
    let outcome = send(&file(address, "queryscope", "none")).await;
    assert!(matches!(&outcome, Outcome::Retry { error, .. } if error.contains("554")), "{outcome:?}");
}

#[tokio::test]
async fn a_line_without_an_end_is_not_read_whole() {
    let address = talker([b"220 ".to_vec(), vec![b'x'; 4 << 20]].concat(), Vec::new());
    let outcome = send(&file(address, "queryscope", "none")).await;
    let says = "sent more than 1048576 bytes";
    assert!(matches!(&outcome, Outcome::Retry { error, .. } if error.contains(says)), "{outcome:?}");
}

#[tokio::test]
async fn a_long_answer_is_cut_and_has_no_control_characters() {
    let line = [b"451-\x1b[31m\x07 ".to_vec(), vec![b'y'; 400], b"\r\n".to_vec()].concat();
    let answer = [line.repeat(40), b"451 end\r\n".to_vec()].concat();
    let address = talker(b"220 hi\r\n".to_vec(), answer);
    let outcome = send(&file(address, "queryscope", "none")).await;
    let Outcome::Retry { error, .. } = outcome else { panic!("{outcome:?}") };
    assert!(error.contains("451") && error.chars().count() < 250, "{error}");
    assert!(!error.chars().any(char::is_control), "{error:?}");
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
