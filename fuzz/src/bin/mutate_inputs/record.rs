//! Checkpoints, with a checksum that fits what was changed: what is wrong in them meets the checks behind it.

use diffkern_fuzz::random::Random;
use flate2::Crc;
use serde_json::Value;

use crate::node::Node;

/// Changes what a sealed checkpoint holds, and seals it again, or leaves the seal away as its first version did. Does nothing,
/// and says so, where there is no seal.
pub fn mutate(bytes: &mut Vec<u8>, value: &Value, random: &mut Random) -> bool {
    let (Some(held), Some(version), true) =
        (value.get("checkpoint"), value.get("version"), value.get("crc32").is_some())
    else {
        return false;
    };
    let mut node = Node::from(held);
    (0..1 + random.below(3)).for_each(|_| node.mutate(random));
    let mut text = Vec::new();
    if random.chance(20) {
        let Node::Object(fields) = &mut node else { return false };
        fields.push((b"\"iteration\"".to_vec(), Node::Word(b"1".to_vec())));
        node.print(&mut text);
        *bytes = text;
        return true;
    }
    node.print(&mut text);
    let mut checksum = Crc::new();
    checksum.update(&text);
    *bytes = format!("{{\"version\": {version}, \"crc32\": \"{:08x}\", \"checkpoint\": ", checksum.sum()).into_bytes();
    bytes.extend(text);
    bytes.push(b'}');
    true
}
