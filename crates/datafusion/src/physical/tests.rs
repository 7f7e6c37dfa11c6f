use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use super::*;

/// Folders with the sources of DataFusion's crates.
fn sources() -> Vec<PathBuf> {
    let metadata = Command::new(env!("CARGO"))
        .args(["metadata", "--format-version", "1", "--locked", "--offline", "--manifest-path"])
        .arg(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"))
        .output()
        .expect("cargo");
    let metadata: Value = serde_json::from_slice(&metadata.stdout).expect("metadata");
    let packages = metadata["packages"].as_array().expect("packages");
    let ours = packages.iter().filter(|package| {
        package["name"].as_str().is_some_and(|name| name == "datafusion" || name.starts_with("datafusion-"))
    });
    ours.map(|package| {
        let manifest = Path::new(package["manifest_path"].as_str().expect("a path"));
        manifest.parent().expect("a folder").join("src")
    })
    .collect()
}

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The nodes a file has, by the implementations that stand at the start of a line: those of tests are indented.
fn nodes(text: &str) -> impl Iterator<Item = &str> {
    text.lines().filter_map(|line| line.strip_prefix("impl ExecutionPlan for ")?.split_whitespace().next())
}

#[test]
fn every_node_of_datafusion_has_a_role() {
    let mut found = Vec::new();
    for folder in sources() {
        files(&folder, &mut found);
    }
    found
        .retain(|path| !path.components().any(|part| part.as_os_str().to_string_lossy().starts_with("test")));
    let texts = found.iter().map(|path| std::fs::read_to_string(path).expect("a source"));
    let names: BTreeSet<String> =
        texts.flat_map(|text| nodes(&text).map(str::to_owned).collect::<Vec<_>>()).collect();
    let known: BTreeSet<String> = ROLES.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names.difference(&known).collect::<Vec<_>>(), [""; 0], "say what the new nodes do");
    assert_eq!(known.difference(&names).collect::<Vec<_>>(), [""; 0], "these are gone");
}

#[test]
fn a_kind_may_name_a_variant_and_plugins_are_unknown() {
    assert_eq!(role("SortExec(TopK)"), Role::Sort);
    assert_eq!(role("MyExec"), Role::Unknown);
}
