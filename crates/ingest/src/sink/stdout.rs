//! The text of all records on standard output, in batches: for a look, and for pipes. Whoever does
//! not read the pipe is a slow sink like any other.

use std::io::{self, Write};

use zstd_safe::DCtx;

use super::{SinkError, Target};
use crate::read::text_of;
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
        let frames = &bytes[bytes.len() - batch.head.frame_bytes as usize..];
        text_of(&batch.head, frames, &mut self.context, &mut self.text)
            .map_err(|error| SinkError::Batch(error.to_string()))?;
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
