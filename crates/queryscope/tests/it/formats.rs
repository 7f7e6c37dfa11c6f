//! Data folders of every format there was are served, judged and repaired.

use std::path::{Path, PathBuf};

use crate::common::{Service, copy, queryscope, wait_for};

/// Formats before the one of this version.
const EARLIER: [usize; 18] = [1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18];
const FORMAT: usize = 19;

/// A copy of a data folder in the tree.
fn data_of(format: usize, to: &Path) -> PathBuf {
    let from =
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../store-sqlite/testdata/format-{format}"));
    let to = to.join(format!("format-{format}"));
    copy(&from, &to);
    to
}

#[test]
fn a_folder_of_every_format_is_served_and_sound() {
    let root = tempfile::tempdir().expect("a folder");
    for format in EARLIER.into_iter().chain([FORMAT]) {
        let data = data_of(format, root.path());
        let service = Service::start_with(&data, &["--silent-after", "200ms"]);
        wait_for("running queries to fall silent", || {
            service.queries("status=running").is_empty().then_some(())
        });
        assert_eq!(service.queries("").len(), 7, "format {format}");
        let recording = service.recording("01a1faa8-0000-7000-8000-000000000001").expect("ended");
        assert_eq!(recording.len(), 5, "format {format}: {recording:?}");
        assert!(recording[1].contains("täglich") && recording[4].contains(r#""seq":14,"#), "format {format}");
        service.wait_until_sealed();
        service.stop();
        let checked = queryscope(["check".as_ref(), "--data".as_ref(), data.as_os_str()]).success();
        assert_eq!(
            checked, "7 queries, 13 events, 2 streams, 0 acknowledged events: sound\n",
            "format {format}"
        );
    }
}

#[test]
fn a_check_leaves_an_earlier_format_as_it_is_and_a_repair_brings_it_up_to_date() {
    let root = tempfile::tempdir().expect("a folder");
    for format in EARLIER {
        let data = data_of(format, root.path());
        let check = |more: &[&str]| {
            let data = data.to_string_lossy();
            queryscope(["check", "--data", &data].iter().chain(more))
        };
        let refused = check(&[]).failure(2);
        assert!(refused.contains(&format!("has format {format}, this version has {FORMAT}: ")), "{refused}");
        assert!(check(&["--repair"]).success().ends_with(": sound\n"));
        assert!(check(&[]).success().ends_with(": sound\n"));
    }
}

#[test]
fn a_folder_of_a_later_version_is_refused() {
    let root = tempfile::tempdir().expect("a folder");
    let data = data_of(FORMAT, root.path());
    let db = rusqlite::Connection::open(data.join("queryscope.db")).expect("the database");
    db.pragma_update(None, "user_version", 99).expect("set");
    drop(db);
    let data = data.to_string_lossy();
    let says =
        format!("queryscope.db has format 99, this version knows up to {FORMAT}: use a newer queryscope");
    let refused = queryscope(["serve", "--bind", "127.0.0.1:0", "--data", &data]).failure(1);
    assert!(refused.contains(&says), "{refused}");
    let refused = queryscope(["check", "--data", &data]).failure(2);
    assert!(refused.contains(&says), "{refused}");
}
