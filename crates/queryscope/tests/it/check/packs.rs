//! Recordings in a pack: damage to it is named, and mended.

use std::fs;
use std::path::Path;

use super::check;
use super::folder::Folder;
use crate::common::Service;

/// Where a recording of the pack begins, and its bytes.
fn slice(folder: &Folder, query: &str) -> (usize, usize) {
    let [offset, bytes] = ["pack_offset", "pack_bytes"]
        .map(|column| folder.one::<usize>(&format!("SELECT {column} FROM query WHERE id = {query}")));
    (offset, bytes)
}

/// Asserts that what is said of a damaged copy of a sound folder, that a repair leaves it sound, and whether all could
/// be mended.
fn mend(sound: &Folder, copy: &Path, says: [&str; 2], whole: bool, damage: impl Fn(&Folder)) -> Folder {
    let folder = sound.copy(copy);
    damage(&folder);
    let says = says.map(|says| folder.fill_in(says, |id| id.to_string()));
    let found = check(&folder.data, &[]);
    assert!(found.out.contains(&says[0]), "no {:?} in {found:?}", says[0]);
    let repaired = check(&folder.data, &["--repair"]);
    assert!(repaired.out.contains(&says[1]), "no {:?} in {repaired:?}", says[1]);
    assert_eq!(repaired.out.contains("lost: "), !whole, "{repaired:?}");
    assert_eq!(repaired.status.code(), Some(i32::from(!whole)), "{repaired:?}");
    let again = check(&folder.data, &[]).success();
    assert!(again.ends_with(": sound\n"), "{again}");
    let again = check(&folder.data, &["--repair"]).success();
    assert!(!again.contains("repaired: "), "{again}");
    folder
}

#[test]
fn a_folder_with_a_pack_is_sound_and_served() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::packed(root.path());
    let sound = "6 queries, 9 events, 1 streams, 0 acknowledged events: sound\n";
    assert_eq!(check(&folder.data, &[]).success(), sound);
    let service = Service::start(&folder.data);
    let of_b = |event: &&String| event.contains(&folder.id("$B").to_string());
    let expected: Vec<String> =
        [folder.stream.process()].into_iter().chain(folder.events.iter().filter(of_b).cloned()).collect();
    assert_eq!(service.recording(folder.id("$B")).expect("ended"), expected);
    assert_eq!(check(&folder.data, &[]).success(), sound);
    service.stop();
}

#[test]
fn one_damaged_recording_leaves_the_others_whole() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::packed(root.path());
    let path = sound.pack();
    let name = path.file_name().expect("a name").to_str().expect("text").to_owned();
    let says = [&*format!("{name}: it is damaged: "), "1 whole events are kept of its recording"];
    let folder = mend(&sound, &root.path().join("damaged"), says, false, |folder| {
        let path = folder.pack();
        let mut bytes = fs::read(&path).expect("a pack");
        let (offset, length) = slice(folder, "$A");
        bytes[offset + length - 12] ^= 0x10;
        fs::write(&path, bytes).expect("written");
    });
    assert!(folder.data.join("quarantine").join(&name).exists());
    let service = Service::start(&folder.data);
    assert_eq!(service.recording(folder.id("$B")).expect("ended").len(), 2, "of the same pack");
    service.stop();
}

#[test]
fn damage_around_the_recordings_costs_no_event() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::packed(root.path());
    for (at, from_end) in [(0, 3), (1, 60)] {
        let says = ["it is damaged: ", ": it is in quarantine/"];
        mend(&sound, &root.path().join(at.to_string()), says, true, |folder| {
            let path = folder.pack();
            let mut bytes = fs::read(&path).expect("a pack");
            let at = bytes.len() - from_end;
            bytes[at] ^= 1;
            fs::write(&path, bytes).expect("written");
        });
    }
}

#[test]
fn rows_that_point_elsewhere_are_set_right() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::packed(root.path());
    let cases = [
        (
            "UPDATE query SET pack_offset = pack_offset + 1 WHERE id = $A",
            ["query $A: its recording cannot be read: ", "repaired: query $A: its recording is not "],
        ),
        (
            "UPDATE query SET pack_bytes = pack_bytes - 1 WHERE id = $A",
            ["query $A: its recording cannot be read: ", "repaired: query $A: its recording is not "],
        ),
        (
            "UPDATE query SET sealed_version = 7 WHERE id = $A",
            [
                "query $A: its recording is in a pack that is not known",
                "repaired: query $A: its recording is not ",
            ],
        ),
        (
            "UPDATE pack SET runs = 7",
            ["another number of runs points to it", "packs were pointed to by another number of runs"],
        ),
        (
            "DELETE FROM pack",
            [
                "query $A: its recording is in a pack that is not known",
                "packs were pointed to by another number",
            ],
        ),
    ];
    for (at, (sql, says)) in cases.into_iter().enumerate() {
        mend(&sound, &root.path().join(at.to_string()), says, true, |folder| folder.sql(sql));
    }
}

#[test]
fn a_pack_that_is_gone_is_lost_and_one_that_is_nobodys_is_put_aside() {
    let root = tempfile::tempdir().expect("a folder");
    let sound = Folder::packed(root.path());
    let says = ["query $B: its recording cannot be read: ", "lost: query $B: it has no events"];
    mend(&sound, &root.path().join("gone"), says, false, |folder| {
        fs::remove_file(folder.pack()).expect("deleted");
    });
    let says = ["beef.zip: no query points to it", "no query points to it: it is in quarantine"];
    mend(&sound, &root.path().join("left"), says, true, |folder| {
        let path = folder.pack();
        fs::copy(&path, path.with_file_name("000000000000beef.zip")).expect("copied");
    });
}

#[test]
fn a_backup_has_packs() {
    let root = tempfile::tempdir().expect("a folder");
    let folder = Folder::packed(root.path());
    let backup = root.path().join("backup");
    let [data, to] = [&folder.data, &backup].map(|path| path.to_string_lossy());
    crate::common::queryscope(["backup", &to, "--data", &data]).success();
    assert!(check(&backup, &[]).success().ends_with(": sound\n"));
}
