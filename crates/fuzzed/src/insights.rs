//! What is said of a profile, and of two.

use queryscope_diagnosis::{Account, Context, RunFeatures};
use queryscope_insights::{Outlines, compare, findings, fingerprint, progress};
use queryscope_protocol::{Profile, QueryId};
use uuid::Uuid;

/// Reads one profile, or two divided by a line feed, and asks what there is to say.
///
/// # Panics
/// When a profile written and read again has another fingerprint or other findings, or the parts of a
/// difference do not sum to it.
pub fn insights(bytes: &[u8]) {
    let mut texts = bytes.splitn(2, |byte| *byte == b'\n');
    let mut next = || serde_json::from_slice::<Profile<'_>>(texts.next()?).ok();
    let Some(base) = next() else { return };
    check(&base);
    let run = next();
    let run = run.as_ref().unwrap_or(&base);
    check(run);
    serde_json::to_string(&compare(&base, run)).expect("JSON");
    let mut outlines = Outlines::default();
    let [then, now] = [&base, run].map(|profile| {
        let (id, context) = (QueryId::new(Uuid::nil()), Context::default());
        RunFeatures::from_profile(id, 0, profile, &context, &mut outlines)
    });
    let account = Account::of(&then, &now, &[]);
    let sum: i128 = account.parts.iter().map(|part| i128::from(part.ns)).sum();
    assert_eq!(sum, i128::from(account.difference_ns), "{account:?}");
    let _ = progress(base.wall_ms, &[run.wall_ms; 5]);
}

fn check(profile: &Profile<'_>) {
    let written = serde_json::to_string(profile).expect("JSON");
    let again: Profile<'_> = serde_json::from_str(&written).expect("what was written can be read");
    assert_eq!(fingerprint(&again.plan), fingerprint(&profile.plan));
    let found = serde_json::to_string(&findings(profile)).expect("JSON");
    assert_eq!(serde_json::to_string(&findings(&again)).expect("JSON"), found);
}
