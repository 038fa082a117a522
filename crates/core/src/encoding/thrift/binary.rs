//! Thrift's binary protocol: fixed widths, big endian. It is
//! the form that most of Thrift's clients write unless they are told otherwise.

use super::protocol::{Head, Protocol, Type};
use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;

/// The binary protocol, without a message around the struct.
pub(in crate::encoding) struct Binary;

#[inline]
fn code(of: Type) -> u8 {
    match of {
        Type::Bool => 2,
        Type::I8 => 3,
        Type::Double => 4,
        Type::I16 => 6,
        Type::I32 => 8,
        Type::I64 => 10,
        Type::Binary => 11,
        Type::Struct => 12,
        Type::Map => 13,
        Type::List => 15,
    }
}

#[inline]
fn type_of_code(cursor: &Cursor<'_>, code: u8) -> Result<Type, DecodeError> {
    Ok(match code {
        2 => Type::Bool,
        3 => Type::I8,
        4 => Type::Double,
        6 => Type::I16,
        8 => Type::I32,
        10 => Type::I64,
        11 => Type::Binary,
        12 => Type::Struct,
        13 => Type::Map,
        // A set is a list whose elements differ, which JSON does not tell apart.
        14 | 15 => Type::List,
        _ => return Err(cursor.corrupt("an unknown type")),
    })
}

impl Protocol for Binary {
    const NAME: &'static str = "thrift-binary";

    #[inline]
    fn head(out: &mut Vec<u8>, of: Type, number: i16, _: i16, _: Option<bool>) -> bool {
        let [high, low] = number.to_be_bytes();
        out.extend_from_slice(&[code(of), high, low]);
        false
    }

    #[inline]
    fn bool(out: &mut Vec<u8>, value: bool) {
        out.push(u8::from(value));
    }

    #[inline]
    fn integer(out: &mut Vec<u8>, of: Type, value: i64) {
        match of {
            Type::I8 => out.push(value as u8),
            Type::I16 => out.extend_from_slice(&(value as i16).to_be_bytes()),
            Type::I32 => out.extend_from_slice(&(value as i32).to_be_bytes()),
            _ => out.extend_from_slice(&value.to_be_bytes()),
        }
    }

    #[inline]
    fn double(out: &mut Vec<u8>, value: f64) {
        out.extend_from_slice(&value.to_be_bytes());
    }

    #[inline]
    fn length(out: &mut Vec<u8>, length: u32) {
        out.extend_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn text_field(out: &mut Vec<u8>, number: i16, _: i16, length: u32) {
        let ([high, low], [a, b, c, d]) = (number.to_be_bytes(), length.to_be_bytes());
        out.extend_from_slice(&[code(Type::Binary), high, low, a, b, c, d]);
    }

    #[inline]
    fn integer_field(out: &mut Vec<u8>, of: Type, number: i16, last: i16, value: i64) {
        if of == Type::I32 {
            let ([high, low], [a, b, c, d]) = (number.to_be_bytes(), (value as i32).to_be_bytes());
            out.extend_from_slice(&[code(of), high, low, a, b, c, d]);
        } else {
            Self::head(out, of, number, last, None);
            Self::integer(out, of, value);
        }
    }

    #[inline]
    fn double_field(out: &mut Vec<u8>, number: i16, _: i16, value: f64) {
        let [high, low] = number.to_be_bytes();
        let mut field = [code(Type::Double), high, low, 0, 0, 0, 0, 0, 0, 0, 0];
        field[3..].copy_from_slice(&value.to_be_bytes());
        out.extend_from_slice(&field);
    }

    #[inline]
    fn list(out: &mut Vec<u8>, of: Type, length: u32) {
        out.push(code(of));
        out.extend_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn map(out: &mut Vec<u8>, of: Type, length: u32) {
        out.extend_from_slice(&[code(Type::Binary), code(of)]);
        out.extend_from_slice(&length.to_be_bytes());
    }

    #[inline]
    fn read_head(cursor: &mut Cursor<'_>, _: i16) -> Result<Option<Head>, DecodeError> {
        let code = cursor.byte()?;
        if code == 0 {
            return Ok(None);
        }
        let of = type_of_code(cursor, code)?;
        let number = i16::from_be_bytes(cursor.array()?);
        Ok(Some(Head { of, number, value: None }))
    }

    #[inline]
    fn read_bool(cursor: &mut Cursor<'_>) -> Result<bool, DecodeError> {
        match cursor.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(cursor.corrupt("a boolean that is neither")),
        }
    }

    #[inline]
    fn read_integer(cursor: &mut Cursor<'_>, of: Type) -> Result<i64, DecodeError> {
        Ok(match of {
            Type::I8 => i64::from(cursor.byte()? as i8),
            Type::I16 => i64::from(i16::from_be_bytes(cursor.array()?)),
            Type::I32 => i64::from(i32::from_be_bytes(cursor.array()?)),
            _ => i64::from_be_bytes(cursor.array()?),
        })
    }

    #[inline]
    fn read_double(cursor: &mut Cursor<'_>) -> Result<f64, DecodeError> {
        Ok(f64::from_be_bytes(cursor.array()?))
    }

    #[inline]
    fn read_length(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
        Ok(u64::from(u32::from_be_bytes(cursor.array()?)))
    }

    #[inline]
    fn read_list(cursor: &mut Cursor<'_>) -> Result<(Option<Type>, u64), DecodeError> {
        let code = cursor.byte()?;
        let length = u64::from(u32::from_be_bytes(cursor.array()?));
        // Some writers give an empty list no type.
        let of = (length > 0).then(|| type_of_code(cursor, code)).transpose()?;
        Ok((of, length))
    }

    #[inline]
    fn read_map(cursor: &mut Cursor<'_>) -> Result<(Option<(Type, Type)>, u64), DecodeError> {
        let [key, value] = cursor.array()?;
        let length = u64::from(u32::from_be_bytes(cursor.array()?));
        if length == 0 {
            return Ok((None, 0));
        }
        Ok((Some((type_of_code(cursor, key)?, type_of_code(cursor, value)?)), length))
    }
}
