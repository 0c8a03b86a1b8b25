//! Checks of what is to be found.

use super::bounds;
use super::numbers::{within, wrong};
use crate::scene::document::{Document, Transform, Unknown};
use crate::scene::tree::Fault;
use crate::scene::{Name, Range};
use crate::text::shown;

pub(super) fn ranges(document: &Document) -> Result<Vec<Range>, Fault> {
    document.unknowns.iter().map(|(path, unknown)| range(path, unknown)).collect()
}

fn range(path: &str, unknown: &Unknown) -> Result<Range, Fault> {
    let at = format!("unknowns.{}", shown(path));
    let name = match path.rsplit('.').next() {
        Some("mu") => Name::Mu,
        Some("lambda") => Name::Lambda,
        _ => return wrong(&at, "is not found by this version, expected material.mu or material.lambda of a body"),
    };
    if unknown.prior.is_some() {
        return wrong(&format!("{at}.prior"), "is not heeded by this version, expected none");
    }
    if !matches!(unknown.transform, Transform::Auto | Transform::Log) {
        return wrong(
            &format!("{at}.transform"),
            "this version searches for its logarithm, expected \"auto\" or \"log\"",
        );
    }
    let field = format!("{at}.range");
    let Some([min, max]) = unknown.range.number() else {
        return wrong(&field, "three ranges, expected [least, greatest]");
    };
    within(&field, min, &bounds::MODULUS)?;
    if max <= min {
        return wrong(&field, format!("[{min}, {max}], expected the greater value last"));
    }
    within(&field, max, &bounds::MODULUS)?;
    Ok(Range { name, min, max })
}
