//! Carts as the compilers of Protobuf and Thrift generate them, and the crates that write and read
//! them: prost, thrift and apache-avro.
//!
//! The structs are what `prost-build` and `thrift --gen rs` make of `bench/schemas`, without what
//! is not called here. Avro has no generated code; its crate is given the struct by serde.

use std::hint::black_box;

use apache_avro::Schema;
use apache_avro::reader::datum::GenericDatumReader;
use apache_avro::writer::datum::GenericDatumWriter;
use prost::Message;
use serde::{Deserialize, Serialize};
use thrift::protocol::{
    TBinaryInputProtocol, TBinaryOutputProtocol, TCompactInputProtocol, TCompactOutputProtocol,
    TFieldIdentifier, TInputProtocol, TListIdentifier, TOutputProtocol, TSerializable,
    TStructIdentifier, TType,
};

use crate::contest::Contestant;
use crate::failure::Outcome;

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Item {
    #[prost(string, tag = "1")]
    stock_code: String,
    #[prost(string, tag = "2")]
    description: String,
    #[prost(int32, tag = "3")]
    quantity: i32,
    #[prost(double, tag = "4")]
    unit_price: f64,
}

#[derive(Clone, PartialEq, Message, Serialize, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Cart {
    #[prost(string, tag = "1")]
    invoice_no: String,
    #[prost(string, tag = "2")]
    invoice_date: String,
    #[prost(int32, tag = "3")]
    #[serde(rename = "CustomerID")]
    customer_id: i32,
    #[prost(string, tag = "4")]
    country: String,
    #[prost(message, repeated, tag = "5")]
    items: Vec<Item>,
}

#[derive(Debug, Default)]
struct ThriftItem {
    stock_code: Option<String>,
    description: Option<String>,
    quantity: Option<i32>,
    unit_price: Option<f64>,
}

#[derive(Debug, Default)]
struct ThriftCart {
    invoice_no: Option<String>,
    invoice_date: Option<String>,
    customer_id: Option<i32>,
    country: Option<String>,
    items: Option<Vec<ThriftItem>>,
}

fn put_string(
    out: &mut dyn TOutputProtocol,
    name: &str,
    id: i16,
    value: Option<&String>,
) -> thrift::Result<()> {
    let Some(value) = value else { return Ok(()) };
    out.write_field_begin(&TFieldIdentifier::new(name, TType::String, id))?;
    out.write_string(value)?;
    out.write_field_end()
}

fn put_i32(
    out: &mut dyn TOutputProtocol,
    name: &str,
    id: i16,
    value: Option<i32>,
) -> thrift::Result<()> {
    let Some(value) = value else { return Ok(()) };
    out.write_field_begin(&TFieldIdentifier::new(name, TType::I32, id))?;
    out.write_i32(value)?;
    out.write_field_end()
}

impl TSerializable for ThriftItem {
    fn read_from_in_protocol(protocol: &mut dyn TInputProtocol) -> thrift::Result<ThriftItem> {
        let mut item = ThriftItem::default();
        protocol.read_struct_begin()?;
        loop {
            let field = protocol.read_field_begin()?;
            if field.field_type == TType::Stop {
                break;
            }
            match field.id {
                Some(1) => item.stock_code = Some(protocol.read_string()?),
                Some(2) => item.description = Some(protocol.read_string()?),
                Some(3) => item.quantity = Some(protocol.read_i32()?),
                Some(4) => item.unit_price = Some(protocol.read_double()?),
                _ => protocol.skip(field.field_type)?,
            }
            protocol.read_field_end()?;
        }
        protocol.read_struct_end()?;
        Ok(item)
    }

    fn write_to_out_protocol(&self, out: &mut dyn TOutputProtocol) -> thrift::Result<()> {
        out.write_struct_begin(&TStructIdentifier::new("Item"))?;
        put_string(out, "StockCode", 1, self.stock_code.as_ref())?;
        put_string(out, "Description", 2, self.description.as_ref())?;
        put_i32(out, "Quantity", 3, self.quantity)?;
        if let Some(price) = self.unit_price {
            out.write_field_begin(&TFieldIdentifier::new("UnitPrice", TType::Double, 4))?;
            out.write_double(price)?;
            out.write_field_end()?;
        }
        out.write_field_stop()?;
        out.write_struct_end()
    }
}

