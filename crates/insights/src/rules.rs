//! What can be wrong with a run, one file a rule.
//!
//! A rule looks at roles, counters and properties alone, never at an engine's kinds, so that it holds for all of
//! them. What a rule cannot know for want of a counter it does not say. On a running query it says only what the
//! rest of the run cannot take back.

mod cross_join;
mod exploding_join;
mod io_wait;
mod late_filter;
mod redundant_aggregation;
mod repeated_subplan;
mod skew;
mod small_files;
mod sort_under_limit;
mod spilling;
mod unpruned_row_groups;
mod unused_columns;
pub(crate) mod user_code;

use queryscope_protocol::{Finding, INSIGHTS_FORMAT, Insights, Profile};

use crate::query::Query;

type Rule = fn(&Query<'_>, &mut Vec<Finding<'static>>);

const RULES: &[Rule] = &[
    cross_join::find,
    exploding_join::find,
    io_wait::find,
    late_filter::find,
    redundant_aggregation::find,
    repeated_subplan::find,
    skew::find,
    small_files::find,
    sort_under_limit::find,
    spilling::find,
    unpruned_row_groups::find,
    unused_columns::find,
    user_code::find,
];

/// Of larger plans nothing is said: some rules look at all that is below each node.
const MAX_NODES: usize = 10_000;

fn rules_for(nodes: usize) -> &'static [Rule] {
    if nodes <= MAX_NODES { RULES } else { &[] }
}

/// How many rules [`findings`] applies to a profile: all, or none to a plan of more than 10,000 nodes.
pub fn rules_checked(profile: &Profile<'_>) -> usize {
    rules_for(profile.plan.physical.len()).len()
}

/// Looks for problems in a profile, also in one of a running query.
///
/// Findings come with those first that are about the most time; a finding about at least 1 % of it has the level
/// `warn`, any other `note`. Plans of more than 10,000 nodes have none. See `docs/reference/findings.md` for the rules.
pub fn findings(profile: &Profile<'_>) -> Insights<'static> {
    let query = Query::of(profile);
    let mut findings = Vec::new();
    for rule in rules_for(query.plan.steps.len()) {
        rule(&query, &mut findings);
    }
    let user_code = user_code::share(&query).unwrap_or(0.0);
    let weight = |finding: &Finding<'_>| {
        let counted = finding.cpu_share.unwrap_or(0.0).max(finding.blocked_share.unwrap_or(0.0));
        if user_code::holds_time(finding) { counted.max(user_code) } else { counted }
    };
    findings.sort_by(|a, b| weight(b).total_cmp(&weight(a)));
    Insights { schema: INSIGHTS_FORMAT.into(), findings }
}

#[cfg(test)]
mod tests;
