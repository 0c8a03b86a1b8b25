//! Line and column of a value by its path, in a text that a parser has taken.

/// Line and column, counted from one, of the value at `path`, such as `bodies.jelly.velocity[1]`; of the value around it, where
/// it is missing.
pub(in crate::scene) fn place(text: &str, path: &str) -> Option<(usize, usize)> {
    let at = Search { text, path, open: Vec::new(), best: None }.run()?;
    let before = text.get(..at)?;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    Some((1 + before.matches('\n').count(), 1 + before.get(start..)?.chars().count()))
}

/// An object, a list or a tuple around the place.
struct Open<'a> {
    /// Bytes of the path that lead here; none where the path leads elsewhere.
    reached: Option<usize>,
    /// Name of the value that follows.
    key: Option<&'a str>,
    /// Number of the value that follows.
    index: usize,
}

struct Search<'a> {
    text: &'a str,
    path: &'a str,
    open: Vec<Open<'a>>,
    /// Bytes of the path that lead to the best value so far, and where that begins.
    best: Option<(usize, usize)>,
}

impl<'a> Search<'a> {
    fn run(mut self) -> Option<usize> {
        let mut at = 0;
        // A name before a bracket begins the value that the bracket opens.
        let mut named = false;
        while let Some(c) = self.text.get(at..)?.chars().next() {
            let end = self.end(at, c);
            match c {
                '{' | '[' | '(' => {
                    let reached = if named { self.reached() } else { self.value(at) };
                    self.open.push(Open { reached, key: None, index: 0 });
                }
                '}' | ']' | ')' => drop(self.open.pop()),
                ',' => {
                    if let Some(open) = self.open.last_mut() {
                        (open.key, open.index) = (None, open.index + 1);
                    }
                }
                _ if c == ':' || c.is_whitespace() || self.is_comment(at) => {}
                _ => {
                    let word = self.text.get(at..end)?;
                    match (self.next(end), self.open.last_mut()) {
                        (Some(':'), Some(open)) => open.key = Some(word.trim_matches('"')),
                        _ => drop(self.value(at)),
                    }
                    named = self.next(end) == Some('(');
                    at = end;
                    continue;
                }
            }
            named &= c.is_whitespace();
            at = end;
            if self.best.is_some_and(|(reached, _)| reached == self.path.len()) {
                break;
            }
        }
        self.best.map(|(_, at)| at)
    }

    /// Notes that a value begins here; the bytes of the path that lead to it.
    fn value(&mut self, at: usize) -> Option<usize> {
        let reached = self.reached()?;
        if self.best.is_none_or(|(best, _)| reached > best) {
            self.best = Some((reached, at));
        }
        Some(reached)
    }

    /// Bytes of the path that lead to the value that follows.
    fn reached(&self) -> Option<usize> {
        let Some(open) = self.open.last() else {
            return Some(0);
        };
        let before = open.reached?;
        let rest = self.path.get(before..)?;
        let after = match open.key {
            Some(key) => rest.strip_prefix('.').unwrap_or(rest).strip_prefix(key)?,
            None => rest.strip_prefix('[')?.strip_prefix(&open.index.to_string())?.strip_prefix(']')?,
        };
        let ends = after.is_empty() || after.starts_with(['.', '[']);
        ends.then_some(self.path.len() - after.len())
    }

    /// The first character after blanks.
    fn next(&self, at: usize) -> Option<char> {
        self.text.get(at..)?.trim_start().chars().next()
    }

    fn is_comment(&self, at: usize) -> bool {
        self.text.get(at..).is_some_and(|rest| rest.starts_with("//") || rest.starts_with("/*"))
    }

    /// Where the token that begins with `c` ends.
    fn end(&self, at: usize, c: char) -> usize {
        let rest = &self.text[at..];
        let length = match c {
            '"' => quoted(rest),
            'r' if rest.starts_with("r\"") || rest.starts_with("r#") => raw(rest),
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |end| end + 2),
            '{' | '[' | '(' | '}' | ']' | ')' | ',' | ':' => 1,
            _ if c.is_whitespace() => c.len_utf8(),
            _ => rest.find(|c: char| "{}[](),:\"".contains(c) || c.is_whitespace()).unwrap_or(rest.len()).max(1),
        };
        at + length
    }
}

/// Bytes of a text in quotes.
fn quoted(text: &str) -> usize {
    let mut escaped = false;
    let close = text.bytes().enumerate().skip(1).find(|&(_, byte)| {
        let closes = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        closes
    });
    close.map_or(text.len(), |(at, _)| at + 1)
}

/// Bytes of a text of RON that knows no escapes: `r"..."` or `r#"..."#`.
fn raw(text: &str) -> usize {
    let hashes = text.bytes().skip(1).take_while(|&byte| byte == b'#').count();
    let close = format!("\"{}", "#".repeat(hashes));
    let start = hashes + 2;
    text.get(start..).and_then(|rest| rest.find(&close)).map_or(text.len(), |end| start + end + close.len())
}

#[cfg(test)]
mod tests {
    use super::place;

    const JSON: &str = "{\n \"a\": {\"b\": [1, {\"c\": \"x, [\\\"y\"}],\n  \"left.mu\": 3},\n \"d\": 4\n}";

    #[test]
    fn values_are_found_by_their_paths() {
        let cases = [("", (1, 1)), ("a", (2, 7)), ("a.b[0]", (2, 14)), ("a.b[1].c", (2, 23)), ("d", (4, 7))];
        cases.iter().for_each(|(path, at)| assert_eq!(place(JSON, path), Some(*at), "{path}"));
        assert_eq!(place(JSON, "a.left.mu"), Some((3, 14)));
    }

    #[test]
    fn what_is_missing_is_sought_around_it() {
        let cases = [("a.x", (2, 7)), ("a.b[1].c.d", (2, 23)), ("a.b[2]", (2, 13)), ("x.y", (1, 1)), ("dd", (1, 1))];
        cases.iter().for_each(|(path, at)| assert_eq!(place(JSON, path), Some(*at), "{path}"));
    }

    #[test]
    fn ron_is_searched_as_well() {
        let text = "// a: 1\nScene(a: (b: 1.0, /* c: 2 */ c: r#\"}\"#),\n d: [(x: 1), (x: 2)], \"e\": {\"f\": 5})";
        let cases = [("a", (2, 10)), ("a.c", (2, 33)), ("d[1].x", (3, 18)), ("e.f", (3, 34))];
        cases.iter().for_each(|(path, at)| assert_eq!(place(text, path), Some(*at), "{path}"));
    }
}
