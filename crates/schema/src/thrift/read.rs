//! A `.thrift` file as a plan: structs, unions, exceptions, enumerations and type definitions.
//! Services, constants and namespaces are passed over; includes are refused, since one file is all
//! there is.

use std::collections::BTreeMap;
use std::sync::Arc;

use cinch_core::schema::tagged::{Alternative, Field, Form, Integer, Names, Plan, Record};

use super::tokens::{Token, tokens, wrong};
use super::{AS, JSON, KEY, MEMBER, NULL, NUMBER, REST, ROOT, ROOT_VALUE, VALUE};
use crate::ReadError;

/// A type as it is written.
#[derive(Debug, Clone)]
enum Type {
    Named(String, usize),
    List(Box<Type>),
    Map(Box<Type>, Box<Type>, usize),
}

/// How deep types may nest in one another, here and through type definitions.
const TYPE_DEPTH_MAX: usize = 64;

#[derive(Debug)]
struct RawField {
    number: u32,
    name: String,
    of: Type,
    is_required: bool,
    says: Annotations,
    line: usize,
}

#[derive(Debug)]
struct RawStruct {
    name: String,
    /// One of its fields is there and no other.
    is_union: bool,
    fields: Vec<RawField>,
    says: Annotations,
}

type Annotations = BTreeMap<String, String>;

/// Reads a file.
pub(crate) fn read(text: &str) -> Result<Plan, ReadError> {
    let mut parser = Parser {
        tokens: tokens(text)?,
        at: 0,
        structs: Vec::new(),
        enums: BTreeMap::new(),
        types: BTreeMap::new(),
    };
    while parser.at < parser.tokens.len() {
        parser.definition()?;
    }
    parser.plan()
}

struct Parser {
    tokens: Vec<(Token, usize)>,
    at: usize,
    structs: Vec<RawStruct>,
    enums: BTreeMap<String, Arc<Names>>,
    types: BTreeMap<String, Type>,
}

impl Parser {
    fn line(&self) -> usize {
        let at = self.at.min(self.tokens.len().saturating_sub(1));
        self.tokens.get(at).map_or(1, |(_, line)| *line)
    }

    fn peek(&self) -> Option<&Token> {
        self.tokens.get(self.at).map(|(token, _)| token)
    }

    fn next(&mut self) -> Result<Token, ReadError> {
        let token = self.peek().cloned();
        self.at += 1;
        token.ok_or_else(|| wrong(self.line(), "the file ends too early"))
    }

    fn word(&mut self) -> Result<String, ReadError> {
        match self.next()? {
            Token::Word(word) => Ok(word),
            other => Err(wrong(self.line(), format!("a name is missing before {other}"))),
        }
    }

    fn is_sign(&self, sign: char) -> bool {
        self.peek() == Some(&Token::Sign(sign))
    }

    /// Passes a sign if it is the next token.
    fn pass(&mut self, sign: char) -> bool {
        let is_next = self.is_sign(sign);
        self.at += usize::from(is_next);
        is_next
    }

    fn sign(&mut self, sign: char) -> Result<(), ReadError> {
        if self.pass(sign) { Ok(()) } else { Err(wrong(self.line(), format!("{sign} is missing"))) }
    }

    fn definition(&mut self) -> Result<(), ReadError> {
        let line = self.line();
        match self.word()?.as_str() {
            "namespace" | "cpp_include" => {
                self.next()?;
                if !matches!(self.tokens.get(self.at), Some((_, next)) if *next > line) {
                    self.next()?;
                }
            }
            "include" => {
                let what = "includes are not read; put all structs into one file";
                return Err(wrong(line, what));
            }
            "typedef" => {
                let of = self.of(0)?;
                let name = self.word()?;
                self.types.insert(name, of);
                self.annotations()?;
            }
            "enum" | "senum" => self.enumeration()?,
            "struct" | "exception" => self.structure(false)?,
            "union" => self.structure(true)?,
            "const" => {
                self.of(0)?;
                self.word()?;
                self.sign('=')?;
                self.literal()?;
            }
            "service" => {
                while !self.is_sign('{') {
                    self.next()?;
                }
                self.braces()?;
            }
            other => return Err(wrong(line, format!("{other} begins no definition"))),
        }
        while self.pass(',') || self.pass(';') {}
        Ok(())
    }

