//! The server: a thread of its own, so that tests need no runtime.

use std::ffi::OsStr;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use futures_util::stream;
use http_body_util::{BodyExt, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{AUTHORIZATION, CONTENT_LENGTH, CONTENT_TYPE};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::{TcpSocket, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::faults::{Fault, Faults};

/// The one bucket there is.
pub const BUCKET: &str = "telemetry";
/// Connections that may wait to be accepted.
const WAITING_MAX: u32 = 1024;
/// How long what it does at the moment may take.
const STOPPED_WITHIN: Duration = Duration::from_secs(10);
/// What S3 says of a bucket that is none.
const NO_BUCKET: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<Error><Code>NoSuchBucket</Code><Message>There is none.</Message></Error>"#;
const KEY: &str = "queryscope";
const SECRET: &str = "not-a-secret";

/// A server that speaks S3 and holds one bucket.
#[derive(Debug)]
pub struct BucketServer {
    folder: TempDir,
    address: SocketAddr,
    /// Bound, and never listens: while the server is stopped nobody else is given its port.
    _port: TcpSocket,
    /// Whether requests have to be signed.
    signed: bool,
    faults: Arc<Faults>,
    running: Option<Runtime>,
}

impl BucketServer {
    /// Starts a server with an empty bucket.
    ///
    /// # Panics
    /// When there is no folder or port for it.
    pub fn start() -> Self {
        Self::start_that(true)
    }

    /// Starts one that asks nobody who they are. So it also understands who speaks to Google's buckets: apart from
    /// signatures, their XML interface is that of S3 as far as recordings need it.
    ///
    /// # Panics
    /// Those of [`BucketServer::start`].
    pub fn start_for_anybody() -> Self {
        Self::start_that(false)
    }

    fn start_that(signed: bool) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let port = socket_at(SocketAddr::from((Ipv4Addr::LOCALHOST, 0)));
        let address = port.local_addr().expect("bound");
        let mut server = Self { folder, address, _port: port, signed, faults: Arc::default(), running: None };
        server.start_again();
        server
    }

    /// Starts it where it was stopped.
    ///
    /// # Panics
    /// When the system does not let it listen.
    pub fn start_again(&mut self) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(self.folder.path()).expect("a folder"));
        if self.signed {
            builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        }
        let (service, signed) = (builder.build(), self.signed);
        let faults = Arc::clone(&self.faults);
        let listener = {
            let _in = runtime.enter();
            socket_at(self.address).listen(WAITING_MAX).expect("a listener")
        };
        runtime.spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, service.clone(), signed, Arc::clone(&faults)));
            }
        });
        self.running = Some(runtime);
    }

    /// Stops it: every connection ends, and no new one is accepted.
    ///
    /// # Panics
    /// When the system gives it no thread to do so.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            // The caller may be a task of another runtime, which must not wait for one.
            let stopped = thread::spawn(move || runtime.shutdown_timeout(STOPPED_WITHIN)).join();
            stopped.expect("no panic");
        }
    }

    /// From now on it fails so, or no more.
    pub fn fail(&self, fault: impl Into<Option<Fault>>) {
        self.fail_after(0, fault);
    }

    /// The same, once it has answered so many more requests as it should.
    pub fn fail_after(&self, requests: usize, fault: impl Into<Option<Fault>>) {
        self.faults.set(requests, fault.into());
    }

    /// The variables a program needs to reach it.
    pub fn variables(&self) -> [(&'static str, String); 5] {
        [
            ("AWS_ENDPOINT", format!("http://{}", self.address)),
            ("AWS_ALLOW_HTTP", "true".into()),
            ("AWS_REGION", "us-east-1".into()),
            ("AWS_ACCESS_KEY_ID", KEY.into()),
            ("AWS_SECRET_ACCESS_KEY", SECRET.into()),
        ]
    }

    /// The variables a program needs to reach one that is [for anybody](BucketServer::start_for_anybody) as if it were
    /// Google's.
    pub fn google_variables(&self) -> [(&'static str, String); 2] {
        let account = format!(
            r#"{{"private_key":"","private_key_id":"","client_email":"","disable_oauth":true,"gcs_base_url":"http://{}"}}"#,
            self.address
        );
        [("GOOGLE_SERVICE_ACCOUNT_KEY", account), ("GOOGLE_ALLOW_HTTP", "true".into())]
    }

    /// The folder that holds what lies in the bucket.
    pub fn bucket(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }

    /// How many requests it has failed as it was told to last.
    pub fn failed(&self) -> usize {
        self.faults.befallen()
    }

    /// The names of everything in the bucket, sorted.
    ///
    /// # Panics
    /// When its folder cannot be read.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        files(&self.bucket(), "", &mut names);
        names.sort();
        names
    }

    /// How many parts of uploads it holds that were neither completed nor given up.
    ///
    /// # Panics
    /// When its folder cannot be read.
    pub fn parts(&self) -> usize {
        let entries = std::fs::read_dir(self.folder.path()).expect("a folder");
        entries.filter(|entry| is_part(&entry.as_ref().expect("an entry").file_name())).count()
    }
}

