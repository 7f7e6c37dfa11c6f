//! Evaluates a seed: `cargo run --release --example evaluate SEED LABELS [KIND-OR-NOISE]`; with the last, the misses.
use queryscope_histories::{Options, evaluate, report};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse().ok()).unwrap_or(4);
    let options = Options { seed: number(), labels: number() };
    let outcomes = evaluate(options);
    println!("{}", report(&outcomes));
    if let Some(name) = arguments.next() {
        for outcome in outcomes.iter().filter(|outcome| format!("{:?}", outcome.spec).contains(&name)) {
            println!("{:?} after {:?} false {} of {}; {:?} onset {:?}\n    {}", outcome.spec, outcome.called_after, outcome.false_days, outcome.days, outcome.first_cause, outcome.onset_error, outcome.said.join("\n    "));
        }
    }
}
