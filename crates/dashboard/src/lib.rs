//! The dashboard: the built pages of `ui/`, compressed, inside the binary.
//!
//! All pages are one document that reads its address, [`index`]; everything else is an [`asset`].

/// A file of the dashboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Asset {
    /// Where it is served, with a leading slash.
    pub path: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// Whether it is named after its content, so that a reader may keep it for ever.
    pub is_immutable: bool,
    /// Its bytes, compressed with gzip.
    pub gzip: &'static [u8],
}

static ASSETS: &[Asset] = &include!(concat!(env!("OUT_DIR"), "/assets.rs"));

const INDEX: &str = "/index.html";

/// The document of every page.
///
/// # Panics
///
/// Where the build of `ui/` made none; a test sees to that.
#[must_use]
pub fn index() -> &'static Asset {
    asset(INDEX).expect("the build of ui/ makes a document")
}

/// What is served at a path, `None` where nothing is.
#[must_use]
pub fn asset(path: &str) -> Option<&'static Asset> {
    ASSETS.iter().find(|asset| asset.path == path)
}

/// Everything, ordered by path.
#[must_use]
pub fn assets() -> &'static [Asset] {
    ASSETS
}

#[cfg(test)]
mod tests;
