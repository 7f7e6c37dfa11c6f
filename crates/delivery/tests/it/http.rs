//! A receiver by HTTP that echoes.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener};

use queryscope_delivery::{Config, Outcome, Sender};

use crate::{config, message, notice, now};

/// Answers each connection with 404 and all of the head of the request.
fn echo() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for mut connection in listener.incoming().flatten() {
            let mut head = Vec::new();
            let mut byte = [0];
            while !head.ends_with(b"\r\n\r\n") && connection.read(&mut byte).is_ok_and(|read| read > 0) {
                head.extend(byte);
            }
            let said = [b"Cannot ".to_vec(), head].concat();
            let answer = format!("HTTP/1.1 404 X\r\ncontent-length: {}\r\n\r\n", said.len());
            // A client that goes away is no failure of this.
            let _ = connection.write_all(&[answer.into_bytes(), said].concat());
        }
    });
    address
}

async fn error(config: &Config) -> String {
    let sender = Sender::new(config).expect("a sender");
    let message = message(config, notice("orders", "open", 1));
    let outcome = sender.send(config, config.receiver(&config.routes[0]), &message, None, now()).await;
    let Outcome::Retry { error, .. } = outcome else { panic!("{outcome:?}") };
    error
}

#[tokio::test]
async fn an_echo_of_a_request_shows_no_secret() {
    let address = echo();
    for (receiver, secrets) in [
        (
            format!(
                "type = \"webhook\"\nurl = \"http://{address}/services/T/B/S3CR3T?token=hunter2\"\n\
                 authorization = \"Bearer tok-12345\"\nsecret = \"k3y\""
            ),
            ["S3CR3T", "hunter2", "tok-12345"],
        ),
        (
            format!("type = \"slack\"\nurl = \"http://me:hunter2@{address}/services/T/B/S3CR3T\""),
            ["S3CR3T", "hunter2", "bWU6aHVudGVyMg"],
        ),
        (
            format!(
                "type = \"alertmanager\"\nurl = \"http://{address}/S3CR3T\"\n\
                 authorization = \"Basic bWU6aHVudGVyMg==\""
            ),
            ["S3CR3T", "hunter2", "bWU6aHVudGVyMg"],
        ),
    ] {
        let config = config(&format!(
            "allow_private = [\"127.0.0.1\"]\n[receivers.r]\n{receiver}\n\
             [[routes]]\nname = \"r\"\nreceiver = \"r\"\n"
        ));
        let error = error(&config).await;
        assert!(error.contains("404") && error.contains("Cannot POST …"), "{error}");
        for secret in secrets {
            assert!(!error.to_lowercase().contains(&secret.to_lowercase()), "{secret} in {error}");
        }
    }
}
