//! One candidate on one payload, every step timed on its own: text to value, value to bytes, bytes
//! to fewer bytes, and back.
//!
//! Contexts and buffers are reused from payload to payload, as a service would. What comes back is
//! compared with what went in, outside the timed calls.

use cinch_core::codec::{
    CodecChoice, CompressError, Compressor, DecompressError, Decompressor, STORED, SetupError,
};
use cinch_core::document::{Document, first_difference};
use cinch_core::encoding::{DocumentEncoding, Engine, TextDecoder, TextEncoder, WithSchema};
use cinch_core::envelope::checksum;
use cinch_core::json;

use crate::candidate::Candidate;
use crate::corpus::Payload;
use crate::measure::timing::timed;

/// Where the application's time starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimedFrom {
    /// The application has JSON text and wants it back.
    Text,
    /// The application has a value in memory and wants it back.
    Value,
}

impl TimedFrom {
    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            TimedFrom::Text => "text",
            TimedFrom::Value => "value",
        }
    }
}

/// Times of the steps of one payload, in nanoseconds; a step that is not needed takes none.
#[derive(Debug, Clone, Copy, Default)]
pub struct Steps {
    /// JSON text to value.
    pub parse: f32,
    /// Value to encoded bytes.
    pub encode: f32,
    /// Encoded bytes to compressed bytes.
    pub compress: f32,
    /// Compressed bytes to encoded bytes.
    pub decompress: f32,
    /// Encoded bytes to value.
    pub decode: f32,
    /// Value to JSON text.
    pub write: f32,
    /// The envelope's checksum of the payload, which packing and unpacking each make once.
    pub checksum: f32,
}

impl Steps {
    /// How many steps there are.
    pub(super) const COUNT: usize = 7;

    /// The steps in the order of their fields.
    pub(super) fn as_array(&self) -> [f32; Steps::COUNT] {
        let Steps { parse, encode, compress, decompress, decode, write, checksum } = *self;
        [parse, encode, compress, decompress, decode, write, checksum]
    }

    /// The steps from an array in the order of their fields.
    pub(super) fn from_array(steps: [f32; Steps::COUNT]) -> Steps {
        let [parse, encode, compress, decompress, decode, write, checksum] = steps;
        Steps { parse, encode, compress, decompress, decode, write, checksum }
    }

    /// The lesser time of each step.
    pub(super) fn least(&self, other: &Steps) -> Steps {
        let mut steps = self.as_array();
        for (step, other) in steps.iter_mut().zip(other.as_array()) {
            *step = step.min(other);
        }
        Steps::from_array(steps)
    }

    /// All steps together, whoever needs them.
    pub fn sum(&self) -> f32 {
        self.as_array().iter().sum()
    }

    /// The time of packing and of unpacking one payload, as the application sees them.
    ///
    /// From text, a binary encoding is parsed and encoded, and, since an envelope carries the
    /// length and checksum of the text that comes back, decoded and written too. From a value, the
    /// text of `verbatim` has to be written first and parsed at the end. An encoding of text has
    /// neither of the two, but is unpacked when it was packed, because a packer verifies it. Both
    /// directions make the checksum.
    pub fn totals(&self, candidate: &Candidate, from: TimedFrom) -> (f32, f32) {
        let Steps { parse, encode, compress, decompress, decode, write, checksum } = *self;
        let is_verbatim = matches!(candidate.encoding.engine, Engine::Verbatim);
        if matches!(candidate.encoding.engine, Engine::Text(_)) {
            let verified = encode + compress + decompress + decode;
            let (pack, unpack) = match from {
                TimedFrom::Text => (verified, decompress + decode),
                TimedFrom::Value => (write + verified, decompress + decode + parse),
            };
            return (pack + checksum, unpack + checksum);
        }
        let (pack, unpack) = match (from, is_verbatim, candidate.encoding.is_json_text) {
            (TimedFrom::Text, true, _) => (compress, decompress),
            (TimedFrom::Text, _, true) => (parse + encode + compress, decompress),
            (TimedFrom::Text, _, false) => {
                (parse + encode + decode + write + compress, decompress + decode + write)
            }
            (TimedFrom::Value, true, _) => (write + compress, decompress + parse),
            (TimedFrom::Value, false, _) => (encode + compress, decompress + decode),
        };
        (pack + checksum, unpack + checksum)
    }
}

