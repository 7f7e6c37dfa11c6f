//! What requests ask of rows, as conditions in SQL.
//!
//! Both stores keep names as numbers of texts, in columns that are called the same. How a statement names its values
//! (`?1`, `$1`) and of which types these are is given; by which index rows are found is the store's own.

use std::collections::HashMap;
use std::sync::Arc;

use crate::diagnosis::ChangesRequest;
use crate::expression::{Clause, NumberField, Pattern, Test};
use crate::filter::{Is, ListRequest, Order, QueryFilter};
use crate::query::Status;

/// The columns of a run, of `query AS q` joined with `stream AS s`. Both stores read them by position (`row.rs`), and
/// what they select after these, too: a new one comes last, and moves those.
pub const QUERY_COLUMNS: &str = "
    q.id, q.query_id, s.stream_id, q.project, q.service, q.environment, q.host, q.engine, q.label, q.fingerprint,
    q.status, q.known, q.started_unix_ns, q.wall_ms, q.cpu_ms, q.result_rows, q.failed, q.warnings, q.rules,
    q.engine_version, q.program_version, q.bytes_read, q.spilled_bytes, q.peak_memory_bytes";
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
    /// What a page of the list asks of `query AS q`, its search left out, given the numbers of the names it asks for
    /// and those of the texts that each of the [lookups](crate::Expression::lookups) of its expression finds; `None`
    /// when no query can match.
    pub fn of_list(
        sign: char,
        request: &ListRequest,
        numbers: &TermNumbers,
        found: &[Vec<i64>],
    ) -> Option<Self> {
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
        let mut found = found.iter();
        for clause in &filter.expression.clauses {
            let clause = conditions.clause_of(clause, &mut found);
            conditions.clauses.push(clause);
        }
        if let Some(after) = request.after {
            let beyond = match request.order {
                Order::Newest => "<",
                Order::Oldest => ">",
            };
            let (started, tie) = (conditions.value(after.started_unix_ns), conditions.value(after.tie));
            let later = format!("(q.started_unix_ns, q.id) {beyond} ({started}, {tie})");
            let clause = match request.sort.map(|sort| (figure(sign, sort.field), sort.after)) {
                None => later,
                Some((figure, None)) => format!("({figure} IS NULL AND {later})"),
                Some((figure, Some(value))) => {
                    let value = conditions.value(value.get());
                    format!(
                        "({figure} {beyond} {value} OR {figure} IS NULL OR ({figure} = {value} AND {later}))"
                    )
                }
            };
            conditions.clauses.push(clause);
        }
        Some(conditions)
    }

    /// A clause of an expression.
    fn clause_of<'f>(&mut self, clause: &Clause, found: &mut impl Iterator<Item = &'f Vec<i64>>) -> String {
        let test = match &clause.test {
            Test::Number { field, comparison, value } => {
                let value = self.value(value.get());
                format!("{} {} {value}", figure(self.sign, *field), comparison.sign())
            }
            Test::Status(status) => format!("q.status = {}", status.number()),
            Test::Text { field, pattern: Pattern::Absent } => format!("q.{} IS NULL", field.column()),
            Test::Text { field, .. } => self.one_of(field.column(), found.next()),
            Test::Word(word) => {
                let terms = found.next();
                let mut any = vec![self.one_of("label", terms), self.one_of("failed", terms)];
                let part = word.to_lowercase();
                if part.bytes().all(|byte| byte.is_ascii_hexdigit() || byte == b'-') {
                    let part = self.value(part);
                    any.push(match self.sign {
                        POSTGRES => format!("position({part} IN q.query_id::text) > 0"),
                        _ => format!("id_holds(q.query_id, {part})"),
                    });
                }
                format!("({})", any.join(" OR "))
            }
        };
        if clause.is_negated { format!("NOT coalesce({test}, FALSE)") } else { test }
    }

    /// A column is one of these terms. They are one value, so that statements are as many as forms of filters are.
    fn one_of(&mut self, column: &str, terms: Option<&Vec<i64>>) -> String {
        let terms: Vec<String> = terms.into_iter().flatten().map(i64::to_string).collect();
        if terms.is_empty() {
            return "FALSE".into();
        }
        let terms = terms.join(",");
        if self.sign == POSTGRES {
            let terms = self.value(terms);
            format!("q.{column} = ANY(string_to_array({terms}, ',')::bigint[])")
        } else {
            let terms = self.value(format!("[{terms}]"));
            format!("q.{column} IN (SELECT value FROM json_each({terms}))")
        }
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

/// How the values of a statement are named in PostgreSQL.
const POSTGRES: char = '$';

/// A figure of `query AS q` as a double, as [`NumberField::of`] says it.
fn figure(sign: char, field: NumberField) -> &'static str {
    match (field, sign) {
        (NumberField::Wall, _) => "q.wall_ms",
        (NumberField::Cpu, _) => "q.cpu_ms",
        (NumberField::Rows, POSTGRES) => "q.result_rows::double precision",
        (NumberField::Rows, _) => "CAST(q.result_rows AS REAL)",
        (NumberField::Read, POSTGRES) => "q.bytes_read::double precision",
        (NumberField::Read, _) => "CAST(q.bytes_read AS REAL)",
        (NumberField::Spilled, POSTGRES) => "q.spilled_bytes::double precision",
        (NumberField::Spilled, _) => "CAST(q.spilled_bytes AS REAL)",
        (NumberField::Memory, POSTGRES) => "q.peak_memory_bytes::double precision",
        (NumberField::Memory, _) => "CAST(q.peak_memory_bytes AS REAL)",
        (NumberField::Warnings, POSTGRES) => "q.warnings::double precision",
        (NumberField::Warnings, _) => "CAST(q.warnings AS REAL)",
    }
}

/// The order of a page, of `query AS q`; `sign` is that of its conditions.
pub fn list_order(sign: char, request: &ListRequest) -> String {
    let by_start = order_by("q", request.order);
    let Some(sort) = request.sort else { return by_start };
    let direction = match request.order {
        Order::Newest => "DESC",
        Order::Oldest => "ASC",
    };
    let by_start = by_start.replacen("ORDER BY", "", 1);
    format!("ORDER BY {} {direction} NULLS LAST, {by_start}", figure(sign, sort.field))
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
        let request =
            ListRequest { filter, sort: None, order: Order::Newest, after: None, offset: 0, limit: 9 };
        let numbers = TermNumbers::from([("x".into(), 7)]);
        let conditions = Conditions::<Value>::of_list('$', &request, &numbers, &[]).expect("conditions");
        assert_eq!(
            conditions.clause(),
            "q.service IS NULL AND q.label = $1 AND q.status = 2 AND q.status <> 1 AND q.started_unix_ns >= $2"
        );
        assert_eq!(conditions.values(), [7, 5].map(Value::from));
        assert!(Conditions::<Value>::of_list('$', &request, &TermNumbers::new(), &[]).is_none());
    }
}
