//! `cinch pack`: payloads to envelopes, whole files or one record a line.
//!
//! A whole payload is packed at once, because its length and checksum come first; many payloads in
//! one stream are packed as records, in memory that depends on the longest line only.

use std::io::{BufRead, Read};

use cinch_core::limits::{BASE_BYTES_MAX, PAYLOAD_BYTES_MAX};
use cinch_core::pack::{
    DeltaOutcome, InteropError, InteropPacker, NotEncoded, Outcome, PackError, Packer,
};
use cinch_core::profile::Profile;

use crate::Done;
use crate::arguments::PackArguments;
use crate::failure::Failure;
use crate::inputs::{self, Input};
use crate::output::Output;
use crate::{profile, records};

/// Packs every input.
pub fn run(arguments: &PackArguments) -> Result<Done, Failure> {
    let profile = profile::read(&arguments.profile)?;
    let inputs = Input::all(&arguments.files);
    let output = arguments.output.as_deref();
    let places = inputs::places(&inputs, output, |input| Ok(input.packed_place()))?;
    let mut packer = match &arguments.base {
        _ if arguments.interop => Form::Interop(interop_packer(&profile)?),
        None => Form::Envelope(Box::new(Packer::new(&profile)?)),
        Some(path) => {
            let base = profile::read_at_most(path, BASE_BYTES_MAX as u64)?;
            Form::Against { base, packer: Box::new(Packer::new(&profile)?) }
        }
    };
    for (input, place) in inputs.iter().zip(&places) {
        let replace = arguments.force || output.is_some();
        let mut output = Output::open(place, replace)?;
        if arguments.records {
            pack_records(input, &mut packer, &mut output)?;
        } else {
            let advice = "; --records packs each line on its own";
            let payload = input.read_whole(PAYLOAD_BYTES_MAX, advice)?;
            let mut packed = Vec::new();
            packer.pack(&payload, &mut packed, &input.name())?;
            output.write(&packed)?;
        }
        output.finish()?;
    }
    Ok(Done::Whole)
}

/// A packer for what the stock programs read, or a refusal of everything else.
fn interop_packer(profile: &Profile) -> Result<InteropPacker, Failure> {
    let refusal = || {
        Failure::Argument(
            "--interop takes codec zstd or lz4, encoding verbatim and no dictionary: nothing else \
             is read by the stock zstd and lz4 programs"
                .to_owned(),
        )
    };
    if !profile.rules.is_empty() {
        return Err(Failure::Argument(
            "--interop takes a profile without rules: name the one codec with --codec".to_owned(),
        ));
    }
    if profile.encoding.name != "verbatim" || profile.dictionary.is_some() {
        return Err(refusal());
    }
    InteropPacker::new(&profile.codec).map_err(|error| match error {
        InteropError::Codec { .. } => refusal(),
        InteropError::Setup(error) => Failure::Setup(error),
    })
}

/// One of the forms of a packed payload.
enum Form {
    Envelope(Box<Packer>),
    Against { base: Vec<u8>, packer: Box<Packer> },
    Interop(InteropPacker),
}

impl Form {
    fn pack(&mut self, payload: &[u8], out: &mut Vec<u8>, name: &str) -> Result<(), Failure> {
        let failed = |error: PackError| Failure::Pack { name: name.to_owned(), error };
        match self {
            Form::Interop(packer) => packer.pack(payload, out).map_err(failed),
            Form::Envelope(packer) => {
                let outcome = packer.pack(payload, out).map_err(failed)?;
                tell(&outcome, name);
                Ok(())
            }
            Form::Against { base, packer } => {
                let outcome = packer.pack_against(base, payload, out).map_err(failed)?;
                if let DeltaOutcome::Whole { outcome, reason } = outcome {
                    eprintln!("cinch: {name}: packed without the base: {reason}");
                    tell(&outcome, name);
                }
                Ok(())
            }
        }
    }
}

/// Says so where the profile's encoding could not be used: nothing is lost, but the user meant it.
fn tell(outcome: &Outcome, name: &str) {
    let Outcome::Packed { not_encoded: Some(reason) } = outcome else { return };
    let reason = match reason {
        NotEncoded::NotJson(error) => format!("it is no JSON ({error})"),
        NotEncoded::Refused(refusal) => refusal.to_string(),
        NotEncoded::TooLong => "its encoded form is too long".to_owned(),
        NotEncoded::NotTheSame => "its encoded form came back changed; please report".to_owned(),
    };
    eprintln!("cinch: {name}: packed verbatim: {reason}");
}

fn pack_records(input: &Input, packer: &mut Form, output: &mut Output) -> Result<(), Failure> {
    let mut stream = input.open()?;
    let (mut line, mut packed, mut record) = (Vec::new(), Vec::new(), Vec::new());
    for number in 1u64.. {
        line.clear();
        let name = format!("{}:{number}", input.name());
        let read = (&mut stream)
            .take(PAYLOAD_BYTES_MAX as u64 + 2)
            .read_until(b'\n', &mut line)
            .map_err(|error| Failure::file(input.name(), error))?;
        if read == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        packer.pack(&line, &mut packed, &name)?;
        record.clear();
        records::append(&packed, &mut record);
        output.write(&record)?;
    }
    Ok(())
}
