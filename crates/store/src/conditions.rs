//! What requests ask of rows, as conditions in SQL.
//!
//! Both stores keep names as numbers of texts, in columns that are called the same. How a statement names its values
//! (`?1`, `$1`) and of which types these are is given; by which index rows are found is the store's own.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnosis::ChangesRequest;
use crate::filter::{Is, ListRequest, Order, QueryFilter};
use crate::query::Status;

/// The columns of a run, of `query AS q` joined with `stream AS s`. Both stores read them by position (`row.rs`), and
/// what they select after these, too: a new one comes last, and moves those.
pub const QUERY_COLUMNS: &str = "
    q.id, q.query_id, s.stream_id, q.project, q.service, q.environment, q.host, q.engine, q.label, q.fingerprint,
    q.status, q.known, q.started_unix_ns, q.wall_ms, q.cpu_ms, q.result_rows, q.failed, q.warnings, q.rules,
    q.engine_version, q.program_version";
/// The columns of a change of a query; its `body` is the last.
pub const CHANGE_COLUMNS: &str =
    "id, project, service, label, environment, host, kind, state, since_unix_ns, confirmed_unix_ns,
    recovered_unix_ns, wall_ms_a_day";

/// Numbers of texts.
pub type TermNumbers = HashMap<Arc<str>, i64>;

/// A column, and the name its rows must have; without one, those that have none.
type Name<'r> = (&'static str, Option<&'r str>);

fn names<'r, const N: usize>(
    texts: [(&'static str, Option<&'r String>); 2],
    others: [(&'static str, Option<&'r Is>); N],
) -> impl Iterator<Item = Name<'r>> {
    let name = |is: &'r Is| match is {
        Is::Value(text) => Some(text.as_str()),
        Is::Absent => None,
    };
    let texts = texts.into_iter().filter_map(|(column, text)| Some((column, Some(text?.as_str()))));
    texts.chain(others.into_iter().filter_map(move |(column, is)| Some((column, name(is?)))))
}

impl QueryFilter {
    /// The names it asks for, by the columns of the table `query`.
    pub fn names(&self) -> impl Iterator<Item = Name<'_>> {
        names(
            [("project", self.project.as_ref()), ("host", self.host.as_ref())],
            [
                ("environment", self.environment.as_ref()),
                ("service", self.service.as_ref()),
                ("label", self.label.as_ref()),
                ("fingerprint", self.fingerprint.as_ref()),
                ("engine_version", self.engine_version.as_ref()),
                ("program_version", self.program_version.as_ref()),
            ],
        )
    }
}

impl ChangesRequest {
    /// The names it asks for, by the columns of the table `query_change`.
    pub fn names(&self) -> impl Iterator<Item = Name<'_>> {
        let label = self.label.as_deref().map(|label| ("label", Some(label)));
        label.into_iter().chain(names(
            [("project", self.project.as_ref()), ("host", self.host.as_ref())],
            [("service", self.service.as_ref()), ("environment", self.environment.as_ref())],
        ))
    }
}

/// Conditions on rows, and the values they take.
#[derive(Debug, Clone)]
pub struct Conditions<V> {
    sign: char,
    clauses: Vec<String>,
    values: Vec<V>,
}

impl<V> Conditions<V> {
    fn new(sign: char) -> Self {
        Self { sign, clauses: Vec::new(), values: Vec::new() }
    }

    /// A place for a value in a statement.
    pub fn value(&mut self, value: impl Into<V>) -> String {
        self.values.push(value.into());
        format!("{}{}", self.sign, self.values.len())
    }

    /// Adds a condition on a value, which stands where its text says `{}`.
    pub fn add(&mut self, clause: &str, value: impl Into<V>) {
        let place = self.value(value);
        self.clauses.push(clause.replace("{}", &place));
    }

    /// All of them as one.
    pub fn clause(&self) -> String {
        if self.clauses.is_empty() { "TRUE".into() } else { self.clauses.join(" AND ") }
    }

    /// The values, in their order.
    pub fn values(&self) -> &[V] {
        &self.values
    }

    /// `None` when a name has no number: no row has it.
    fn add_names<'r>(
        &mut self,
        table: &str,
        names: impl Iterator<Item = Name<'r>>,
        absent: &str,
        numbers: &TermNumbers,
    ) -> Option<()>
    where
        V: From<i64>,
    {
        for (column, name) in names {
            match name {
                None => self.clauses.push(format!("{table}{column} {absent}")),
                Some(text) => self.add(&format!("{table}{column} = {{}}"), *numbers.get(text)?),
            }
        }
        Some(())
    }
}

