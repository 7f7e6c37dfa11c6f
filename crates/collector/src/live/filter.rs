//! Which runs a reader of `/api/live` follows.

use queryscope_diagnosis::Change;
use queryscope_issues::Issue;
use queryscope_store::{Is, Query, QueryFilter};

use crate::read::SourceFilters;

/// What filters look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Tags {
    project: String,
    service: Option<String>,
    environment: Option<String>,
    host: String,
    label: Option<String>,
}

impl Tags {
    /// A change of one host is of that host; any other of none.
    pub(super) fn from_change(change: &Change) -> Self {
        Self {
            project: change.project.clone().unwrap_or_default(),
            service: change.service.clone(),
            environment: change.environment.clone(),
            host: change.host.clone().unwrap_or_default(),
            label: change.label.clone(),
        }
    }

    /// An issue of one host is of that host; any other of none.
    pub(super) fn from_issue(issue: &Issue) -> Self {
        Self {
            project: issue.project.clone(),
            service: issue.service.clone(),
            environment: issue.environment.clone(),
            host: issue.host.clone().unwrap_or_default(),
            label: Some(issue.label.clone()),
        }
    }

    pub(super) fn new(query: &Query) -> Self {
        Self {
            project: query.project.clone(),
            service: query.service.clone(),
            environment: query.environment.clone(),
            host: query.host.clone(),
            label: query.label.clone(),
        }
    }
}

/// What a reader asks for; `None` when it asks for all.
pub(super) fn unless_all(asked: SourceFilters) -> Option<QueryFilter> {
    Some(asked.filter()).filter(|filter| *filter != QueryFilter::default())
}

/// Whether a query is among those a filter keeps.
pub(super) fn matches(filter: &QueryFilter, tags: &Tags) -> bool {
    let is = |asked: &Option<Is>, found: Option<&str>| match asked {
        None => true,
        Some(Is::Absent) => found.is_none(),
        Some(Is::Value(value)) => found == Some(value),
    };
    filter.project.as_ref().is_none_or(|project| *project == tags.project)
        && filter.host.as_ref().is_none_or(|host| *host == tags.host)
        && is(&filter.service, tags.service.as_deref())
        && is(&filter.environment, tags.environment.as_deref())
        && is(&filter.label, tags.label.as_deref())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::read;

    fn check(query: &str, expected: bool) {
        let tags = Tags {
            project: "default".into(),
            service: Some("etl".into()),
            environment: None,
            host: "h".into(),
            label: Some("täglich".into()),
        };
        let filter = unless_all(read(Some(query)).expect("valid"));
        assert_eq!(filter.is_none_or(|filter| matches(&filter, &tags)), expected, "{query}");
    }

    #[test]
    fn filters_add_up() {
        for query in ["", "service=etl", "environment=", "host=h&project=default", "label=t%C3%A4glich"] {
            check(query, true);
        }
        for query in ["service=", "service=et", "environment=x", "host=h&project=x", "label=", "host="] {
            check(query, false);
        }
    }

    #[test]
    fn a_long_label_is_named_by_its_whole() {
        let (one, other) = (format!("{}1", "x".repeat(600)), format!("{}2", "x".repeat(600)));
        let label = Some(queryscope_store::short_name(&one));
        let (project, host) = ("default".to_owned(), "h".to_owned());
        let tags = Tags { project, service: None, environment: None, host, label };
        let keeps = |label: &str| {
            let asked = read(Some(&format!("label={label}"))).expect("valid");
            let filter = unless_all(asked).expect("a filter");
            matches(&filter, &tags)
        };
        assert!(keeps(&one) && !keeps(&other));
    }

    #[test]
    fn twice_is_refused() {
        assert!(read::<SourceFilters>(Some("host=a&host=a")).is_err());
    }
}
