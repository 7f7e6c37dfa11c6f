//! `queryscope check --repair`: what follows from the events is made anew, what is lost is named, and the folder
//! is sound.

use std::fs;

use super::check;
use super::folder::Folder;
use crate::common::{Ended, Service};

/// Does damage to copies of a sound folder, repairs them, and asserts what is said of it, whether all could be mended,
/// and that the folder is sound afterwards.
fn mend(cases: &[(&str, &str, bool)], damage: impl Fn(&Folder, &str)) {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::make(root.path());
    for (at, (how, says, whole)) in cases.iter().enumerate() {
        let copy = sound.copy(&root.path().join(at.to_string()));
        damage(&copy, how);
        let found = check(&copy.data, &[]);
        let repaired = check(&copy.data, &["--repair"]);
        let says = copy.fill_in(says, |id| id.to_string());
        assert!(repaired.out.contains(&says), "{how}: no {says:?} in {repaired:?}");
        assert_eq!(repaired.status.code(), Some(i32::from(!whole)), "{how}: {repaired:?}");
        assert!(found.out.contains("problem: ") || found.out.contains("note: "), "{how}: {found:?}");
        assert_eq!(repaired.out.contains("lost: "), !whole, "{how}: {repaired:?}");
        let again = check(&copy.data, &[]).success();
        assert!(again.ends_with(": sound\n"), "{how}: {again}");
        let again = check(&copy.data, &["--repair"]).success();
        assert!(!again.contains("repaired: "), "{how}: {again}");
    }
}

#[test]
fn what_follows_from_the_events_is_made_anew() {
    let other = "(SELECT max(id) FROM term)";
    let row = |set: &str| format!("UPDATE query SET {set} WHERE id = $A");
    let rows = [
        (
            row("label = null, wall_ms = 1, status = 2"),
            "repaired: query $A: label is None, its events say Some(\"slow\"); status is ",
        ),
        (
            row(&format!("service = {other}, engine = {other}, failed = {other}")),
            "repaired: query $A: service is ",
        ),
        (
            row("known = 0, started_unix_ns = 5, rules = null, warnings = 7"),
            "repaired: query $A: known is Guess",
        ),
        (
            row("bytes_read = 4, spilled_bytes = 5, peak_memory_bytes = 6"),
            "repaired: query $A: bytes_read is Some(4), its events say Some(1024); spilled_bytes is Some(5), its \
             events say Some(0); peak_memory_bytes is Some(6), its events say Some(4096)",
        ),
        (row("status = 9"), "repaired: query $A: its row is made anew"),
        (row("label = 999"), "repaired: query $A: its row is made anew"),
        (row("project = host"), "repaired: 1 queries had another project than their stream"),
        (row("sealed_day = sealed_day + 1"), "repaired: query $A: its recording is not "),
        (row("events = 7"), "repaired: query $A: it was given 3 events, not 7"),
        (row("events = 1"), "repaired: query $A: it was given 3 events, not 1"),
        (
            "UPDATE query SET status = 1 WHERE id = $R".into(),
            "repaired: query $R: status is finished, its events say running",
        ),
        ("UPDATE running SET events = 7".into(), "repaired: query $R: it was given 1 events, not 8"),
        ("DELETE FROM running".into(), "repaired: 1 queries ran and were not marked as running"),
        (
            "INSERT INTO running (query, heard_unix_ms) VALUES ($D, 0)".into(),
            "repaired: 1 queries were marked as running that have ended",
        ),
        ("UPDATE chunk SET query = $D WHERE query = $R".into(), "repaired: query $R: chunk "),
        ("UPDATE chunk SET query = 999 WHERE query = $R".into(), "repaired: query $R: chunk "),
        ("UPDATE chunk SET last_seq = 9 WHERE query = $D".into(), "1 events of it are kept"),
        (
            "INSERT INTO chunk (query, first_seq, last_seq, gzip)
             SELECT query, first_seq, last_seq, gzip FROM chunk WHERE query = $D"
                .into(),
            "0 events of it are kept",
        ),
        ("UPDATE seen SET last = 9".into(), ": 1 stored events are marked as seen"),
        ("DELETE FROM seen".into(), ": 9 stored events are marked as seen"),
        ("INSERT INTO seen VALUES (999, 1, 2)".into(), "repaired: 1 seen ranges were of no stream"),
        (
            "INSERT INTO seen SELECT stream, 90, 80 FROM seen".into(),
            "repaired: 1 seen ranges were of no events",
        ),
        ("UPDATE stream SET unkept = 2".into(), ": what no query keeps of it is counted anew"),
        ("UPDATE stream SET project = 999".into(), "repaired: 1 streams had a project without a name"),
        ("DELETE FROM stream".into(), ": its row is made anew, as the recording of query "),
    ];
    let cases: Vec<(&str, &str, bool)> = rows.iter().map(|(sql, says)| (sql.as_str(), *says, true)).collect();
    mend(&cases, Folder::sql);
}

