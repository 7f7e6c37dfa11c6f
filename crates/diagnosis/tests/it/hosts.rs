//! What is told of one host beside the others.

use crate::told::Told;

/// Three hosts by turns. Since run 60 the third takes three times as long, and the others so many times.
fn told(others: f64) -> Told {
    let mut told = Told::new();
    for n in 0..120 {
        let factor = match (n >= 60, n % 3 == 2) {
            (true, true) => 3.0,
            (true, false) => others,
            _ => 1.0,
        };
        told.on(["w1", "w2", "w3"][n % 3], 1, 100.0 * factor);
    }
    told
}

fn sentence(told: &Told) -> String {
    let change = told.change();
    assert_eq!(change.host.as_deref(), Some("w3"), "{:?}", change.causes);
    change.causes[0].sentence.clone()
}

#[test]
fn only_one_host_changed_where_the_others_did_not() {
    let said = sentence(&told(1.0));
    assert!(said.starts_with("Only runs on w3 changed: "), "{said}");
    let said = sentence(&told(1.2));
    assert!(said.starts_with("Runs on w3 changed most: "), "{said}");
    let said = sentence(&told(0.75));
    assert!(said.starts_with("Runs on w3 changed, and those on other hosts the other way: "), "{said}");
}

/// The number of runs since is that of the change, which grows with each run.
#[test]
fn the_sentence_counts_no_runs_that_the_change_counts() {
    let told = told(1.0);
    let said = sentence(&told);
    assert!(!said.contains(" in ") && said.contains("runs on other hosts take"), "{said}");
}
