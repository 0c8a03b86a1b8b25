//! JSON as a tree whose words and keys are raw bytes, so that it can hold what no writer of JSON would write.

use diffkern_fuzz::random::Random;
use serde_json::Value;

use crate::words;

/// A value as it stands in a file.
#[derive(Clone)]
pub enum Node {
    /// A number, a string with its quotes, `true`, or anything.
    Word(Vec<u8>),
    /// Values in brackets.
    List(Vec<Node>),
    /// Keys, each with its quotes, and their values; a key may be there twice.
    Object(Vec<(Vec<u8>, Node)>),
}

impl From<&Value> for Node {
    fn from(value: &Value) -> Node {
        match value {
            Value::Array(items) => Node::List(items.iter().map(Node::from).collect()),
            Value::Object(fields) => {
                Node::Object(fields.iter().map(|(key, value)| (words::quoted(key), Node::from(value))).collect())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                Node::Word(value.to_string().into_bytes())
            }
        }
    }
}

impl Node {
    /// The text.
    pub fn print(&self, text: &mut Vec<u8>) {
        match self {
            Node::Word(word) => text.extend(word),
            Node::List(items) => {
                text.push(b'[');
                for (k, item) in items.iter().enumerate() {
                    text.extend(if k > 0 { &b","[..] } else { b"" });
                    item.print(text);
                }
                text.push(b']');
            }
            Node::Object(fields) => {
                text.push(b'{');
                for (k, (key, value)) in fields.iter().enumerate() {
                    text.extend(if k > 0 { &b",\n"[..] } else { b"" });
                    text.extend(key);
                    text.push(b':');
                    value.print(text);
                }
                text.push(b'}');
            }
        }
    }

    /// Changes the tree in one place: a number out of range, another type, a key that is missing, there twice or another's.
    pub fn mutate(&mut self, random: &mut Random) {
        let count = self.count();
        let at = random.below(count);
        if random.chance(55) {
            let old = self.nth(at).clone();
            *self.nth(at) = replacement(&old, random);
        } else {
            let other = self.nth(random.below(count)).clone();
            // Not every node has children; the root of a scene does.
            match self.nth(at) {
                Node::Word(_) => self.edit_children(random, other),
                Node::List(_) | Node::Object(_) => self.nth(at).edit_children(random, other),
            }
        }
    }

    /// Number of nodes in the tree.
    fn count(&self) -> usize {
        match self {
            Node::Word(_) => 1,
            Node::List(items) => 1 + items.iter().map(Node::count).sum::<usize>(),
            Node::Object(fields) => 1 + fields.iter().map(|(_, value)| value.count()).sum::<usize>(),
        }
    }

    /// Node number `n` of the tree, the root is 0.
    fn nth(&mut self, n: usize) -> &mut Node {
        if n == 0 {
            return self;
        }
        let children: Vec<&mut Node> = match self {
            Node::Word(_) => Vec::new(),
            Node::List(items) => items.iter_mut().collect(),
            Node::Object(fields) => fields.iter_mut().map(|(_, value)| value).collect(),
        };
        let mut left = n - 1;
        for child in children {
            let size = child.count();
            if left < size {
                return child.nth(left);
            }
            left -= size;
        }
        unreachable!("n is below the number of nodes")
    }

    /// Deletes, doubles, moves or renames a child, or puts `other` in.
    fn edit_children(&mut self, random: &mut Random, other: Node) {
        match self {
            Node::Word(word) => *word = words::word(random),
            Node::List(items) => match random.below(4) {
                0 if !items.is_empty() => drop(items.remove(random.below(items.len()))),
                1 => items.insert(random.below(items.len() + 1), other),
                2 => items.reverse(),
                _ => items.extend(vec![other; 1 + random.below(200)]),
            },
            Node::Object(fields) if fields.is_empty() => fields.push((words::key(random), other)),
            Node::Object(fields) => {
                let at = random.below(fields.len());
                match random.below(5) {
                    0 => drop(fields.remove(at)),
                    1 => fields.insert(at, (fields[at].0.clone(), other)),
                    2 => fields[at].0 = words::key(random),
                    3 => fields.push((words::key(random), other)),
                    _ => {
                        let key = fields[random.below(fields.len())].0.clone();
                        fields[at].0 = key;
                    }
                }
            }
        }
    }
}

/// Something else in the place of `old`; often a number in the place of a number.
fn replacement(old: &Node, random: &mut Random) -> Node {
    let number = match old {
        Node::Word(word) => std::str::from_utf8(word).ok().and_then(|word| word.parse::<f64>().ok()),
        Node::List(_) | Node::Object(_) => None,
    };
    match (number, random.below(10)) {
        (Some(x), 0..=3) => Node::Word(words::scaled(x, random)),
        (Some(_), 4..=6) => Node::Word(words::number(random)),
        (None, 0..=2) | (_, 7) => Node::Word(words::word(random)),
        (_, 3 | 8) => Node::List(vec![old.clone(); random.below(4)]),
        (_, 4 | 9) => Node::Object(vec![(words::key(random), old.clone())]),
        _ => nested(random),
    }
}

/// Brackets in brackets, deeper than any reader's stack may follow.
fn nested(random: &mut Random) -> Node {
    let depth = *random.pick(&[2, 100, 127, 128, 129, 5_000, 200_000]);
    let (open, close) = *random.pick(&[("[", "]"), ("{\"a\":", "}")]);
    Node::Word([open.repeat(depth), "1".into(), close.repeat(depth)].concat().into_bytes())
}
