use queryscope_insights::findings;
use queryscope_protocol::Profile;

use crate::captures::Captures;

/// One line a finding.
fn lines(capture: &str, profile: &Profile<'_>) -> Vec<String> {
    let found = findings(profile).findings;
    let line = |finding: &queryscope_protocol::Finding<'_>| {
        let label = profile.label.as_deref().unwrap_or("-");
        let share = finding.cpu_share.unwrap_or_default();
        format!(
            "{capture} {label}: {} {} #{} {:.3}: {}",
            finding.level,
            finding.rule,
            finding.node_id.unwrap_or_default() & 0xffff_ffff,
            share,
            finding.title
        )
    };
    found.iter().map(line).collect()
}

#[test]
fn what_is_found_in_the_captures_is_true() {
    let captures = Captures::read();
    let finished = captures.finished();
    let found: Vec<String> = finished.iter().flat_map(|(capture, profile)| lines(capture, profile)).collect();
    insta::assert_snapshot!(found.join("\n"), @"");
}
