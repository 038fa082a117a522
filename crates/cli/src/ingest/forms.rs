//! `cinch ingest forms`: what the forms of a batch and its filter come to on one's own logs, to
//! choose the settings of a pool by.

use std::fs;
use std::path::Path;

use cinch_ingest::forms::{FormSize, Forms, forms};
use comfy_table::presets::NOTHING;
use comfy_table::{CellAlignment, Table};

use crate::Done;
use crate::arguments::FormsArguments;
use crate::failure::Failure;
use crate::output::{Output, Place};

/// Prints a row for each file and level, and one for all files together.
pub fn run(arguments: &FormsArguments) -> Result<Done, Failure> {
    let (mut rows, mut all) = (Vec::new(), Vec::new());
    let files = arguments.input.iter().map(|path| {
        let text = fs::read(path).map_err(|error| Failure::file(path, error))?;
        Ok((name_of(path), text))
    });
    let mut files: Vec<(String, Vec<u8>)> = files.collect::<Result<_, Failure>>()?;
    for (_, text) in &files {
        all.extend_from_slice(text);
        if !text.is_empty() && !text.ends_with(b"\n") {
            all.push(b'\n');
        }
    }
    if files.len() > 1 {
        files.push(("all of these".to_owned(), all));
    }
    for (name, text) in &files {
        for &level in &arguments.level {
            let found = forms(text, arguments.batch, level);
            let found = found.map_err(|error| Failure::Argument(format!("{name}: {error}")))?;
            rows.push((name.as_str(), level, found));
        }
    }
    let text = if arguments.json { json(&rows) } else { table(&rows) };
    let mut output = Output::open(&Place::Stdout, true)?;
    output.write(text.as_bytes())?;
    output.finish()?;
    Ok(Done::Whole)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

fn megabytes_per_second(bytes: u64, form: &FormSize) -> f64 {
    bytes as f64 / 1e6 / form.elapsed.as_secs_f64().max(1e-9)
}

/// A part of a whole in percent; 0 of nothing.
fn percent(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn table(rows: &[(&str, i32, Forms)]) -> String {
    let mut table = Table::new();
    table.load_style(NOTHING);
    table.set_header([
        "logs",
        "bytes",
        "gzip -1",
        "level",
        "plain",
        "columnar",
        "saved",
        "batches",
        "plain MB/s",
        "columnar MB/s",
        "filter",
        "passed over",
    ]);
    for (name, level, found) in rows {
        let Forms { plain, columnar, filter, .. } = found;
        let saved = 100.0 - percent(columnar.bytes, plain.bytes);
        table.add_row([
            (*name).to_owned(),
            found.text_bytes.to_string(),
            found.gzip_bytes.to_string(),
            level.to_string(),
            plain.bytes.to_string(),
            columnar.bytes.to_string(),
            format!("{saved:.1} %"),
            format!("{} of {}", columnar.columnar_batches, columnar.batches),
            format!("{:.0}", megabytes_per_second(found.text_bytes, plain)),
            format!("{:.0}", megabytes_per_second(found.text_bytes, columnar)),
            format!("+{:.1} %", percent(filter.bytes, plain.bytes)),
            format!("{:.0} %", percent(filter.passed_over, filter.lacking)),
        ]);
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    format!(
        "{table}\n\n\
         plain, columnar  bytes of all batches at this level of zstd, heads included\n\
         saved            by the columnar form; a batch that it does not make smaller stays plain\n\
         batches          that are columnar\n\
         filter           what the filters add to the plain form\n\
         passed over      of the batches that lack a word that other batches have, those that a\n\
         \u{20}                search for it does not read\n"
    )
}

fn json(rows: &[(&str, i32, Forms)]) -> String {
    let form = |size: &FormSize| {
        serde_json::json!({
            "bytes": size.bytes,
            "batches": size.batches,
            "columnar_batches": size.columnar_batches,
            "elapsed_s": size.elapsed.as_secs_f64(),
        })
    };
    let row = |(name, level, found): &(&str, i32, Forms)| {
        let filter = &found.filter;
        let row = serde_json::json!({
            "name": name,
            "level": level,
            "text_bytes": found.text_bytes,
            "gzip_bytes": found.gzip_bytes,
            "plain": form(&found.plain),
            "columnar": form(&found.columnar),
            "filter": {
                "bytes": filter.bytes,
                "words": filter.words,
                "lacking": filter.lacking,
                "passed_over": filter.passed_over,
            },
        });
        format!("{row}\n")
    };
    rows.iter().map(row).collect()
}
