//! Tables as text: CSV, and a JSON object a line.

use chrono::{DateTime, Datelike, Timelike};

use super::super::stream::write_json;
use super::table::{Cell, Column, EncodeError, Encoder, Row};

/// CSV as RFC 4180 has it, with a line of names. An empty cell is no value; an empty text stands in quotes.
pub(super) struct Csv {
    written: Vec<u8>,
}

impl Csv {
    pub(super) fn new(columns: &[Column]) -> Self {
        let names: Vec<&str> = columns.iter().map(|column| column.name).collect();
        Self { written: (names.join(",") + "\r\n").into_bytes() }
    }

    fn cell(&mut self, cell: &Cell) {
        let text = match cell {
            Cell::Empty => return,
            Cell::Text(text) => return self.text(text),
            Cell::Int(number) => number.to_string(),
            Cell::Float(number) => number.to_string(),
            Cell::Bool(is) => is.to_string(),
            Cell::Time(unix_ns) => time(*unix_ns),
        };
        self.written.extend_from_slice(text.as_bytes());
    }

    /// A text that a spreadsheet would take for a formula begins with an apostrophe: labels and errors are of others.
    fn text(&mut self, text: &str) {
        let is_formula = text.starts_with(['=', '+', '-', '@', '\t', '\r']);
        let is_quoted = text.is_empty() || text.contains([',', '"', '\r', '\n']);
        if is_quoted {
            self.written.push(b'"');
        }
        if is_formula {
            self.written.push(b'\'');
        }
        if text.contains('"') {
            self.written.extend_from_slice(text.replace('"', "\"\"").as_bytes());
        } else {
            self.written.extend_from_slice(text.as_bytes());
        }
        if is_quoted {
            self.written.push(b'"');
        }
    }
}

impl Encoder for Csv {
    fn write(&mut self, rows: Vec<Row>) -> Result<(), EncodeError> {
        for row in rows {
            for (at, cell) in row.iter().enumerate() {
                if at > 0 {
                    self.written.push(b',');
                }
                self.cell(cell);
            }
            self.written.extend_from_slice(b"\r\n");
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), EncodeError> {
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }
}

/// A JSON object a line.
pub(super) struct JsonLines {
    columns: &'static [Column],
    written: Vec<u8>,
}

impl JsonLines {
    pub(super) fn new(columns: &'static [Column]) -> Self {
        Self { columns, written: Vec::new() }
    }
}

impl Encoder for JsonLines {
    fn write(&mut self, rows: Vec<Row>) -> Result<(), EncodeError> {
        let out = &mut self.written;
        for row in rows {
            for (at, (column, cell)) in self.columns.iter().zip(&row).enumerate() {
                out.push(if at == 0 { b'{' } else { b',' });
                write_json(&column.name, out);
                out.push(b':');
                match cell {
                    Cell::Empty => out.extend_from_slice(b"null"),
                    Cell::Text(text) => write_json(text, out),
                    Cell::Int(number) => write_json(number, out),
                    Cell::Float(number) => write_json(number, out),
                    Cell::Bool(is) => write_json(is, out),
                    Cell::Time(unix_ns) => write_json(&time(*unix_ns), out),
                }
            }
            out.extend_from_slice(b"}\n");
        }
        Ok(())
    }

    fn finish(&mut self) -> Result<(), EncodeError> {
        Ok(())
    }

    fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.written)
    }
}

/// A point in time as RFC 3339 has it, to the nanosecond.
fn time(unix_ns: i64) -> String {
    let time = DateTime::from_timestamp_nanos(unix_ns);
    let (year, month, day) = (time.year(), time.month(), time.day());
    let (hour, minute, second, ns) = (time.hour(), time.minute(), time.second(), time.nanosecond());
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}.{ns:09}Z")
}

#[cfg(test)]
mod tests {
    use super::super::table::{Kind, column};
    use super::*;

    const COLUMNS: [Column; 4] = [
        column("text", Kind::Text),
        column("number", Kind::Int),
        column("at", Kind::Time),
        column("is", Kind::Bool),
    ];

    fn rows() -> Vec<Row> {
        let row = |text: &str, number: Cell| vec![text.to_owned().into(), number, Cell::Time(1), true.into()];
        vec![
            row("a,\"b\"\n", Cell::Int(-1)),
            row("", Cell::Empty),
            row("=1+1", Cell::Float(1e21)),
            row("-x", 0.1.into()),
            row("it's", Cell::Empty),
        ]
    }

    #[test]
    fn csv_is_quoted_and_no_formula() {
        let mut csv = Csv::new(&COLUMNS);
        csv.write(rows()).expect("written");
        let at = "1970-01-01T00:00:00.000000001Z,true\r\n";
        let expected = [
            "text,number,at,is\r\n".to_owned(),
            format!("\"a,\"\"b\"\"\n\",-1,{at}"),
            format!("\"\",,{at}"),
            format!("'=1+1,1000000000000000000000,{at}"),
            format!("'-x,0.1,{at}"),
            format!("it's,,{at}"),
        ];
        assert_eq!(String::from_utf8(csv.take()).expect("UTF-8"), expected.concat());
        assert!(csv.take().is_empty());
    }

    #[test]
    fn a_line_of_json_is_an_object() {
        let mut json = JsonLines::new(&COLUMNS);
        json.write(rows()).expect("written");
        let text = String::from_utf8(json.take()).expect("UTF-8");
        let lines: Vec<serde_json::Value> =
            text.lines().map(|line| serde_json::from_str(line).expect("JSON")).collect();
        let at = "1970-01-01T00:00:00.000000001Z";
        assert_eq!(lines[0], serde_json::json!({"text": "a,\"b\"\n", "number": -1, "at": at, "is": true}));
        assert_eq!((lines.len(), &lines[1]["number"]), (5, &serde_json::Value::Null));
        assert_eq!(lines[2]["text"], "=1+1", "only CSV is opened as a spreadsheet");
    }
}