/// Whether a payload came back.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// As its encoding promises.
    Fine,
    /// The encoding can't carry it; it was measured verbatim.
    Refused(String),
    /// It did not come back. The reason names what went wrong.
    Failed(String),
}

/// What one run of one payload gave.
#[derive(Debug)]
pub struct Run {
    /// The times.
    pub steps: Steps,
    /// The bytes that the codec left.
    pub bytes_out: usize,
    /// The length of the text that unpacking returns, where the payload was encoded.
    pub text_bytes: Option<usize>,
    /// Whether the payload came back.
    pub verdict: Verdict,
}

/// The contexts and buffers of one candidate.
pub struct Runner {
    candidate: Candidate,
    from: TimedFrom,
    compressor: Box<dyn Compressor>,
    decompressor: Box<dyn Decompressor>,
    /// For an encoding of text.
    text_contexts: Option<(Box<dyn TextEncoder>, Box<dyn TextDecoder>)>,
    /// For an encoding with a schema.
    with_schema: Option<Box<dyn WithSchema>>,
    document: Document,
    decoded: Document,
    encoded: Vec<u8>,
    compressed: Vec<u8>,
    decompressed: Vec<u8>,
    text: Vec<u8>,
}

impl Runner {
    /// A runner with contexts of its own.
    pub fn new(candidate: &Candidate, from: TimedFrom) -> Result<Runner, SetupError> {
        Runner::new_timed(candidate, from).map(|(runner, _)| runner)
    }

    /// A runner, and what it took to make its compressor and its decompressor, in nanoseconds.
    pub(super) fn new_timed(
        candidate: &Candidate,
        from: TimedFrom,
    ) -> Result<(Runner, (f64, f64)), SetupError> {
        let CodecChoice { codec, level } = candidate.codec;
        let (compressor, compressor_ns) = timed(|| codec.compressor(level, candidate.dictionary()));
        let (decompressor, decompressor_ns) = timed(|| codec.decompressor(candidate.dictionary()));
        let ((encoder, encoder_ns), (decoder, decoder_ns)) = text_contexts(candidate);
        let text_contexts = encoder.zip(decoder);
        let runner = Runner {
            candidate: candidate.clone(),
            from,
            compressor: compressor?,
            decompressor: decompressor?,
            text_contexts,
            with_schema: candidate.encoding.with_schema(candidate.schema.as_ref())?,
            document: Document::new(),
            decoded: Document::new(),
            encoded: Vec::new(),
            compressed: Vec::new(),
            decompressed: Vec::new(),
            text: Vec::new(),
        };
        Ok((runner, (compressor_ns + encoder_ns, decompressor_ns + decoder_ns)))
    }

    /// Replaces both contexts by new ones, as a service without reuse does, and returns what that
    /// took, in nanoseconds.
    pub(super) fn renew(&mut self) -> Result<(f64, f64), SetupError> {
        let CodecChoice { codec, level } = self.candidate.codec;
        let dictionary = self.candidate.dictionary();
        let (compressor, compressor_ns) = timed(|| codec.compressor(level, dictionary));
        let (decompressor, decompressor_ns) = timed(|| codec.decompressor(dictionary));
        (self.compressor, self.decompressor) = (compressor?, decompressor?);
        let ((encoder, encoder_ns), (decoder, decoder_ns)) = text_contexts(&self.candidate);
        self.text_contexts = encoder.zip(decoder);
        Ok((compressor_ns + encoder_ns, decompressor_ns + decoder_ns))
    }

    /// The candidate that it runs.
    pub(super) fn candidate(&self) -> &Candidate {
        &self.candidate
    }

    /// What compressor and decompressor hold, in bytes.
    pub fn memory_bytes(&self) -> (usize, usize) {
        (self.compressor.memory_bytes(), self.decompressor.memory_bytes())
    }

    /// Runs one payload. With `check`, what comes back is compared with what went in.
    pub fn run(&mut self, payload: &Payload, check: bool) -> Run {
        self.run_with(payload, check, || {})
    }

