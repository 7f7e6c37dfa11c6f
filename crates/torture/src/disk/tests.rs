use rand::SeedableRng;
use rand::rngs::StdRng;

use super::*;
use crate::trace::calls;

/// A disk after a trace of these calls, one a line; `/r` is an empty root.
fn disk(lines: &[&str]) -> Disk {
    let mut disk = Disk {
        root: "/r".into(),
        nodes: vec![Node::Folder(Folder::default())],
        live: BTreeMap::from([("/r".into(), 0)]),
        ignored: &["-shm"],
        stats: Stats::default(),
    };
    let trace: Vec<String> = lines.iter().map(|line| format!("1 1.0 {line}")).collect();
    for call in calls(&trace.join("\n")).expect("a trace") {
        disk.apply(&call).expect("known");
    }
    disk
}

/// Files below the root with their bytes as text, and folders with a slash.
fn left(lines: &[&str], loss: Loss) -> Vec<String> {
    let folder = tempfile::tempdir().expect("a folder");
    disk(lines).lose_power(loss, &mut StdRng::seed_from_u64(1)).write(folder.path()).expect("written");
    let mut left = Vec::new();
    list(folder.path(), "", &mut left);
    left.sort();
    left
}

fn list(folder: &Path, prefix: &str, left: &mut Vec<String>) {
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = format!("{prefix}{}", entry.file_name().display());
        if entry.path().is_dir() {
            list(&entry.path(), &format!("{name}/"), left);
            left.push(format!("{name}/"));
        } else {
            left.push(format!("{name}={}", fs::read_to_string(entry.path()).expect("text")));
        }
    }
}

const MADE: &str = r#"openat(AT_FDCWD</>, "/r/a", O_RDWR|O_CREAT, 0644) = 3</r/a>"#;
const WRITTEN: &str = r#"pwrite64(3</r/a>, "xy", 2, 0) = 2"#;
const SYNCED: &str = "fdatasync(3</r/a>) = 0";
const NAMED: &str = "fsync(4</r>) = 0";
const NONE: [&str; 0] = [];

#[test]
fn bytes_are_durable_after_a_sync_of_the_file_and_names_after_one_of_the_folder() {
    assert_eq!(left(&[MADE, WRITTEN], Loss::None), ["a=xy"]);
    assert_eq!(left(&[MADE, WRITTEN], Loss::All), NONE);
    assert_eq!(left(&[MADE, WRITTEN, SYNCED], Loss::All), NONE);
    assert_eq!(left(&[MADE, WRITTEN, NAMED], Loss::All), ["a="]);
    assert_eq!(left(&[MADE, WRITTEN, SYNCED, NAMED], Loss::All), ["a=xy"]);
    assert_eq!(left(&[MADE, SYNCED, WRITTEN, NAMED], Loss::All), ["a="]);
}

#[test]
fn a_rename_is_lost_without_a_sync_of_its_folder() {
    let moved = r#"rename("/r/a", "/r/b") = 0"#;
    assert_eq!(left(&[MADE, WRITTEN, SYNCED, NAMED, moved], Loss::All), ["a=xy"]);
    assert_eq!(left(&[MADE, WRITTEN, SYNCED, NAMED, moved, NAMED], Loss::All), ["b=xy"]);
    assert_eq!(left(&[MADE, WRITTEN, moved, NAMED], Loss::All), ["b="]);
}

#[test]
fn folders_and_deletions_are_names_too() {
    let inside = [r#"mkdir("/r/d", 0777) = 0"#, r#"mkdir("/r/d/e", 0777) = 0"#];
    assert_eq!(left(&[inside[0], inside[1], "fsync(5</r/d>) = 0"], Loss::All), NONE);
    assert_eq!(left(&[inside[0], inside[1], NAMED], Loss::All), ["d/"]);
    let gone = r#"unlink("/r/a") = 0"#;
    assert_eq!(left(&[MADE, WRITTEN, SYNCED, NAMED, gone], Loss::All), ["a=xy"]);
    assert_eq!(left(&[MADE, WRITTEN, SYNCED, NAMED, gone, NAMED], Loss::All), NONE);
}

#[test]
fn a_sync_that_failed_or_was_made_up_or_began_too_early_makes_nothing_durable() {
    for sync in ["fdatasync(3</r/a>) = -1 EIO (Input/output error)", "fdatasync(3</r/a>) = 0 (INJECTED)"] {
        assert_eq!(disk(&[MADE, WRITTEN, sync]).durable("/r/a"), Some(&b""[..]), "{sync}");
    }
    let early = ["fdatasync(3</r/a> <unfinished ...>", WRITTEN, "<... fdatasync resumed>) = 0"];
    let trace = format!("1 1.0 {MADE}\n1 1.0 {}\n2 1.0 {}\n1 1.0 {}\n", early[0], early[1], early[2]);
    let mut disk = disk(&[]);
    for call in calls(&trace).expect("a trace") {
        disk.apply(&call).expect("known");
    }
    assert_eq!(disk.durable("/r/a"), Some(&b""[..]));
}

#[test]
fn any_part_of_what_is_not_durable_may_be_left() {
    let long = format!(r#"pwrite64(3</r/a>, "{}", 1024, 0) = 1024"#, "x".repeat(1024));
    let disk = disk(&[MADE, NAMED, &long]);
    let mut seen = std::collections::BTreeSet::new();
    for seed in 0..64 {
        let image = disk.lose_power(Loss::Some, &mut StdRng::seed_from_u64(seed));
        seen.insert(image.files[0].1.iter().map(|byte| usize::from(*byte == b'x')).sum::<usize>());
    }
    assert_eq!(seen.into_iter().collect::<Vec<_>>(), [0, 512, 1024]);
}

#[test]
fn what_is_made_anew_at_each_start_is_no_part_of_it() {
    assert_eq!(
        left(&[r#"openat(AT_FDCWD</>, "/r/a-shm", O_RDWR|O_CREAT, 0644) = 3</r/a-shm>"#], Loss::None),
        NONE
    );
}