#[test]
fn what_is_lost_is_named_and_put_aside() {
    let cases = [
        ("DELETE FROM chunk WHERE query = $A", "lost: query $A: 1 of the 3 events it was given", false),
        (
            "DELETE FROM chunk WHERE id = (SELECT max(id) FROM chunk WHERE query = $C)",
            "lost: query $C: 1 of the 2 events it was given",
            false,
        ),
        (
            "DELETE FROM chunk WHERE query = $D",
            "lost: query $D: it has no events: its row is in quarantine/$D-row.json",
            false,
        ),
        (
            "DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R",
            ": 1 events of it are seen and of no query that is there",
            false,
        ),
        (
            "DELETE FROM running; DELETE FROM query WHERE id = $R",
            " is of no query that is there: it is in quarantine/chunk-",
            false,
        ),
        (
            "INSERT INTO seen SELECT stream, last + 1, last + 2 FROM seen",
            ": 2 events of it are seen and of no query",
            false,
        ),
        (
            "UPDATE chunk SET gzip = CAST(substr(gzip, 1, length(gzip) - 3) || X'010101' AS BLOB) WHERE query = $D",
            "lost: query $D: 1 of the 1 events it was given",
            false,
        ),
    ];
    mend(&cases, |folder, sql| {
        folder.sql(sql);
    });
}

#[test]
fn what_is_whole_of_a_damaged_recording_is_kept() {
    let cases = [
        ("first event", "0 whole events of it are kept", false),
        ("process event", "2 whole events of it are kept", true),
        ("of another query", "0 whole events of it are kept", false),
        ("deleted", "lost: query $A: 2 of the 3 events it was given", false),
        ("cut off", "whole events of it are kept", false),
        ("orphan", "no query points to it: it is in quarantine", true),
    ];
    mend(&cases, |folder, how| {
        let path = folder.recording("$A");
        let mut bytes = fs::read(&path).expect("a recording");
        let process = queryscope_store::Packer::new().pack([folder.stream.process().as_bytes()]).len();
        match how {
            "first event" => bytes[process + 20] ^= 0x10,
            "process event" => bytes[process / 2] ^= 0x10,
            "of another query" => bytes = fs::read(folder.recording("$B")).expect("a recording"),
            "deleted" => return fs::remove_file(path).expect("deleted"),
            "cut off" => bytes.truncate(bytes.len() - 1),
            _ => {
                let orphan = path.with_file_name(format!("{}.jsonl.gz", uuid::Uuid::nil()));
                fs::write(orphan, &bytes).expect("written");
            }
        }
        fs::write(path, bytes).expect("written");
    });
}