    /// Passes over what is in braces, brackets and parentheses.
    fn braces(&mut self) -> Result<(), ReadError> {
        let mut depth = 0usize;
        loop {
            match self.next()? {
                Token::Sign('{' | '[' | '(') => depth += 1,
                Token::Sign('}' | ']' | ')') => {
                    depth = depth.saturating_sub(1);
                    if depth == 0 {
                        return Ok(());
                    }
                }
                _ => {}
            }
        }
    }

    /// Passes over a value.
    fn literal(&mut self) -> Result<(), ReadError> {
        if self.is_sign('{') || self.is_sign('[') { self.braces() } else { self.next().map(drop) }
    }

    fn enumeration(&mut self) -> Result<(), ReadError> {
        let name = self.word()?;
        self.sign('{')?;
        let mut names = Vec::new();
        let mut next = 0i32;
        while !self.pass('}') {
            let value = self.word()?;
            if self.pass('=') {
                next = match self.next()? {
                    Token::Number(number) => parse_number(&number),
                    _ => None,
                }
                .ok_or_else(|| wrong(self.line(), "a number of 32 bits is missing"))?;
            }
            names.push((value, next));
            next = next.wrapping_add(1);
            self.annotations()?;
            while self.pass(',') || self.pass(';') {}
        }
        self.annotations()?;
        self.enums.insert(name, Arc::new(Names::new(names)));
        Ok(())
    }

    fn structure(&mut self, is_union: bool) -> Result<(), ReadError> {
        let name = self.word()?;
        self.sign('{')?;
        let mut fields = Vec::new();
        while !self.pass('}') {
            fields.push(self.field()?);
            while self.pass(',') || self.pass(';') {}
        }
        let says = self.annotations()?;
        self.structs.push(RawStruct { name, is_union, fields, says });
        Ok(())
    }

    fn field(&mut self) -> Result<RawField, ReadError> {
        let line = self.line();
        let number = match self.next()? {
            Token::Number(number) => parse_number(&number),
            _ => None,
        };
        let number = number.and_then(|number| u32::try_from(number).ok());
        let number = number.filter(|number| (1..=0x7FFF).contains(number));
        let number = number.ok_or_else(|| wrong(line, "a field has a number of 1 to 32767"))?;
        self.sign(':')?;
        let is = |word: &str| matches!(self.peek(), Some(Token::Word(next)) if next == word);
        let is_required = is("required");
        self.at += usize::from(is_required || is("optional"));
        let of = self.of(0)?;
        let name = self.word()?;
        if self.pass('=') {
            self.literal()?;
        }
        let says = self.annotations()?;
        Ok(RawField { number, name, of, is_required, says, line })
    }

    fn of(&mut self, depth: usize) -> Result<Type, ReadError> {
        let line = self.line();
        if depth > TYPE_DEPTH_MAX {
            return Err(wrong(line, "types nest too deep"));
        }
        let word = self.word()?;
        let of = match word.as_str() {
            "list" | "set" => {
                self.sign('<')?;
                let element = self.of(depth + 1)?;
                self.sign('>')?;
                Type::List(Box::new(element))
            }
            "map" => {
                self.sign('<')?;
                let key = self.of(depth + 1)?;
                self.sign(',')?;
                let value = self.of(depth + 1)?;
                self.sign('>')?;
                Type::Map(Box::new(key), Box::new(value), line)
            }
            _ => Type::Named(word, line),
        };
        self.annotations()?;
        Ok(of)
    }

    fn annotations(&mut self) -> Result<Annotations, ReadError> {
        let mut found = BTreeMap::new();
        if !self.pass('(') {
            return Ok(found);
        }
        while !self.pass(')') {
            let name = self.word()?;
            let value = match self.pass('=') {
                true => match self.next()? {
                    Token::Text(text) => unquoted(&text),
                    _ => return Err(wrong(self.line(), "an annotation's value is a text")),
                },
                false => String::new(),
            };
            found.insert(name, value);
            while self.pass(',') || self.pass(';') {}
        }
        Ok(found)
    }

