//! What `strace` writes, as calls.
//!
//! A line is `PID TIME NAME(ARGUMENTS) = RESULT`; one that another thread's line interrupts comes in two parts,
//! `NAME(ARGUMENTS <unfinished ...>` and `<... NAME resumed>ARGUMENTS) = RESULT`. With `-xx` every text and every
//! path is made of `\xNN` alone, so that brackets, quotes and commas in them cannot be mistaken.

use std::collections::HashMap;

use anyhow::{Context, Result};

/// A system call. Calls are given in the order in which they ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Call {
    /// Lines before the one on which it began, and on which it ended; `None` when it never did.
    pub(crate) begun: usize,
    pub(crate) ended: Option<usize>,
    /// When it began (Unix microseconds).
    pub(crate) unix_us: i64,
    pub(crate) thread: u32,
    pub(crate) name: String,
    pub(crate) arguments: Vec<Argument>,
    /// Its result; `None` when it failed or never ended.
    pub(crate) result: Option<i64>,
    /// Whether the tracer made the result up.
    pub(crate) injected: bool,
}

/// An argument, and what the tracer says of it.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Argument {
    /// As it was written, without texts and paths.
    pub(crate) plain: String,
    /// The bytes of a text, or of all texts of a list one after the other.
    pub(crate) bytes: Vec<u8>,
    /// The path of a descriptor.
    pub(crate) path: Option<String>,
    /// Whether the tracer left out the end of a text.
    pub(crate) cut: bool,
}

impl Call {
    /// The path of the descriptor that is its first argument.
    pub(crate) fn file(&self) -> Option<&str> {
        self.arguments.first()?.path.as_deref()
    }

    /// What to say of it.
    pub(crate) fn name_and_place(&self) -> String {
        let file = self.file().map(Into::into).or_else(|| self.path(0)).unwrap_or_default();
        format!("{} of {file} (line {} of the trace)", self.name, self.begun + 1)
    }

    /// The text of an argument as a path.
    pub(crate) fn path(&self, argument: usize) -> Option<String> {
        let bytes = &self.arguments.get(argument)?.bytes;
        String::from_utf8(bytes.clone()).ok().filter(|path| !path.is_empty())
    }

    /// An argument as a number.
    pub(crate) fn number(&self, argument: usize) -> Option<u64> {
        self.arguments.get(argument)?.plain.trim().parse().ok()
    }
}

/// Reads a trace. Lines of signals and ends are passed over.
pub(crate) fn calls(trace: &str) -> Result<Vec<Call>> {
    let mut calls = Vec::new();
    let mut open: HashMap<u32, (usize, i64, String)> = HashMap::new();
    for (at, line) in trace.lines().enumerate() {
        let (thread, time, rest) = head(line).with_context(|| format!("no line of a trace: {line:.200}"))?;
        if let Some(begin) = rest.strip_suffix(" <unfinished ...>") {
            open.insert(thread, (at, time, begin.to_owned()));
        } else if rest.starts_with("<... ") {
            let end = rest.split_once(" resumed>").map_or("", |(_, end)| end);
            if let Some((begun, time, begin)) = open.remove(&thread) {
                calls.extend(call(begun, Some(at), time, thread, &format!("{begin}{end}")));
            }
        } else if !rest.starts_with(['-', '+']) {
            calls.extend(call(at, Some(at), time, thread, rest));
        }
    }
    let mut unended: Vec<Call> = open
        .into_iter()
        .filter_map(|(thread, (begun, time, begin))| {
            call(begun, None, time, thread, &format!("{begin}) = ?"))
        })
        .collect();
    unended.sort_by_key(|call| call.begun);
    calls.extend(unended);
    Ok(calls)
}

fn head(line: &str) -> Option<(u32, i64, &str)> {
    let (thread, rest) = line.split_once(' ')?;
    let (time, rest) = rest.trim_start().split_once(' ')?;
    let (seconds, micros) = time.split_once('.')?;
    let unix_us = seconds.parse::<i64>().ok()? * 1_000_000 + micros.parse::<i64>().ok()?;
    Some((thread.parse().ok()?, unix_us, rest))
}

