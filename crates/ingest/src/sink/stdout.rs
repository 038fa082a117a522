//! The text of all records on standard output, in batches: for a look, and for pipes. Whoever does
//! not read the pipe is a slow sink like any other.

use std::io::{self, Write};

use zstd_safe::DCtx;

use super::{SinkError, Target};
use crate::ring::Batch;

pub(super) struct Stdout {
    context: DCtx<'static>,
    text: Vec<u8>,
}

impl Stdout {
    pub(super) fn new() -> Stdout {
        Stdout { context: DCtx::create(), text: Vec::new() }
    }
}

impl Target for Stdout {
    fn write(&mut self, batch: &Batch, bytes: &[u8]) -> Result<(), SinkError> {
        self.text.clear();
        self.text.reserve(batch.head.text_bytes as usize);
        let frame = &bytes[bytes.len() - batch.head.frame_bytes as usize..];
        self.context
            .decompress(&mut self.text, frame)
            .map_err(|code| SinkError::Batch(zstd_safe::get_error_name(code).to_owned()))?;
        let mut out = io::stdout().lock();
        out.write_all(&self.text).and_then(|()| out.flush()).map_err(failed)
    }

    fn tend(&mut self) -> Result<(), SinkError> {
        Ok(())
    }

    fn finish(&mut self) -> Result<(), SinkError> {
        io::stdout().flush().map_err(failed)
    }
}

fn failed(error: io::Error) -> SinkError {
    SinkError::File { path: "standard output".to_owned(), error }
}