    fn plan(self) -> Result<Plan, ReadError> {
        let is_member = |raw: &&RawStruct| raw.name == MEMBER;
        let structs: Vec<&RawStruct> = self.structs.iter().filter(|raw| !is_member(raw)).collect();
        let indices: BTreeMap<&str, usize> =
            structs.iter().enumerate().map(|(index, raw)| (raw.name.as_str(), index)).collect();
        let mut is_used = vec![false; structs.len()];
        let mut records = Vec::with_capacity(structs.len());
        for (index, raw) in structs.iter().enumerate() {
            let says = raw.says.get(AS).map(String::as_str);
            let is_value = says == Some(VALUE) || says == Some(ROOT_VALUE);
            let mut record = Record { name: raw.name.clone(), is_value, ..Record::default() };
            for field in &raw.fields {
                let how = field.says.get(AS).map(String::as_str).unwrap_or_default();
                if how == REST {
                    record.rest = Some(field.number);
                    continue;
                }
                let form = self.form(&field.of, how, &indices, 0)?;
                if let Some(used) = used_by(&form)
                    && used != index
                {
                    is_used[used] = true;
                }
                if matches!(how, NULL if form != Form::Null) {
                    return Err(wrong(field.line, "a null is a bool"));
                }
                let key = match field.says.get(KEY) {
                    _ if is_value => String::new(),
                    Some(key) => key.clone(),
                    None => field.name.clone(),
                };
                let alternative =
                    Alternative { number: field.number, name: field.name.clone(), form };
                let place = record.fields.iter().position(|known| known.key == key);
                let place = place.unwrap_or_else(|| {
                    record.fields.push(Field { key, alternatives: Vec::new() });
                    record.fields.len() - 1
                });
                record.fields[place].alternatives.push(alternative);
                if field.is_required {
                    record.required.push(place);
                }
            }
            if raw.is_union {
                record.choices = vec![(0..record.fields.len()).collect()];
            }
            records.push(record);
        }
        let is_root = |raw: &&RawStruct| {
            matches!(raw.says.get(AS).map(String::as_str), Some(ROOT | ROOT_VALUE))
        };
        let says = structs.iter().position(is_root);
        let free = || (0..records.len()).rev().find(|&index| !is_used[index]);
        let last = || records.len().checked_sub(1);
        let root = says.or_else(free).or_else(last);
        let root = root.ok_or_else(|| wrong(1, "the file has no struct"))?;
        Ok(Plan::new(records, root)?)
    }

    fn form(
        &self,
        of: &Type,
        how: &str,
        indices: &BTreeMap<&str, usize>,
        depth: usize,
    ) -> Result<Form, ReadError> {
        Ok(match of {
            Type::List(element) => Form::List(Box::new(self.form(element, how, indices, depth)?)),
            Type::Map(key, value, line) => {
                if self.form(key, "", indices, depth)? != Form::Text {
                    return Err(wrong(
                        *line,
                        "keys of JSON objects are strings; this map has others",
                    ));
                }
                Form::Map(Box::new(self.form(value, how, indices, depth)?))
            }
            Type::Named(name, line) => match name.as_str() {
                "bool" if how == NULL => Form::Null,
                "bool" => Form::Bool,
                "byte" | "i8" => Form::Integer(Integer::I8),
                "i16" => Form::Integer(Integer::I16),
                "i32" => Form::Integer(Integer::I32),
                "i64" => Form::Integer(Integer::I64),
                "double" => Form::Double,
                "binary" | "slist" => Form::Bytes,
                "string" if how == NUMBER => Form::NumberText,
                "string" if how == JSON => Form::Json,
                "string" => Form::Text,
                name => {
                    if let Some(index) = indices.get(name) {
                        return Ok(Form::Record(*index));
                    }
                    if let Some(names) = self.enums.get(name) {
                        return Ok(Form::Enum(Arc::clone(names)));
                    }
                    if depth > TYPE_DEPTH_MAX {
                        return Err(wrong(*line, "a type is defined by itself"));
                    }
                    match self.types.get(name) {
                        Some(of) => self.form(of, how, indices, depth + 1)?,
                        None => return Err(wrong(*line, format!("there is no type {name}"))),
                    }
                }
            },
        })
    }
}

fn used_by(form: &Form) -> Option<usize> {
    match form {
        Form::List(inner) | Form::Map(inner) => used_by(inner),
        Form::Record(index) => Some(*index),
        _ => None,
    }
}

fn parse_number(text: &str) -> Option<i32> {
    match text.strip_prefix("0x") {
        Some(digits) => i32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

/// A text of an annotation of ours: percent signs and two digits stand for bytes.
fn unquoted(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((&byte, after)) = rest.split_first() {
        let hex = |digits: &[u8]| u8::from_str_radix(str::from_utf8(digits).ok()?, 16).ok();
        match after.get(..2).filter(|_| byte == b'%').and_then(hex) {
            Some(value) => {
                bytes.push(value);
                rest = &after[2..];
            }
            None => {
                bytes.push(byte);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
