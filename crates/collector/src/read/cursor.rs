//! The opaque `cursor` of a list: a place in the order, as text for an address.

use axum::http::{HeaderName, header};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use queryscope_store::{Amount, NumberField, Order, Position, SortBy};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::stream::write_json;
use crate::error::ApiError;

/// First byte of a cursor: its form and the order it is of.
const NEWEST: u8 = 1;
const OLDEST: u8 = 2;

/// Cuts a page that was read with one more than its limit; gives back its last where another page follows.
pub(crate) fn cut<T>(page: &mut Vec<T>, limit: usize) -> Option<&T> {
    let follows = page.len() > limit;
    page.truncate(limit);
    page.last().filter(|_| follows)
}

/// Writes the cursor of a place.
pub(crate) fn write(order: Order, position: Position) -> String {
    let mut bytes = [0; 17];
    bytes[0] = tag(order);
    bytes[1..9].copy_from_slice(&position.started_unix_ns.to_be_bytes());
    bytes[9..].copy_from_slice(&position.tie.to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads the place of a cursor.
///
/// # Errors
/// 400 when it is no cursor of this order.
pub(crate) fn read(order: Order, text: &str) -> Result<Position, ApiError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| <[u8; 17]>::try_from(bytes).ok());
    let number = |bytes: &[u8]| i64::from_be_bytes(bytes.try_into().unwrap_or_default());
    match bytes {
        Some(bytes) if bytes[0] == tag(order) => {
            Ok(Position { started_unix_ns: number(&bytes[1..9]), tie: number(&bytes[9..]) })
        }
        _ => Err(ApiError::invalid("cursor: not one from the Link header of a page in this order")),
    }
}

