//! Simulates a month: `cargo run --release --example month SEED LABELS CHANGES`; what went wrong comes after the table.
use queryscope_histories::{MonthOptions, month};
fn main() {
    let mut arguments = std::env::args().skip(1);
    let mut number = |default| arguments.next().and_then(|text| text.parse().ok()).unwrap_or(default);
    let month = month(MonthOptions { seed: number(41), labels: number(1_000), changes: number(60) });
    println!("{}\n{}", month.report(), month.misses().join("\n"));
}
