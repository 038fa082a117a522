//! The exact old bytes of a record as an opaque version: a list of values, of which each may be
//! missing, so that a condition can name them to the database again.

use crate::error::StoreError;
use crate::store::Version;

/// A value that is missing, and one that is there, before its length and bytes.
const MISSING: u8 = 0;
const THERE: u8 = 1;

/// The version of these values.
pub(crate) fn version_of(values: &[Option<&[u8]>]) -> Version {
    let bytes: usize = values.iter().flatten().map(|value| value.len()).sum();
    let mut version = Vec::with_capacity(bytes + values.len() * (1 + size_of::<u64>()));
    for value in values {
        match value {
            None => version.push(MISSING),
            Some(value) => {
                version.push(THERE);
                version.extend_from_slice(&(value.len() as u64).to_le_bytes());
                version.extend_from_slice(value);
            }
        }
    }
    Version(version.into())
}

/// The values of a version.
///
/// # Errors
/// [`StoreError::Address`] where it is none of a store with so many values.
pub(crate) fn values_of<'a>(
    version: &'a Version,
    count: usize,
    store: &str,
) -> Result<Vec<Option<&'a [u8]>>, StoreError> {
    let foreign = || StoreError::Address(format!("{store}: this version is of another store"));
    let mut rest = &version.0[..];
    let mut values = Vec::with_capacity(count);
    for _ in 0..count {
        let (mark, after) = rest.split_first().ok_or_else(foreign)?;
        rest = after;
        if *mark == MISSING {
            values.push(None);
            continue;
        }
        let (length, after) = rest.split_first_chunk().ok_or_else(foreign)?;
        let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| foreign())?;
        let (value, after) = after.split_at_checked(length).ok_or_else(foreign)?;
        values.push(Some(value));
        rest = after;
    }
    if rest.is_empty() { Ok(values) } else { Err(foreign()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_come_back_and_nothing_else_is_taken() {
        let values = [None, Some(&b""[..]), Some(b"{}"), None];
        let version = version_of(&values);
        assert_eq!(values_of(&version, 4, "s").unwrap(), values);
        assert!(values_of(&version, 3, "s").is_err());
        assert!(values_of(&version, 5, "s").is_err());
        assert!(values_of(&Version(b"junk".to_vec().into()), 1, "s").is_err());
        assert_ne!(version_of(&[None]), version_of(&[Some(b"")]));
    }
}
