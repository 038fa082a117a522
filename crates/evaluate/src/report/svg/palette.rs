//! Colours of codecs and of the scatter's parts: one table for light and dark, used by the page
//! and by the stand-alone picture.
//!
//! A known codec keeps its colour from report to report, so that people can compare two of them.
//! Every colour was chosen to be told apart on its background; don't reuse one for two codecs.

use std::fmt::Write;

/// Colours on white and on dark, by class number.
const COLORS: [(&str, &str); 14] = [
    ("#6b7280", "#a3adba"),
    ("#2563eb", "#6ea8ff"),
    ("#ea7a0c", "#ffab5e"),
    ("#15914f", "#4fd08a"),
    ("#7c3aed", "#b598ff"),
    ("#d9367f", "#ff86b9"),
    ("#0e8f9e", "#45cfdd"),
    ("#8a5a2b", "#d2a374"),
    ("#a18207", "#e3c341"),
    ("#c2321f", "#ff8a76"),
    ("#5f8a12", "#aad955"),
    ("#1e3a8a", "#8fa8ff"),
    ("#86198f", "#ec8bf5"),
    ("#334155", "#dbe3ec"),
];

/// Which colour a known codec has; codecs of later versions take what is left.
const CODEC_COLORS: [(&str, usize); 11] = [
    ("stored", 0),
    ("zstd", 1),
    ("lz4", 2),
    ("gzip", 3),
    ("brotli", 4),
    ("snappy", 5),
    ("zlib", 6),
    ("lzma2", 7),
    ("bzip2", 8),
    ("lzma", 9),
    ("deflate", 10),
];

/// Parts of the scatter: class, property, light colour, and the page's variable for it.
const PARTS: [(&str, &str, &str, &str); 9] = [
    ("paper", "fill", "#ffffff", "var(--surface)"),
    ("grid", "stroke", "#e5e9ef", "var(--line)"),
    ("axis", "stroke", "#9aa5b4", "var(--axis)"),
    ("tick", "fill", "#5a6675", "var(--muted)"),
    ("caption", "fill", "#28323f", "var(--ink)"),
    ("front", "stroke", "#e0483e", "var(--front)"),
    ("ring-recommended", "stroke", "#111827", "var(--ink)"),
    ("ring-baseline", "stroke", "#5a6675", "var(--muted)"),
    ("legend-shape", "stroke", "#5a6675", "var(--muted)"),
];

/// Strokes and fonts that are the same on every background.
const SHARED: &str = ".scatter text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,\
    'Noto Sans',sans-serif}\
    .grid{stroke-width:1}.axis{stroke-width:1}\
    .front{fill:none;stroke-width:2;stroke-linejoin:round;stroke-linecap:round}\
    .mark{stroke-width:1.2;stroke-linejoin:round}.out .mark{opacity:.42}.target{fill:transparent}\
    .ring-recommended{fill:none;stroke-width:2.4}\
    .ring-baseline{fill:none;stroke-width:1.8;stroke-dasharray:3 2.5}\
    .label{paint-order:stroke;stroke-width:3.5;stroke-linejoin:round}\
    .label-recommended{font-weight:700}.leader{stroke-width:1;fill:none}\
    .legend-shape{fill:none;stroke-width:1.5}\
    .levels{fill:none;stroke-width:1.1;opacity:.3;stroke-linejoin:round}\
    .levels-text{stroke-width:1.7;opacity:.8}\
    .rough .mark{fill:none;stroke-width:1.1;opacity:.5}";

/// Gives every codec of a report its colour class, in the order in which they are asked for.
#[derive(Debug, Default)]
pub(super) struct Palette {
    given: Vec<(String, usize)>,
}

impl Palette {
    /// The number of the colour class of a codec.
    pub(super) fn class(&mut self, codec: &str) -> usize {
        if let Some((_, class)) = self.given.iter().find(|(name, _)| name == codec) {
            return *class;
        }
        let known = CODEC_COLORS.iter().find(|(name, _)| *name == codec).map(|(_, class)| *class);
        let free = || {
            (CODEC_COLORS.len()..COLORS.len())
                .find(|class| !self.given.iter().any(|g| g.1 == *class))
        };
        let class = known.or_else(free).unwrap_or(self.given.len() % COLORS.len());
        self.given.push((codec.to_owned(), class));
        class
    }
}

/// The style of a stand-alone picture.
pub(super) fn document_style() -> String {
    let mut style = String::from(SHARED);
    for (class, property, light, _) in PARTS {
        write!(style, ".{class}{{{property}:{light}}}").expect("a String takes any text");
    }
    style.push_str(".label{fill:#28323f;stroke:#ffffff}.leader{stroke:#9aa5b4}");
    for (class, (light, _)) in COLORS.iter().enumerate() {
        write!(style, ".k{class}{{fill:{light};stroke:#ffffff}}.s{class}{{stroke:{light}}}")
            .expect("a String takes any text");
    }
    style
}

/// The style of a picture in the page, whose colours follow the reader's light or dark.
pub(in crate::report) fn page_style() -> String {
    let mut style = String::from(SHARED);
    for (class, property, _, variable) in PARTS {
        write!(style, ".{class}{{{property}:{variable}}}").expect("a String takes any text");
    }
    style.push_str(".label{fill:var(--ink);stroke:var(--surface)}.leader{stroke:var(--axis)}");
    for (class, (light, dark)) in COLORS.iter().enumerate() {
        write!(
            style,
            ".k{class}{{fill:{light};stroke:var(--surface)}}.s{class}{{stroke:{light}}}\
             .f{class}{{fill:{light}}}@media(prefers-color-scheme:dark){{.k{class}{{fill:{dark}}}\
             .s{class}{{stroke:{dark}}}.f{class}{{fill:{dark}}}}}"
        )
        .expect("a String takes any text");
    }
    style
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_codecs_keep_their_colour_and_others_get_one_of_their_own() {
        let mut palette = Palette::default();
        let first = palette.class("x-codec");
        let second = palette.class("y-codec");
        assert_ne!(first, second);
        assert_eq!(palette.class("zstd"), 1);
        assert_eq!(palette.class("x-codec"), first);
        let many: Vec<usize> = (0..40).map(|index| palette.class(&index.to_string())).collect();
        assert!(many.iter().all(|class| *class < COLORS.len()));
    }
}