    /// The same with something done between packing and unpacking, outside the timed calls.
    pub(super) fn run_with(
        &mut self,
        payload: &Payload,
        check: bool,
        between: impl FnOnce(),
    ) -> Run {
        let with_schema = self.with_schema.take();
        let engine: Option<&dyn DocumentEncoding> =
            match (&self.candidate.encoding.engine, &with_schema) {
                (Engine::Document(engine), _) => Some(*engine),
                (_, Some(engine)) => Some(engine.as_ref()),
                _ => None,
            };
        let run = self.run_by(engine, payload, check, between);
        self.with_schema = with_schema;
        run
    }

    fn run_by(
        &mut self,
        engine: Option<&dyn DocumentEncoding>,
        payload: &Payload,
        check: bool,
        between: impl FnOnce(),
    ) -> Run {
        let mut steps = Steps::default();
        let refusal = match self.candidate.encoding.engine {
            Engine::Verbatim => {
                self.text_steps(payload, &mut steps);
                None
            }
            Engine::Document(_) | Engine::Schema(_) => match engine {
                Some(engine) => self.encode(engine, payload, &mut steps).err(),
                None => Some("the encoding has no schema".to_owned()),
            },
            Engine::Text(_) => {
                self.text_steps(payload, &mut steps);
                self.encode_text(payload, &mut steps).err()
            }
        };
        let is_verbatim =
            refusal.is_some() || matches!(self.candidate.encoding.engine, Engine::Verbatim);
        let input: &[u8] = if is_verbatim { &payload.bytes } else { &self.encoded };

        let bound = self.candidate.codec.codec.compress_bound(input.len());
        grow(&mut self.compressed, bound);
        grow(&mut self.decompressed, input.len());
        let (compressed, time) =
            timed(|| self.compressor.compress(input, &mut self.compressed[..bound]));
        steps.compress = time as f32;
        let bytes_out = match compressed {
            Ok(bytes_out) => bytes_out,
            Err(error) => return failed_to_compress(steps, &error),
        };
        between();
        let output = &mut self.decompressed[..input.len()];
        let (decompressed, time) =
            timed(|| self.decompressor.decompress(&self.compressed[..bytes_out], output));
        steps.decompress = time as f32;
        let mut verdict = judge_bytes(&decompressed, output, input, check);
        if !is_verbatim && verdict == Verdict::Fine {
            verdict = match engine {
                Some(engine) => self.decode(engine, &mut steps, check),
                None => self.decode_text(payload, &mut steps, check),
            };
        }
        if self.candidate.codec.codec.info().id != STORED {
            let text: &[u8] = match (is_verbatim, self.candidate.encoding.is_json_text) {
                (true, _) => &payload.bytes,
                (false, true) => &self.encoded,
                (false, false) => &self.text,
            };
            let (sum, time) = timed(|| checksum(text));
            std::hint::black_box(sum);
            steps.checksum = time as f32;
        }
        if let (Verdict::Fine, Some(reason)) = (&verdict, refusal) {
            verdict = Verdict::Refused(reason);
        }
        let text_bytes = (!is_verbatim).then_some(if self.candidate.encoding.is_json_text {
            self.encoded.len()
        } else {
            self.text.len()
        });
        Run { steps, bytes_out, text_bytes, verdict }
    }

    /// What an application with a value in memory does around `verbatim`.
    fn text_steps(&mut self, payload: &Payload, steps: &mut Steps) {
        if self.from == TimedFrom::Value && payload.is_json {
            let parser = self.candidate.encoding.parser;
            let (parsed, time) = timed(|| json::parse(parser, &payload.bytes, &mut self.document));
            if parsed.is_ok() {
                steps.parse = time as f32;
                self.text.clear();
                let ((), time) = timed(|| json::write(&self.document, &mut self.text));
                steps.write = time as f32;
            }
        }
    }

