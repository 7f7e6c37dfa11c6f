//! Evaluates a seed: `cargo run --release --example evaluate SEED LABELS [KIND-OR-NOISE]`; with the last, the misses.
use queryscope_histories::{Options, evaluate_some, report};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = || arguments.next().and_then(|text| text.parse().ok()).unwrap_or(4);
    let options = Options { seed: number(), labels: number() };
    let name = arguments.next();
    let outcomes =
        evaluate_some(options, |spec| name.as_deref().is_none_or(|name| format!("{spec:?}").contains(name)));
    println!("{}", report(&outcomes));
    if let Some(name) = name {
        for outcome in outcomes.iter().filter(|outcome| format!("{:?}", outcome.spec).contains(&*name)) {
            println!(
                "{:?} after {:?} false {} of {}; {:?} onset {:?}\n    {}",
                outcome.spec,
                outcome.called_after,
                outcome.false_days,
                outcome.days,
                outcome.first_cause,
                outcome.onset_error,
                outcome.said.join("\n    ")
            );
        }
    }
}