/// Writes the cursor of a place in a list that is sorted by a figure, of which the run there has this value.
pub(crate) fn write_sorted(
    order: Order,
    field: NumberField,
    value: Option<Amount>,
    position: Position,
) -> String {
    let mut bytes = [0; SORTED_BYTES];
    bytes[0] = sorted_tag(order, field);
    bytes[1..9].copy_from_slice(&position.started_unix_ns.to_be_bytes());
    bytes[9..17].copy_from_slice(&position.tie.to_be_bytes());
    bytes[17] = u8::from(value.is_some());
    bytes[18..26].copy_from_slice(&value.map_or(0, |value| value.get().to_bits()).to_be_bytes());
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads such a cursor.
///
/// # Errors
/// 400 when it is none of a list sorted by this figure in this order.
pub(crate) fn read_sorted(
    order: Order,
    field: NumberField,
    text: &str,
) -> Result<(SortBy, Position), ApiError> {
    let bytes =
        URL_SAFE_NO_PAD.decode(text).ok().and_then(|bytes| <[u8; SORTED_BYTES]>::try_from(bytes).ok());
    let number = |bytes: &[u8]| i64::from_be_bytes(bytes.try_into().unwrap_or_default());
    let read = |bytes: [u8; SORTED_BYTES]| {
        let value = f64::from_bits(number(&bytes[18..26]).cast_unsigned());
        let after = match bytes[17] {
            0 => None,
            _ => Some(Amount::new(value)?),
        };
        let position = Position { started_unix_ns: number(&bytes[1..9]), tie: number(&bytes[9..17]) };
        (bytes[0] == sorted_tag(order, field)).then_some((SortBy { field, after }, position))
    };
    bytes.and_then(read).ok_or_else(|| {
        ApiError::invalid("cursor: not one from the Link header of a page of this sort and order")
    })
}

/// Tag, start, tie, whether the figure is known, the figure, and a byte that makes it whole characters.
const SORTED_BYTES: usize = 27;

const fn sorted_tag(order: Order, field: NumberField) -> u8 {
    let field = match field {
        NumberField::Wall => 1,
        NumberField::Cpu => 2,
        NumberField::Rows => 3,
        NumberField::Warnings => 4,
        NumberField::Read => 5,
        NumberField::Spilled => 6,
        NumberField::Memory => 7,
    };
    (field << 4) | tag(order)
}

const fn tag(order: Order) -> u8 {
    match order {
        Order::Newest => NEWEST,
        Order::Oldest => OLDEST,
    }
}

/// Writes the cursor of a page of another answer, of this form.
pub(crate) fn write_page(form: u8, page: &impl Serialize) -> String {
    // JSON of a place cannot fail: its fields are texts and numbers.
    let mut bytes = vec![form];
    write_json(page, &mut bytes);
    URL_SAFE_NO_PAD.encode(bytes)
}

/// Reads such a cursor.
///
/// # Errors
/// 400 when it is none of this form.
pub(crate) fn read_page<T: DeserializeOwned>(form: u8, text: &str) -> Result<T, ApiError> {
    let bytes = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
    let page = bytes.strip_prefix(&[form]).and_then(|page| serde_json::from_slice(page).ok());
    page.ok_or_else(|| ApiError::invalid("cursor: not one from the Link header of such a page"))
}

/// The `Link` header of a page: the address of the same answer from a cursor on.
pub(crate) fn link(path: &str, query: Option<&str>, cursor: &str) -> (HeaderName, String) {
    (header::LINK, format!("<{}>; rel=\"next\"", next_page(path, query, cursor)))
}

fn next_page(path: &str, query: Option<&str>, cursor: &str) -> String {
    let mut next = form_urlencoded::Serializer::new(String::new());
    for (name, value) in form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        if name != "cursor" && name != "offset" {
            next.append_pair(&name, &value);
        }
    }
    next.append_pair("cursor", cursor);
    format!("{path}?{}", next.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_comes_back_in_its_order_alone() {
        let position = Position { started_unix_ns: -7, tie: i64::MAX };
        let cursor = write(Order::Oldest, position);
        assert_eq!(read(Order::Oldest, &cursor), Ok(position));
        for (order, text) in [(Order::Newest, cursor.as_str()), (Order::Newest, ""), (Order::Newest, "äöü")]
        {
            assert!(read(order, text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cursor_of_a_sorted_list_comes_back_in_its_sort_and_order_alone() {
        let position = Position { started_unix_ns: -7, tie: i64::MAX };
        for after in [None, Amount::new(0.1), Amount::new(0.0)] {
            let cursor = write_sorted(Order::Oldest, NumberField::Cpu, after, position);
            let sort = SortBy { field: NumberField::Cpu, after };
            assert_eq!(read_sorted(Order::Oldest, NumberField::Cpu, &cursor), Ok((sort, position)));
            assert!(read_sorted(Order::Newest, NumberField::Cpu, &cursor).is_err());
            assert!(read_sorted(Order::Oldest, NumberField::Wall, &cursor).is_err());
            assert!(read(Order::Oldest, &cursor).is_err());
        }
        let of_start = write(Order::Oldest, position);
        for text in ["", "äöü", of_start.as_str()] {
            assert!(read_sorted(Order::Oldest, NumberField::Cpu, text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_cursor_of_a_page_comes_back_in_its_form_alone() {
        let cursor = write_page(3, &(7, "ä"));
        assert_eq!(read_page::<(i64, String)>(3, &cursor), Ok((7, "ä".into())));
        assert!(read_page::<(i64, String)>(4, &cursor).is_err());
        for text in ["", "äöü", "Aw"] {
            assert!(read_page::<(i64, String)>(3, text).is_err(), "{text}");
        }
    }

    #[test]
    fn the_next_page_keeps_what_was_asked() {
        assert_eq!(next_page("/api/queries", None, "C"), "/api/queries?cursor=C");
        assert_eq!(
            next_page("/api/queries", Some("label=a%20b%3E&offset=5&cursor=old&limit=2"), "C"),
            "/api/queries?label=a+b%3E&limit=2&cursor=C"
        );
    }
}
