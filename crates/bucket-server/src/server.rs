//! The server: a thread of its own, so that tests need no runtime.

use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::TokioIo;
use s3s::auth::SimpleAuth;
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use tempfile::TempDir;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::{Builder, Runtime};

use crate::faults::{Fault, Faults};

/// The one bucket there is.
pub const BUCKET: &str = "telemetry";
const KEY: &str = "queryscope";
const SECRET: &str = "not-a-secret";

/// A server that speaks S3 and holds one bucket.
#[derive(Debug)]
pub struct BucketServer {
    folder: TempDir,
    address: SocketAddr,
    faults: Arc<Faults>,
    running: Option<Runtime>,
}

impl BucketServer {
    /// Starts a server with an empty bucket.
    ///
    /// # Panics
    /// When there is no folder or port for it.
    pub fn start() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::create_dir(folder.path().join(BUCKET)).expect("a bucket");
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let mut server = Self { folder, address, faults: Arc::default(), running: None };
        server.start_again();
        server
    }

    /// Starts it where it was stopped.
    ///
    /// # Panics
    /// When its port has been taken meanwhile.
    pub fn start_again(&mut self) {
        let runtime = Builder::new_multi_thread().worker_threads(1).enable_all().build().expect("a runtime");
        let mut builder = S3ServiceBuilder::new(FileSystem::new(self.folder.path()).expect("a folder"));
        builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        let service = builder.build();
        let faults = Arc::clone(&self.faults);
        let address = self.address;
        let (tell, told) = std::sync::mpsc::channel();
        runtime.spawn(async move {
            let listener = TcpListener::bind(address).await.expect("a port");
            tell.send(listener.local_addr().expect("bound")).expect("somebody waits");
            while let Ok((stream, _)) = listener.accept().await {
                tokio::spawn(connection(stream, service.clone(), Arc::clone(&faults)));
            }
        });
        self.address = told.recv().expect("a port");
        self.running = Some(runtime);
    }

    /// Stops it: every connection ends, and no new one is accepted.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            runtime.shutdown_background();
        }
    }

    /// From now on it fails so, or no more.
    pub fn fail(&self, fault: impl Into<Option<Fault>>) {
        self.faults.set(fault.into());
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

    /// The folder that holds what lies in the bucket.
    pub fn bucket(&self) -> PathBuf {
        self.folder.path().join(BUCKET)
    }

    /// The names of everything in the bucket, sorted.
    ///
    /// # Panics
    /// When its folder can not be read.
    pub fn names(&self) -> Vec<String> {
        let mut names = Vec::new();
        files(&self.bucket(), "", &mut names);
        names.sort();
        names
    }
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

async fn connection(stream: TcpStream, service: S3Service, faults: Arc<Faults>) {
    let answer = service_fn(move |request: Request<Incoming>| {
        let (service, faults) = (service.clone(), Arc::clone(&faults));
        async move {
            match faults.get() {
                Some(Fault::SlowDown) => {
                    let answer = Response::builder().status(503).body(s3s::Body::empty());
                    return Ok(answer.expect("valid"));
                }
                Some(Fault::Late(by)) => tokio::time::sleep(by).await,
                None => {}
            }
            service.call(request.map(s3s::Body::from)).await
        }
    });
    // How a connection ends is the other side's affair.
    let _ = http1::Builder::new().serve_connection(TokioIo::new(stream), answer).await;
}
