//! The opaque `cursor` of a list: a place in the order, as text for an address.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use queryscope_store::{Order, Position};

use crate::error::ApiError;

/// First byte of a cursor: its form and the order it is of.
const NEWEST: u8 = 1;
const OLDEST: u8 = 2;

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

const fn tag(order: Order) -> u8 {
    match order {
        Order::Newest => NEWEST,
        Order::Oldest => OLDEST,
    }
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
}