/// Names of parts are `s3s-fs`'s own affair.
fn is_part(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.contains(".part-"))
}

impl Drop for BucketServer {
    fn drop(&mut self) {
        self.stop();
    }
}

fn files(folder: &Path, below: &str, names: &mut Vec<String>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("UTF-8");
        if entry.path().is_dir() {
            files(&entry.path(), &format!("{below}{name}/"), names);
        } else {
            names.push(format!("{below}{name}"));
        }
    }
}

/// A socket of an address which others of the same may have, too.
fn socket_at(address: SocketAddr) -> TcpSocket {
    let socket = TcpSocket::new_v4().expect("a socket");
    socket.set_reuseport(true).expect("an option of sockets");
    socket.bind(address).expect("a port");
    socket
}

async fn connection(stream: TcpStream, service: S3Service, signed: bool, faults: Arc<Faults>) {
    let answer = service_fn(move |mut request: Request<Incoming>| {
        if !signed {
            request.headers_mut().remove(AUTHORIZATION);
        }
        let (service, fault) = (service.clone(), faults.next());
        async move {
            match fault {
                Some(Fault::SlowDown) => {
                    let answer = Response::builder().status(503).body(s3s::Body::empty());
                    return Ok(answer.expect("valid"));
                }
                Some(Fault::NoBucket) => {
                    let answer = Response::builder().status(404).header(CONTENT_TYPE, "application/xml");
                    return Ok(answer.body(NO_BUCKET.to_owned().into()).expect("valid"));
                }
                Some(Fault::Late(by)) => tokio::time::sleep(by).await,
                Some(Fault::Silent | Fault::Cut) | None => {}
            }
            let answer = service.call(request.map(s3s::Body::from)).await.map_err(io::Error::other)?;
            match fault {
                Some(Fault::Silent) => Err(io::ErrorKind::ConnectionReset.into()),
                Some(Fault::Cut) => cut(answer).await,
                _ => Ok(answer),
            }
        }
    });
    // Head and body of an answer are written apart; the second would wait until the first is acknowledged.
    let _ = stream.set_nodelay(true);
    // How a connection ends is the other side's affair.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}

/// The answer up to the middle of its body.
async fn cut(answer: Response<s3s::Body>) -> io::Result<Response<s3s::Body>> {
    let (mut head, body) = answer.into_parts();
    let mut bytes = body.collect().await.map_err(io::Error::other)?.to_bytes();
    head.headers.insert(CONTENT_LENGTH, bytes.len().into());
    let half = bytes.split_to(bytes.len() / 2);
    let cut = stream::iter([Ok(Frame::data(half)), Err(io::Error::from(io::ErrorKind::ConnectionReset))]);
    Ok(Response::from_parts(head, s3s::Body::http_body(StreamBody::new(cut))))
}
