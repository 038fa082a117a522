//! `cinch unpack`: envelopes to payloads. What is plain passes through, so that
//! `cinch pack | cinch unpack` gives every input back.

use std::path::PathBuf;

use cinch_core::envelope::{UnpackError, base_id};
use cinch_core::limits::PAYLOAD_BYTES_MAX;
use cinch_core::pack::{Unpacker, looks_like_interop, unpack_interop};

use crate::Done;
use crate::arguments::UnpackArguments;
use crate::failure::Failure;
use crate::inputs::{self, Input};
use crate::output::Output;
use crate::{profile, records};

/// How much longer than its payload a packed form may be, in bytes: the longest header, and the
/// worst that a codec does to noise.
pub const PACKED_EXTRA_BYTES: usize = 1 << 20;

/// Unpacks every input.
pub fn run(arguments: &UnpackArguments) -> Result<Done, Failure> {
    let paths = arguments.dictionaries.iter();
    let mut dictionaries =
        paths.map(|path| profile::read_dictionary(path)).collect::<Result<Vec<_>, _>>()?;
    let paths = arguments.schemas.iter();
    let mut schemas =
        paths.map(|path| profile::read_schema(path)).collect::<Result<Vec<_>, _>>()?;
    if let Some(path) = &arguments.profile {
        let profile = profile::read_file(path)?;
        dictionaries.extend(profile.dictionaries().cloned());
        schemas.extend(profile.schemas().cloned());
    }
    let limit_bytes = arguments.limit.unwrap_or(PAYLOAD_BYTES_MAX);
    let mut unpacker = Unpacker::new(dictionaries).with_schemas(schemas).with_limit(limit_bytes);
    let bases = Bases::read(&arguments.bases)?;
    let inputs = Input::all(&arguments.files);
    let output = arguments.output.as_deref();
    let places = inputs::places(&inputs, output, Input::unpacked_place)?;
    for (input, place) in inputs.iter().zip(&places) {
        let mut payload = Vec::new();
        if arguments.records {
            let mut output = Output::open(place, arguments.force || output.is_some())?;
            let mut stream = input.open()?;
            let mut record = Vec::new();
            let mut number = 0u64;
            let packed_limit = limit_bytes + PACKED_EXTRA_BYTES;
            while records::next(&mut stream, packed_limit, &mut record, &input.name())? {
                number += 1;
                unpacker.read_against(|id| bases.find(id), &record, &mut payload).map_err(
                    |error| bases.failure(format!("{}: record {number}", input.name()), error),
                )?;
                payload.push(b'\n');
                output.write(&payload)?;
            }
            output.finish()?;
        } else {
            let advice = "; raise --limit, or say --records";
            let value = input.read_whole(limit_bytes + PACKED_EXTRA_BYTES, advice)?;
            let read = if looks_like_interop(&value) {
                unpack_interop(&value, limit_bytes, &mut payload).map(|_| ())
            } else {
                unpacker.read_against(|id| bases.find(id), &value, &mut payload).map(|_| ())
            };
            read.map_err(|error| bases.failure(input.name(), error))?;
            let mut output = Output::open(place, arguments.force || output.is_some())?;
            output.write(&payload)?;
            output.finish()?;
        }
    }
    Ok(Done::Whole)
}

/// The versions that envelopes may be packed against.
struct Bases {
    /// Each with its id and the file that it is from.
    known: Vec<(u64, Vec<u8>, String)>,
}

impl Bases {
    fn read(files: &[PathBuf]) -> Result<Bases, Failure> {
        let read = |path: &PathBuf| {
            let base = profile::read_at_most(path, PAYLOAD_BYTES_MAX as u64)?;
            Ok((base_id(&base), base, path.display().to_string()))
        };
        Ok(Bases { known: files.iter().map(read).collect::<Result<_, Failure>>()? })
    }

    fn find(&self, id: u64) -> Option<&[u8]> {
        self.known.iter().find(|(known, ..)| *known == id).map(|(_, base, _)| base.as_slice())
    }

    /// Says of a base that is missing what was given in its place.
    fn failure(&self, name: String, error: UnpackError) -> Failure {
        if self.known.is_empty() || !matches!(error, UnpackError::MissingBase { .. }) {
            return Failure::Unpack { name, error };
        }
        let given = self.known.iter().map(|(id, _, file)| format!("{file} is {id:#018x}"));
        Failure::OtherBase { name, error, given: given.collect::<Vec<_>>().join(", ") }
    }
}