#[test]
fn a_repaired_folder_is_served_and_its_quarantine_has_what_was_taken() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let path = folder.recording("$A");
    let mut bytes = fs::read(&path).expect("a recording");
    bytes[30] ^= 0x10;
    fs::write(&path, &bytes).expect("written");
    check(&folder.data, &["--repair"]).success();
    let name = path.file_name().expect("a name");
    assert_eq!(fs::read(folder.data.join("quarantine").join(name)).expect("kept"), bytes);
    assert!(!path.exists());

    let service = Service::start_with(&folder.data, &["--silent-after", "200ms"]);
    let of_a = |event: &&String| event.contains(&folder.id("$A").to_string());
    let expected: Vec<String> =
        [folder.stream.process()].into_iter().chain(folder.events.iter().filter(of_a).cloned()).collect();
    assert_eq!(service.recording(folder.id("$A")).expect("ended"), expected);
    assert_eq!(service.post(&folder.stream.batch(&folder.events)).counts(), (0, 9), "what was seen is seen");
    crate::common::wait_for("the end of runs", || service.queries("status=running").is_empty().then_some(()));
    service.wait_until_sealed();
    service.stop();
    assert!(check(&folder.data, &[]).success().ends_with(": sound\n"));
}

/// Damages a folder, repairs it, and judges it by all that was acknowledged.
fn repaired_and_judged(folder: &Folder, damage: impl Fn(&Folder)) -> Ended {
    let path = folder.data.with_extension("acknowledged");
    fs::write(&path, folder.stream.batch(&folder.events)).expect("written");
    damage(folder);
    let arguments = ["--acknowledged", &path.to_string_lossy()];
    check(&folder.data, &arguments).failure(1);
    check(&folder.data, &["--repair"]).failure(1);
    check(&folder.data, &arguments)
}

/// Today, as the repair notes it.
fn today() -> String {
    let now = std::time::SystemTime::UNIX_EPOCH
        + std::time::Duration::from_nanos(
            crate::common::events::Stream::new().started_unix_ns.unsigned_abs(),
        );
    humantime::format_rfc3339(now).to_string()[..10].to_owned()
}

#[test]
fn what_a_repair_found_lost_stays_lost_for_who_was_told_it_is_stored() {
    let cases: [(&str, &str, u64); 4] = [
        // Of a query whose events are all gone, and its row with them.
        (
            "recording of $B",
            "lost: query $B: 1 acknowledged events are lost, as the repair of TODAY recorded",
            1,
        ),
        ("DELETE FROM chunk WHERE query = $A", "lost: query $A: 1 acknowledged events are lost", 1),
        ("recording of $A", "lost: query $A: 2 acknowledged events are lost", 2),
        // Of a query nobody knows any more.
        (
            "DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R",
            "lost: query $R: 1 acknowledged events are lost, as the repair of TODAY recorded",
            1,
        ),
    ];
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::make(root.path());
    for (at, (how, says, lost)) in cases.iter().enumerate() {
        let folder = sound.copy(&root.path().join(at.to_string()));
        let before = today();
        let judged = repaired_and_judged(&folder, |folder| match how.strip_prefix("recording of ") {
            Some(query) => fs::remove_file(folder.recording(query)).expect("deleted"),
            None => folder.sql(how),
        });
        // It may be midnight.
        let day = [before, today()].into_iter().find(|day| judged.out.contains(day)).expect("the day");
        let says = folder.fill_in(&says.replace("TODAY", &day), |id| id.to_string());
        assert!(judged.out.contains(&says), "{how}: no {says:?} in {judged:?}");
        let total = format!(
            "9 acknowledged events ({lost} lost, recorded by the repair of {day}): sound but for these\n"
        );
        assert!(judged.out.ends_with(&total), "{how}: {judged:?}");
        assert!(!judged.out.contains("deleted") && !judged.out.contains("problem"), "{how}: {judged:?}");
        judged.failure(1);
        // It is known, and no damage to what is there.
        let again = check(&folder.data, &[]).success();
        assert!(again.contains("note: ") && again.contains(" lost, "), "{how}: {again}");
        assert!(again.ends_with(": sound\n"), "{how}: {again}");
        // A copy has it, too.
        let backup = folder.data.with_extension("backup");
        let [data, to] = [&folder.data, &backup].map(|path| path.to_string_lossy());
        crate::common::queryscope(["backup", &to, "--data", &data]).success();
        let path = folder.data.with_extension("acknowledged");
        let judged = check(&backup, &["--acknowledged", &path.to_string_lossy(), "--json"]);
        let last = judged.out.lines().last().expect("the totals");
        let totals: serde_json::Value = serde_json::from_str(last).expect("JSON");
        assert_eq!((&totals["acknowledged_lost"], &totals["deleted"]), (&(*lost).into(), &0.into()), "{how}");
        judged.failure(1);
    }
}

