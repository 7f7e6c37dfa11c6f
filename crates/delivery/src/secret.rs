//! Secrets, which come from the environment or from files.

use std::fmt;
use std::path::PathBuf;

/// Bytes of a file that holds a secret.
const FILE_BYTES_MAX: usize = 64 << 10;

/// A text that is not shown.
#[derive(Clone, PartialEq, Eq)]
pub struct Secret(String);

impl Secret {
    /// What it is.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl From<&str> for Secret {
    fn from(text: &str) -> Self {
        Self(text.to_owned())
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Secret")
    }
}

/// Whether secrets are read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Secrets {
    /// Each must be there.
    Read,
    /// They are elsewhere: the rest of the file is judged.
    Ignore,
}

/// Where a text is, as the file says: the text itself, `{ env = "NAME" }` or `{ file = "PATH" }`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Place {
    pub(crate) env: Option<String>,
    pub(crate) file: Option<PathBuf>,
}

impl Place {
    /// What is there; `None` where secrets are not read.
    ///
    /// # Errors
    /// Why it cannot be had.
    pub(crate) fn read(&self, secrets: Secrets) -> Result<Option<String>, String> {
        let text = match (&self.env, &self.file) {
            (Some(_), Some(_)) | (None, None) => return Err("give one of env and file".into()),
            _ if secrets == Secrets::Ignore => return Ok(None),
            (Some(name), None) => std::env::var(name)
                .map_err(|_| format!("the environment variable {name} is not set, or not UTF-8"))?,
            (None, Some(path)) => {
                let shown = path.display();
                let bytes =
                    std::fs::read(path).map_err(|error| format!("{shown} cannot be read: {error}"))?;
                if bytes.len() > FILE_BYTES_MAX {
                    return Err(format!("{shown} is larger than {FILE_BYTES_MAX} bytes: it is no secret"));
                }
                String::from_utf8(bytes).map_err(|_| format!("{shown} is not UTF-8"))?
            }
        };
        let text = text.trim_end_matches(['\r', '\n']);
        if text.is_empty() {
            return Err("the secret is empty".into());
        }
        Ok(Some(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_not_shown() {
        assert_eq!(format!("{:?}", Some(Secret::from("s3cret"))), "Some(Secret)");
    }

    #[test]
    fn a_file_is_read_without_its_last_line_end() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let place = Place { env: None, file: Some(file.path().into()) };
        assert_eq!(place.read(Secrets::Read), Err("the secret is empty".into()));
        std::fs::write(file.path(), "ab c\r\n").expect("written");
        assert_eq!(place.read(Secrets::Read), Ok(Some("ab c".into())));
        assert_eq!(place.read(Secrets::Ignore), Ok(None));
        let missing = Place { env: None, file: Some("/nowhere/at-all".into()) };
        assert!(
            missing.read(Secrets::Read).expect_err("missing").starts_with("/nowhere/at-all cannot be read")
        );
        let unset = Place { env: Some("QUERYSCOPE_NOT_SET".into()), file: None };
        assert!(unset.read(Secrets::Read).expect_err("unset").contains("QUERYSCOPE_NOT_SET is not set"));
        assert!(Place::default().read(Secrets::Ignore).is_err());
    }
}
