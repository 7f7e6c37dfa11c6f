//! Parts of long answers: `limit` and `cursor` of groups and the overview.

use queryscope_protocol::limits::PAGE_MAX;
use serde::de::DeserializeOwned;
use utoipa::IntoParams;

use super::cursor;
use super::params::Params;
use crate::error::ApiError;

/// Which part of a long answer is asked for; without both it is whole.
#[derive(Debug, IntoParams)]
#[into_params(parameter_in = Query)]
#[expect(dead_code, reason = "says what `Part` reads")]
pub(crate) struct PartParams {
    /// Entries on the page; all where it is left out.
    #[param(minimum = 1, maximum = 1000, example = 100)]
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

impl<T: DeserializeOwned> Part<T> {
    /// Reads [`PartParams`]; the cursor is one of this form.
    pub(crate) fn of(params: &Params<'_>, form: u8) -> Result<Self, ApiError> {
        let takes = format!("a whole number from 1 to {PAGE_MAX}");
        let limit = params
            .value("limit", takes, |text| text.parse().ok().filter(|limit| (1..=PAGE_MAX).contains(limit)))?;
        let after = params.text("cursor")?.map(|text| cursor::read_page(form, text)).transpose()?;
        Ok(Self { limit, after })
    }
}
