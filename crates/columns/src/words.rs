//! What a filter in words keeps, decided once for each origin and plan; of a run only its numbers are looked at.

use queryscope_history::Quantity;
use queryscope_store::{Amount, Clause, Comparison, Expression, NumberField, Pattern, Test, TextField};

use crate::dictionary::{Origin, Plan};
use crate::figures::column_of;
use crate::names::Names;
use crate::rounded::{is_exact, quantity_of};
use crate::segment::Segment;
use crate::select::Snapshot;
use crate::state::{STATES, status_number};

/// A filter in words, as far as it is of what the columns hold.
#[derive(Debug, Default)]
pub(crate) struct Words {
    origins: Option<Vec<bool>>,
    plans: Option<Vec<bool>>,
    states: Option<[bool; STATES]>,
    figures: Vec<Figure>,
}

/// A condition on a figure.
#[derive(Debug, Clone, Copy)]
struct Figure {
    field: NumberField,
    is_negated: bool,
    comparison: Comparison,
    asked: Amount,
    /// What the columns hold of `asked`, where they hold the figure rounded and tell it apart.
    rounded: Option<Quantity>,
}

/// Whether a filter in words asks for a figure that others are rounded to: the columns keep runs of these, too.
pub(crate) fn asks_for_rounded(expression: &Expression) -> bool {
    expression.clauses.iter().any(|clause| match &clause.test {
        Test::Number { field, value, .. } => {
            column_of(*field).is_some()
                && quantity_of(*field, *value).is_none_or(|quantity| !is_exact(*field, quantity))
        }
        Test::Text { .. } | Test::Status(_) | Test::Word(_) => false,
    })
}

impl Words {
    /// Of an expression that is in the columns.
    pub(crate) fn of<N: Names>(
        names: &N,
        snapshot: &Snapshot,
        expression: &Expression,
    ) -> Result<Self, N::Error> {
        let mut words = Self::default();
        for clause in &expression.clauses {
            words.add(names, snapshot, clause)?;
        }
        Ok(words)
    }

    fn add<N: Names>(&mut self, names: &N, snapshot: &Snapshot, clause: &Clause) -> Result<(), N::Error> {
        let is_negated = clause.is_negated;
        match &clause.test {
            Test::Number { field, comparison, value } => {
                let (field, comparison, asked) = (*field, *comparison, *value);
                let rounded = quantity_of(field, asked);
                self.figures.push(Figure { field, is_negated, comparison, asked, rounded });
            }
            Test::Status(status) => {
                let states = self.states.get_or_insert([true; STATES]);
                for (state, kept) in (0..).zip(states) {
                    *kept &= (status_number(state) == status.number()) != is_negated;
                }
            }
            Test::Text { field, pattern } => self.add_text(names, snapshot, *field, pattern, is_negated)?,
            Test::Word(_) => {}
        }
        Ok(())
    }

    fn add_text<N: Names>(
        &mut self,
        names: &N,
        snapshot: &Snapshot,
        field: TextField,
        pattern: &Pattern,
        is_negated: bool,
    ) -> Result<(), N::Error> {
        // Of one term after the other, many have the same.
        let mut last: Option<(Option<i64>, bool)> = None;
        let mut kept = |term: Option<i64>| -> Result<bool, N::Error> {
            if let Some((_, kept)) = last.filter(|(of, _)| *of == term) {
                return Ok(kept);
            }
            let matches = match term {
                None => *pattern == Pattern::Absent,
                Some(term) => field.matches_term(pattern, &names.text(term)?),
            };
            last = Some((term, matches != is_negated));
            Ok(matches != is_negated)
        };
        let of_origins = |term: fn(&Origin) -> Option<i64>| snapshot.origins.iter().map(term).collect();
        let of_plans = |term: fn(&Plan) -> Option<i64>| snapshot.plans.iter().map(term).collect();
        let (to, terms): (_, Vec<Option<i64>>) = match field {
            TextField::Service => (&mut self.origins, of_origins(|origin| origin.service)),
            TextField::Environment => (&mut self.origins, of_origins(|origin| origin.environment)),
            TextField::Host => (&mut self.origins, of_origins(|origin| Some(origin.host))),
            TextField::Version => (&mut self.origins, of_origins(|origin| origin.program_version)),
            TextField::Label => (&mut self.plans, of_plans(|plan| plan.label)),
            TextField::Plan => (&mut self.plans, of_plans(|plan| plan.fingerprint)),
            TextField::Finding => (&mut self.plans, of_plans(|plan| plan.rules)),
            TextField::EngineVersion => (&mut self.plans, of_plans(|plan| plan.engine_version)),
            TextField::Error | TextField::Engine => return Ok(()),
        };
        let kept = terms.into_iter().map(&mut kept).collect::<Result<Vec<bool>, N::Error>>()?;
        and(to, kept);
        Ok(())
    }

