//! Slices and days, of which most are empty: in a packed answer the others stand with their places.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

pub(crate) fn serialize<T, S>(cells: &[T], to: S) -> Result<S::Ok, S::Error>
where
    T: Serialize + Default + PartialEq,
    S: Serializer,
{
    if to.is_human_readable() {
        return cells.serialize(to);
    }
    let empty = T::default();
    let others: Vec<(u32, &T)> = (0..).zip(cells).filter(|(_, cell)| **cell != empty).collect();
    (cells.len() as u32, others).serialize(to)
}

/// Reads the packed form.
pub(crate) fn deserialize<'de, T, D>(from: D) -> Result<Vec<T>, D::Error>
where
    T: Deserialize<'de> + Default + Clone,
    D: Deserializer<'de>,
{
    let (count, others) = <(u32, Vec<(u32, T)>)>::deserialize(from)?;
    let mut cells = vec![T::default(); count as usize];
    for (at, other) in others {
        if let Some(cell) = cells.get_mut(at as usize) {
            *cell = other;
        }
    }
    Ok(cells)
}
