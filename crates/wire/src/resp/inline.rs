//! Inline commands: a line of words, as people type them. Quotes and escapes are those of Redis, so
//! that a command means the same with and without something in between.

/// A quote is not closed, or something follows it without a space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("unbalanced quotes in request")]
pub struct UnbalancedQuotes;

/// The arguments of an inline command.
///
/// # Errors
/// [`UnbalancedQuotes`], which Redis answers by closing the connection.
pub fn inline_arguments(text: &[u8]) -> Result<Vec<Vec<u8>>, UnbalancedQuotes> {
    let mut arguments = Vec::new();
    let mut rest = text.trim_ascii_start();
    while !rest.is_empty() {
        let (argument, behind) = argument(rest)?;
        arguments.push(argument);
        rest = behind.trim_ascii_start();
    }
    Ok(arguments)
}

fn argument(text: &[u8]) -> Result<(Vec<u8>, &[u8]), UnbalancedQuotes> {
    let mut argument = Vec::new();
    let mut rest = text;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'"' | b'\'' => {
                rest = quoted(byte, rest, &mut argument)?;
                // A closing quote ends the argument.
                return match rest.first() {
                    None => Ok((argument, rest)),
                    Some(byte) if byte.is_ascii_whitespace() => Ok((argument, rest)),
                    Some(_) => Err(UnbalancedQuotes),
                };
            }
            byte if byte.is_ascii_whitespace() || byte == 0 => break,
            byte => argument.push(byte),
        }
    }
    Ok((argument, rest))
}

/// Reads up to the closing quote and answers what follows it.
fn quoted<'a>(
    quote: u8,
    text: &'a [u8],
    argument: &mut Vec<u8>,
) -> Result<&'a [u8], UnbalancedQuotes> {
    let mut rest = text;
    loop {
        let (byte, behind) = match (quote, rest) {
            (_, []) => return Err(UnbalancedQuotes),
            (_, [byte, behind @ ..]) if *byte == quote => return Ok(behind),
            (b'\'', [b'\\', b'\'', behind @ ..]) => (b'\'', behind),
            (b'"', [b'\\', b'x', high, low, behind @ ..])
                if high.is_ascii_hexdigit() && low.is_ascii_hexdigit() =>
            {
                (digit(*high) << 4 | digit(*low), behind)
            }
            (b'"', [b'\\', escaped, behind @ ..]) => (unescape(*escaped), behind),
            (_, [byte, behind @ ..]) => (*byte, behind),
        };
        argument.push(byte);
        rest = behind;
    }
}

fn digit(byte: u8) -> u8 {
    match byte {
        b'0'..=b'9' => byte - b'0',
        byte => (byte | 0x20) - b'a' + 10,
    }
}

fn unescape(byte: u8) -> u8 {
    match byte {
        b'n' => b'\n',
        b'r' => b'\r',
        b't' => b'\t',
        b'b' => 8,
        b'a' => 7,
        byte => byte,
    }
}
