//! What the two protocols of Thrift have in common: types, and the calls in which a struct is
//! written and read.

use crate::encoding::DecodeError;
use crate::encoding::cursor::Cursor;
use crate::schema::tagged::{Form, Integer};

/// The type of a value on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Bool,
    I8,
    I16,
    I32,
    I64,
    Double,
    Binary,
    Struct,
    List,
    Map,
}

/// The type that a form is written as.
#[inline]
pub(super) fn type_of(form: &Form) -> Type {
    match form {
        Form::Null | Form::Bool => Type::Bool,
        Form::Integer(Integer::I8) => Type::I8,
        Form::Integer(Integer::I16) => Type::I16,
        Form::Integer(Integer::I32) | Form::Enum(_) => Type::I32,
        Form::Integer(_) => Type::I64,
        Form::Double | Form::Float => Type::Double,
        Form::NumberText | Form::Json | Form::Text | Form::Bytes => Type::Binary,
        Form::Record(_) => Type::Struct,
        Form::List(_) => Type::List,
        Form::Map(_) => Type::Map,
    }
}

/// A field's head.
#[derive(Debug, Clone, Copy)]
pub(super) struct Head {
    pub(super) of: Type,
    pub(super) number: i16,
    /// The value of a boolean, where the head has it.
    pub(super) value: Option<bool>,
}

/// One of the two protocols.
pub(super) trait Protocol: 'static {
    /// The encoding's name.
    const NAME: &'static str;

    /// Writes the head of a field, and, where the head has room for it, the value of a boolean.
    /// Answers whether the value is written. `last` is the number of the field before.
    fn head(out: &mut Vec<u8>, of: Type, number: i16, last: i16, value: Option<bool>) -> bool;

    /// Writes a boolean that is no field.
    fn bool(out: &mut Vec<u8>, value: bool);

    /// Writes an integer of a type.
    fn integer(out: &mut Vec<u8>, of: Type, value: i64);

    /// Writes a double.
    fn double(out: &mut Vec<u8>, value: f64);

    /// Writes a length or count.
    fn length(out: &mut Vec<u8>, length: u32);

    /// Writes the head of a field that is a string, with the string's length.
    #[inline]
    fn text_field(out: &mut Vec<u8>, number: i16, last: i16, length: u32) {
        Self::head(out, Type::Binary, number, last, None);
        Self::length(out, length);
    }

    /// Writes a field that is an integer of a type.
    #[inline]
    fn integer_field(out: &mut Vec<u8>, of: Type, number: i16, last: i16, value: i64) {
        Self::head(out, of, number, last, None);
        Self::integer(out, of, value);
    }

    /// Writes a field that is a double.
    #[inline]
    fn double_field(out: &mut Vec<u8>, number: i16, last: i16, value: f64) {
        Self::head(out, Type::Double, number, last, None);
        Self::double(out, value);
    }

    /// Writes the head of a list.
    fn list(out: &mut Vec<u8>, of: Type, length: u32);

    /// Writes the head of a map whose keys are strings.
    fn map(out: &mut Vec<u8>, of: Type, length: u32);

    /// Reads the head of a field; nothing at the end of a struct.
    fn read_head(cursor: &mut Cursor<'_>, last: i16) -> Result<Option<Head>, DecodeError>;

    /// Reads a boolean that is no field.
    fn read_bool(cursor: &mut Cursor<'_>) -> Result<bool, DecodeError>;

    /// Reads an integer of a type.
    fn read_integer(cursor: &mut Cursor<'_>, of: Type) -> Result<i64, DecodeError>;

    /// Reads a double.
    fn read_double(cursor: &mut Cursor<'_>) -> Result<f64, DecodeError>;

    /// Reads a length.
    fn read_length(cursor: &mut Cursor<'_>) -> Result<u64, DecodeError>;

    /// Reads the head of a list: the type of its elements and how many there are.
    fn read_list(cursor: &mut Cursor<'_>) -> Result<(Option<Type>, u64), DecodeError>;

    /// Reads the head of a map: the types of keys and values, which an empty map may not have, and
    /// how many there are.
    fn read_map(cursor: &mut Cursor<'_>) -> Result<(Option<(Type, Type)>, u64), DecodeError>;
}
