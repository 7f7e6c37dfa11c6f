//! TLS to a real server: what each mode takes, and what a refusal says.

use std::error::Error;
use std::path::Path;

use queryscope_postgres_server::Server;
use queryscope_store::Store;
use queryscope_store::testsuite::{batch, facts};
use queryscope_store_postgres::{OpenError, PostgresOptions, PostgresStore};
use rcgen::{BasicConstraints, CertificateParams, CertifiedIssuer, DnType, IsCa, KeyPair};
use tempfile::NamedTempFile;

/// The one name the server's certificate is for.
const NAME: &str = "localhost";

/// An authority of a test's own, and the file that says to trust it.
struct Authority {
    issuer: CertifiedIssuer<'static, KeyPair>,
    file: NamedTempFile,
}

impl Authority {
    fn new(name: &str) -> Self {
        let mut params = CertificateParams::new([]).expect("no names");
        params.distinguished_name.push(DnType::CommonName, name);
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().expect("a key");
        let issuer = CertifiedIssuer::self_signed(params, key).expect("a certificate");
        let file = NamedTempFile::new().expect("a file");
        std::fs::write(&file, issuer.pem()).expect("a file");
        Self { issuer, file }
    }

    /// A server that shows a certificate of this authority, and takes connections over TLS alone.
    fn server(&self) -> Server {
        let key = KeyPair::generate().expect("a key");
        let params = CertificateParams::new([NAME.to_owned()]).expect("a name");
        let certificate = params.signed_by(&key, &self.issuer).expect("a certificate");
        Server::start_with_tls(&certificate.pem(), &key.serialize_pem())
    }

    fn path(&self) -> &Path {
        self.file.path()
    }
}

async fn open(server: &Server, host: &str, options: &str) -> Result<PostgresStore, OpenError> {
    let address = server.address("public").replace("127.0.0.1", host);
    PostgresStore::open(&format!("{address}&{options}"), PostgresOptions::default()).await
}

/// All that an error says.
fn said(error: &dyn Error) -> String {
    error.source().map_or_else(|| error.to_string(), |source| format!("{error}: {}", said(source)))
}

#[tokio::test]
async fn every_mode_but_disable_reaches_a_server_that_demands_tls() {
    let authority = Authority::new("ours");
    let server = authority.server();
    let roots = format!("sslrootcert={}", authority.path().display());
    let modes = [
        (NAME, String::new()),
        ("127.0.0.1", "sslmode=prefer".into()),
        ("127.0.0.1", "sslmode=require".into()),
        ("127.0.0.1", format!("sslmode=require&{roots}")),
        ("127.0.0.1", format!("sslmode=verify-ca&{roots}")),
        (NAME, format!("sslmode=verify-full&{roots}")),
    ];
    for (turn, (host, options)) in (1..).zip(modes) {
        let store =
            open(&server, host, &options).await.unwrap_or_else(|error| panic!("{options}: {}", said(&error)));
        store.commit(batch(1).finished(turn, turn, facts("x")).build()).await.expect("stored");
        let in_clear = "SELECT count(*) FILTER (WHERE ssl), count(*) FILTER (WHERE NOT ssl)
             FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'queryscope'";
        let connections = server.run(in_clear);
        assert!(connections.ends_with("|0") && !connections.starts_with("0|"), "{options}: {connections}");
        store.close().await.expect("closed");
    }
}

#[tokio::test]
async fn a_server_that_is_not_proved_is_refused_and_the_cause_is_named() {
    let (authority, other) = (Authority::new("ours"), Authority::new("another"));
    let server = authority.server();
    let of = |authority: &Authority| format!("sslrootcert={}", authority.path().display());
    for (host, options, cause) in [
        ("127.0.0.1", format!("sslmode=verify-full&{}", of(&authority)), "not valid for name \"127.0.0.1\""),
        (NAME, format!("sslmode=verify-full&{}", of(&other)), "UnknownIssuer"),
        (NAME, format!("sslmode=verify-ca&{}", of(&other)), "UnknownIssuer"),
        (NAME, format!("sslmode=require&{}", of(&other)), "UnknownIssuer"),
        (NAME, "sslmode=verify-full".into(), "UnknownIssuer"),
    ] {
        let error = open(&server, host, &options).await.expect_err(&options);
        assert!(matches!(error, OpenError::Untrusted(_)), "{options}: {error:?}");
        assert!(said(&error).contains(cause), "{options}: {}", said(&error));
    }
    let error =
        open(&server, NAME, "sslmode=verify-full&sslrootcert=/no/such/file").await.expect_err("no file");
    assert!(matches!(&error, OpenError::Certificates(why) if why.contains("/no/such/file")), "{error:?}");
}

#[tokio::test]
async fn who_offers_no_tls_and_who_demands_it_do_not_meet() {
    let demands = Authority::new("ours").server();
    let error = open(&demands, NAME, "sslmode=disable").await.expect_err("in clear");
    assert!(said(&error).contains("no encryption"), "{}", said(&error));
    let plain = Server::start(&[]);
    let error = open(&plain, NAME, "sslmode=require").await.expect_err("no TLS");
    assert!(said(&error).contains("server does not support TLS"), "{}", said(&error));
    open(&plain, NAME, "sslmode=prefer").await.expect("in clear, as nothing else was asked for");
}
