//! Which queries a reader of `/api/live` follows.

use queryscope_store::{Is, Query, QueryFilter};

use crate::error::ApiError;
use crate::read::{Params, source_filter};

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
    pub(super) fn of(query: &Query) -> Self {
        Self {
            project: query.project.clone(),
            service: query.service.clone(),
            environment: query.environment.clone(),
            host: query.host.clone(),
            label: query.label.clone(),
        }
    }
}

/// Reads the filters of a request; `None` when there are none.
///
/// # Errors
/// 400 when one is given twice.
pub(super) fn read(params: &Params<'_>) -> Result<Option<QueryFilter>, ApiError> {
    let filter = source_filter(params)?;
    Ok(Some(filter).filter(|filter| *filter != QueryFilter::default()))
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

    fn check(query: &str, expected: bool) {
        let tags = Tags {
            project: "default".into(),
            service: Some("etl".into()),
            environment: None,
            host: "h".into(),
            label: Some("täglich".into()),
        };
        let filter = read(&Params::of(Some(query))).expect("valid");
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
            let filter =
                read(&Params::of(Some(&format!("label={label}")))).expect("valid").expect("a filter");
            matches(&filter, &tags)
        };
        assert!(keeps(&one) && !keeps(&other));
    }

    #[test]
    fn twice_is_refused() {
        assert!(read(&Params::of(Some("host=a&host=a"))).is_err());
    }
}
