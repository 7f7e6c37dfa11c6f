//! The service in a data folder.

use std::path::{Path, PathBuf};
use std::process::Command;

use queryscope_torture::{Address, Answer, Client};
use rustix::process::Signal;
use serde_json::Value;

use super::{Ended, Running, command, wait_for};

/// A service that runs; it is killed when dropped.
pub(crate) struct Service {
    running: Running,
    pub(crate) data: PathBuf,
    pub(crate) url: String,
    pub(crate) token: String,
    client: Client,
}

impl Service {
    /// Starts the service in a folder, on a port of its own.
    pub(crate) fn start(data: &Path) -> Self {
        Self::start_with(data, &[])
    }

    /// Starts the service with more arguments; it answers when this returns.
    pub(crate) fn start_with(data: &Path, args: &[&str]) -> Self {
        Self::start_as(&mut command(), data, args)
    }

    /// Starts the service from a command that has been given an environment.
    pub(crate) fn start_as(command: &mut Command, data: &Path, args: &[&str]) -> Self {
        let mut running =
            Running::start(command.args(["serve", "--bind", "127.0.0.1:0", "--data"]).arg(data).args(args));
        let (url, client) = wait_for("the service", || {
            assert!(running.status().is_none(), "the service ended: {}", running.err());
            let out = running.out();
            let url = out.lines().find_map(|line| line.trim().strip_prefix("dashboard "))?.trim().to_owned();
            let client = Client::new(&url);
            client.get("/v1/health").is_ok_and(|health| health.status == 200).then_some((url, client))
        });
        let token = std::fs::read_to_string(data.join("token")).expect("a token").trim().to_owned();
        Self { running, data: data.to_owned(), url, token, client }
    }

    /// What it has printed so far.
    pub(crate) fn out(&self) -> String {
        self.running.out()
    }

    /// A client of its own, for a service that may end meanwhile.
    pub(crate) fn client(&self) -> Client {
        self.client.clone()
    }

    /// What health says is wrong.
    pub(crate) fn reasons(&self) -> Vec<String> {
        let health = self.get("/v1/health").json();
        let reasons: Vec<String> = serde_json::from_value(health["reasons"].clone()).expect("sentences");
        assert_eq!(health["state"] == "ready", reasons.is_empty(), "{health}");
        reasons
    }

    /// The first thing health says is wrong that begins so.
    pub(crate) fn reason(&self, begin: &str) -> Option<String> {
        self.reasons().into_iter().find(|reason| reason.starts_with(begin))
    }

    /// What it logged, once it has ended.
    pub(crate) fn log_when_ended(&self) -> String {
        wait_for("the end of the service", || {
            let log = self.running.err();
            log.contains("error: the service ended").then_some(log)
        })
    }

    /// Reads a path.
    pub(crate) fn get(&self, path: &str) -> Answer {
        self.client.get(path).expect("an answer")
    }

    /// Waits until each run that has ended has a sealed recording.
    pub(crate) fn wait_until_sealed(&self) {
        wait_for("recordings", || (self.metric("queryscope_recordings_unsealed") == 0).then_some(()));
    }

    /// A figure for the operator.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = String::from_utf8(self.get("/metrics").body).expect("UTF-8");
        let line = text.lines().find_map(|line| line.strip_prefix(&format!("{name} "))).expect(name);
        line.parse().expect("a number")
    }

    /// Posts a batch with the token of the default project.
    pub(crate) fn post(&self, batch: &[u8]) -> Answer {
        self.post_as(&self.token, batch)
    }

    /// Posts a batch with another token.
    pub(crate) fn post_as(&self, token: &str, batch: &[u8]) -> Answer {
        self.client.post(token, batch).expect("an answer")
    }

    /// Summaries of up to 1000 queries under a filter.
    pub(crate) fn queries(&self, filter: &str) -> Vec<Value> {
        let answer = self.get(&format!("/api/queries?limit=1000&{filter}"));
        assert_eq!(answer.status, 200, "{}", answer.json());
        serde_json::from_slice(&answer.body).expect("a list")
    }

    /// The lines of a query's recording; `None` while there is none.
    pub(crate) fn recording(&self, query_id: impl std::fmt::Display) -> Option<Vec<String>> {
        self.client.recording(query_id)
    }

    /// Where it answers, with the token of the default project.
    pub(crate) fn address(&self) -> Address {
        Address { url: self.url.clone(), token: self.token.clone() }
    }

    /// Ends it as a crash would.
    pub(crate) fn kill(self) {
        self.running.signal(Signal::KILL);
        self.running.wait();
    }

    /// Asks it to end.
    pub(crate) fn terminate(&self) {
        self.running.signal(Signal::TERM);
    }

    /// Waits for its end.
    pub(crate) fn wait(self) -> Ended {
        self.running.wait()
    }

    /// Ends it in order.
    pub(crate) fn stop(self) {
        self.terminate();
        self.wait().success();
    }
}
