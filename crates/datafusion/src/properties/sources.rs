//! Where rows come from, and where they go.

use std::collections::HashMap;

use datafusion::arrow::datatypes::Schema;
use datafusion::datasource::memory::MemorySourceConfig;
use datafusion::datasource::physical_plan::{FileGroup, FileScanConfig, FileSinkConfig};
use datafusion::datasource::sink::DataSinkExec;
use datafusion::datasource::source::DataSourceExec;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::memory::LazyMemoryExec;
use datafusion::physical_plan::streaming::StreamingTableExec;
use queryscope_client::protocol::Role;

use super::{Details, Files};
use crate::expressions::{Predicate, column_names};

pub(super) fn describe(node: &dyn ExecutionPlan) -> Option<Details> {
    if let Some(scan) = node.downcast_ref::<DataSourceExec>() {
        if let Some(files) = scan.data_source().downcast_ref::<FileScanConfig>() {
            return Some(file_scan(files, &scan.schema()));
        }
        return scan.data_source().downcast_ref::<MemorySourceConfig>().map(memory);
    }
    if let Some(stream) = node.downcast_ref::<StreamingTableExec>() {
        let (columns, table) = (names(stream.projected_schema()), names(stream.partition_schema()));
        let (limit, endless) = (stream.limit(), stream.is_infinite().then_some(true));
        return Some(Details::new(move |properties| {
            properties
                .list("projection", columns.iter().cloned())
                .list("table_columns", table.iter().cloned())
                .add("limit", limit)
                .add("unbounded", endless);
        }));
    }
    if let Some(lazy) = node.downcast_ref::<LazyMemoryExec>() {
        let columns = names(&lazy.schema());
        return Some(Details::new(move |properties| {
            properties.list("projection", columns.iter().cloned());
        }));
    }
    node.downcast_ref::<DataSinkExec>().map(sink)
}

fn names(schema: &Schema) -> Vec<String> {
    schema.fields().iter().map(|field| field.name().clone()).collect()
}

fn file_scan(scan: &FileScanConfig, output: &Schema) -> Details {
    let mut sizes: HashMap<&str, u64> = HashMap::new();
    for file in scan.file_groups.iter().flat_map(FileGroup::iter) {
        sizes.insert(file.object_meta.location.as_ref(), file.object_meta.size);
    }
    let files = Files { count: sizes.len() as u64, bytes: sizes.values().sum() };
    let first = scan.file_groups.iter().flat_map(FileGroup::iter).next();
    let first =
        first.map(|file| location(scan.object_store_url.as_str(), file.object_meta.location.as_ref()));
    let format = scan.file_source().file_type().to_owned();
    let table = std::sync::Arc::clone(scan.file_source().table_schema().table_schema());
    let columns = match scan.file_source().projection() {
        Some(projection) => column_names(&table, projection.column_indices()).collect(),
        None => names(output),
    };
    let predicate = scan.file_source().filter().as_ref().map(Predicate::of);
    let (limit, groups) = (scan.limit, scan.file_groups.len());
    let mut details = Details::new(move |properties| {
        properties
            .add("table", first.clone())
            .add("files", files.count)
            .add("file_groups", groups)
            .add("format", format.clone())
            .list("projection", columns.iter().cloned())
            .list("table_columns", names(&table));
        if let Some(predicate) = &predicate {
            predicate.render(properties);
        }
        properties.add("limit", limit);
    });
    details.files = Some(files);
    details
}

/// The address of a file; one of the local machine as its path.
fn location(store: &str, path: &str) -> String {
    match store.strip_prefix("file://") {
        Some(_) => format!("/{path}"),
        None => format!("{}/{path}", store.trim_end_matches('/')),
    }
}

fn memory(memory: &MemorySourceConfig) -> Details {
    let table = memory.original_schema();
    let columns = memory.projection().clone();
    let limit = datafusion::datasource::source::DataSource::fetch(memory);
    Details::new(move |properties| {
        let columns = columns.iter().flat_map(|columns| column_names(&table, columns.iter().copied()));
        properties.list("projection", columns).list("table_columns", names(&table)).add("limit", limit);
    })
    .role(Role::Dataframe)
}

fn sink(sink: &DataSinkExec) -> Details {
    let Some(config) = file_sink(sink) else {
        return Details::new(|properties| {
            properties.add("destination", "memory");
        });
    };
    let (destination, format) = (config.original_url.clone(), config.file_extension.clone());
    Details::new(move |properties| {
        properties.add("destination", destination.clone()).add("format", format.clone());
    })
}

fn file_sink(sink: &DataSinkExec) -> Option<&FileSinkConfig> {
    use datafusion::datasource::file_format::csv::CsvSink;
    use datafusion::datasource::file_format::json::JsonSink;
    use datafusion::datasource::file_format::parquet::ParquetSink;
    use datafusion::datasource::physical_plan::FileSink;

    let sink = sink.sink();
    let csv = sink.downcast_ref::<CsvSink>().map(FileSink::config);
    let json = || sink.downcast_ref::<JsonSink>().map(FileSink::config);
    let parquet = || sink.downcast_ref::<ParquetSink>().map(FileSink::config);
    csv.or_else(json).or_else(parquet)
}