    fn encode(
        &mut self,
        engine: &dyn DocumentEncoding,
        payload: &Payload,
        steps: &mut Steps,
    ) -> Result<(), String> {
        if !payload.is_json {
            return Err("the payload is no JSON".to_owned());
        }
        let parser = self.candidate.encoding.parser;
        let (parsed, time) = timed(|| json::parse(parser, &payload.bytes, &mut self.document));
        steps.parse = time as f32;
        parsed.map_err(|error| error.to_string())?;
        self.encoded.clear();
        let (encoded, time) = timed(|| engine.encode(&self.document, &mut self.encoded));
        steps.encode = time as f32;
        encoded.map_err(|error| error.to_string())
    }

    fn encode_text(&mut self, payload: &Payload, steps: &mut Steps) -> Result<(), String> {
        let Some((encoder, _)) = &mut self.text_contexts else {
            return Err("the encoding has no contexts".to_owned());
        };
        self.encoded.clear();
        let (encoded, time) = timed(|| encoder.encode(&payload.bytes, &mut self.encoded));
        steps.encode = time as f32;
        encoded.map_err(|error| error.to_string())
    }

    fn decode_text(&mut self, payload: &Payload, steps: &mut Steps, check: bool) -> Verdict {
        let Some((_, decoder)) = &mut self.text_contexts else { return Verdict::Fine };
        let encoded = &self.decompressed[..self.encoded.len()];
        self.text.clear();
        let text_bytes = payload.bytes.len();
        let (decoded, time) = timed(|| decoder.decode(encoded, text_bytes, &mut self.text));
        steps.decode = time as f32;
        match decoded {
            Err(error) => Verdict::Failed(error.to_string()),
            Ok(()) if check && *self.text != *payload.bytes => {
                Verdict::Failed("the text came back changed".to_owned())
            }
            Ok(()) => Verdict::Fine,
        }
    }

    fn decode(&mut self, engine: &dyn DocumentEncoding, steps: &mut Steps, check: bool) -> Verdict {
        let encoded = &self.decompressed[..self.encoded.len()];
        let (decoded, time) = timed(|| engine.decode(encoded, &mut self.decoded));
        steps.decode = time as f32;
        if let Err(error) = decoded {
            return Verdict::Failed(error.to_string());
        }
        if !self.candidate.encoding.is_json_text {
            self.text.clear();
            let ((), time) = timed(|| json::write(&self.decoded, &mut self.text));
            steps.write = time as f32;
        }
        let fidelity = self.candidate.encoding.fidelity;
        if check && first_difference(&self.document, &self.decoded, fidelity).is_some() {
            return Verdict::Failed(format!("the value came back changed ({fidelity})"));
        }
        Verdict::Fine
    }
}

/// A context that may not be needed, and what it took to make it, in nanoseconds.
type Made<T> = (Option<Box<T>>, f64);

/// The contexts of an encoding of text.
fn text_contexts(candidate: &Candidate) -> (Made<dyn TextEncoder>, Made<dyn TextDecoder>) {
    let Engine::Text(engine) = candidate.encoding.engine else { return ((None, 0.0), (None, 0.0)) };
    let dictionary = candidate.dictionary().map(AsRef::as_ref);
    let (encoder, encoder_ns) = timed(|| engine.encoder(dictionary));
    let (decoder, decoder_ns) = timed(|| engine.decoder(dictionary));
    ((Some(encoder), encoder_ns), (Some(decoder), decoder_ns))
}

fn grow(buffer: &mut Vec<u8>, length: usize) {
    if buffer.len() < length {
        buffer.resize(length, 0);
    }
}

fn failed_to_compress(steps: Steps, error: &CompressError) -> Run {
    Run { steps, bytes_out: 0, text_bytes: None, verdict: Verdict::Failed(error.to_string()) }
}

fn judge_bytes(
    decompressed: &Result<usize, DecompressError>,
    output: &[u8],
    input: &[u8],
    check: bool,
) -> Verdict {
    match decompressed {
        Err(error) => Verdict::Failed(error.to_string()),
        Ok(length) if *length != input.len() => {
            Verdict::Failed(format!("{length} bytes came back of {}", input.len()))
        }
        Ok(_) if check && output != input => {
            Verdict::Failed("the bytes came back changed".to_owned())
        }
        Ok(_) => Verdict::Fine,
    }
}
