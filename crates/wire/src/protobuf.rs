//! The wire form of protobuf: fields one by one, nothing copied, nothing allocated. Messages of
//! known shape (otlp, Loki) are read with it; a generated reader would build a tree that is a
//! hundred times as large as a hostile message.

/// Bytes that are no protobuf.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the bytes are no protobuf: {0}")]
pub struct ProtobufError(&'static str);

/// The value of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Field<'a> {
    Varint(u64),
    Fixed64(u64),
    Bytes(&'a [u8]),
    Fixed32(u32),
}

/// The fields of a message, in order. After an error there is nothing more.
#[derive(Debug, Clone)]
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
}

/// The most bytes of a varint.
const VARINT_BYTES_MAX: usize = 10;

impl<'a> Fields<'a> {
    pub(crate) fn new(message: &'a [u8]) -> Fields<'a> {
        Fields { rest: message }
    }

    fn field(&mut self) -> Result<(u64, Field<'a>), ProtobufError> {
        let key = self.varint()?;
        let field = match key & 7 {
            0 => Field::Varint(self.varint()?),
            1 => Field::Fixed64(u64::from_le_bytes(self.array()?)),
            2 => {
                let length = usize::try_from(self.varint()?).unwrap_or(usize::MAX);
                let (bytes, rest) = self.rest.split_at_checked(length).ok_or(CUT_OFF)?;
                self.rest = rest;
                Field::Bytes(bytes)
            }
            5 => Field::Fixed32(u32::from_le_bytes(self.array()?)),
            _ => return Err(ProtobufError("a field is of an unknown type")),
        };
        Ok((key >> 3, field))
    }

    fn varint(&mut self) -> Result<u64, ProtobufError> {
        let mut number = 0;
        for index in 0..VARINT_BYTES_MAX {
            let (&byte, rest) = self.rest.split_first().ok_or(CUT_OFF)?;
            self.rest = rest;
            number |= u64::from(byte & 0x7F) << (7 * index);
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(ProtobufError("a number is longer than 10 bytes"))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], ProtobufError> {
        let (array, rest) = self.rest.split_first_chunk().ok_or(CUT_OFF)?;
        self.rest = rest;
        Ok(*array)
    }
}

const CUT_OFF: ProtobufError = ProtobufError("it ends inside a field");

impl<'a> Iterator for Fields<'a> {
    type Item = Result<(u64, Field<'a>), ProtobufError>;

    fn next(&mut self) -> Option<Result<(u64, Field<'a>), ProtobufError>> {
        if self.rest.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.rest = &[];
        }
        Some(field)
    }
}
