//! TPC-H: its tables as Parquet files, and its 22 queries with the parameters the benchmark validates with.

mod peak_pool;

use std::fs::File;
use std::path::Path;

use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::error::ArrowError;
use datafusion::parquet::arrow::ArrowWriter;
use datafusion::parquet::file::properties::WriterProperties;
use datafusion::prelude::{ParquetReadOptions, SessionContext};
use tpchgen::generators::{
    CustomerGenerator, LineItemGenerator, NationGenerator, OrderGenerator, PartGenerator, PartSuppGenerator,
    RegionGenerator, SupplierGenerator,
};
use tpchgen_arrow::{
    CustomerArrow, LineItemArrow, NationArrow, OrderArrow, PartArrow, PartSuppArrow, RegionArrow,
    SupplierArrow,
};

pub use peak_pool::PeakPool;

const TABLES: [&str; 8] =
    ["nation", "region", "part", "supplier", "partsupp", "customer", "orders", "lineitem"];

/// The queries, in their order.
pub const QUERIES: [&str; 22] = [
    include_str!("queries/q01.sql"),
    include_str!("queries/q02.sql"),
    include_str!("queries/q03.sql"),
    include_str!("queries/q04.sql"),
    include_str!("queries/q05.sql"),
    include_str!("queries/q06.sql"),
    include_str!("queries/q07.sql"),
    include_str!("queries/q08.sql"),
    include_str!("queries/q09.sql"),
    include_str!("queries/q10.sql"),
    include_str!("queries/q11.sql"),
    include_str!("queries/q12.sql"),
    include_str!("queries/q13.sql"),
    include_str!("queries/q14.sql"),
    include_str!("queries/q15.sql"),
    include_str!("queries/q16.sql"),
    include_str!("queries/q17.sql"),
    include_str!("queries/q18.sql"),
    include_str!("queries/q19.sql"),
    include_str!("queries/q20.sql"),
    include_str!("queries/q21.sql"),
    include_str!("queries/q22.sql"),
];

/// Rows of the largest table at scale 1.
const LINEITEM_ROWS: f64 = 6_000_000.0;
/// Row groups of the largest table, so that a small scale can be read in parallel like a large one.
const ROW_GROUPS: f64 = 16.0;

/// Writes the tables of a scale into a folder, each as one file; those that are there are kept.
///
/// # Errors
/// When a file cannot be written.
pub fn write(folder: &Path, scale: f64) -> anyhow::Result<()> {
    std::fs::create_dir_all(folder)?;
    let rows = (scale * LINEITEM_ROWS / ROW_GROUPS).clamp(1000.0, 1_048_576.0) as usize;
    for table in TABLES {
        let path = folder.join(format!("{table}.parquet"));
        if path.exists() {
            continue;
        }
        let unfinished = folder.join(format!("{table}.unfinished"));
        match table {
            "nation" => write_table(&unfinished, rows, NationArrow::new(NationGenerator::default())),
            "region" => write_table(&unfinished, rows, RegionArrow::new(RegionGenerator::default())),
            "part" => write_table(&unfinished, rows, PartArrow::new(PartGenerator::new(scale, 1, 1))),
            "supplier" => {
                write_table(&unfinished, rows, SupplierArrow::new(SupplierGenerator::new(scale, 1, 1)))
            }
            "partsupp" => {
                write_table(&unfinished, rows, PartSuppArrow::new(PartSuppGenerator::new(scale, 1, 1)))
            }
            "customer" => {
                write_table(&unfinished, rows, CustomerArrow::new(CustomerGenerator::new(scale, 1, 1)))
            }
            "orders" => write_table(&unfinished, rows, OrderArrow::new(OrderGenerator::new(scale, 1, 1))),
            _ => write_table(&unfinished, rows, LineItemArrow::new(LineItemGenerator::new(scale, 1, 1))),
        }?;
        std::fs::rename(&unfinished, &path)?;
    }
    Ok(())
}

fn write_table(
    path: &Path,
    row_group_rows: usize,
    batches: impl IntoIterator<Item = Result<RecordBatch, ArrowError>>,
) -> anyhow::Result<()> {
    let mut writer = None;
    for batch in batches {
        let batch = batch?;
        if writer.is_none() {
            let properties =
                WriterProperties::builder().set_max_row_group_row_count(Some(row_group_rows)).build();
            writer = Some(ArrowWriter::try_new(File::create(path)?, batch.schema(), Some(properties))?);
        }
        if let Some(writer) = &mut writer {
            writer.write(&batch)?;
        }
    }
    if let Some(writer) = writer {
        writer.close()?;
    }
    Ok(())
}

/// Makes the tables of a folder known to a session.
///
/// # Errors
/// When a file is missing, or is no Parquet file.
pub async fn register(ctx: &SessionContext, folder: &Path) -> datafusion::error::Result<()> {
    for table in TABLES {
        let path = folder.join(format!("{table}.parquet"));
        ctx.register_parquet(table, path.to_string_lossy(), ParquetReadOptions::default()).await?;
    }
    Ok(())
}
