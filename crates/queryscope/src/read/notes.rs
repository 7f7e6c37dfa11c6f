//! `queryscope notes`: what people wrote about queries, the last moment first.

use anyhow::Result;
use serde::Deserialize;
use serde_json::Value;

use super::args::NotesArgs;
use super::screen::{Screen, print, print_json};
use super::service::Service;
use super::style::{STRONG, painted};
use super::text::{block, name};
use super::{Found, pages};

/// Notes on a page of the API.
const PAGE: usize = 100;

/// A note as the API gives it.
#[derive(Debug, Deserialize)]
struct Note {
    service: Option<String>,
    label: String,
    unix_ns: i64,
    by: Option<String>,
    text: String,
    edited_unix_ns: Option<i64>,
    edited_by: Option<String>,
}

pub(crate) async fn run(args: &NotesArgs, screen: Screen) -> Result<Found> {
    let service = Service::find(&args.service_at)?;
    let wanted = args.limit as usize;
    let optional = [("label", &args.label), ("project", &args.project), ("service", &args.service)];
    let mut params: Vec<_> =
        optional.into_iter().filter_map(|(name, value)| Some((name, value.clone()?))).collect();
    params.push(("limit", wanted.min(PAGE).to_string()));
    let found = pages(&service, "/api/notes", params, "notes", wanted).await?;
    let is_there = Found::when(!found.entries.is_empty());
    if args.format.json {
        print_json(&Value::Array(found.entries))?;
        return Ok(is_there);
    }
    let notes: Vec<Note> = found.entries.iter().map(Note::deserialize).collect::<Result<_, _>>()?;
    let mut text = notes.iter().map(|note| said(note, screen)).collect::<Vec<_>>().join("\n");
    if notes.is_empty() {
        text = "No note was written\n".into();
    } else if found.is_cut {
        text += &screen.soft(&format!("There are more than these {wanted}: --limit shows them"), "");
    }
    print(&text)?;
    Ok(is_there)
}

/// Whose note it is and about when, and the text as it was written.
fn said(note: &Note, screen: Screen) -> String {
    let of = note.service.as_deref().map(|service| format!(" of {}", name(service))).unwrap_or_default();
    let by = note.by.as_deref().map_or("somebody".into(), name);
    let editor = note.edited_by.as_deref().map(|by| format!(" by {}", name(by))).unwrap_or_default();
    let edited = note.edited_unix_ns.map(|at| format!(", edited {}{editor}", screen.times.at(at)));
    let edited = edited.unwrap_or_default();
    let head = format!("{}, {}{of}, by {by}{edited}", screen.times.at(note.unix_ns), name(&note.label));
    let lines = block(&note.text).into_iter().map(|line| screen.paragraph(&line, "  "));
    painted(&head, STRONG) + "\n" + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::screen::Reader;
    use crate::read::units::{Times, Zone};

    #[test]
    fn a_note_says_whose_it_is_and_keeps_its_lines() {
        let note = Note {
            service: Some("etl".into()),
            label: "orders\u{1b}[2J".into(),
            unix_ns: 0,
            by: None,
            text: "The new join\nbegan".into(),
            edited_unix_ns: Some(30_000_000_000),
            edited_by: Some("Eve".into()),
        };
        let times = Times { now_unix_ns: 60_000_000_000, zone: Zone::Utc };
        let screen = Screen { columns: Some(80), times, reader: Reader::Agent };
        let text = said(&note, screen);
        assert!(text.ends_with("\n  The new join\n  began\n"), "{text:?}");
        assert!(
            text.contains(" of etl, by somebody, edited ")
                && text.contains(" by Eve")
                && !text.contains("\u{1b}[2J"),
            "{text:?}"
        );
    }
}
