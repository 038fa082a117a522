//! One candidate on one payload, every step timed on its own: text to value, value to bytes, bytes
//! to fewer bytes, and back.
//!
//! Contexts and buffers are reused from payload to payload, as a service would. What comes back is
//! compared with what went in, outside the timed calls.

use cinch_core::codec::{CompressError, Compressor, DecompressError, Decompressor, SetupError};
use cinch_core::document::{Document, first_difference};
use cinch_core::encoding::{DocumentEncoding, Engine};
use cinch_core::json;

use crate::candidate::Candidate;
use crate::corpus::Payload;
use crate::measure::timing::timed;

/// Where the application's time starts and ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum From {
    /// The application has JSON text and wants it back.
    Text,
    /// The application has a value in memory and wants it back.
    Value,
}

impl From {
    /// The name on the command line and in the report.
    pub fn name(self) -> &'static str {
        match self {
            From::Text => "text",
            From::Value => "value",
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
}

impl Steps {
    /// All steps together, whoever needs them.
    pub fn sum(&self) -> f32 {
        self.parse + self.encode + self.compress + self.decompress + self.decode + self.write
    }

    /// The time of packing and of unpacking one payload, as the application sees them.
    ///
    /// From text, a binary encoding is parsed and encoded, and, since an envelope carries the
    /// length and checksum of the text that comes back, decoded and written too. From a value, the
    /// text of `verbatim` has to be written first and parsed at the end.
    pub fn totals(&self, candidate: &Candidate, from: From) -> (f32, f32) {
        let Steps { parse, encode, compress, decompress, decode, write } = *self;
        let is_verbatim = matches!(candidate.encoding.engine, Engine::Verbatim);
        match (from, is_verbatim, candidate.encoding.is_json_text) {
            (From::Text, true, _) => (compress, decompress),
            (From::Text, _, true) => (parse + encode + compress, decompress),
            (From::Text, _, false) => {
                (parse + encode + decode + write + compress, decompress + decode + write)
            }
            (From::Value, true, _) => (write + compress, decompress + parse),
            (From::Value, false, _) => (encode + compress, decompress + decode),
        }
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
    from: From,
    compressor: Box<dyn Compressor>,
    decompressor: Box<dyn Decompressor>,
    document: Document,
    decoded: Document,
    encoded: Vec<u8>,
    compressed: Vec<u8>,
    decompressed: Vec<u8>,
    text: Vec<u8>,
}

impl Runner {
    /// A runner with contexts of its own.
    pub fn new(candidate: &Candidate, from: From) -> Result<Runner, SetupError> {
        let codec = candidate.codec.codec;
        Ok(Runner {
            candidate: candidate.clone(),
            from,
            compressor: codec.compressor(candidate.codec.level, None)?,
            decompressor: codec.decompressor(None)?,
            document: Document::new(),
            decoded: Document::new(),
            encoded: Vec::new(),
            compressed: Vec::new(),
            decompressed: Vec::new(),
            text: Vec::new(),
        })
    }

    /// What the contexts hold, in bytes.
    pub fn memory_bytes(&self) -> usize {
        self.compressor.memory_bytes() + self.decompressor.memory_bytes()
    }

    /// Runs one payload. With `check`, what comes back is compared with what went in.
    pub fn run(&mut self, payload: &Payload, check: bool) -> Run {
        let mut steps = Steps::default();
        let refusal = match self.candidate.encoding.engine {
            Engine::Verbatim => {
                self.text_steps(payload, &mut steps);
                None
            }
            Engine::Document(engine) => self.encode(engine, payload, &mut steps).err(),
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
        let output = &mut self.decompressed[..input.len()];
        let (decompressed, time) =
            timed(|| self.decompressor.decompress(&self.compressed[..bytes_out], output));
        steps.decompress = time as f32;
        let mut verdict = judge_bytes(&decompressed, output, input, check);
        if !is_verbatim
            && verdict == Verdict::Fine
            && let Engine::Document(engine) = self.candidate.encoding.engine
        {
            verdict = self.decode(engine, &mut steps, check);
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
        if self.from == From::Value && payload.is_json {
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
