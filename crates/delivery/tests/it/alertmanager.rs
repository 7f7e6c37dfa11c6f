//! A real Alertmanager.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use queryscope_delivery::{Account, Config, Outcome, Sender};
use serde_json::Value;
use tempfile::TempDir;

use crate::{config, message, notice, now};

const PROGRAMS: [&str; 3] =
    ["/usr/bin/prometheus-alertmanager", "/usr/bin/alertmanager", "/usr/local/bin/alertmanager"];
const SETTINGS: &str = "route: {receiver: nobody}\nreceivers: [{name: nobody}]\n";

/// An Alertmanager; it is killed when dropped.
struct Alertmanager {
    process: Child,
    url: String,
    _folder: TempDir,
}

impl Alertmanager {
    async fn start() -> Self {
        let program = PROGRAMS.into_iter().find(|program| Path::new(program).exists());
        let program = program.expect("make test-packages installs prometheus-alertmanager");
        let folder = tempfile::tempdir().expect("a folder");
        let settings = folder.path().join("alertmanager.yml");
        std::fs::write(&settings, SETTINGS).expect("a file");
        let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
        let address = free.expect("a free port").to_string();
        let process = Command::new(program)
            .arg(format!("--config.file={}", settings.display()))
            .arg(format!("--storage.path={}", folder.path().join("data").display()))
            .arg(format!("--web.listen-address={address}"))
            .arg("--cluster.listen-address=")
            .stderr(Stdio::null())
            .spawn()
            .expect("a program that starts");
        let alertmanager = Self { process, url: format!("http://{address}"), _folder: folder };
        for _ in 0..600 {
            if reqwest::get(format!("{}/-/ready", alertmanager.url))
                .await
                .is_ok_and(|ready| ready.status() == 200)
            {
                return alertmanager;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("Alertmanager does not answer");
    }

    fn config(&self) -> Config {
        config(&format!(
            r#"
            base_url = "https://q.example.com"
            allow_private = ["127.0.0.1"]
            [receivers.pager]
            type = "alertmanager"
            url = "{}"
            [[routes]]
            name = "pager"
            receiver = "pager"
            [[owners]]
            label = "**"
            owner = "team"
            "#,
            self.url
        ))
    }

    /// The alerts it has, those that ended left out.
    async fn alerts(&self) -> Vec<Value> {
        let text = reqwest::get(format!("{}/api/v2/alerts", self.url)).await.expect("an answer");
        let text = text.text().await.expect("a body");
        serde_json::from_str(&text).expect("an array")
    }
}

impl Drop for Alertmanager {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[tokio::test]
async fn an_alert_lasts_while_its_issue_does() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let alertmanager = Alertmanager::start().await;
    let config = alertmanager.config();
    let sender = Sender::new(&config).expect("a sender");
    let receiver = config.receiver(&config.routes[0]);
    let opened = notice("orders/däily", "open", 1);
    let send = async |notice, current| {
        let message = message(&config, notice);
        sender.send(&config, receiver, &message, current, now()).await
    };
    for _ in 0..2 {
        assert_eq!(send(opened.clone(), None).await, Outcome::Sent);
    }
    let [alert] = alertmanager.alerts().await.try_into().expect("one, however often it is sent");
    let labels = &alert["labels"];
    assert_eq!((&labels["alertname"], &labels["query"]), (&"QuerySlower".into(), &"orders/däily".into()));
    assert_eq!((&labels["owner"], &labels["service"]), (&"team".into(), &"etl".into()));
    let said = &alert["annotations"];
    assert_eq!(said["summary"], "orders/däily takes 2.3 times as long on etl-3");
    assert_eq!((&said["description"], &said["host"]), (&"more rows: ä < b".into(), &"etl-3".into()));
    assert_eq!(alert["status"]["state"], "active");
    let link = alert["generatorURL"].as_str().expect("a link");
    assert!(link.starts_with("https://q.example.com/issues/issue-slower-orders"), "{link}");
    // It is the same alert once it is over.
    let resolved = notice("orders/däily", "resolved", 2);
    assert_eq!(send(resolved.clone(), None).await, Outcome::Sent);
    assert_eq!(alertmanager.alerts().await, [Value::Null; 0]);
    // A late attempt of the first message says how things are.
    assert_eq!(send(opened.clone(), Some(&resolved.issue)).await, Outcome::Sent);
    assert_eq!(alertmanager.alerts().await, [Value::Null; 0]);
    // Open issues are sent anew, others are not.
    let other = notice("other", "acknowledged", 2);
    let caused = Account {
        sentences: vec!["more rows".into()],
        causes: [("deploy".to_owned(), "2.0".to_owned())].into(),
        ..Account::default()
    };
    let all = [(&other.issue, caused), (&resolved.issue, Account::default())];
    assert_eq!(sender.refresh(&config, receiver, &all, now()).await, Outcome::Sent);
    let [alert] = alertmanager.alerts().await.try_into().expect("one");
    assert_eq!(alert["labels"]["query"], "other");
    let said = &alert["annotations"];
    assert_eq!(said["summary"], "other takes 2.3 times as long since deploy 2.0 on etl-3");
    assert_eq!(said["description"], "more rows");
}

#[tokio::test]
async fn a_route_to_alertmanager_can_be_tested() {
    let _ = rustls::crypto::ring::default_provider().install_default();
    let alertmanager = Alertmanager::start().await;
    let config = alertmanager.config();
    let sender = Sender::new(&config).expect("a sender");
    let test = queryscope_delivery::Message::test("pager", crate::unix_ns(now()), "x", None);
    let sent = sender.send(&config, config.receiver(&config.routes[0]), &test, None, now()).await;
    assert_eq!(sent, Outcome::Sent);
    assert_eq!(alertmanager.alerts().await[0]["labels"]["alertname"], "QueryscopeTest");
}
