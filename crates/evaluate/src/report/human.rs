//! Figures as people read them: times, sizes, ratios and shares with a unit and three significant
//! digits, the same in every report.
//!
//! What is not a finite number prints as a dash, never as `NaN`; text from users never carries a
//! control character, so that a file name can't move a terminal's cursor or break an XML file.

/// What stands where there is no figure.
pub const NOTHING: &str = "–";

/// A time in nanoseconds, such as `12.3 µs`.
pub fn time(nanoseconds: f64) -> String {
    with_unit(nanoseconds, &TIME_UNITS, NOTHING)
}

/// A size in bytes, such as `45.6 KB` (of 1000 bytes); whole bytes below 1000.
pub fn size(bytes: f64) -> String {
    if (0.0..999.5).contains(&bytes) {
        return format!("{bytes:.0} B");
    }
    with_unit(bytes, &SIZE_UNITS, NOTHING)
}

/// A time as two figures that share a unit where they can: `1.23/4.56 µs`.
pub fn time_pair(first: f64, second: f64) -> String {
    let (first, second) = (time(first), time(second));
    match (first.rsplit_once(' '), second.rsplit_once(' ')) {
        (Some((figure, unit)), Some((_, other))) if unit == other => format!("{figure}/{second}"),
        _ => format!("{first}/{second}"),
    }
}

/// A ratio with two decimals, such as `8.42`.
pub fn ratio(value: f64) -> String {
    if value.is_finite() { grouped(&format!("{value:.2}")) } else { NOTHING.to_owned() }
}

/// A share of one in percent, such as `12.3 %`.
pub fn percent(share: f64) -> String {
    if !share.is_finite() {
        return NOTHING.to_owned();
    }
    let percent = share * 100.0;
    // A share of nothing is exact, so it carries no decimals.
    if percent == 0.0 { "0 %".to_owned() } else { format!("{} %", significant(percent)) }
}

/// A factor of a baseline: in percent as long as that reads well, such as `78.4 %`, then as a
/// multiple, such as `32.4 times`.
pub fn factor(value: f64) -> String {
    match value.is_finite() && value >= 9.995 {
        true => format!("{} times", significant(value)),
        false => percent(value),
    }
}

/// The ends of an interval of shares in percent, such as `16.4 to 17.6 %`.
pub fn percent_interval(low: f64, high: f64) -> String {
    let (low, high) = (percent(low), percent(high));
    match low.strip_suffix(" %") {
        Some(figure) => format!("{figure} to {high}"),
        None => NOTHING.to_owned(),
    }
}

/// Half the width of an interval of shares in points of a percent, such as `±0.6`.
pub fn plus_minus(low: f64, high: f64) -> String {
    let half = (high - low) * 50.0;
    match half.is_finite() {
        true if half >= 9.5 => format!("±{half:.0}"),
        true if half >= 0.095 => format!("±{half:.1}"),
        true => format!("±{half:.2}"),
        false => NOTHING.to_owned(),
    }
}

/// A figure without a unit, with three significant digits or its whole part.
pub fn figure(value: f64) -> String {
    if value.is_finite() { significant(value) } else { NOTHING.to_owned() }
}

/// A whole figure with its thousands apart.
pub fn whole(value: f64) -> String {
    if value.is_finite() { grouped(&format!("{value:.0}")) } else { NOTHING.to_owned() }
}

/// Days, such as `347`; with a decimal below ten, because a day matters there.
pub fn days(value: f64) -> String {
    match value.is_finite() {
        true if value < 9.95 => format!("{value:.1}"),
        _ => whole(value),
    }
}

/// Money, with two decimals below a hundred.
pub fn money(value: f64) -> String {
    match value.is_finite() {
        true if value.abs() < 99.995 => format!("{value:.2}"),
        _ => whole(value),
    }
}

/// Bits, such as `100 Mbit`.
pub fn bits(value: f64) -> String {
    with_unit(value, &BIT_UNITS, NOTHING)
}

/// A count with its thousands apart, such as `12,345`.
pub fn count(value: u64) -> String {
    grouped(&value.to_string())
}

/// A count and its noun, such as `1 payload` or `12,345 payloads`.
pub fn counted(value: u64, noun: &str) -> String {
    format!("{} {noun}{}", count(value), if value == 1 { "" } else { "s" })
}

/// Text from a user without control characters and without marks that reverse the reading order.
pub fn printable(text: &str) -> String {
    text.chars()
        .map(|character| match character {
            '\t' | '\n' => ' ',
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
            '\u{fffe}' | '\u{ffff}' => '\u{fffd}',
            other if other.is_control() => '\u{fffd}',
            other => other,
        })
        .collect()
}

/// The first `length` characters of a text, with an ellipsis when there are more.
pub fn shortened(text: &str, length: usize) -> String {
    if text.chars().count() <= length {
        return text.to_owned();
    }
    let kept: String = text.chars().take(length.saturating_sub(1)).collect();
    format!("{}…", kept.trim_end())
}

