//! Counts and times of ended runs, by service, environment, label and status.

use std::collections::BTreeMap;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::metrics::v1::number_data_point::Value;
use opentelemetry_proto::tonic::metrics::v1::{
    AggregationTemporality, Histogram, HistogramDataPoint, Metric, NumberDataPoint, ResourceMetrics,
    ScopeMetrics, Sum,
};
use queryscope_protocol::{Process, Profile};

use super::attributes::{Attributes, SCHEMA, scope};
use super::spans::{error_type, system};

/// Series in all; runs of further ones are counted together.
const SERIES_MAX: usize = 2000;
/// Upper bounds of the buckets, in seconds: those that the conventions ask for, and longer ones.
const BOUNDS: [f64; 14] =
    [0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1.0, 5.0, 10.0, 30.0, 60.0, 300.0, 900.0, 3600.0];

/// A run as metrics see it.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Run {
    source: Source,
    series: Series,
    seconds: f64,
}

/// What a resource of its own stands for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
struct Source {
    service: Option<String>,
    environment: Option<String>,
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Series {
    One {
        system: String,
        label: Option<String>,
        error: Option<&'static str>,
    },
    /// Those beyond the bound.
    Others,
}

#[derive(Debug, Clone, Default)]
struct Figures {
    runs: u64,
    seconds: f64,
    buckets: [u64; BOUNDS.len() + 1],
}

/// The figures since the start.
#[derive(Debug)]
pub(super) struct Metrics {
    start_unix_ns: i64,
    /// Tells the sums of this collector from those of others.
    instance: String,
    sources: BTreeMap<Source, BTreeMap<Series, Figures>>,
    count: usize,
}

impl Run {
    pub(super) fn of(profile: &Profile<'_>, process: &Process<'_>) -> Self {
        let owned = |text: Option<&str>| text.map(super::attributes::cut);
        Self {
            source: Source {
                service: owned(process.service.as_deref()),
                environment: owned(process.environment.as_deref()),
            },
            series: Series::One {
                system: system(profile).to_owned(),
                label: owned(profile.label.as_deref()),
                error: error_type(profile),
            },
            seconds: profile.wall_ms / 1e3,
        }
    }
}

impl Metrics {
    pub(super) fn new(start_unix_ns: i64) -> Self {
        Self {
            start_unix_ns,
            instance: queryscope_store::random_id().to_string(),
            sources: BTreeMap::new(),
            count: 0,
        }
    }

    pub(super) fn add(&mut self, run: Run) {
        let is_known = self.sources.get(&run.source).is_some_and(|series| series.contains_key(&run.series));
        let (source, series) = if is_known || self.count < SERIES_MAX {
            (run.source, run.series)
        } else {
            (Source { service: None, environment: None }, Series::Others)
        };
        let all = self.sources.entry(source).or_default();
        if !all.contains_key(&series) {
            self.count += 1;
        }
        let figures = all.entry(series).or_default();
        figures.runs += 1;
        figures.seconds += run.seconds;
        figures.buckets[BOUNDS.partition_point(|bound| *bound < run.seconds)] += 1;
    }

    /// All figures, as one request has them.
    pub(super) fn request(&self, now_unix_ns: i64) -> Vec<ResourceMetrics> {
        let resource = |(source, series): (&Source, &BTreeMap<Series, Figures>)| {
            let metrics = self.metrics(series, now_unix_ns);
            let metrics = ScopeMetrics { scope: Some(scope()), metrics, schema_url: SCHEMA.into() };
            let attributes = Attributes::default()
                .text("service.name", Some(source.service.as_deref().unwrap_or("unknown_service")))
                .text("deployment.environment.name", source.environment.as_deref())
                .text("service.instance.id", Some(&self.instance));
            ResourceMetrics {
                resource: Some(attributes.resource()),
                scope_metrics: vec![metrics],
                schema_url: SCHEMA.into(),
            }
        };
        self.sources.iter().map(resource).collect()
    }

