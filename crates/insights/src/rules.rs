//! What can be wrong with a query, one file a rule.
//!
//! A rule looks at roles, counters and properties alone, never at an engine's kinds, so that it holds for all of
//! them. What a rule cannot know for want of a counter it does not say. On a running query it says only what the
//! rest of the run cannot take back.

mod exploding_join;

use queryscope_protocol::{Finding, INSIGHTS_FORMAT, Insights, Profile};

use crate::query::Query;

type Rule = fn(&Query<'_>, &mut Vec<Finding<'static>>);

const RULES: &[Rule] = &[exploding_join::find];

/// Looks for problems in a profile, also in one of a running query.
///
/// Findings come with those first that are about the most time; a finding about at least 1 % of it has the level
/// `warn`, any other `note`. See `docs/insights.md` for the rules.
pub fn findings(profile: &Profile<'_>) -> Insights<'static> {
    let query = Query::of(profile);
    let mut findings = Vec::new();
    for rule in RULES {
        rule(&query, &mut findings);
    }
    let weight =
        |finding: &Finding<'_>| finding.cpu_share.unwrap_or(0.0).max(finding.blocked_share.unwrap_or(0.0));
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    Insights { schema: INSIGHTS_FORMAT.into(), findings }
}