const TIME_UNITS: [(&str, f64); 4] = [("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)];
const BIT_UNITS: [(&str, f64); 4] = [("bit", 1.0), ("kbit", 1e3), ("Mbit", 1e6), ("Gbit", 1e9)];
const SIZE_UNITS: [(&str, f64); 4] = [("KB", 1e3), ("MB", 1e6), ("GB", 1e9), ("TB", 1e12)];

fn with_unit(value: f64, units: &[(&str, f64)], nothing: &str) -> String {
    if !value.is_finite() {
        return nothing.to_owned();
    }
    // 999.6 rounds to 1000 at three digits, so it already belongs to the next unit.
    let fitting = units.iter().rev().find(|(_, scale)| value.abs() >= scale * 0.9995);
    let (unit, scale) = fitting.or(units.first()).copied().unwrap_or(("", 1.0));
    format!("{} {unit}", significant(value / scale))
}

/// Three significant digits, but never fewer than the whole part and never more than four
/// decimals.
fn significant(value: f64) -> String {
    let magnitude = value.abs();
    if magnitude == 0.0 {
        return "0".to_owned();
    }
    // The bounds are where rounding at that many decimals would show a fourth digit.
    let decimals = match magnitude {
        magnitude if magnitude >= 99.95 => 0,
        magnitude if magnitude >= 9.995 => 1,
        magnitude if magnitude >= 0.9995 => 2,
        magnitude if magnitude >= 0.09995 => 3,
        _ => 4,
    };
    grouped(&format!("{value:.decimals$}"))
}

fn grouped(figure: &str) -> String {
    let (whole, decimals) = figure.split_once('.').unwrap_or((figure, ""));
    let (sign, digits) = match whole.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", whole),
    };
    let mut text = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    if !decimals.is_empty() {
        text.push('.');
        text.push_str(decimals);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_digits_and_a_unit() {
        let cases = [
            (0.0, "0 ns"),
            (0.5, "0.500 ns"),
            (50.0, "50.0 ns"),
            (999.4, "999 ns"),
            (999.6, "1.00 µs"),
            (12_345.0, "12.3 µs"),
            (99_960.0, "100 µs"),
            (3e9, "3.00 s"),
            (4_321e9, "4,321 s"),
            (f64::NAN, "–"),
            (f64::INFINITY, "–"),
        ];
        for (nanoseconds, expected) in cases {
            assert_eq!(time(nanoseconds), expected);
        }
    }

    #[test]
    fn pairs_share_a_unit_where_they_can() {
        assert_eq!(time_pair(1_230.0, 45_600.0), "1.23/45.6 µs");
        assert_eq!(time_pair(900.0, 45_600.0), "900 ns/45.6 µs");
    }

    #[test]
    fn sizes_ratios_shares_and_counts() {
        assert_eq!([size(0.0), size(999.0), size(999.7)], ["0 B", "999 B", "1.00 KB"]);
        assert_eq!([size(45_612.0), size(7.2e6)], ["45.6 KB", "7.20 MB"]);
        assert_eq!([ratio(0.8), ratio(300.0), ratio(1234.5)], ["0.80", "300.00", "1,234.50"]);
        assert_eq!([percent(0.1234), percent(1.25)], ["12.3 %", "125 %"]);
        assert_eq!([percent(0.0033), percent(0.0)], ["0.330 %", "0 %"]);
        assert_eq!([factor(0.784), factor(9.9), factor(32.4)], ["78.4 %", "990 %", "32.4 times"]);
        assert_eq!(percent_interval(0.164, 0.1761), "16.4 to 17.6 %");
        assert_eq!(percent_interval(f64::NAN, 1.0), "–");
        assert_eq!([plus_minus(0.164, 0.176), plus_minus(0.1, 0.5)], ["±0.6", "±20"]);
        assert_eq!([figure(1234.5), figure(0.05), whole(1e6)], ["1,234", "0.0500", "1,000,000"]);
        assert_eq!([days(346.6), days(4.21), days(f64::INFINITY)], ["347", "4.2", "–"]);
        assert_eq!([money(5.256), money(1234.5)], ["5.26", "1,234"]);
        assert_eq!([bits(1e8), bits(1e9)], ["100 Mbit", "1.00 Gbit"]);
        assert_eq!(counted(1, "payload"), "1 payload");
        assert_eq!(counted(1_234_567, "payload"), "1,234,567 payloads");
    }

    #[test]
    fn printable_text_has_no_control_characters() {
        assert_eq!(printable("a\u{1b}[31mb\nc\u{202e}d\0"), "a\u{fffd}[31mb c\u{fffd}d\u{fffd}");
        assert_eq!(shortened("abcdef", 4), "abc…");
        assert_eq!(shortened("abcd", 4), "abcd");
    }
}
