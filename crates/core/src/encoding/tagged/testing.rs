//! A schema with every form, for the tests and fuzz targets of the encodings that go by one, and
//! the payloads that it takes.

use std::sync::Arc;

use crate::schema::tagged::{Alternative, Field, Form, Integer, Names, Record};
#[cfg(test)]
use crate::schema::{Language, Schema};

pub(crate) fn field(key: &str, forms: Vec<(u32, Form)>) -> Field {
    let alternative = |(number, form)| Alternative { number, name: key.to_owned(), form };
    Field { key: key.to_owned(), alternatives: forms.into_iter().map(alternative).collect() }
}

/// A record with room for the rest and for what is empty.
pub(crate) fn record(name: &str, fields: Vec<Field>) -> Record {
    let (rest, empties) = (Some(2047), Some(2046));
    Record { name: name.to_owned(), fields, rest, empties, ..Record::default() }
}

/// A schema of these records, the first being the payload.
#[cfg(test)]
pub(crate) fn schema(language: Language, records: Vec<Record>) -> std::sync::Arc<Schema> {
    let plan = crate::schema::tagged::Plan::new(records, 0).unwrap();
    let bytes = b"a schema of the tests".to_vec();
    Schema::new(language, bytes, crate::schema::Plan::Tagged(Arc::new(plan)))
}

/// The encoding of this name by these records, the first being the payload.
#[cfg(test)]
pub(crate) fn coder(name: &str, records: Vec<Record>) -> Box<dyn crate::encoding::WithSchema> {
    let language = match name {
        "protobuf" => Language::Protobuf,
        _ => Language::Thrift,
    };
    let schema = schema(language, records);
    let encoding = crate::encoding::encoding_named(name).unwrap();
    encoding.with_schema(Some(&schema)).unwrap().unwrap()
}

/// A schema with every form that both languages have.
pub(crate) fn every_form() -> Vec<Record> {
    let names = Names::new([("RED".to_owned(), 0), ("BLUE".to_owned(), 7)]);
    let list = |form| Form::List(Box::new(form));
    let value = Record {
        name: "Value".to_owned(),
        is_value: true,
        fields: vec![field(
            "",
            vec![
                (1, Form::Null),
                (2, Form::Bool),
                (3, Form::Double),
                (4, Form::Text),
                (5, list(Form::Record(1))),
                (6, Form::Record(0)),
            ],
        )],
        empties: Some(7),
        ..Record::default()
    };
    let payload = vec![
        field("b", vec![(1, Form::Bool), (2, Form::Null)]),
        field("i", vec![(3, Form::Integer(Integer::I32)), (4, Form::Integer(Integer::I64))]),
        field("n", vec![(5, Form::NumberText)]),
        field("d", vec![(6, Form::Double)]),
        field("t", vec![(7, Form::Text)]),
        field("y", vec![(8, Form::Bytes)]),
        field("e", vec![(9, Form::Enum(Arc::new(names)))]),
        field("j", vec![(10, Form::Json)]),
        field("r", vec![(11, Form::Record(0))]),
        field("lb", vec![(12, list(Form::Bool))]),
        field("li", vec![(13, list(Form::Integer(Integer::I64)))]),
        field("lt", vec![(14, list(Form::Text))]),
        field("lr", vec![(15, list(Form::Record(0)))]),
        field("lv", vec![(16, list(Form::Record(1)))]),
        field("md", vec![(17, Form::Map(Box::new(Form::Double)))]),
        field("mr", vec![(300, Form::Map(Box::new(Form::Record(0))))]),
    ];
    vec![record("Payload", payload), value]
}

#[cfg(test)]
/// Payloads that [`every_form`] takes without its rest.
pub(crate) const WITHIN: &[&str] = &[
    r#"{}"#,
    r#"{"b":true}"#,
    r#"{"b":false,"i":0,"n":0,"d":0,"t":"","y":"","e":"RED"}"#,
    r#"{"b":null,"i":-1,"n":1e400,"d":-1.5,"t":"é","y":"Zm9v","e":"BLUE"}"#,
    r#"{"e":"RED","t":"x","b":true}"#,
    r#"{"i":2147483647,"r":{"i":2147483648,"r":{"i":-9223372036854775808}}}"#,
    r#"{"j":[1,{"a":"\ud800"},1e999]}"#,
    r#"{"lb":[true,false],"li":[1,-1,300],"lt":["a","","b"],"lr":[{},{"b":true}]}"#,
    r#"{"lb":[],"li":[],"lt":[],"lr":[],"lv":[],"md":{},"mr":{}}"#,
    r#"{"lv":[null,true,1.5,"x",[],[null,[1]],{"t":"in a list"}]}"#,
    r#"{"md":{"a":1,"":2.5},"mr":{"x":{},"y":{"d":2}}}"#,
];

#[cfg(test)]
/// Payloads of which a member has no place in [`every_form`], and how many such members.
pub(crate) const OUTSIDE: &[(&str, u64)] = &[
    (r#"{"unknown":{"a":[1,2,"\ud800"]},"b":true}"#, 1),
    (r#"{"b":true,"unknown":1,"b":false,"t":"x"}"#, 2),
    (r#"{"i":1.5,"d":0.1234567890123456789,"t":5,"y":"no base64","e":"GREEN"}"#, 5),
    (r#"{"t":"\ud800"}"#, 1),
    (r#"{"li":[1,"two"],"lr":[{"b":"no bool"}],"r":[]}"#, 3),
    (r#"{"md":{"a":1,"a":2}}"#, 1),
    (r#"{"a":1,"b":true,"c":2}"#, 2),
];