impl<V: From<i64> + From<f64> + From<String>> Conditions<V> {
    /// What a page of the list asks of `query AS q`, its search left out, given the numbers of the names it asks for;
    /// `None` when no query can match.
    pub fn of_list(sign: char, request: &ListRequest, numbers: &TermNumbers) -> Option<Self> {
        let mut conditions = Self::new(sign);
        let filter = &request.filter;
        conditions.add_names("q.", filter.names(), "IS NULL", numbers)?;
        if let Some(status) = filter.status {
            conditions.clauses.push(format!("q.status = {}", status.number()));
            if status != Status::Finished {
                // In these words the partial index of those that have not finished offers itself.
                conditions.clauses.push("q.status <> 1".into());
            }
        }
        for (clause, time) in [
            ("q.started_unix_ns >= {}", filter.since_unix_ns),
            ("q.started_unix_ns <= {}", filter.until_unix_ns),
        ] {
            if let Some(time) = time {
                conditions.add(clause, time);
            }
        }
        if let Some(after) = request.after {
            let beyond = match request.order {
                Order::Newest => "<",
                Order::Oldest => ">",
            };
            let (started, tie) = (conditions.value(after.started_unix_ns), conditions.value(after.tie));
            conditions.clauses.push(format!("(q.started_unix_ns, q.id) {beyond} ({started}, {tie})"));
        }
        Some(conditions)
    }

    /// The statement of a page of changes and its values, given the numbers of the names it asks for, and what a body
    /// that is not asked for is; `None` when there are none.
    pub fn select_changes(
        sign: char,
        request: &ChangesRequest,
        numbers: &TermNumbers,
        no_body: &str,
    ) -> Option<(String, Vec<V>)> {
        let mut conditions = Self::new(sign);
        conditions.add_names("", request.names(), "= 0", numbers)?;
        let after = request.after.as_ref();
        let texts = [request.kind.as_ref(), request.state.as_ref(), after.map(|after| &after.id)];
        // None has it, and a text of PostgreSQL cannot.
        if texts.into_iter().flatten().any(|text| text.contains('\0')) {
            return None;
        }
        for (clause, text) in [("kind = {}", &request.kind), ("state = {}", &request.state)] {
            if let Some(text) = text {
                conditions.add(clause, text.clone());
            }
        }
        for (clause, time) in
            [("since_unix_ns >= {}", request.since_unix_ns), ("since_unix_ns <= {}", request.until_unix_ns)]
        {
            if let Some(time) = time {
                conditions.add(clause, time);
            }
        }
        if let Some(after) = after {
            // By itself the first of these is served by the index.
            conditions.add("wall_ms_a_day <= {}", after.wall_ms_a_day);
            let (cost, id) = (conditions.value(after.wall_ms_a_day), conditions.value(after.id.clone()));
            conditions.clauses.push(format!("(wall_ms_a_day < {cost} OR id > {id})"));
        }
        let body = if request.without_body { no_body } else { "body" };
        let all = conditions.clause();
        let limit = conditions.value(i64::try_from(request.limit).unwrap_or(i64::MAX));
        let sql = format!(
            "SELECT {CHANGE_COLUMNS}, {body} FROM query_change WHERE {all}
             ORDER BY wall_ms_a_day DESC, id LIMIT {limit}"
        );
        Some((sql, conditions.values))
    }
}

/// The order of a list, by the columns of a table.
pub fn order_by(table: &str, order: Order) -> String {
    match order {
        Order::Newest => format!("ORDER BY {table}.started_unix_ns DESC, {table}.id DESC"),
        Order::Oldest => format!("ORDER BY {table}.started_unix_ns, {table}.id"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Of the types of values, enough to tell them apart.
    #[derive(Debug, PartialEq)]
    struct Value(String);

    impl<T: ToString> From<T> for Value {
        fn from(value: T) -> Self {
            Self(value.to_string())
        }
    }

    #[test]
    fn values_are_numbered_in_their_order_and_a_name_without_a_number_matches_nothing() {
        let filter = QueryFilter {
            label: Some(Is::Value("x".into())),
            service: Some(Is::Absent),
            status: Some(Status::Failed),
            since_unix_ns: Some(5),
            ..QueryFilter::default()
        };
        let request = ListRequest { filter, order: Order::Newest, after: None, offset: 0, limit: 9 };
        let numbers = TermNumbers::from([("x".into(), 7)]);
        let conditions = Conditions::<Value>::of_list('$', &request, &numbers).expect("conditions");
        assert_eq!(
            conditions.clause(),
            "q.service IS NULL AND q.label = $1 AND q.status = 2 AND q.status <> 1 AND q.started_unix_ns >= $2"
        );
        assert_eq!(conditions.values(), [7, 5].map(Value::from));
        assert!(Conditions::<Value>::of_list('$', &request, &TermNumbers::new()).is_none());
    }
}
