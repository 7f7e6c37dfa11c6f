//! Seeded slowdowns as a sender would have posted them: what `tests/mcp/bench.py` gives to a service, and judges by.

use std::io::Write;

use anyhow::Result;
use queryscope_histories::{Change, Factor, Kind, Noise, Poster, Spec, generate};
use serde_json::json;

/// How much slower queries get, by turns.
const FACTORS: [Factor; 3] = [1.5, 2.0, 3.0];

/// Writes so many slowdowns of all kinds by turns, one JSON object a line: its label, kind, factor, the number of runs
/// before it, and the batches of its runs.
///
/// # Errors
/// When they cannot be written.
pub(crate) fn write(seed: u64, count: u64, mut to: impl Write) -> Result<()> {
    let kinds: Vec<Kind> = Kind::ALL.into_iter().filter(|kind| kind.is_slower()).collect();
    for number in 0..count {
        let place = usize::try_from(number)?;
        let kind = kinds[place % kinds.len()];
        let factor = FACTORS[place / kinds.len() % FACTORS.len()];
        let change = Some(Change { kind, factor, decoy: false });
        let spec = Spec { seed: (seed << 32) + number, noise: Noise::Plain, change, young: false };
        let history = generate(spec);
        let mut poster = Poster::new(Some("bench"), u32::try_from(number)? + 1);
        let label = format!("slow/{number}");
        let batches: Vec<String> = history.runs.iter().map(|run| poster.ended(&label, run)).collect();
        let line = json!({
            "label": label,
            "kind": format!("{kind:?}"),
            "factor": factor,
            "before": history.changed_at,
            "batches": batches,
        });
        writeln!(to, "{line}")?;
    }
    Ok(())
}