impl TSerializable for ThriftCart {
    fn read_from_in_protocol(protocol: &mut dyn TInputProtocol) -> thrift::Result<ThriftCart> {
        let mut cart = ThriftCart::default();
        protocol.read_struct_begin()?;
        loop {
            let field = protocol.read_field_begin()?;
            if field.field_type == TType::Stop {
                break;
            }
            match field.id {
                Some(1) => cart.invoice_no = Some(protocol.read_string()?),
                Some(2) => cart.invoice_date = Some(protocol.read_string()?),
                Some(3) => cart.customer_id = Some(protocol.read_i32()?),
                Some(4) => cart.country = Some(protocol.read_string()?),
                Some(5) => {
                    let list = protocol.read_list_begin()?;
                    let mut items = Vec::with_capacity(list.size as usize);
                    for _ in 0..list.size {
                        items.push(ThriftItem::read_from_in_protocol(protocol)?);
                    }
                    protocol.read_list_end()?;
                    cart.items = Some(items);
                }
                _ => protocol.skip(field.field_type)?,
            }
            protocol.read_field_end()?;
        }
        protocol.read_struct_end()?;
        Ok(cart)
    }

    fn write_to_out_protocol(&self, out: &mut dyn TOutputProtocol) -> thrift::Result<()> {
        out.write_struct_begin(&TStructIdentifier::new("Cart"))?;
        put_string(out, "InvoiceNo", 1, self.invoice_no.as_ref())?;
        put_string(out, "InvoiceDate", 2, self.invoice_date.as_ref())?;
        put_i32(out, "CustomerID", 3, self.customer_id)?;
        put_string(out, "Country", 4, self.country.as_ref())?;
        if let Some(items) = &self.items {
            out.write_field_begin(&TFieldIdentifier::new("Items", TType::List, 5))?;
            out.write_list_begin(&TListIdentifier::new(TType::Struct, items.len() as i32))?;
            for item in items {
                item.write_to_out_protocol(out)?;
            }
            out.write_list_end()?;
            out.write_field_end()?;
        }
        out.write_field_stop()?;
        out.write_struct_end()
    }
}

/// A crate on the carts: what it writes, and its work.
pub(super) struct Peer<'a> {
    pub(super) encoded: Vec<Vec<u8>>,
    pub(super) encode: Contestant<'a>,
    pub(super) decode: Contestant<'a>,
}

/// The crate of an encoding's format, by the carts that we encoded.
pub(super) fn peer<'a>(name: &str, schema: &[u8], bytes: &'a [Vec<u8>]) -> Outcome<Peer<'a>> {
    match name {
        "protobuf" => peer_of(
            "prost",
            bytes,
            |bytes| Ok(Cart::decode(bytes)?),
            |cart, out| Ok(Message::encode(cart, out)?),
        ),
        "thrift-binary" => peer_of(
            "thrift",
            bytes,
            |bytes| {
                let mut protocol = TBinaryInputProtocol::new(bytes, true);
                Ok(ThriftCart::read_from_in_protocol(&mut protocol)?)
            },
            |cart, out| Ok(cart.write_to_out_protocol(&mut TBinaryOutputProtocol::new(out, true))?),
        ),
        "thrift-compact" => peer_of(
            "thrift",
            bytes,
            |bytes| {
                let mut protocol = TCompactInputProtocol::new(bytes);
                Ok(ThriftCart::read_from_in_protocol(&mut protocol)?)
            },
            |cart, out| Ok(cart.write_to_out_protocol(&mut TCompactOutputProtocol::new(out))?),
        ),
        "avro" => {
            // Leaked, so that what the crate prepares from it can be kept as long as the bench.
            let schema: &'static Schema =
                Box::leak(Box::new(Schema::parse_str(str::from_utf8(schema)?)?));
            let reader = GenericDatumReader::builder(schema).human_readable(false).build()?;
            let writer = GenericDatumWriter::builder(schema).human_readable(false).build()?;
            peer_of(
                "apache-avro",
                bytes,
                move |mut bytes| Ok(reader.read_deser::<Cart>(&mut bytes)?),
                move |cart, out| Ok(writer.write_ser(out, cart).map(drop)?),
            )
        }
        other => Err(format!("no crate is known for {other}").into()),
    }
}

fn peer_of<'a, T: 'a>(
    name: &'static str,
    bytes: &'a [Vec<u8>],
    decode: impl Fn(&[u8]) -> Outcome<T> + 'a,
    encode: impl Fn(&T, &mut Vec<u8>) -> Outcome + 'a,
) -> Outcome<Peer<'a>> {
    let mut values = Vec::new();
    let mut encoded = Vec::new();
    for bytes in bytes {
        let value = decode(bytes)?;
        let mut out = Vec::new();
        encode(&value, &mut out)?;
        values.push(value);
        encoded.push(out);
    }
    let decoding = move || -> Outcome {
        for bytes in bytes {
            black_box(decode(black_box(bytes))?);
        }
        Ok(())
    };
    let mut out = Vec::new();
    let encoding = move || -> Outcome {
        for value in &values {
            out.clear();
            encode(black_box(value), &mut out)?;
        }
        Ok(())
    };
    Ok(Peer {
        encoded,
        encode: Contestant { name, work: Box::new(encoding) },
        decode: Contestant { name, work: Box::new(decoding) },
    })
}
