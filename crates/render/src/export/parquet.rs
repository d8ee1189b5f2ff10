//! Exports all runs as Parquet: the columns of the CSV export, each with a type, for tools that read a directory or
//! bucket of such files.

use super::super::columns::{Kind, Value};
use super::NamedSummary;
use super::sheet::{columns, lines};
use parquet::basic::{Compression, LogicalType, Repetition, Type as Physical};
use parquet::data_type::{BoolType, ByteArray, ByteArrayType, DataType, DoubleType, Int64Type};
use parquet::errors::Result;
use parquet::file::properties::WriterProperties;
use parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use parquet::schema::types::{Type, TypePtr};
use std::sync::Arc;

/// Lines of a group: so many are in memory as cells at the same time.
const LINES: usize = 8192;

type Line = Vec<Option<Value>>;

/// Returns a file with one line per benchmark or skipped case of every run. A cell without a value is null.
///
/// # Errors
/// Returns the errors of the Parquet writer. None is expected, because it writes to memory.
pub(super) fn export(runs: &[NamedSummary]) -> Result<Vec<u8>> {
    in_groups(runs, LINES)
}

fn in_groups(runs: &[NamedSummary], most_lines: usize) -> Result<Vec<u8>> {
    let kinds: Vec<Kind> = columns().map(|(_, kind)| kind).collect();
    let settings = WriterProperties::builder()
        .set_compression(Compression::GZIP(Default::default()))
        .set_created_by(format!("furlong version {}", env!("CARGO_PKG_VERSION")))
        .build();
    let mut writer = SerializedFileWriter::new(Vec::new(), schema()?, Arc::new(settings))?;
    let mut lines = lines(runs);
    loop {
        let group: Vec<Line> = lines.by_ref().take(most_lines).collect();
        if group.is_empty() {
            return writer.into_inner();
        }
        let mut columns = writer.next_row_group()?;
        for (index, kind) in kinds.iter().enumerate() {
            // There is a column for each kind: the schema is made of them.
            let Some(mut column) = columns.next_column()? else { break };
            let cells = group.iter().map(|line| line[index].as_ref());
            write(&mut column, *kind, cells)?;
            column.close()?;
        }
        columns.close()?;
    }
}

fn schema() -> Result<TypePtr> {
    let column = |(name, kind): (String, Kind)| {
        let (physical, logical) = match kind {
            Kind::Text => (Physical::BYTE_ARRAY, Some(LogicalType::String)),
            Kind::Truth => (Physical::BOOLEAN, None),
            Kind::Whole => (Physical::INT64, Some(LogicalType::integer(64, false))),
            Kind::Figure => (Physical::DOUBLE, None),
        };
        let column = Type::primitive_type_builder(&name, physical).with_logical_type(logical);
        column.with_repetition(Repetition::OPTIONAL).build().map(Arc::new)
    };
    let fields = columns().map(column).collect::<Result<_>>()?;
    Type::group_type_builder("rows").with_fields(fields).build().map(Arc::new)
}

fn write<'a>(
    column: &mut SerializedColumnWriter,
    kind: Kind,
    cells: impl Iterator<Item = Option<&'a Value>>,
) -> Result<()> {
    match kind {
        Kind::Text => typed::<ByteArrayType>(column, cells, |value| match value {
            Value::Text(text) => Some(ByteArray::from(text.as_str())),
            _ => None,
        }),
        Kind::Truth => typed::<BoolType>(column, cells, |value| match value {
            Value::Truth(truth) => Some(*truth),
            _ => None,
        }),
        Kind::Whole => typed::<Int64Type>(column, cells, |value| match value {
            Value::Whole(number) => Some(number.cast_signed()),
            _ => None,
        }),
        Kind::Figure => typed::<DoubleType>(column, cells, |value| match value {
            Value::Figure(figure) => Some(*figure),
            _ => None,
        }),
    }
}

/// Writes the existing values, and for each cell whether it has a value.
fn typed<'a, T: DataType>(
    column: &mut SerializedColumnWriter,
    cells: impl Iterator<Item = Option<&'a Value>>,
    value: impl Fn(&Value) -> Option<T::T>,
) -> Result<()> {
    let mut values = Vec::new();
    let mut defined = Vec::new();
    for cell in cells.map(|cell| cell.and_then(&value)) {
        defined.push(i16::from(cell.is_some()));
        values.extend(cell);
    }
    column.typed::<T>().write_batch(&values, Some(&defined), None).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::csv::{sheet, written};
    use bytes::Bytes;
    use furlong_fixture as fixture;
    use parquet::file::reader::{FileReader, SerializedFileReader};
    use parquet::record::Field;

    fn opened(file: Vec<u8>) -> SerializedFileReader<Bytes> {
        SerializedFileReader::new(Bytes::from(file)).unwrap()
    }

    /// Formats a cell as in the CSV export.
    fn read(field: &Field) -> String {
        written(match field {
            Field::Null => None,
            Field::Str(text) => Value::text(text),
            Field::Bool(truth) => Some(Value::Truth(*truth)),
            Field::ULong(number) => Some(Value::Whole(*number)),
            Field::Double(figure) => Some(Value::Figure(*figure)),
            other => panic!("no column is of {other:?}"),
        })
    }

    #[test]
    fn it_says_what_the_sheet_says() {
        let summary = fixture::summary();
        let runs = ["before", "=after|"].map(|name| NamedSummary { name, summary: &summary });
        let each = summary.rows.len() + summary.skipped.len();
        let file = opened(in_groups(&runs, each + 1).unwrap());
        assert_eq!(file.num_row_groups(), 2);
        let header = columns().map(|(name, _)| name).collect();
        let rows = file.get_row_iter(None).unwrap();
        let rows = rows.map(|row| row.unwrap().get_column_iter().map(|(_, field)| read(field)).collect());
        assert_eq!(sheet([header].into_iter().chain(rows)), crate::export_csv(&runs));
    }

    #[test]
    fn a_file_without_runs_has_all_columns() {
        let file = opened(export(&[]).unwrap());
        let found = file.metadata().file_metadata();
        assert_eq!((found.num_rows(), found.schema_descr().num_columns()), (0, columns().count()));
    }
}
