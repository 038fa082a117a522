//! MongoDB and what speaks its protocol: the documents of collections, or a field of them.
//!
//! The server draws the documents (`$sample`). One that can't is read from its start to the limit,
//! and the documents are drawn here, so that the pace holds for those that are taken.

mod json;

use std::ops::ControlFlow;

use bson::raw::{RawBsonRef, RawDocument, RawDocumentBuf};
use bson::{Document, doc};
use glob::Pattern;
use mongodb::error::{Error, ErrorKind};
use mongodb::options::{ClientOptions, ReadPreference, SelectionCriteria};
use mongodb::sync::{Client, Collection, Cursor, Database};

use crate::address::Address;
use crate::error::{SampleError, in_one_line};
use crate::options::SampleOptions;
use crate::shares::{offered_max, shares};
use crate::taker::Taker;

/// What the server's administrator sees us as.
const APPLICATION: &str = "cinch";

/// How many documents the server sends at a time. It sends at most 16 MB whatever is asked for.
const BATCH_DOCUMENTS: u32 = 100;

/// Errors of a server that has no `$sample`: not implemented, and no such stage.
const NO_SAMPLE: [i32; 4] = [238, 40_324, 16_436, 59];

/// Errors of the server: the login failed, and a right that is missing.
const REFUSED_LOGIN: i32 = 18;
const REFUSED_RIGHT: i32 = 13;

/// The error of the server for the time limit.
const TIME_LIMIT: i32 = 50;

/// Offers what is stored to the taker.
pub(crate) fn read(
    address: &Address,
    options: &SampleOptions,
    taker: &mut Taker<'_>,
) -> Result<(), SampleError> {
    let (database, collection) = names(address)?;
    let store = Store::open(address, options, database)?;
    let names = store.collections(collection, options)?;
    let documents: Vec<u64> =
        names.iter().map(|name| store.documents(name)).collect::<Result<_, _>>()?;
    taker.stored(documents.iter().sum());
    let shares = shares(offered_max(options), &documents);
    for ((name, documents), wanted) in names.iter().zip(documents).zip(shares) {
        if store.read_collection(name, documents, wanted, taker)?.is_break() {
            break;
        }
    }
    Ok(())
}

/// The database and the collection of an address: `/db`, `/db.collection` or `/db/collection`. No
/// name of a database has a dot or a slash.
fn names(address: &Address) -> Result<(&str, Option<&str>), SampleError> {
    let path = address.path().trim_matches('/');
    let (database, collection) = match path.find(['.', '/']) {
        Some(end) => (&path[..end], Some(&path[end + 1..])),
        None => (path, None),
    };
    if database.is_empty() {
        return Err(SampleError::BadAddress {
            address: address.to_string(),
            reason: "names no database; write mongodb://HOST/DATABASE".to_owned(),
        });
    }
    Ok((database, collection.filter(|name| !name.is_empty())))
}

struct Store<'a> {
    address: &'a Address,
    options: &'a SampleOptions,
    database: Database,
    /// The names on the way to the field that is the payload; none for the whole document.
    field: Vec<&'a str>,
}

