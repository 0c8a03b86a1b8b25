//! The curves as a file of events, which [TensorBoard](https://www.tensorflow.org/tensorboard) draws.
//!
//! A file is a sequence of records: the length of the data in 64 bits, its checksum, the data, its checksum
//! (`tensorflow/core/lib/io/record_writer.h`). The data is an `Event` (`tensorboard/compat/proto/event.proto`) as Protocol Buffers
//! encode it: a key, number and kind of the field, before each value. The crates for it bring a code generator or a decoder of
//! images along.

use crate::job::{Parameter, Record};

/// What TensorBoard looks for in a file that it has not seen.
const VERSION: &str = "brain.Event:2";

/// All of a search: the loss of each level and every parameter, over the iterations. It has no times, which would differ
/// between a run and the same run stopped and resumed.
pub(super) fn encoded(history: &[Record], parameters: &[Parameter]) -> Vec<u8> {
    let mut file = Vec::new();
    record(&mut file, &version());
    for one in history {
        record(&mut file, &event(one, parameters));
    }
    file
}

/// Appends `data` with its length and the checksums of both.
fn record(file: &mut Vec<u8>, data: &[u8]) {
    let length = (data.len() as u64).to_le_bytes();
    file.extend(length);
    file.extend(checksum(&length));
    file.extend(data);
    file.extend(checksum(data));
}

/// CRC-32C, turned and shifted: data may contain checksums itself.
fn checksum(data: &[u8]) -> [u8; 4] {
    crc32c::crc32c(data).rotate_right(15).wrapping_add(0xa282_ead8).to_le_bytes()
}

/// `Event { file_version }`
fn version() -> Vec<u8> {
    let mut event = Message::default();
    event.bytes(3, VERSION.as_bytes());
    event.0
}

/// `Event { step, summary: Summary { value } }`
fn event(record: &Record, parameters: &[Parameter]) -> Vec<u8> {
    let mut summary = Message::default();
    // TensorBoard groups what stands before the first slash.
    let level = record.stage.replace(' ', "_").replace('/', "_of_");
    summary.bytes(1, &value(&format!("loss/{level}"), record.loss));
    for parameter in parameters {
        if let Some(found) = record.values.get(&parameter.name) {
            summary.bytes(1, &value(&format!("parameters/{}", parameter.name), *found));
        }
    }
    let mut event = Message::default();
    event.integer(2, record.iteration as u64);
    event.bytes(5, &summary.0);
    event.0
}

/// `Summary.Value { tag, simple_value }`
fn value(tag: &str, number: f64) -> Vec<u8> {
    let mut value = Message::default();
    value.bytes(1, tag.as_bytes());
    value.float(2, number as f32);
    value.0
}

/// A message of Protocol Buffers.
#[derive(Default)]
struct Message(Vec<u8>);

impl Message {
    fn integer(&mut self, field: u64, value: u64) {
        self.varint(field << 3);
        self.varint(value);
    }

    /// Text, or a message in this one.
    fn bytes(&mut self, field: u64, bytes: &[u8]) {
        self.varint(field << 3 | 2);
        self.varint(bytes.len() as u64);
        self.0.extend(bytes);
    }

    fn float(&mut self, field: u64, value: f32) {
        self.varint(field << 3 | 5);
        self.0.extend(value.to_le_bytes());
    }

    /// Seven bits a byte, the least first; the eighth says that more follow.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.0.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.0.push(value as u8);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::sample::sample;

    /// Bit by bit, without the crate.
    fn crc(data: &[u8]) -> u32 {
        let byte = |crc: u32, byte: &u8| {
            (0..8).fold(crc ^ u32::from(*byte), |crc, _| (crc >> 1) ^ if crc & 1 == 1 { 0x82f6_3b78 } else { 0 })
        };
        !data.iter().fold(!0, byte)
    }

    fn take<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
        let (head, rest) = bytes.split_at(count);
        *bytes = rest;
        head
    }

    fn checked<'a>(bytes: &mut &'a [u8], count: usize) -> &'a [u8] {
        let data = take(bytes, count);
        let masked = u32::from_le_bytes(take(bytes, 4).try_into().unwrap());
        assert_eq!(masked.wrapping_sub(0xa282_ead8).rotate_left(15), crc(data));
        data
    }

    fn varint(bytes: &mut &[u8]) -> u64 {
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let byte = take(bytes, 1)[0];
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return value;
            }
        }
        panic!("a number does not end");
    }

    /// Number, integer and bytes of every field.
    fn fields(mut message: &[u8]) -> Vec<(u64, u64, &[u8])> {
        let mut fields = Vec::new();
        while !message.is_empty() {
            let key = varint(&mut message);
            let (integer, bytes) = match key & 7 {
                0 => (varint(&mut message), &[][..]),
                2 => {
                    let length = varint(&mut message) as usize;
                    (0, take(&mut message, length))
                }
                5 => (0, take(&mut message, 4)),
                other => panic!("kind {other}"),
            };
            fields.push((key >> 3, integer, bytes));
        }
        fields
    }

    #[test]
    fn every_value_is_read_again() {
        let (history, parameters) = sample(40, 300);
        let file = encoded(&history, &parameters);
        let (mut rest, mut events) = (&file[..], Vec::new());
        while !rest.is_empty() {
            let length = checked(&mut rest, 8);
            let length = u64::from_le_bytes(length.try_into().unwrap());
            events.push(fields(checked(&mut rest, length as usize)));
        }
        assert_eq!(events[0], [(3, 0, &b"brain.Event:2"[..])]);
        assert_eq!(events.len(), 1 + history.len());
        for (event, record) in events[1..].iter().zip(&history) {
            assert_eq!((event[0].0, event[0].1, event[1].0), (2, record.iteration as u64, 5));
            let values = fields(event[1].2);
            assert_eq!(values.len(), 1 + parameters.len());
            for (k, (_, _, value)) in values.into_iter().enumerate() {
                let value = fields(value);
                assert_eq!(value.iter().map(|field| field.0).collect::<Vec<_>>(), [1, 2]);
                let tag = str::from_utf8(value[0].2).unwrap();
                let number = f32::from_le_bytes(value[1].2.try_into().unwrap());
                let (expected, what) = match k {
                    0 => (record.loss, format!("loss/{}", record.stage.replace(' ', "_").replace('/', "_of_"))),
                    _ => {
                        let name = &parameters[k - 1].name;
                        (record.values[name], format!("parameters/{name}"))
                    }
                };
                assert_eq!((tag, number), (what.as_str(), expected as f32));
            }
        }
    }
}