#[test]
fn what_is_lost_and_what_is_deleted_are_told_apart() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    // As retention deletes.
    let delete = |query: &str| {
        folder.sql(&format!(
            "UPDATE stream SET unkept = unkept + (SELECT events FROM query WHERE id = {query});
             DELETE FROM chunk WHERE query = {query}; DELETE FROM loss WHERE query = {query};
             DELETE FROM query WHERE id = {query}"
        ));
    };
    delete("$D");
    let judged = repaired_and_judged(&folder, |folder| {
        fs::remove_file(folder.recording("$A")).expect("deleted");
        fs::remove_file(folder.recording("$B")).expect("deleted");
    });
    assert!(judged.out.contains("9 acknowledged events (3 lost, recorded by the repair of "), "{judged:?}");
    assert!(judged.out.contains("; 1 deleted since)"), "{judged:?}");
    // What was lost before retention came is lost.
    delete("$A");
    let path = folder.data.with_extension("acknowledged");
    let arguments = ["--acknowledged", &path.to_string_lossy()];
    let judged = check(&folder.data, &arguments);
    assert!(judged.out.contains("9 acknowledged events (3 lost, recorded by the repair of "), "{judged:?}");
    assert!(judged.out.contains("; 2 deleted since)"), "{judged:?}");
    // Nothing else is excused by it.
    folder.sql("DELETE FROM chunk WHERE query = $R; DELETE FROM running; DELETE FROM query WHERE id = $R");
    let judged = check(&folder.data, &arguments);
    let says = format!("query {}: event 8 is acknowledged and not stored: {{", folder.id("$R"));
    assert!(judged.out.contains(&says), "{judged:?}");
}

#[test]
fn a_folder_in_use_is_not_repaired() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    folder.sql("UPDATE query SET warnings = 9 WHERE id = $A");
    let service = Service::start(&folder.data);
    let refused = check(&folder.data, &["--repair"]);
    assert!(refused.err.contains("is in use by a service: stop it to repair what it keeps"), "{refused:?}");
    refused.failure(2);
    assert_eq!(folder.one::<i64>("SELECT warnings FROM query WHERE id = $A"), 9);
    service.stop();
    assert!(check(&folder.data, &["--repair"]).success().ends_with(": sound after 1 repairs, 0 losses\n"));
}

#[test]
fn recordings_that_are_elsewhere_are_not_taken_for_lost() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::make(root.path());
    let [recordings, away] = ["recordings", "away"].map(|name| folder.data.join(name));
    fs::rename(&recordings, &away).expect("moved");
    // As when the disk that has them is not mounted.
    let refused = check(&folder.data, &["--repair"]);
    assert!(refused.err.contains("is empty: is its disk there?"), "{refused:?}");
    refused.failure(2);
    // Another folder is repaired as the own one is.
    fs::remove_dir_all(&recordings).expect("made by the check");
    fs::write(folder.data.join("recordings.at"), away.to_str().expect("text")).expect("written");
    folder.sql("UPDATE query SET warnings = 9 WHERE id = $A");
    assert!(check(&folder.data, &["--repair"]).success().ends_with(": sound after 1 repairs, 0 losses\n"));
    // What is in a bucket is left alone, and so is what would follow from it.
    folder.sql("UPDATE query SET warnings = 9 WHERE id = $A");
    fs::write(folder.data.join("recordings.at"), "s3://bucket/prefix").expect("written");
    let refused = check(&folder.data, &["--repair"]);
    assert!(refused.err.contains("nothing is repaired"), "{refused:?}");
    refused.failure(2);
    assert_eq!(folder.one::<i64>("SELECT warnings FROM query WHERE id = $A"), 9);
}
