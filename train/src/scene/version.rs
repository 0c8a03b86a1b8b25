//! Versions of the schema, and the way from each to the next.

use super::tree::{Fault, Node};

/// The version that this program writes.
pub(super) const CURRENT: u64 = 1;

/// What takes a document of version 1 to version 2, one of version 2 to version 3, and so on.
const STEPS: [fn(Node) -> Result<Node, Fault>; CURRENT as usize - 1] = [];

/// What a file says of its version.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// None: a folder from before there were versions.
    None,
    /// A version that this program reads.
    Number(u64),
}

/// The version of a document.
pub(super) fn of(node: &Node) -> Result<Version, Fault> {
    let expected = format!("expected {CURRENT}, the latest that this program reads");
    match node.get("version") {
        None if node.get("bodies").is_some() => {
            Err(Fault::new("version", format!("missing beside bodies, {expected}")))
        }
        None => Ok(Version::None),
        Some(Node::Natural(version)) if (1..=CURRENT).contains(version) => Ok(Version::Number(*version)),
        Some(other) => Err(Fault::new("version", format!("{}, {expected}", other.shown()))),
    }
}

/// A document of `version` as one of the current version.
pub(super) fn migrated(node: Node, version: u64) -> Result<Node, Fault> {
    let done = usize::try_from(version).unwrap_or(1).saturating_sub(1);
    STEPS.iter().skip(done).try_fold(node, |node, step| step(node))
}
