//! What is told as growth, and what only looks like it.

use queryscope_diagnosis::{Kind, Quantity, RunFeatures};

use crate::told::Told;

fn grew(told: &Told) -> usize {
    told.transitions.iter().filter(|transition| transition.change().kind == Kind::DataGrew).count()
}

/// The rows that are scanned grow, and the time goes elsewhere.
fn other_work(more: impl Fn(&mut RunFeatures, f64)) -> Told {
    let mut told = Told::new();
    for n in 0..300 {
        let grown = 1.006_f64.powi(n);
        let mut run = told.made(100.0 * grown, 1e6 * grown);
        run.nodes[0].busy_ns = Quantity::new(1_000_000);
        run.nodes[1].rows_in = Quantity::new(1_000_000);
        more(&mut run, grown);
        run.sum_up();
        told.take(run);
    }
    told
}

#[test]
fn time_that_did_not_go_with_the_rows_is_no_growth() {
    let slower_per_row = other_work(|run, grown| {
        run.nodes[1].busy_ns = Quantity::new((90e6 * grown) as u64);
        run.nodes[0].rows_out = Quantity::new(1_000_000);
        run.nodes[0].rows_scanned = Quantity::new((1e6 * grown) as u64);
    });
    assert_eq!(grew(&slower_per_row), 0, "{:?}", slower_per_row.detector.open().next());
}

/// Two inputs by turns are no growth, however often the last 15 runs hold more of the large one.
#[test]
fn inputs_by_turns_are_no_growth() {
    let mut told = Told::new();
    told.runs(40, 100.0);
    for n in 0..160 {
        let large = if n % 2 == 0 { 3.0 } else { 1.0 };
        let run = told.made(100.0 * large, 1e6 * large);
        told.take(run);
    }
    assert_eq!(grew(&told), 0);
}