    /// Whether the run at a place is kept, or has nearly a figure that is asked for.
    pub(crate) fn keeps_at(&self, segment: &Segment, at: usize) -> bool {
        self.is_where(segment, at) && self.figures.iter().all(|figure| figure.may_keep(segment, at))
    }

    /// Whether the run at a place is kept, where figures and what is asked of them are rounded alike.
    pub(crate) fn keeps_rounded_at(&self, segment: &Segment, at: usize) -> bool {
        self.is_where(segment, at) && self.figures.iter().all(|figure| figure.keeps_rounded(segment, at))
    }

    fn is_where(&self, segment: &Segment, at: usize) -> bool {
        let is_kept =
            |kept: &Option<Vec<bool>>, number: u32| kept.as_ref().is_none_or(|kept| kept[number as usize]);
        let is_all = self.states.is_none() && self.origins.is_none() && self.plans.is_none();
        let is_where = || {
            let (origin, plan, status) = segment.ran_at(at);
            self.states.is_none_or(|kept| kept[usize::from(status)])
                && is_kept(&self.origins, origin)
                && is_kept(&self.plans, plan)
        };
        is_all || is_where()
    }
}

impl Figure {
    fn may_keep(self, segment: &Segment, at: usize) -> bool {
        self.holds_at(segment, at).is_none_or(|holds| holds != self.is_negated)
    }

    fn keeps_rounded(self, segment: &Segment, at: usize) -> bool {
        // What is not told apart from what is asked for counts as the same.
        let is_same = matches!(self.comparison, Comparison::AtLeast | Comparison::AtMost | Comparison::Equal);
        self.holds_at(segment, at).unwrap_or(is_same) != self.is_negated
    }

    /// Whether the condition holds for a run; `None` where it may.
    fn holds_at(self, segment: &Segment, at: usize) -> Option<bool> {
        match self.field {
            NumberField::Wall => Some(self.holds(segment.wall_at(at))),
            field => self.compared(segment.figure_at(field, at)),
        }
    }

    /// Whether the condition holds for a figure; it holds for none that is not known.
    fn holds(self, found: f64) -> bool {
        Amount::new(found).is_some_and(|found| self.comparison.holds(found, self.asked))
    }

    /// Whether the condition holds for what is rounded to this; `None` where it may.
    fn compared(self, found: Quantity) -> Option<bool> {
        let amount = |quantity: Quantity| Amount::new(f64::from(quantity.code()));
        if is_exact(self.field, found) {
            return Some(self.holds(found.value().unwrap_or(f64::NAN)));
        }
        let asked = self.rounded.filter(|asked| *asked != found)?;
        Some(self.comparison.holds(amount(found)?, amount(asked)?))
    }
}

fn and(all: &mut Option<Vec<bool>>, kept: Vec<bool>) {
    match all {
        None => *all = Some(kept),
        Some(all) => all.iter_mut().zip(kept).for_each(|(all, kept)| *all &= kept),
    }
}
