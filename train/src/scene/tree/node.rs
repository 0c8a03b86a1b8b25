//! A tree of values as it stands in a file, whatever its syntax.

use crate::text::quoted;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use std::collections::HashSet;
use std::fmt;

/// A value of JSON or RON. Fields keep their order; no name is there twice.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::scene) enum Node {
    Null,
    Bool(bool),
    /// Zero or more.
    Natural(u64),
    Negative(i64),
    /// Finite.
    Real(f64),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    /// The value of a field of an object.
    pub(in crate::scene) fn get(&self, key: &str) -> Option<&Node> {
        match self {
            Node::Object(fields) => fields.iter().find(|(name, _)| name == key).map(|(_, value)| value),
            Node::Null | Node::Bool(_) | Node::Natural(_) | Node::Negative(_) | Node::Real(_) => None,
            Node::Text(_) | Node::List(_) => None,
        }
    }

    /// A value for a message.
    pub(in crate::scene) fn shown(&self) -> String {
        match self {
            Node::Null => "null".into(),
            Node::Bool(value) => value.to_string(),
            Node::Natural(value) => value.to_string(),
            Node::Negative(value) => value.to_string(),
            Node::Real(value) => format!("{value:?}"),
            Node::Text(text) => quoted(text),
            Node::List(items) if items.len() <= 4 => {
                format!("[{}]", items.iter().map(Node::brief).collect::<Vec<_>>().join(", "))
            }
            Node::List(_) | Node::Object(_) => self.brief(),
        }
    }

    fn brief(&self) -> String {
        match self {
            Node::List(items) => format!("a list of {}", items.len()),
            Node::Object(fields) => format!("an object of {} fields", fields.len()),
            plain => plain.shown(),
        }
    }
}

/// Reads a tree, and refuses names that are there twice in one object.
#[derive(Clone, Copy)]
pub(super) struct Tree {
    /// Whether a unit is written `null`; in RON it is a word whose meaning the parser does not hand over.
    pub(super) null: bool,
}

impl<'de> DeserializeSeed<'de> for Tree {
    type Value = Node;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Node, D::Error> {
        parser.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Tree {
    type Value = Node;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number, a text in quotes, true, false, a list or an object")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<Node, E> {
        Ok(Node::Bool(value))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Node, E> {
        Ok(Node::Natural(value))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Node, E> {
        Ok(u64::try_from(value).map_or(Node::Negative(value), Node::Natural))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<Node, E> {
        match value.is_finite() {
            true => Ok(Node::Real(value)),
            false => Err(E::custom(format!("{value}, expected a finite number"))),
        }
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Node, E> {
        Ok(Node::Text(text.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<Node, E> {
        match self.null {
            true => Ok(Node::Null),
            false => {
                Err(E::custom("a word without quotes, expected a value such as 1.0, \"text\", [..] or (field: ..)"))
            }
        }
    }

    fn visit_none<E: Error>(self) -> Result<Node, E> {
        Ok(Node::Null)
    }

    fn visit_some<D: Deserializer<'de>>(self, parser: D) -> Result<Node, D::Error> {
        self.deserialize(parser)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, parser: D) -> Result<Node, D::Error> {
        self.deserialize(parser)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Node, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element_seed(self)? {
            items.push(item);
        }
        Ok(Node::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Node, A::Error> {
        let (mut fields, mut known) = (Vec::new(), HashSet::new());
        while let Some(key) = map.next_key::<String>()? {
            if !known.insert(key.clone()) {
                return Err(A::Error::custom(format!("the field {} is there twice, expected it once", quoted(&key))));
            }
            fields.push((key, map.next_value_seed(self)?));
        }
        Ok(Node::Object(fields))
    }
}