fn call(begun: usize, ended: Option<usize>, unix_us: i64, thread: u32, text: &str) -> Option<Call> {
    let (name, rest) = text.split_once('(')?;
    let (inside, result) = rest.rsplit_once(" = ")?;
    let inside = inside.trim_end().strip_suffix(')')?;
    let number: String = result.chars().take_while(|c| *c == '-' || c.is_ascii_digit()).collect();
    Some(Call {
        begun,
        ended,
        unix_us,
        thread,
        name: name.to_owned(),
        arguments: split(inside).into_iter().map(argument).collect(),
        result: number.parse().ok().filter(|number| *number >= 0),
        injected: result.contains("(INJECTED"),
    })
}

/// Cuts at commas outside of lists.
fn split(inside: &str) -> Vec<&str> {
    let (mut parts, mut depth, mut from) = (Vec::new(), 0, 0);
    for (at, byte) in inside.bytes().enumerate() {
        match byte {
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth -= 1,
            b',' if depth == 0 => {
                parts.push(inside[from..at].trim());
                from = at + 1;
            }
            _ => {}
        }
    }
    parts.push(inside[from..].trim());
    parts
}

fn argument(text: &str) -> Argument {
    let mut argument = Argument::default();
    let mut rest = text;
    while let Some(at) = rest.find(['"', '<']) {
        argument.plain.push_str(&rest[..at]);
        let (close, is_text) = if rest.as_bytes()[at] == b'"' { ('"', true) } else { ('>', false) };
        let Some(end) = rest[at + 1..].find(close).map(|end| at + 1 + end) else { break };
        let bytes = unescaped(&rest[at + 1..end]);
        rest = &rest[end + 1..];
        if is_text {
            argument.bytes.extend(bytes);
            argument.cut |= rest.starts_with("...");
        } else {
            argument.path = String::from_utf8(bytes).ok();
        }
    }
    argument.plain.push_str(rest);
    argument
}

fn unescaped(text: &str) -> Vec<u8> {
    if text.contains('\\') {
        text.split("\\x").skip(1).filter_map(|hex| u8::from_str_radix(hex.get(..2)?, 16).ok()).collect()
    } else {
        text.as_bytes().to_vec()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_is_read_with_its_texts_and_paths() {
        let trace = r#"7 1.000002 pwrite64(3</a>, "\x61\x2c\x29"..., 3, 4096) = 3
7 1.000003 writev(4<socket:[9]>, [{iov_base="\x61", iov_len=1}, {iov_base="\x62", iov_len=1}], 2) = -1 EIO (Input/output error) (INJECTED)
"#;
        let calls = calls(trace).expect("a trace");
        assert_eq!((calls[0].file(), calls[0].result, calls[0].number(3)), (Some("/a"), Some(3), Some(4096)));
        assert_eq!((&calls[0].arguments[1].bytes[..], calls[0].arguments[1].cut), (&b"a,)"[..], true));
        assert_eq!(
            (calls[1].result, calls[1].injected, &calls[1].arguments[1].bytes[..]),
            (None, true, &b"ab"[..])
        );
        assert_eq!(calls[0].unix_us, 1_000_002);
    }

    #[test]
    fn a_call_in_two_parts_ends_where_its_second_part_is() {
        let trace = "1 1.5 fdatasync(3<\\x2f\\x61> <unfinished ...>\n\
            2 1.6 rename(\"\\x62\", \"\\x63\") = 0\n\
            1 1.7 <... fdatasync resumed>) = 0\n\
            2 1.8 fsync(5</b> <unfinished ...>\n\
            2 1.9 +++ killed by SIGKILL +++\n";
        let calls = calls(trace).expect("a trace");
        let order: Vec<_> =
            calls.iter().map(|call| (call.name.as_str(), call.begun, call.ended, call.result)).collect();
        assert_eq!(
            order,
            [("rename", 1, Some(1), Some(0)), ("fdatasync", 0, Some(2), Some(0)), ("fsync", 3, None, None)]
        );
        assert_eq!((calls[1].file(), calls[0].path(1).as_deref()), (Some("/a"), Some("c")));
    }
}
