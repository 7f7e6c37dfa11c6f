//! Tables as Parquet: a row group each some thousand rows, so that memory does not grow with the table.

use std::io::{self, Write};
use std::sync::{Arc, Mutex, PoisonError};

use parquet::basic::{Compression, LogicalType, Repetition, TimeUnit, Type as Physical, ZstdLevel};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};

use super::table::{Cell, Column, EncodeError, Encoder, Kind, Row};

/// Rows of a row group: they are held until it is written.
const GROUP_ROWS: usize = 8_192;

/// A table as Parquet.
pub(super) struct Parquet {
    columns: &'static [Column],
    rows: Vec<Row>,
    sink: Sink,
    writer: SerializedFileWriter<Sink>,
}

impl From<ParquetError> for EncodeError {
    fn from(error: ParquetError) -> Self {
        Self::from_error(error)
    }
}

impl Parquet {
    pub(super) fn new(columns: &'static [Column]) -> Result<Self, EncodeError> {
        let sink = Sink::default();
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("queryscope version ", env!("CARGO_PKG_VERSION")).into())
            .build();
        let writer = SerializedFileWriter::new(sink.clone(), schema(columns)?, Arc::new(properties))?;
        Ok(Self { columns, rows: Vec::new(), sink, writer })
    }

    /// Hands what the writer has buffered over to the sink.
    fn flush(&mut self) -> Result<(), EncodeError> {
        self.writer.flush().map_err(EncodeError::from_error)
    }

    /// Writes the first rows that wait as a row group.
    fn write_group(&mut self, rows: usize) -> Result<(), EncodeError> {
        let rest = self.rows.split_off(rows);
        let mut rows = std::mem::replace(&mut self.rows, rest);
        let mut group = self.writer.next_row_group()?;
        let mut at = 0;
        while let Some(mut column) = group.next_column()? {
            let cells = rows.iter_mut().map(|row| std::mem::replace(&mut row[at], Cell::Empty));
            write_column(self.columns[at].kind, cells, &mut column)?;
            column.close()?;
            at += 1;
        }
        group.close()?;
        self.flush()
    }
}

impl Encoder for Parquet {
    fn write(&mut self, mut rows: Vec<Row>) -> Result<(), EncodeError> {
        self.rows.append(&mut rows);
        while self.rows.len() >= GROUP_ROWS {
            self.write_group(GROUP_ROWS)?;
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), EncodeError> {
        if !self.rows.is_empty() {
            self.write_group(self.rows.len())?;
        }
        self.writer.finish()?;
        self.flush()
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut *self.sink.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// What has been written and not taken.
#[derive(Debug, Clone, Default)]
struct Sink(Arc<Mutex<Vec<u8>>>);

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn schema(columns: &[Column]) -> Result<TypePtr, EncodeError> {
    let field = |column: &Column| -> Result<TypePtr, EncodeError> {
        let (physical, logical) = match column.kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Int => (Physical::INT64, None),
            Kind::Float => (Physical::DOUBLE, None),
            Kind::Bool => (Physical::BOOLEAN, None),
            Kind::Time => (Physical::INT64, Some(LogicalType::timestamp(true, TimeUnit::NANOS))),
        };
        let field = Type::primitive_type_builder(column.name, physical)
            .with_repetition(Repetition::OPTIONAL)
            .with_logical_type(logical)
            .build()?;
        Ok(Arc::new(field))
    };
    let fields = columns.iter().map(field).collect::<Result<Vec<_>, _>>()?;
    Ok(Arc::new(Type::group_type_builder("table").with_fields(fields).build()?))
}

fn write_column(
    kind: Kind,
    cells: impl Iterator<Item = Cell>,
    to: &mut SerializedColumnWriter<'_>,
) -> Result<(), EncodeError> {
    match kind {
        Kind::Text => write_values::<ByteArrayType>(to, cells, |cell| match cell {
            Cell::Text(text) => Some(ByteArray::from(text.into_bytes())),
            _ => None,
        }),
        Kind::Int | Kind::Time => write_values::<Int64Type>(to, cells, |cell| match cell {
            Cell::Int(number) | Cell::Time(number) => Some(number),
            _ => None,
        }),
        Kind::Float => write_values::<DoubleType>(to, cells, |cell| match cell {
            Cell::Float(number) => Some(number),
            _ => None,
        }),
        Kind::Bool => write_values::<BoolType>(to, cells, |cell| match cell {
            Cell::Bool(is) => Some(is),
            _ => None,
        }),
    }
}

fn write_values<T: DataType>(
    to: &mut SerializedColumnWriter<'_>,
    cells: impl Iterator<Item = Cell>,
    value: impl Fn(Cell) -> Option<T::T>,
) -> Result<(), EncodeError> {
    let values: Vec<Option<T::T>> = cells.map(value).collect();
    let levels: Vec<i16> = values.iter().map(|value| i16::from(value.is_some())).collect();
    let values: Vec<T::T> = values.into_iter().flatten().collect();
    to.typed::<T>().write_batch(&values, Some(&levels), None)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    use super::super::table::column;
    use super::*;

    const COLUMNS: [Column; 5] = [
        column("text", Kind::Text),
        column("number", Kind::Int),
        column("part", Kind::Float),
        column("is", Kind::Bool),
        column("at", Kind::Time),
    ];

    #[test]
    fn what_is_written_is_read_again_in_groups() {
        let mut table = Parquet::new(&COLUMNS).expect("a table");
        let rows = GROUP_ROWS + 2;
        let mut read = Vec::new();
        for number in 0..rows as i64 {
            let row = match number % 3 {
                0 => vec![Cell::Empty; COLUMNS.len()],
                _ => vec![
                    format!("ä{number}").into(),
                    number.into(),
                    0.5.into(),
                    true.into(),
                    Cell::Time(number),
                ],
            };
            table.write(vec![row]).expect("written");
            read.extend(table.take());
        }
        assert!(read.len() > 10_000, "the first group is given before the end");
        table.finish().expect("written");
        read.extend(table.take());
        let reader = SerializedFileReader::new(Bytes::from(read)).expect("Parquet");
        assert_eq!(reader.num_row_groups(), 2);
        for (number, row) in reader.get_row_iter(None).expect("rows").enumerate() {
            let row = row.expect("a row");
            let fields: Vec<&Field> = row.get_column_iter().map(|(_, field)| field).collect();
            if number % 3 == 0 {
                assert!(fields.iter().all(|field| **field == Field::Null), "{row}");
                continue;
            }
            let number = number as i64;
            assert_eq!(*fields[0], Field::Str(format!("ä{number}")));
            assert_eq!((fields[1], fields[3]), (&Field::Long(number), &Field::Bool(true)));
            assert_eq!(*fields[2], Field::Double(0.5));
            assert!(row.to_string().contains(&number.to_string()));
        }
        let schema = reader.metadata().file_metadata().schema_descr();
        let names: Vec<&str> = schema.columns().iter().map(|column| column.name()).collect();
        assert_eq!(names, COLUMNS.map(|column| column.name));
    }

    #[test]
    fn a_table_without_rows_is_one() {
        let mut table = Parquet::new(&COLUMNS).expect("a table");
        table.finish().expect("written");
        let reader = SerializedFileReader::new(Bytes::from(table.take())).expect("Parquet");
        assert_eq!(reader.metadata().file_metadata().num_rows(), 0);
    }
}
