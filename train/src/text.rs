//! Text of others - names, keys, paths, values - in messages: escaped, and of bounded length.

use std::path::Path;

/// Characters of a value that a message shows.
const MOST: usize = 200;
/// Characters of a message that is not cut.
const MOST_OF_MESSAGE: usize = 1000;

/// A message fit for a terminal: on one line, control characters and those that turn the direction of writing escaped; its
/// middle is left out where it is longer than any that this program writes itself.
pub fn line(message: &str) -> String {
    let length = message.chars().count();
    if length <= MOST_OF_MESSAGE {
        return escaped(message);
    }
    let (head, tail): (String, String) =
        (message.chars().take(MOST).collect(), message.chars().skip(length - MOST).collect());
    format!("{} .. {} characters .. {}", escaped(&head), length - 2 * MOST, escaped(&tail))
}

/// A value in quotes, cut after 200 characters.
pub(crate) fn quoted(value: &str) -> String {
    let quotes = |s: &str| format!("\"{}\"", escaped(s).replace('"', "\\\""));
    cut(value).map_or_else(|| quotes(value), |(head, length)| format!("{} .. ({length} characters)", quotes(head)))
}

/// A name or anything else without quotes, cut after 200 characters.
pub(crate) fn shown(value: &str) -> String {
    cut(value).map_or_else(|| escaped(value), |(head, length)| format!("{} .. ({length} characters)", escaped(head)))
}

/// A number without its last digits, which a conversion of units or a sum of tenths may have changed.
pub(crate) fn rounded(value: f64) -> f64 {
    format!("{value:.13e}").parse().unwrap_or(value)
}

/// The name that takes the fewest changes of characters, if these are less than half of them.
pub fn nearest<'a, S: AsRef<str>>(found: &str, known: &'a [S]) -> Option<&'a str> {
    // A key may be as long as the file, and the comparison takes the product of both lengths.
    let length = found.chars().take(100).count();
    let found: String = found.to_lowercase().chars().take(100).collect();
    let changes = |name: &&str| strsim::damerau_levenshtein(&found, &name.to_lowercase());
    let best = known.iter().map(AsRef::as_ref).min_by_key(changes)?;
    (2 * changes(&best) <= length.max(best.chars().count())).then_some(best)
}

/// A path.
pub fn path(path: &Path) -> String {
    shown(&path.to_string_lossy())
}

/// The beginning of a value that is too long, and its length.
fn cut(value: &str) -> Option<(&str, usize)> {
    let (end, _) = value.char_indices().nth(MOST)?;
    Some((&value[..end], value.chars().count()))
}

fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\r' | '\t' => safe.push(' '),
            c if c.is_control() || turns(c) => safe.extend(c.escape_unicode()),
            c => safe.push(c),
        }
    }
    safe
}

/// Whether a character changes how others around it are written, or ends a line in some programs.
fn turns(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_reaches_the_terminal_raw() {
        assert_eq!(line("a\u{1b}[31mb\u{7}\u{9b}c"), "a\\u{1b}[31mb\\u{7}\\u{9b}c");
        assert_eq!(line("two\nlines\u{202e}"), "two lines\\u{202e}");
        assert_eq!(quoted("say \"\u{0}\""), "\"say \\\"\\u{0}\\\"\"");
        assert_eq!(line("caf\u{e9} \u{6f22}"), "caf\u{e9} \u{6f22}");
    }

    #[test]
    fn what_is_long_is_cut() {
        let long = "\u{e9}".repeat(5_000_000);
        assert_eq!(quoted(&long), format!("\"{}\" .. (5000000 characters)", "\u{e9}".repeat(200)));
        assert_eq!(shown(&"x".repeat(201)).len(), 200 + " .. (201 characters)".len());
        assert_eq!(quoted(&"x".repeat(200)), format!("\"{}\"", "x".repeat(200)));
        let message = line(&format!("scene.json:1:1: name: invalid value {long}, expected a number"));
        assert!(message.chars().count() < 450 && message.starts_with("scene.json:1:1: name: invalid value"));
        assert!(message.ends_with(", expected a number"));
    }
}
