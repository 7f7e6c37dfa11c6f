//! Which run of the base is compared with which run of the head.
//!
//! Runs of one label may come in any order, as those of several threads or processes do. So runs that do not differ
//! are paired first, wherever they stand; the others by what they have in common: the function that runs them, their
//! plan, then their order.

use queryscope_insights::portable::Portable;
use queryscope_protocol::Profile;

/// A run as it is compared.
#[derive(Debug)]
pub(super) struct Run<'r> {
    pub(super) profile: Profile<'r>,
    pub(super) portable: Portable<'r>,
}

impl<'r> Run<'r> {
    pub(super) fn new(profile: Profile<'r>) -> Self {
        let portable = Portable::of(&profile);
        Self { profile, portable }
    }

    fn function(&self) -> Option<(&str, &str)> {
        let site = self.profile.call_site.as_ref()?;
        let file = site.filepath.rsplit(['/', '\\']).next().unwrap_or_default();
        Some((file, &*site.function))
    }
}

/// Whether nothing differs between two runs.
fn is_same(a: &Run<'_>, b: &Run<'_>) -> bool {
    a.profile.engine == b.profile.engine
        && a.profile.failed.is_some() == b.profile.failed.is_some()
        && a.portable == b.portable
}

/// Runs side by side.
#[derive(Debug, Default)]
pub(super) struct Pairs {
    /// How many runs of both do not differ.
    pub(super) same: usize,
    /// How many more runs of the head are the same as one that has a partner.
    pub(super) more: usize,
    /// How many such runs the base has.
    pub(super) fewer: usize,
    /// Runs of the base and the head that differ, by their places.
    pub(super) changed: Vec<(usize, usize)>,
    /// Places of runs of the base that no run of the head is like.
    pub(super) removed: Vec<usize>,
    /// Places of runs of the head that no run of the base is like.
    pub(super) new: Vec<usize>,
}

/// Pairs the runs of one label, both in the order they began.
pub(super) fn pair(base: &[Run<'_>], head: &[Run<'_>]) -> Pairs {
    type Alike = fn(&Run<'_>, &Run<'_>) -> bool;
    let passes: [Alike; 4] = [
        |a, b| a.function() == b.function() && a.portable.plan() == b.portable.plan(),
        |a, b| a.portable.plan() == b.portable.plan(),
        |a, b| a.function().is_some() && a.function() == b.function(),
        |_, _| true,
    ];
    let mut pairs = Pairs::default();
    let mut places = Places { base: (0..base.len()).collect(), head: (0..head.len()).collect() };
    pairs.same = places.pair(base, head, is_same).len();
    // What is left over of runs that are the same is run more often, and no other run's partner.
    places.base.retain(|&there| {
        let is_repeated = head.iter().any(|run| is_same(&base[there], run));
        pairs.fewer += usize::from(is_repeated);
        !is_repeated
    });
    places.head.retain(|&here| {
        let is_repeated = base.iter().any(|run| is_same(run, &head[here]));
        pairs.more += usize::from(is_repeated);
        !is_repeated
    });
    for alike in passes {
        pairs.changed.extend(places.pair(base, head, alike));
    }
    (pairs.removed, pairs.new) = (places.base, places.head);
    pairs
}

/// Runs without a partner, by their places.
struct Places {
    base: Vec<usize>,
    head: Vec<usize>,
}

impl Places {
    /// Takes out the runs that are alike, each with the first that is left.
    fn pair(
        &mut self,
        base: &[Run<'_>],
        head: &[Run<'_>],
        alike: fn(&Run<'_>, &Run<'_>) -> bool,
    ) -> Vec<(usize, usize)> {
        let mut found = Vec::new();
        self.head.retain(|&here| {
            let fits = |&there: &usize| {
                base[there].profile.engine == head[here].profile.engine && alike(&base[there], &head[here])
            };
            let Some(at) = self.base.iter().position(fits) else { return true };
            found.push((self.base.remove(at), here));
            false
        });
        found
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn profile(function: &str, rows: u64) -> String {
        json!({
            "schema": "polars-telemetry/profile@1", "query_id": "q", "wall_ms": rows,
            "call_site": {"filepath": "/a/b.py", "lineno": 7, "function": function},
            "plan": {"logical": [], "physical": [{"id": 1, "kind": "Scan", "role": "scan", "inputs": [],
                "properties": {"table": "t"}, "metrics": {"rows_out": rows}}]},
        })
        .to_string()
    }

    /// Runs that are the same, pairs that differ, removed and new runs.
    type Shown = (usize, Vec<(usize, usize)>, Vec<usize>, Vec<usize>);

    fn paired(base: &[String], head: &[String]) -> Shown {
        let runs = |texts: &'static [String]| -> Vec<Run<'static>> {
            texts.iter().map(|text| Run::new(serde_json::from_str(text).expect("a profile"))).collect()
        };
        let mut pairs = pair(&runs(base.to_vec().leak()), &runs(head.to_vec().leak()));
        pairs.changed.sort_unstable();
        (pairs.same, pairs.changed, pairs.removed, pairs.new)
    }

    #[test]
    fn the_order_of_runs_does_not_matter() {
        let base = [profile("f", 1), profile("f", 20), profile("f", 300)];
        let head = [profile("f", 300), profile("f", 1), profile("f", 20)];
        assert_eq!(paired(&base, &head), (3, vec![], vec![], vec![]));
    }

    #[test]
    fn what_runs_more_often_is_counted() {
        let texts = [profile("f", 1), profile("f", 1), profile("f", 1), profile("g", 20)];
        let runs: Vec<Run<'_>> =
            texts.iter().map(|text| Run::new(serde_json::from_str(text).expect("a profile"))).collect();
        let pairs = pair(&runs[2..], &runs);
        assert_eq!((pairs.same, pairs.more, pairs.fewer), (2, 2, 0));
        assert!(pairs.new.is_empty() && pairs.changed.is_empty(), "{pairs:?}");
        assert_eq!(pair(&runs, &runs[2..]).fewer, 2);
    }

    #[test]
    fn what_differs_is_paired_by_its_function() {
        let base = [profile("f", 1), profile("g", 20)];
        let head = [profile("g", 900), profile("f", 1)];
        assert_eq!(paired(&base, &head), (1, vec![(1, 0)], vec![], vec![]));
        assert_eq!(paired(&base, &head[..1]), (0, vec![(1, 0)], vec![0], vec![]));
        assert_eq!(paired(&base[..1], &head), (1, vec![], vec![], vec![0]));
    }
}
