use super::*;

/// What a reader loads at most, in bytes: 180 KiB.
const MOST_BYTES: usize = 180 * 1024;

#[test]
fn all_of_it_is_at_most_180_kib() {
    let bytes: usize = assets().iter().map(|asset| asset.gzip.len()).sum();
    assert!(bytes <= MOST_BYTES, "the dashboard has {bytes} bytes, {MOST_BYTES} are allowed");
}

#[test]
fn only_what_is_named_after_its_content_is_kept_for_ever() {
    assert!(!index().is_immutable);
    for asset in assets() {
        assert_eq!(asset.is_immutable, asset.path.starts_with("/assets/"), "{}", asset.path);
    }
    assert!(
        assets().iter().any(|asset| asset.is_immutable && asset.content_type.starts_with("text/javascript"))
    );
}

#[test]
fn a_path_without_a_file_has_none() {
    assert_eq!(asset("/assets/none.js"), None);
    assert_eq!(asset("index.html"), None);
    assert_eq!(asset("/sources.sha256"), None);
}
