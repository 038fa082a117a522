//! Thrift's compact protocol: varints, and field numbers as differences. It is
//! what published comparisons mean by Thrift.

use super::protocol::{Head, Protocol, Type};
use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;
use crate::encoding::tagged::{put_varint, put_zigzag};

/// The compact protocol, without a message around the struct.
pub(in crate::encoding) struct Compact;

/// The codes of booleans as fields; in lists and maps the first stands for the type.
const TRUE: u8 = 1;
const FALSE: u8 = 2;

#[inline]
fn code(of: Type) -> u8 {
    match of {
        Type::Bool => TRUE,
        Type::I8 => 3,
        Type::I16 => 4,
        Type::I32 => 5,
        Type::I64 => 6,
        Type::Double => 7,
        Type::Binary => 8,
        Type::List => 9,
        Type::Map => 11,
        Type::Struct => 12,
    }
}

#[inline]
fn type_of_code(cursor: &Cursor<'_>, code: u8) -> Result<Type, DecodeError> {
    Ok(match code {
        TRUE | FALSE => Type::Bool,
        3 => Type::I8,
        4 => Type::I16,
        5 => Type::I32,
        6 => Type::I64,
        7 => Type::Double,
        8 => Type::Binary,
        // A set is a list whose elements differ, which JSON does not tell apart.
        9 | 10 => Type::List,
        11 => Type::Map,
        12 => Type::Struct,
        _ => return Err(cursor.corrupt("an unknown type")),
    })
}

/// The head of a field that follows closely on the one before.
#[inline]
fn short_head(code: u8, number: i16, last: i16) -> Option<u8> {
    let difference = i32::from(number) - i32::from(last);
    (1..=15).contains(&difference).then_some((difference as u8) << 4 | code)
}

impl Protocol for Compact {
    const NAME: &'static str = "thrift-compact";

    #[inline]
    fn head(out: &mut Vec<u8>, of: Type, number: i16, last: i16, value: Option<bool>) -> bool {
        let code = match value {
            Some(false) => FALSE,
            _ => code(of),
        };
        match short_head(code, number, last) {
            Some(head) => out.push(head),
            None => {
                out.push(code);
                put_zigzag(out, i64::from(number));
            }
        }
        value.is_some()
    }

    #[inline]
    fn bool(out: &mut Vec<u8>, value: bool) {
        out.push(if value { TRUE } else { FALSE });
    }

    #[inline]
    fn integer(out: &mut Vec<u8>, of: Type, value: i64) {
        match of {
            Type::I8 => out.push(value as u8),
            _ => put_zigzag(out, value),
        }
    }

    #[inline]
    fn double(out: &mut Vec<u8>, value: f64) {
        out.extend_from_slice(&value.to_le_bytes());
    }

    #[inline]
    fn length(out: &mut Vec<u8>, length: u32) {
        put_varint(out, u64::from(length));
    }

    #[inline]
    fn text_field(out: &mut Vec<u8>, number: i16, last: i16, length: u32) {
        match short_head(code(Type::Binary), number, last) {
            Some(head) if length < 0x80 => out.extend_from_slice(&[head, length as u8]),
            _ => {
                Self::head(out, Type::Binary, number, last, None);
                Self::length(out, length);
            }
        }
    }

    #[inline]
    fn integer_field(out: &mut Vec<u8>, of: Type, number: i16, last: i16, value: i64) {
        match short_head(code(of), number, last) {
            // The zigzag of such a number is one byte.
            Some(head) if of != Type::I8 && (-64..64).contains(&value) => {
                out.extend_from_slice(&[head, (value << 1 ^ value >> 63) as u8]);
            }
            _ => {
                Self::head(out, of, number, last, None);
                Self::integer(out, of, value);
            }
        }
    }

    #[inline]
    fn double_field(out: &mut Vec<u8>, number: i16, last: i16, value: f64) {
        match short_head(code(Type::Double), number, last) {
            Some(head) => {
                let mut field = [head, 0, 0, 0, 0, 0, 0, 0, 0];
                field[1..].copy_from_slice(&value.to_le_bytes());
                out.extend_from_slice(&field);
            }
            None => {
                Self::head(out, Type::Double, number, last, None);
                Self::double(out, value);
            }
        }
    }

    #[inline]
    fn list(out: &mut Vec<u8>, of: Type, length: u32) {
        if length < 15 {
            out.push((length as u8) << 4 | code(of));
        } else {
            out.push(0xF0 | code(of));
            put_varint(out, u64::from(length));
        }
    }

    #[inline]
    fn map(out: &mut Vec<u8>, of: Type, length: u32) {
        put_varint(out, u64::from(length));
        if length > 0 {
            out.push(code(Type::Binary) << 4 | code(of));
        }
    }

    #[inline]
    fn read_head(cursor: &mut Cursor<'_>, last: i16) -> Result<Option<Head>, DecodeError> {
        let byte = cursor.byte()?;
        if byte == 0 {
            return Ok(None);
        }
        let of = type_of_code(cursor, byte & 0x0F)?;
        let number = match byte >> 4 {
            0 => i16::try_from(cursor.zigzag()?).ok(),
            difference => last.checked_add(i16::from(difference)),
        };
        let number = number.ok_or_else(|| cursor.corrupt("a field number of more than 16 bits"))?;
        let value = (of == Type::Bool).then_some(byte & 0x0F == TRUE);
        Ok(Some(Head { of, number, value }))
    }

    #[inline]
    fn read_bool(cursor: &mut Cursor<'_>) -> Result<bool, DecodeError> {
        match cursor.byte()? {
            // Older writers say false with a zero.
            FALSE | 0 => Ok(false),
            TRUE => Ok(true),
            _ => Err(cursor.corrupt("a boolean that is neither")),
        }
    }

    #[inline]
    fn read_integer(cursor: &mut Cursor<'_>, of: Type) -> Result<i64, DecodeError> {
        if of == Type::I8 {
            return Ok(i64::from(cursor.byte()? as i8));
        }
        let value = cursor.zigzag()?;
        let fits = match of {
            Type::I16 => i16::try_from(value).is_ok(),
            Type::I32 => i32::try_from(value).is_ok(),
            _ => true,
        };
        if fits { Ok(value) } else { Err(cursor.corrupt("an integer out of its type's range")) }
    }

    #[inline]
    fn read_double(cursor: &mut Cursor<'_>) -> Result<f64, DecodeError> {
        Ok(f64::from_le_bytes(cursor.array()?))
    }

    #[inline]
    fn read_length(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError> {
        cursor.varint()
    }

    #[inline]
    fn read_list(cursor: &mut Cursor<'_>) -> Result<(Option<Type>, u64), DecodeError> {
        let byte = cursor.byte()?;
        let length = match byte >> 4 {
            15 => cursor.varint()?,
            length => u64::from(length),
        };
        let of = (length > 0).then(|| type_of_code(cursor, byte & 0x0F)).transpose()?;
        Ok((of, length))
    }

    #[inline]
    fn read_map(cursor: &mut Cursor<'_>) -> Result<(Option<(Type, Type)>, u64), DecodeError> {
        let length = cursor.varint()?;
        if length == 0 {
            return Ok((None, 0));
        }
        let byte = cursor.byte()?;
        let types = (type_of_code(cursor, byte >> 4)?, type_of_code(cursor, byte & 0x0F)?);
        Ok((Some(types), length))
    }
}
