//! BSON as relaxed Extended JSON text, with the members in the order of the document.
//!
//! The driver's own conversion goes through a map that sorts its keys, and the order is part of
//! what is stored. Only values without members are left to it.

use bson::Bson;
use bson::raw::RawBsonRef;

/// Servers take 100 levels; what is nested deeper is damaged, and is not followed.
const DEPTH_MAX: usize = 200;

/// The text of a value; `None` where its bytes are damaged.
pub(super) fn text(value: RawBsonRef<'_>) -> Option<String> {
    let mut text = String::new();
    write(value, 0, &mut text)?;
    Some(text)
}

fn write(value: RawBsonRef<'_>, depth: usize, text: &mut String) -> Option<()> {
    if depth > DEPTH_MAX {
        return None;
    }
    match value {
        RawBsonRef::Document(document) => {
            text.push('{');
            for (index, member) in document.iter().enumerate() {
                let (name, value) = member.ok()?;
                if index > 0 {
                    text.push(',');
                }
                text.push_str(&string(name.as_str()));
                text.push(':');
                write(value, depth + 1, text)?;
            }
            text.push('}');
        }
        RawBsonRef::Array(array) => {
            text.push('[');
            for (index, value) in array.into_iter().enumerate() {
                if index > 0 {
                    text.push(',');
                }
                write(value.ok()?, depth + 1, text)?;
            }
            text.push(']');
        }
        RawBsonRef::String(content) => text.push_str(&string(content)),
        other => {
            let value = Bson::try_from(other).ok()?;
            text.push_str(&value.into_relaxed_extjson().to_string());
        }
    }
    Some(())
}

fn string(content: &str) -> String {
    Bson::String(content.to_owned()).into_relaxed_extjson().to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use bson::oid::ObjectId;
    use bson::raw::RawDocumentBuf;
    use bson::spec::BinarySubtype;
    use bson::{Binary, DateTime, doc};

    #[test]
    fn members_keep_their_order_and_values_are_relaxed() {
        let document = doc! {
            "z": 1, "a": [1.5, "\"é\n", { "y": null, "b": true }], "l": i64::MAX, "w": 2.0,
            "id": ObjectId::from_bytes([1; 12]),
            "at": DateTime::from_millis(0),
            "raw": Binary { subtype: BinarySubtype::Generic, bytes: vec![0, 255] },
        };
        let raw = RawDocumentBuf::try_from(&document).unwrap();
        assert_eq!(
            text(RawBsonRef::Document(&raw)).unwrap(),
            concat!(
                r#"{"z":1,"a":[1.5,"\"é\n",{"y":null,"b":true}],"l":9223372036854775807,"w":2.0,"#,
                r#""id":{"$oid":"010101010101010101010101"},"#,
                r#""at":{"$date":"1970-01-01T00:00:00Z"},"#,
                r#""raw":{"$binary":{"base64":"AP8=","subType":"00"}}}"#
            )
        );
    }

    #[test]
    fn what_is_nested_without_end_is_not_followed() {
        let nested = (0..300).fold(doc! {}, |inner, _| doc! { "a": inner });
        let raw = RawDocumentBuf::try_from(&nested).unwrap();
        assert_eq!(text(RawBsonRef::Document(&raw)), None);
    }
}
