//! Over TLS to a server that the system trusts, and to one that it does not. `SSL_CERT_FILE` says what is trusted,
//! so each sender is a process of its own: this binary once more.

#![expect(clippy::disallowed_methods, reason = "real time passes in these tests")]
#![cfg(target_os = "linux")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use queryscope_client::protocol::Plan;
use queryscope_client::{HttpExporter, Query, QuerySource, Readings, Telemetry};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use rustls::pki_types::{CertificateDer, PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

/// Tells the sender where the server is.
const URL: &str = "QUERYSCOPE_TEST_TLS_URL";
/// How long anything may take on a busy machine.
const PATIENCE: Duration = Duration::from_mins(1);

struct Nothing;

impl QuerySource for Nothing {
    fn plan(&self) -> Plan<'static> {
        Plan::default()
    }

    fn sample(&self, _readings: &mut Readings) {}
}

fn authority(name: &str) -> CertifiedIssuer<'static, KeyPair> {
    let mut params = CertificateParams::new([]).expect("no names");
    params.distinguished_name.push(DnType::CommonName, name);
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    CertifiedIssuer::self_signed(params, KeyPair::generate().expect("a key")).expect("a certificate")
}

/// A server with a certificate of the authority, which answers 202 to whatever comes. Its port.
fn serve(authority: &CertifiedIssuer<'static, KeyPair>) -> u16 {
    let key = KeyPair::generate().expect("a key");
    let params = CertificateParams::new(["localhost".to_owned()]).expect("a name");
    let certificate: CertificateDer<'static> =
        params.signed_by(&key, authority).expect("a certificate").der().clone();
    let key = PrivateKeyDer::from(PrivatePkcs8KeyDer::from(key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certificate], key)
        .expect("a certificate and its key");
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port();
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            // An error is a client that does not trust us.
            let _ = answer(stream, &config);
        }
    });
    port
}

fn answer(stream: TcpStream, config: &Arc<ServerConfig>) -> std::io::Result<()> {
    let connection = ServerConnection::new(Arc::clone(config)).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(connection, stream));
    let mut length = 0;
    loop {
        let mut line = String::new();
        stream.read_line(&mut line)?;
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().map_err(std::io::Error::other)?;
        }
        if line.trim().is_empty() {
            break;
        }
    }
    stream.read_exact(&mut vec![0; length])?;
    let answer = b"HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";
    stream.get_mut().write_all(answer)?;
    stream.get_mut().flush()
}

/// Sends the end of one query; what became of its events, as text.
fn send(url: String) {
    let exporter = HttpExporter::new(url).token("a token");
    let telemetry = Telemetry::builder().exporter(exporter).start().expect("a root of trust");
    telemetry.begin(Query::new(), Arc::new(Nothing)).finish();
    let begun = Instant::now();
    while telemetry.stats().sent + telemetry.stats().errors == 0 {
        assert!(begun.elapsed() < PATIENCE, "nothing was tried: {:?}", telemetry.stats());
        std::thread::yield_now();
    }
    let stats = telemetry.stats();
    println!("arrived: {}", stats.sent > 0 && stats.errors == 0);
}

/// Whether events arrive at the server for one who trusts so.
fn arrives(port: u16, trusted: &Path) -> bool {
    let sender = Command::new(std::env::current_exe().expect("this binary"))
        .args(["--exact", "what_the_system_trusts_is_trusted_and_nothing_else", "--nocapture"])
        .env(URL, format!("https://localhost:{port}"))
        .env("SSL_CERT_FILE", trusted)
        .env_remove("SSL_CERT_DIR")
        .output()
        .expect("a process");
    let text = String::from_utf8_lossy(&sender.stdout);
    assert!(sender.status.success(), "{text}{}", String::from_utf8_lossy(&sender.stderr));
    let said = text.lines().find_map(|line| line.split_once("arrived: "));
    said.expect("an outcome").1 == "true"
}

#[test]
fn what_the_system_trusts_is_trusted_and_nothing_else() {
    if let Ok(url) = std::env::var(URL) {
        return send(url);
    }
    let (ours, other) = (authority("ours"), authority("other"));
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, authority: &CertifiedIssuer<'static, KeyPair>| {
        let path = folder.path().join(name);
        std::fs::write(&path, authority.pem()).expect("written");
        path
    };
    let (trusted, untrusted) = (file("ours.pem", &ours), file("other.pem", &other));
    let port = serve(&ours);
    assert!(arrives(port, &trusted));
    assert!(!arrives(port, &untrusted), "a certificate of nobody we trust");
}
