//! Lines `v x y z` and `t i j k l`.

use super::{Soup, Words};

pub(super) fn parse(text: &str) -> Result<Soup, String> {
    let (mut vertices, mut tets) = (Vec::new(), Vec::new());
    let mut words = Words::new(text);
    while words.next_line() {
        match words.here() {
            Some("v") => vertices.push(words.point()?),
            Some("t") => {
                let mut corner = || words.number("the index of a vertex, from 0");
                tets.push([corner()?, corner()?, corner()?, corner()?]);
            }
            Some(word) if word.starts_with('#') => continue,
            other => return Err(format!("line {}: `{}`, expected `v` or `t`", words.line, other.unwrap_or(""))),
        }
        words.ends()?;
    }
    Ok((vertices, tets))
}
