//! Findings: shown by queries that ask for them, and not by TPC-H.

use serde_json::Value;

use crate::memory::Followed;

fn rules(profile: &Value) -> Vec<String> {
    let findings = profile["insights"]["findings"].as_array().expect("findings");
    findings.iter().map(|finding| format!("{} {}", finding["rule"], finding["level"])).collect()
}

#[tokio::test]
async fn provoked() {
    let followed = Followed::new();
    followed.run("CREATE TABLE t AS SELECT value % 10 AS k, value AS v FROM generate_series(1, 5000)").await.expect("t");
    followed.run("SELECT sum(a.v + b.v) FROM t a JOIN t b ON a.k = b.k").await.expect("rows");
    followed.run("SELECT sum(a.v + b.v) FROM t a, t b").await.expect("rows");
    followed.run("SELECT count(*) FROM t a JOIN t b ON a.v < b.v").await.expect("rows");
    for profile in followed.end() {
        println!("{:?}", rules(&profile));
    }
}
