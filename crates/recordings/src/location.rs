//! Where an operator says recordings are to lie.

use std::convert::Infallible;
use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use thiserror::Error;

/// A folder, or a bucket of one of three clouds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A local folder.
    Folder(PathBuf),
    /// `s3://bucket/prefix`, `gs://bucket/prefix` or `az://container/prefix`.
    Bucket {
        /// Whose bucket it is.
        cloud: Cloud,
        /// Its name.
        bucket: String,
        /// What the names of all recordings begin with; may be empty.
        prefix: String,
    },
}

/// The service that keeps a bucket, and its protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cloud {
    /// S3, of Amazon or of whoever speaks it.
    S3,
    /// Google Cloud Storage.
    Google,
    /// Azure Blob Storage.
    Azure,
}

/// What names no location.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("expected a folder, s3://BUCKET/PREFIX, gs://BUCKET/PREFIX or az://CONTAINER/PREFIX")]
pub struct UnknownLocation(());

impl Cloud {
    /// What a location in it begins with.
    pub fn scheme(self) -> &'static str {
        match self {
            Self::S3 => "s3",
            Self::Google => "gs",
            Self::Azure => "az",
        }
    }
}

impl FromStr for Location {
    type Err = UnknownLocation;

    fn from_str(text: &str) -> Result<Self, UnknownLocation> {
        let Some((scheme, rest)) = text.split_once("://") else {
            let Ok(folder) = text.parse().map_err(|never: Infallible| match never {});
            return if text.is_empty() { Err(UnknownLocation(())) } else { Ok(Self::Folder(folder)) };
        };
        let cloud =
            [Cloud::S3, Cloud::Google, Cloud::Azure].into_iter().find(|cloud| cloud.scheme() == scheme);
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        match cloud {
            Some(cloud) if !bucket.is_empty() => {
                Ok(Self::Bucket { cloud, bucket: bucket.into(), prefix: prefix.trim_matches('/').into() })
            }
            _ => Err(UnknownLocation(())),
        }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => write!(f, "{}", folder.display()),
            Self::Bucket { cloud, bucket, prefix } => write!(f, "{}://{bucket}/{prefix}", cloud.scheme()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn locations_are_read_and_said() {
        for (text, said) in [
            ("recordings", "recordings"),
            ("/var/lib/a b", "/var/lib/a b"),
            ("s3://b/p/q", "s3://b/p/q"),
            ("gs://b/p/", "gs://b/p"),
            ("az://c", "az://c/"),
        ] {
            let location: Location = text.parse().expect(text);
            assert_eq!(location.to_string(), said);
            assert_eq!(matches!(location, Location::Folder(_)), !text.contains("://"));
        }
    }

    #[test]
    fn what_is_no_location_is_refused() {
        for text in ["", "s3://", "s3:///p", "http://b/p", "S3://b"] {
            assert!(text.parse::<Location>().is_err(), "{text}");
        }
    }
}