    fn metrics(&self, series: &BTreeMap<Series, Figures>, now_unix_ns: i64) -> Vec<Metric> {
        let (start, now) = (self.start_unix_ns.unsigned_abs(), now_unix_ns.unsigned_abs());
        let counts = series.iter().map(|(series, figures)| NumberDataPoint {
            attributes: series.attributes().list(),
            start_time_unix_nano: start,
            time_unix_nano: now,
            value: Some(Value::AsInt(figures.runs.cast_signed())),
            ..NumberDataPoint::default()
        });
        let durations = series.iter().map(|(series, figures)| HistogramDataPoint {
            attributes: series.attributes().list(),
            start_time_unix_nano: start,
            time_unix_nano: now,
            count: figures.runs,
            sum: Some(figures.seconds),
            bucket_counts: figures.buckets.to_vec(),
            explicit_bounds: BOUNDS.to_vec(),
            ..HistogramDataPoint::default()
        });
        let aggregation_temporality = AggregationTemporality::Cumulative.into();
        vec![
            Metric {
                name: "queryscope.runs".into(),
                description: "Runs that ended".into(),
                unit: "{run}".into(),
                data: Some(Data::Sum(Sum {
                    data_points: counts.collect(),
                    aggregation_temporality,
                    is_monotonic: true,
                })),
                ..Metric::default()
            },
            Metric {
                name: "db.client.operation.duration".into(),
                description: "Wall time of runs that ended".into(),
                unit: "s".into(),
                data: Some(Data::Histogram(Histogram {
                    data_points: durations.collect(),
                    aggregation_temporality,
                })),
                ..Metric::default()
            },
        ]
    }
}

impl Series {
    fn attributes(&self) -> Attributes {
        match self {
            Self::One { system, label, error } => Attributes::default()
                .text("db.system.name", Some(system))
                .text("db.query.summary", label.as_deref())
                .text("queryscope.run.status", Some(error.unwrap_or("finished")))
                .text("error.type", *error),
            // The attribute of the SDKs for this case.
            Self::Others => Attributes::default().flag("otel.metric.overflow", true),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(label: &str, seconds: f64) -> Run {
        Run {
            source: Source { service: Some("etl".into()), environment: None },
            series: Series::One { system: "polars".into(), label: Some(label.into()), error: None },
            seconds,
        }
    }

    fn histogram(metrics: &[Metric]) -> &Histogram {
        let Some(Data::Histogram(histogram)) = &metrics[1].data else { panic!("{metrics:?}") };
        histogram
    }

    #[test]
    fn runs_are_summed_in_buckets() {
        let mut metrics = Metrics::new(5);
        for seconds in [0.0005, 0.001, 0.02, 7200.0] {
            metrics.add(run("orders", seconds));
        }
        let request = metrics.request(9);
        let points = &histogram(&request[0].scope_metrics[0].metrics).data_points;
        let [point] = &points[..] else { panic!("{points:?}") };
        assert_eq!((point.count, point.start_time_unix_nano, point.time_unix_nano), (4, 5, 9));
        assert_eq!((point.bucket_counts[0], point.bucket_counts[3], point.bucket_counts[14]), (2, 1, 1));
        assert_eq!(point.bucket_counts.iter().sum::<u64>(), 4);
    }

    #[test]
    fn series_are_bounded() {
        let mut metrics = Metrics::new(0);
        for number in 0..3 * SERIES_MAX {
            metrics.add(run(&number.to_string(), 1.0));
        }
        let request = metrics.request(0);
        let points: Vec<&HistogramDataPoint> = request
            .iter()
            .flat_map(|resource| &histogram(&resource.scope_metrics[0].metrics).data_points)
            .collect();
        assert_eq!(points.len(), SERIES_MAX + 1);
        let others: Vec<_> =
            points.iter().filter(|point| point.attributes[0].key == "otel.metric.overflow").collect();
        assert_eq!(others[0].count, 2 * SERIES_MAX as u64);
    }
}
