//! Which runs a filter keeps.

use std::sync::Arc;

use queryscope_store::{Foreground, Is, QueryFilter, Status, YieldPoint};

use crate::dictionary::{Origin, Plan};
use crate::names::Names;
use crate::segment::{ROWS, Row, Segment};
use crate::state::status_number;

/// The columns at one moment.
#[derive(Debug)]
pub struct Snapshot {
    pub(crate) segments: Vec<(usize, Arc<Segment>)>,
    pub(crate) origins: Arc<Vec<Origin>>,
    pub(crate) plans: Arc<Vec<Plan>>,
    pub(crate) labels: Arc<Vec<Option<i64>>>,
    /// Number of each plan's label.
    pub(crate) label_of: Arc<Vec<u32>>,
    /// To whom answers from it give way.
    pub(crate) foreground: Arc<Foreground>,
}

impl Snapshot {
    /// The same, answers from which give way to these commits.
    #[must_use]
    pub fn yielding_to(self, foreground: Arc<Foreground>) -> Self {
        Self { foreground, ..self }
    }

    pub(crate) fn foreground(&self) -> &Foreground {
        &self.foreground
    }

    /// Hands on the queries that started in a stretch of time, both ends included, each with its segment and its place
    /// there. It is no iterator: one over the rows of all segments, asked for row by row, takes three times as long.
    pub(crate) fn each_place(
        &self,
        since_unix_ns: i64,
        until_unix_ns: i64,
        mut take: impl FnMut(&Segment, usize, Row),
    ) {
        let turn = YieldPoint::new(self.foreground());
        let is_within =
            |(_, row): &(usize, Row)| (since_unix_ns..=until_unix_ns).contains(&row.started_unix_ns);
        for (_, segment) in
            self.segments.iter().filter(|(_, segment)| segment.touches(since_unix_ns, until_unix_ns))
        {
            turn.pass();
            segment.rows(0..ROWS).filter(is_within).for_each(|(at, row)| take(segment, at, row));
        }
    }
}

/// A value a field must have, as a term; `None` keeps all.
pub(crate) type Wanted = Option<Option<i64>>;

/// A filter, its texts as numbers of terms. A text that no row has matches nothing.
#[derive(Debug, Clone, Copy)]
pub struct Selection {
    pub(crate) project: Wanted,
    pub(crate) service: Wanted,
    pub(crate) environment: Wanted,
    pub(crate) host: Wanted,
    pub(crate) label: Wanted,
    pub(crate) fingerprint: Wanted,
    pub(crate) engine_version: Wanted,
    pub(crate) program_version: Wanted,
    pub(crate) status: Option<u8>,
    pub(crate) since_unix_ns: i64,
    pub(crate) until_unix_ns: i64,
}

/// No text has this number.
const NOBODY: i64 = -1;

impl Selection {
    /// Puts a filter, its search left out, in terms.
    pub fn of<N: Names>(names: &N, filter: &QueryFilter) -> Result<Self, N::Error> {
        let text = |text: &Option<String>| -> Result<Wanted, N::Error> {
            text.as_deref().map(|text| Ok(Some(names.find(text)?.unwrap_or(NOBODY)))).transpose()
        };
        let is = |is: &Option<Is>| -> Result<Wanted, N::Error> {
            match is {
                None => Ok(None),
                Some(Is::Absent) => Ok(Some(None)),
                Some(Is::Value(text)) => Ok(Some(Some(names.find(text)?.unwrap_or(NOBODY)))),
            }
        };
        Ok(Self {
            project: text(&filter.project)?,
            service: is(&filter.service)?,
            environment: is(&filter.environment)?,
            host: text(&filter.host)?,
            label: is(&filter.label)?,
            fingerprint: is(&filter.fingerprint)?,
            engine_version: is(&filter.engine_version)?,
            program_version: is(&filter.program_version)?,
            status: filter.status.map(Status::number),
            since_unix_ns: filter.since_unix_ns.unwrap_or(i64::MIN),
            until_unix_ns: filter.until_unix_ns.unwrap_or(i64::MAX),
        })
    }

    pub(crate) fn keeps_origin(&self, origin: &Origin) -> bool {
        keeps(self.project, Some(origin.project))
            && keeps(self.service, origin.service)
            && keeps(self.environment, origin.environment)
            && keeps(self.host, Some(origin.host))
            && keeps(self.program_version, origin.program_version)
    }

    pub(crate) fn keeps_plan(&self, plan: &Plan) -> bool {
        keeps(self.engine_version, plan.engine_version) && self.keeps_plan_of_any_version(plan)
    }

    pub(crate) fn keeps_plan_of_any_version(&self, plan: &Plan) -> bool {
        keeps(self.label, plan.label) && keeps(self.fingerprint, plan.fingerprint)
    }
}

/// Whether a field has the wanted value.
pub(crate) fn keeps(wanted: Wanted, value: Option<i64>) -> bool {
    wanted.is_none_or(|wanted| wanted == value)
}

/// What a filter keeps, by number; all where it has no say.
#[derive(Debug)]
pub(crate) struct Kept {
    origins: Option<Vec<bool>>,
    plans: Option<Vec<bool>>,
    status: Option<u8>,
}

impl Kept {
    pub(crate) fn of(snapshot: &Snapshot, selection: &Selection) -> Self {
        let origins = snapshot.origins.iter().map(|origin| selection.keeps_origin(origin));
        let plans = snapshot.plans.iter().map(|plan| selection.keeps_plan(plan));
        Self { origins: unless_all(origins), plans: unless_all(plans), status: selection.status }
    }

    /// By number whether a label has plans that are kept; `None` where all plans are.
    pub(crate) fn labels(&self, snapshot: &Snapshot) -> Option<Vec<bool>> {
        let plans = self.plans.as_ref()?;
        let mut labels = vec![false; snapshot.labels.len()];
        for (label, is_kept) in snapshot.label_of.iter().zip(plans) {
            labels[*label as usize] |= is_kept;
        }
        Some(labels)
    }

    pub(crate) fn keeps_origin(&self, origin: usize) -> bool {
        self.origins.as_ref().is_none_or(|origins| origins[origin])
    }

    pub(crate) fn keeps_plan(&self, plan: usize) -> bool {
        self.plans.as_ref().is_none_or(|plans| plans[plan])
    }

    /// Whether a query of this origin, plan and status is kept.
    pub(crate) fn keeps(&self, origin: impl FnOnce() -> u32, plan: u32, status: u8) -> bool {
        self.status.is_none_or(|kept| kept == status_number(status))
            && (self.origins.is_none() || self.keeps_origin(origin() as usize))
            && self.keeps_plan(plan as usize)
    }

    /// Whether no query can be kept.
    pub(crate) fn is_nothing(&self) -> bool {
        let nothing = |kept: &Option<Vec<bool>>| kept.as_ref().is_some_and(|kept| !kept.contains(&true));
        nothing(&self.origins) || nothing(&self.plans)
    }
}

fn unless_all(kept: impl Iterator<Item = bool>) -> Option<Vec<bool>> {
    let kept: Vec<bool> = kept.collect();
    kept.contains(&false).then_some(kept)
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Every query.
    pub(crate) const ALL: Selection = Selection {
        project: None,
        service: None,
        environment: None,
        host: None,
        label: None,
        fingerprint: None,
        engine_version: None,
        program_version: None,
        status: None,
        since_unix_ns: i64::MIN,
        until_unix_ns: i64::MAX,
    };
}
