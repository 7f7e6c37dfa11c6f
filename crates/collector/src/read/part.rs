//! Parts of long answers: `limit` and `cursor` of groups and the overview.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::cursor;
use super::params::limit;
use crate::error::ApiError;

/// Which part of a long answer is asked for; without both it is whole.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
#[serde(default)]
pub(crate) struct PartParams {
    /// Entries on the page; all where it is left out.
    #[param(minimum = 1, maximum = 1000, example = 100)]
    #[serde(deserialize_with = "limit")]
    limit: Option<u64>,
    /// Goes on where a page ended: taken from the `Link` header of that page, for the same parameters.
    #[param(pattern = "^[A-Za-z0-9_-]+$", example = "Ag")]
    cursor: Option<String>,
}

/// Which part of a long answer is asked for.
#[derive(Debug)]
pub(crate) struct Part<T> {
    pub(crate) limit: Option<usize>,
    pub(crate) after: Option<T>,
}

impl PartParams {
    /// Reads the cursor, which is one of this form.
    pub(crate) fn part<T: DeserializeOwned>(self, form: u8) -> Result<Part<T>, ApiError> {
        let limit = self.limit.map(|limit| limit as usize);
        let after = self.cursor.map(|text| cursor::read_page(form, &text)).transpose()?;
        Ok(Part { limit, after })
    }
}
