//! Typed values from a tree, with the path of what is wrong.

use super::fault::Fault;
use super::node::Node;
use serde::de::value::StrDeserializer;
use serde::de::{
    DeserializeOwned, DeserializeSeed, Deserializer, EnumAccess, Error as _, MapAccess, SeqAccess, VariantAccess,
    Visitor,
};
use serde::forward_to_deserialize_any;

/// The value that a tree stands for.
pub(in crate::scene) fn typed<T: DeserializeOwned>(node: &Node) -> Result<T, Fault> {
    T::deserialize(Value(node))
}

/// A value of a tree. A variant of an enumeration is its name, or an object whose one field has the name.
#[derive(Clone, Copy)]
struct Value<'a>(&'a Node);

impl<'de> Deserializer<'de> for Value<'_> {
    type Error = Fault;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Node::Null => visitor.visit_unit(),
            Node::Bool(value) => visitor.visit_bool(*value),
            Node::Natural(value) => visitor.visit_u64(*value),
            Node::Negative(value) => visitor.visit_i64(*value),
            Node::Real(value) => visitor.visit_f64(*value),
            Node::Text(text) => visitor.visit_str(text),
            Node::List(items) => {
                let mut list = Items { items, at: 0 };
                let value = visitor.visit_seq(&mut list)?;
                match list.at == items.len() {
                    true => Ok(value),
                    false => Err(Fault::custom(format!("{} values, expected {}", items.len(), list.at))),
                }
            }
            Node::Object(fields) => visitor.visit_map(Fields { fields, at: 0 }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Fault> {
        match self.0 {
            Node::Null => visitor.visit_none(),
            _ => visitor.visit_some(self),
        }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(self, _: &'static str, visitor: V) -> Result<V::Value, Fault> {
        visitor.visit_newtype_struct(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _: &'static str,
        names: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Fault> {
        let name = match self.0 {
            Node::Text(name) => Variant { name, content: None },
            Node::Object(fields) if fields.len() == 1 => Variant { name: &fields[0].0, content: Some(&fields[0].1) },
            other => {
                let names = names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
                return Err(Fault::custom(format!("{}, expected exactly one of {names}", other.shown())));
            }
        };
        visitor.visit_enum(name)
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str string bytes byte_buf unit unit_struct seq tuple
        tuple_struct map struct identifier ignored_any
    }
}

struct Items<'a> {
    items: &'a [Node],
    at: usize,
}

impl<'de> SeqAccess<'de> for Items<'_> {
    type Error = Fault;

    fn next_element_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<Option<T::Value>, Fault> {
        let Some(item) = self.items.get(self.at) else {
            return Ok(None);
        };
        let number = self.at;
        self.at += 1;
        seed.deserialize(Value(item)).map(Some).map_err(|fault| fault.below(&format!("[{number}]")))
    }
}

struct Fields<'a> {
    fields: &'a [(String, Node)],
    at: usize,
}

impl<'de> MapAccess<'de> for Fields<'_> {
    type Error = Fault;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Fault> {
        let field = self.fields.get(self.at);
        field.map(|(key, _)| seed.deserialize(StrDeserializer::new(key))).transpose()
    }

    fn next_value_seed<T: DeserializeSeed<'de>>(&mut self, seed: T) -> Result<T::Value, Fault> {
        let Some((key, value)) = self.fields.get(self.at) else {
            return Err(Fault::custom("a value was asked for before its name"));
        };
        self.at += 1;
        seed.deserialize(Value(value)).map_err(|fault| fault.below(key))
    }
}

struct Variant<'a> {
    name: &'a str,
    content: Option<&'a Node>,
}

impl<'de, 'a> EnumAccess<'de> for Variant<'a> {
    type Error = Fault;
    type Variant = Self;

    fn variant_seed<V: DeserializeSeed<'de>>(self, seed: V) -> Result<(V::Value, Self), Fault> {
        Ok((seed.deserialize(StrDeserializer::new(self.name))?, self))
    }
}

impl<'de> VariantAccess<'de> for Variant<'_> {
    type Error = Fault;

    fn unit_variant(self) -> Result<(), Fault> {
        match self.content {
            None => Ok(()),
            Some(_) => Err(Fault::custom(format!("an object, expected the text \"{}\" alone", self.name))),
        }
    }

    fn newtype_variant_seed<T: DeserializeSeed<'de>>(self, seed: T) -> Result<T::Value, Fault> {
        match self.content {
            Some(content) => seed.deserialize(Value(content)).map_err(|fault| fault.below(self.name)),
            None => Err(Fault::custom(format!("\"{0}\" alone, expected {{\"{0}\": ..}}", self.name))),
        }
    }

    fn tuple_variant<V: Visitor<'de>>(self, _: usize, visitor: V) -> Result<V::Value, Fault> {
        self.struct_variant(&[], visitor)
    }

    fn struct_variant<V: Visitor<'de>>(self, _: &'static [&'static str], visitor: V) -> Result<V::Value, Fault> {
        match self.content {
            Some(content) => Value(content).deserialize_any(visitor).map_err(|fault| fault.below(self.name)),
            None => Err(Fault::custom(format!("\"{0}\" alone, expected {{\"{0}\": {{..}}}}", self.name))),
        }
    }
}