impl<'a> Store<'a> {
    fn open(
        address: &'a Address,
        options: &'a SampleOptions,
        database: &str,
    ) -> Result<Store<'a>, SampleError> {
        let bad = |reason: String| SampleError::BadAddress { address: address.to_string(), reason };
        let field: Vec<&str> = options.query.iter().flat_map(|query| query.split('.')).collect();
        if field.iter().any(|name| name.is_empty()) {
            let reason = "--query takes the path of a field, like order.cart".to_owned();
            return Err(SampleError::Query { address: address.to_string(), reason });
        }
        // The driver takes all of the path for the name of the database.
        let (start, parameters) = address.text().split_once('?').unwrap_or((address.text(), ""));
        let hosts_start = start.find("://").map_or(0, |position| position + 3);
        let hosts_end = start[hosts_start..].find('/').map_or(start.len(), |at| hosts_start + at);
        let text = format!("{}/{database}?{parameters}", &start[..hosts_end]);
        let mut client = ClientOptions::parse(text.trim_end_matches('?'))
            .run()
            .map_err(|error| bad(in_one_line(&error)))?;
        client.app_name = Some(APPLICATION.to_owned());
        client.server_selection_timeout = Some(options.timeout);
        client.connect_timeout = Some(options.timeout);
        if options.replica {
            let preference = ReadPreference::SecondaryPreferred { options: None };
            client.selection_criteria = Some(SelectionCriteria::ReadPreference(preference));
        }
        let client = Client::with_options(client).map_err(|error| bad(in_one_line(&error)))?;
        Ok(Store { address, options, database: client.database(database), field })
    }

    /// The collections to read, which exist.
    fn collections(
        &self,
        named: Option<&str>,
        options: &SampleOptions,
    ) -> Result<Vec<String>, SampleError> {
        let nothing =
            |hint: String| SampleError::NothingFound { address: self.address.to_string(), hint };
        let pattern = match &options.matching {
            Some(text) => Some(Pattern::new(text).map_err(|error| SampleError::Query {
                address: self.address.to_string(),
                reason: format!("--match {text:?}: {}", error.msg),
            })?),
            None => None,
        };
        let all = self.database.list_collection_names().run().map_err(|e| self.failed(&e))?;
        let is_chosen = |name: &&String| {
            named.is_none_or(|named| named == name.as_str())
                && pattern.as_ref().is_none_or(|pattern| pattern.matches(name))
                && (named.is_some() || !name.starts_with("system."))
        };
        let mut chosen: Vec<String> = all.iter().filter(is_chosen).cloned().collect();
        chosen.sort();
        if chosen.is_empty() {
            let shown: Vec<&str> = all.iter().take(8).map(String::as_str).collect();
            return Err(nothing(match shown.as_slice() {
                [] => "this database has no collections; is it the right one?".to_owned(),
                shown => format!("no such collection; there are {}", shown.join(", ")),
            }));
        }
        Ok(chosen)
    }

    fn collection(&self, name: &str) -> Collection<RawDocumentBuf> {
        self.database.collection(name)
    }

    fn documents(&self, name: &str) -> Result<u64, SampleError> {
        let collection = self.collection(name);
        let counted = collection.estimated_document_count();
        counted.max_time(self.options.timeout).run().map_err(|error| self.failed(&error))
    }

    fn read_collection(
        &self,
        name: &str,
        documents: u64,
        wanted: u64,
        taker: &mut Taker<'_>,
    ) -> Result<ControlFlow<()>, SampleError> {
        if documents > wanted {
            let size = i64::try_from(wanted).unwrap_or(i64::MAX);
            match self.sampled(name, size) {
                Ok(mut cursor) => return self.offer_all(name, &mut cursor, 1.0, taker),
                Err(error) if lacks_sample(&error) => {}
                Err(error) => return Err(self.failed(&error)),
            }
        }
        // The limit stands for what may be looked at in all.
        let looked_at = documents.min(self.options.scan_limit).max(1);
        let part = wanted as f64 / looked_at as f64;
        let found = self.collection(name);
        let found = found.find(doc! {}).projection(self.projection()).batch_size(BATCH_DOCUMENTS);
        let mut cursor = found.run().map_err(|error| self.failed(&error))?;
        self.offer_all(name, &mut cursor, part, taker)
    }

    fn sampled(&self, name: &str, size: i64) -> Result<Cursor<RawDocumentBuf>, Error> {
        let mut stages = vec![doc! { "$sample": { "size": size } }];
        if !self.field.is_empty() {
            stages.push(doc! { "$project": self.projection() });
        }
        self.collection(name)
            .aggregate(stages)
            .batch_size(BATCH_DOCUMENTS)
            .max_time(self.options.timeout)
            .with_type::<RawDocumentBuf>()
            .run()
    }

    /// Only the member that the field is in is sent.
    fn projection(&self) -> Document {
        match self.field.first() {
            Some(&first) => doc! { first: 1 },
            None => doc! {},
        }
    }

    /// Offers this part of the documents, drawn at random.
    fn offer_all(
        &self,
        name: &str,
        cursor: &mut Cursor<RawDocumentBuf>,
        part: f64,
        taker: &mut Taker<'_>,
    ) -> Result<ControlFlow<()>, SampleError> {
        let below = (part.clamp(0.0, 1.0) * u64::MAX as f64) as u64;
        while cursor.advance().map_err(|error| self.failed(&error))? {
            let flow = if taker.random().bits() <= below {
                self.offer(name, cursor.current(), taker)
            } else {
                taker.list(1)
            };
            if flow.is_break() {
                return Ok(flow);
            }
        }
        Ok(ControlFlow::Continue(()))
    }

    fn offer(&self, name: &str, document: &RawDocument, taker: &mut Taker<'_>) -> ControlFlow<()> {
        let id = match document.get("_id") {
            Ok(Some(RawBsonRef::ObjectId(id))) => id.to_hex(),
            Ok(Some(RawBsonRef::String(id))) => id.to_owned(),
            Ok(Some(id)) => json::text(id).unwrap_or_default(),
            _ => String::new(),
        };
        let key = format!("{name} {id}");
        let found = if self.field.is_empty() {
            Some(RawBsonRef::Document(document))
        } else {
            pick(document, &self.field)
        };
        match found {
            None => taker.refuse("field missing"),
            Some(RawBsonRef::Null) => taker.refuse("null"),
            Some(RawBsonRef::String(text)) => taker.offer(key.trim_end(), text.as_bytes()),
            Some(RawBsonRef::Binary(binary)) => taker.offer(key.trim_end(), binary.bytes),
            Some(other) => match json::text(other) {
                Some(text) => taker.offer(key.trim_end(), text.as_bytes()),
                None => taker.refuse("damaged BSON"),
            },
        }
    }

    /// What an error of the driver or the server is for people.
    fn failed(&self, error: &Error) -> SampleError {
        let address = self.address.to_string();
        match error.kind.as_ref() {
            ErrorKind::Authentication { message, .. } => {
                let reason = message.replace(['\r', '\n'], " ");
                let hint = "check the name and password in the address".to_owned();
                SampleError::Authentication { address, reason, hint }
            }
            ErrorKind::Command(told) => {
                let reason = told.message.replace(['\r', '\n'], " ");
                match told.code {
                    REFUSED_LOGIN | REFUSED_RIGHT => {
                        let hint = "check the name and password in the address, \
                                    and that the user may read this database"
                            .to_owned();
                        SampleError::Authentication { address, reason, hint }
                    }
                    TIME_LIMIT => {
                        let limit = self.options.timeout.as_secs();
                        let reason = format!("{reason}; it may take {limit} s at most: narrow it");
                        SampleError::Query { address, reason }
                    }
                    _ => SampleError::Query { address, reason },
                }
            }
            kind => SampleError::Unreachable {
                address,
                reason: first_cause(&kind.to_string()).replace(['\r', '\n'], " "),
                hint: "check that the server runs, and its host and port".to_owned(),
            },
        }
    }
}

/// What went wrong with the first server, where the driver lists the state of all that it knows.
fn first_cause(text: &str) -> &str {
    let Some((_, states)) = text.split_once("Error: Kind: ") else { return text };
    states.split_once(", labels:").map_or(text, |(cause, _)| cause)
}

fn lacks_sample(error: &Error) -> bool {
    matches!(error.kind.as_ref(), ErrorKind::Command(told) if NO_SAMPLE.contains(&told.code))
}

/// The value at the end of a path of names, and of indices where there are arrays.
fn pick<'d>(document: &'d RawDocument, path: &[&str]) -> Option<RawBsonRef<'d>> {
    let (first, rest) = path.split_first()?;
    let mut value = document.get(first).ok()??;
    for name in rest {
        value = match value {
            RawBsonRef::Document(document) => document.get(name).ok()??,
            RawBsonRef::Array(array) => array.get(name.parse().ok()?).ok()??,
            _ => return None,
        };
    }
    Some(value)
}
