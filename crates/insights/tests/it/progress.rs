use std::collections::BTreeMap;

use queryscope_insights::progress;

use crate::captures::Captures;

/// Wall times of the finished runs of each plan, in the order they came.
fn runs_of_plans(captures: &Captures) -> BTreeMap<String, Vec<f64>> {
    let mut runs: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for (_, profile) in captures.finished() {
        if let Some(plan) = profile.fingerprint.filter(|_| profile.failed.is_none()) {
            runs.entry(plan.to_string()).or_default().push(profile.wall_ms);
        }
    }
    runs
}

/// Each run of a plan that was recorded at least three times, judged by the others after a quarter, a half and three
/// quarters of its time. There are but two to four others, fewer than would be asked: each counts three times, which
/// leaves their percentiles as they are. `docs/reference/findings.md` quotes the figures.
#[test]
fn the_prediction_error_over_the_captures() {
    let captures = Captures::read();
    let mut lines = Vec::new();
    for part in [0.25, 0.5, 0.75] {
        let (mut asked, mut within, mut errors) = (0, 0, Vec::new());
        for walls in runs_of_plans(&captures).values().filter(|walls| walls.len() >= 3) {
            for (at, wall) in walls.iter().enumerate() {
                let others = walls.iter().enumerate().filter(|(n, _)| *n != at).map(|(_, wall)| *wall);
                let now = progress(wall * part, &others.collect::<Vec<_>>().repeat(3)).expect("five others");
                asked += 1;
                let Some([_, p50, p90]) = now.remaining_ms else { continue };
                let left = wall * (1.0 - part);
                within += usize::from(left <= p90);
                errors.push((p50 - left).abs() / wall);
            }
        }
        errors.sort_by(f64::total_cmp);
        let percentile = |percent: usize| errors[(errors.len() * percent).div_ceil(100) - 1] * 100.0;
        lines.push(format!(
            "after {part} of the time: {} of {asked} predicted, {within} ended by P90, error of P50 {:.0} % (median), \
             {:.0} % (P90) of the wall time",
            errors.len(),
            percentile(50),
            percentile(90)
        ));
    }
    insta::assert_snapshot!(lines.join("\n"), @r#"
        after 0.25 of the time: 33 of 34 predicted, 25 ended by P90, error of P50 19 % (median), 74 % (P90) of the wall time
        after 0.5 of the time: 31 of 34 predicted, 25 ended by P90, error of P50 19 % (median), 62 % (P90) of the wall time
        after 0.75 of the time: 29 of 34 predicted, 25 ended by P90, error of P50 16 % (median), 399 % (P90) of the wall time
        "#);
}
