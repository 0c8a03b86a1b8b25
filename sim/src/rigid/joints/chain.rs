//! Chains of joints: in what order elimination goes through them.

use super::joint::Joint;
use crate::error::{Error, Result};

/// A joint of a chain, and whether parent and child are exchanged, so that the child of one is the parent of the next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Link {
    pub(super) joint: usize,
    pub(super) exchanged: bool,
}

/// The chains of joints between `bodies` bodies, the longest first.
pub(super) fn chains(joints: &[Joint], bodies: usize) -> Result<Vec<Vec<Link>>> {
    let mut of: Vec<Vec<usize>> = vec![Vec::new(); bodies];
    for (k, joint) in joints.iter().enumerate() {
        joint.ends().into_iter().flatten().for_each(|b| of[b].push(k));
    }
    if let Some(b) = of.iter().position(|joints| joints.len() > 2) {
        let expected = "at most two: chains of bodies, without branches";
        return Err(Error::invalid(format!("number of joints of body {b}"), of[b].len(), expected));
    }
    let (mut seen, mut all) = (vec![false; joints.len()], Vec::new());
    // From a joint with the world, or from a body with one joint.
    for k in 0..joints.len() {
        let [parent, child] = joints[k].ends();
        let is_end = |end: Option<usize>| end.is_none_or(|b| of[b].len() == 1);
        if seen[k] || !(is_end(parent) || is_end(child)) {
            continue;
        }
        let (mut chain, mut next) = (Vec::new(), Some((k, !is_end(parent))));
        while let Some((joint, exchanged)) = next {
            seen[joint] = true;
            chain.push(Link { joint, exchanged });
            let ends = joints[joint].ends();
            let last = if exchanged { ends[0] } else { ends[1] };
            next = last.and_then(|b| of[b].iter().find(|&&j| !seen[j]).map(|&j| (j, joints[j].ends()[0] != Some(b))));
        }
        all.push(chain);
    }
    if let Some(k) = seen.iter().position(|s| !s) {
        let expected = "one of an open chain: without this joint or another the loop is open";
        return Err(Error::invalid(format!("joint {k}"), "part of a closed loop", expected));
    }
    all.sort_by_key(|chain| std::cmp::Reverse(chain.len()));
    Ok(all)
}
