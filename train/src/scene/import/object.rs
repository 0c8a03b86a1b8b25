//! An object of which fields are taken by name, so that those that are left are known.

use super::texts;
use crate::scene::measure::Measure;
use crate::scene::tree::{Fault, Node, typed};
use crate::text::quoted;
use serde::de::DeserializeOwned;
use std::collections::HashSet;

/// An object of a file, and which of its fields were taken.
pub(super) struct Object<'a> {
    node: &'a Node,
    /// Where it is in the file; empty for the whole.
    path: String,
    taken: HashSet<&'a str>,
}

impl<'a> Object<'a> {
    pub(super) fn root(node: &'a Node) -> Result<Self, Fault> {
        Self::new(node, String::new())
    }

    pub(super) fn new(node: &'a Node, path: String) -> Result<Self, Fault> {
        match node {
            Node::Object(_) => Ok(Self { node, path, taken: HashSet::new() }),
            other => Err(Fault::new(path, format!("{}, expected an object", other.shown()))),
        }
    }

    /// The path of a field.
    pub(super) fn path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    /// Something is wrong with a field.
    pub(super) fn fault(&self, key: &str, problem: impl Into<String>) -> Fault {
        Fault::new(self.path(key), problem)
    }

    /// The value of a field that is there and not null.
    pub(super) fn node(&mut self, key: &'a str) -> Option<&'a Node> {
        self.taken.insert(key);
        self.node.get(key).filter(|value| **value != Node::Null)
    }

    pub(super) fn optional<T: DeserializeOwned>(&mut self, key: &'a str) -> Result<Option<T>, Fault> {
        let path = self.path(key);
        let below = |fault: Fault| match (fault.path.is_empty(), fault.path.starts_with('[')) {
            (true, _) => Fault { path, ..fault },
            (_, true) => Fault { path: format!("{path}{}", fault.path), ..fault },
            _ => Fault { path: format!("{path}.{}", fault.path), ..fault },
        };
        self.node(key).map(typed).transpose().map_err(below)
    }

    pub(super) fn required<T: DeserializeOwned>(&mut self, key: &'a str) -> Result<T, Fault> {
        let there = self.node.get(key).is_some();
        match self.optional(key)? {
            Some(value) => Ok(value),
            None if there => Err(self.fault(key, "null, expected a value")),
            None => Err(Fault::new(self.path.clone(), format!("the field {key} is missing"))),
        }
    }

    pub(super) fn child(&mut self, key: &'a str) -> Result<Option<Object<'a>>, Fault> {
        let path = self.path(key);
        self.node(key).map(|node| Object::new(node, path)).transpose()
    }

    pub(super) fn required_child(&mut self, key: &'a str, expected: &str) -> Result<Object<'a>, Fault> {
        self.child(key)?.ok_or_else(|| self.fault(key, format!("missing, expected {expected}")))
    }

    /// A text that is one of `known`.
    pub(super) fn exact(&mut self, key: &'a str, known: &[&'static str]) -> Result<Option<&'static str>, Fault> {
        let Some(text) = self.optional::<String>(key)? else {
            return Ok(None);
        };
        let found = known.iter().find(|accepted| **accepted == text);
        found.map(|accepted| Some(*accepted)).ok_or_else(|| self.fault(key, texts::refused(&text, known)))
    }

    /// SI units in the unit that the field `unit` names, of a value that measures `measure`.
    pub(super) fn unit(&mut self, measure: Measure) -> Result<f64, Fault> {
        let Some(unit) = self.optional::<String>("unit")? else {
            return Ok(1.0);
        };
        let known = texts::units(measure);
        known.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor).ok_or_else(|| {
            let names = known.iter().map(|(name, _)| quoted(name)).collect::<Vec<_>>().join(", ");
            self.fault("unit", format!("{}, expected one of {names}", quoted(&unit)))
        })
    }

    /// All its fields, in their order.
    pub(super) fn fields(&self) -> &'a [(String, Node)] {
        match self.node {
            Node::Object(fields) => fields,
            Node::Null | Node::Bool(_) | Node::Natural(_) | Node::Negative(_) => &[],
            Node::Real(_) | Node::Text(_) | Node::List(_) => &[],
        }
    }

    /// The paths of the fields that were not taken, but for remarks.
    pub(super) fn left(self) -> Vec<String> {
        let left = |key: &&String| !self.taken.contains(key.as_str()) && !key.ends_with("note");
        self.fields().iter().map(|(key, _)| key).filter(left).map(|key| self.path(key)).collect()
    }
}

/// The name of the mesh of the object of a scene, which may be followed by a remark.
pub(in crate::scene) fn mesh_name(node: &Node) -> Result<Option<&str>, Fault> {
    match node.get("object").and_then(|object| object.get("mesh")) {
        None => Ok(None),
        Some(Node::Text(text)) if !text.trim().is_empty() => Ok(text.split_whitespace().next()),
        Some(other) => Err(Fault::new("object.mesh", format!("{}, expected the name of an OBJ file", other.shown()))),
    }
}
