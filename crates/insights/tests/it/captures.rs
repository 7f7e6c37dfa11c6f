//! The captured traffic of a real sender, by query.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use flate2::read::MultiGzDecoder;
use queryscope_insights::Latest;
use queryscope_protocol::{Event, EventKind, Profile};

/// The lines of all captures, in the order they came.
pub(crate) struct Captures(Vec<(String, String)>);

impl Captures {
    pub(crate) fn read() -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/captures");
        let files = std::fs::read_dir(&folder).expect("captures");
        let mut names: Vec<String> = files
            .map(|file| file.expect("a file").file_name().into_string().expect("a name"))
            .filter(|name| name.ends_with(".jsonl.gz"))
            .collect();
        names.sort();
        let lines = names.iter().flat_map(|name| {
            let mut text = String::new();
            let file = File::open(folder.join(name)).expect("a file");
            MultiGzDecoder::new(file).read_to_string(&mut text).expect("gzip");
            let capture = name.trim_end_matches(".jsonl.gz").to_owned();
            text.lines().map(|line| (capture.clone(), line.to_owned())).collect::<Vec<_>>()
        });
        Self(lines.collect())
    }

    /// The profiles of queries that ended, each with the number of its capture.
    pub(crate) fn finished(&self) -> Vec<(&str, Profile<'_>)> {
        let finished = self.0.iter().filter_map(|(capture, line)| {
            let event = Event::read(line).expect("an event");
            let ended = matches!(event.kind, EventKind::Finished(..));
            ended.then(|| (capture.as_str(), event.profile().expect("valid").expect("a profile")))
        });
        finished.collect()
    }

    /// The n-th finished profile with a label.
    pub(crate) fn labelled(&self, label: &str, n: usize) -> Profile<'_> {
        let of_label = |profile: &Profile<'_>| profile.label.as_deref() == Some(label);
        let mut found = self.finished().into_iter().map(|(_, profile)| profile).filter(of_label);
        found.nth(n).unwrap_or_else(|| panic!("{label} {n}"))
    }

    /// Running queries after each of their samples.
    pub(crate) fn running(&self) -> Vec<(&str, Profile<'_>)> {
        let mut begun: BTreeMap<String, (Profile<'_>, Latest)> = BTreeMap::new();
        let mut states = Vec::new();
        for (capture, line) in &self.0 {
            let event = Event::read(line).expect("an event");
            let id = event.kind.query_id().map(|id| id.to_string()).unwrap_or_default();
            if matches!(event.kind, EventKind::Started(..)) {
                let profile = event.profile().expect("valid").expect("a profile");
                begun.insert(id, (profile, Latest::default()));
            } else if let Some(sample) = event.sample().expect("valid")
                && let Some((started, latest)) = begun.get_mut(&id)
            {
                latest.take(sample);
                states.push((capture.as_str(), latest.of(started.clone())));
            }
        }
        states
    }
}
