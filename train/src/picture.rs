//! Files of pictures: PNG, of 8 or 16 bits.

use crate::error::{Error, Result};
use crate::input;
use crate::limits::Bytes;
use diffkern::memory::{collect, filled, with_room};
use png::{BitDepth, ColorType};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::io::{BufRead as _, BufReader, ErrorKind};
use std::path::{Path, PathBuf};

/// Bits of a colour in a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "u8", into = "u8")]
pub enum Bits {
    /// Values are multiples of 1/255.
    #[default]
    Eight,
    /// Values are multiples of 1/65535.
    Sixteen,
}

impl Bits {
    /// From text, for the command line.
    ///
    /// # Errors
    /// When it is not 8 or 16.
    pub fn parse(text: &str) -> std::result::Result<Self, String> {
        text.parse::<u8>().map_err(|_| UNKNOWN_BITS.to_owned()).and_then(Self::try_from)
    }

    fn png(self) -> BitDepth {
        match self {
            Self::Eight => BitDepth::Eight,
            Self::Sixteen => BitDepth::Sixteen,
        }
    }

    /// A value in 0..1 as it stands in a file, most significant byte first.
    fn encode(self, v: f32, bytes: &mut Vec<u8>) {
        let v = v.clamp(0.0, 1.0);
        match self {
            Self::Eight => bytes.push((v * 255.0).round() as u8),
            Self::Sixteen => bytes.extend(((v * 65535.0).round() as u16).to_be_bytes()),
        }
    }
}

const UNKNOWN_BITS: &str = "expected 8 or 16";
/// How every PNG begins.
const SIGNATURE: [u8; 8] = *b"\x89PNG\r\n\x1a\n";

impl TryFrom<u8> for Bits {
    type Error = String;

    fn try_from(bits: u8) -> std::result::Result<Self, String> {
        match bits {
            8 => Ok(Self::Eight),
            16 => Ok(Self::Sixteen),
            _ => Err(UNKNOWN_BITS.to_owned()),
        }
    }
}

impl From<Bits> for u8 {
    fn from(bits: Bits) -> u8 {
        match bits {
            Bits::Eight => 8,
            Bits::Sixteen => 16,
        }
    }
}

impl fmt::Display for Bits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", u8::from(*self))
    }
}

/// Values as they stand in a file.
pub(crate) fn encode(values: &[f32], bits: Bits) -> Result<Vec<u8>> {
    let mut bytes = with_room(values.len() * usize::from(u8::from(bits) / 8))?;
    values.iter().for_each(|&v| bits.encode(v, &mut bytes));
    Ok(bytes)
}

/// Whether a file is called as a frame is.
pub(crate) fn is_frame(name: &str) -> bool {
    let number = name.strip_prefix("frame_").and_then(|rest| rest.strip_suffix(".png"));
    number.is_some_and(|number| number.len() >= 4 && number.bytes().all(|digit| digit.is_ascii_digit()))
}

/// `folder/part/frame_0007.png`.
pub fn frame_path(folder: &Path, part: &str, number: usize) -> PathBuf {
    folder.join(part).join(format!("frame_{number:04}.png"))
}

/// A PNG of `width` columns.
pub(crate) fn png_bytes(width: usize, pixels: &[u8], color: ColorType, bits: Bits) -> Result<Vec<u8>> {
    let rows = pixels.len() / (color.samples() * usize::from(u8::from(bits) / 8)) / width.max(1);
    let mut bytes = Vec::new();
    let mut encoder = png::Encoder::new(&mut bytes, width as u32, rows as u32);
    encoder.set_color(color);
    encoder.set_depth(bits.png());
    let encode = || -> std::result::Result<(), png::EncodingError> {
        let mut writer = encoder.write_header()?;
        writer.write_image_data(pixels)?;
        writer.finish()
    };
    encode().map_err(|e| Error::Compute(format!("cannot encode a {width}x{rows} image: {e}")))?;
    Ok(bytes)
}

/// The values of a picture in 0..1, row by row.
pub(crate) fn read_png(file: &Path, color: ColorType, width: usize, height: usize) -> Result<Vec<f32>> {
    let expected = format!("{width}x{height} pixels of 8- or 16-bit {}", color_name(color));
    let (bits, bytes) = read(file, color, (width, height), &[Bits::Eight, Bits::Sixteen], &expected)?;
    Ok(match bits {
        Bits::Eight => collect(bytes.iter().map(|&byte| f32::from(byte) / 255.0)),
        Bits::Sixteen => collect(counts(&bytes).map(|count| f32::from(count) / 65535.0)),
    }?)
}

/// The numbers of a grey picture of 16 bits.
pub(crate) fn read_counts(file: &Path, what: &str, width: usize, height: usize) -> Result<Vec<u16>> {
    let expected = format!("{width}x{height} pixels of 16-bit grey, {what}");
    let (_, bytes) = read(file, ColorType::Grayscale, (width, height), &[Bits::Sixteen], &expected)?;
    Ok(collect(counts(&bytes))?)
}

/// Most significant byte first.
fn counts(bytes: &[u8]) -> impl ExactSizeIterator<Item = u16> {
    bytes.as_chunks::<2>().0.iter().map(|&pair| u16::from_be_bytes(pair))
}

/// The bytes of a picture of one of some kinds.
fn read(
    file: &Path,
    color: ColorType,
    (width, height): (usize, usize),
    kinds: &[Bits],
    expected: &str,
) -> Result<(Bits, Vec<u8>)> {
    let expected = format!("expected {expected}");
    let values = width * height * color.samples();
    // Twice the pixels of 16 bits: compression may add to them, and there may be a remark.
    let opened = input::open(file, Bytes(4 * values as u64 + (1 << 20)), &expected)?;
    let refused = |what: &str| Error::file(file, format!("frame {what}, {expected}"));
    let broken = |e: png::DecodingError| refused(&fault(&e));
    let mut source = BufReader::new(opened);
    let begin = source.fill_buf().map_err(|e| refused(&format!("cannot be read: {e}")))?;
    if !begin.iter().zip(SIGNATURE).all(|(byte, known)| *byte == known) {
        return Err(refused("is no PNG"));
    }
    let mut reader = png::Decoder::new(source).read_info().map_err(broken)?;
    let info = reader.info();
    let (seen_color, depth) = (info.color_type, info.bit_depth as u8);
    let seen = (info.width as usize, info.height as usize);
    if seen != (width, height) {
        let (w, h) = seen;
        let problem = format!("frame is {w}x{h} pixels, expected {width}x{height} (camera.width x camera.height)");
        return Err(Error::file(file, problem));
    }
    let bits = Bits::try_from(depth).ok().filter(|bits| seen_color == color && kinds.contains(bits));
    let bits = bits.ok_or_else(|| {
        let problem = format!("frame is {depth}-bit {}, {expected}", color_name(seen_color));
        Error::file(file, problem)
    })?;
    let mut bytes = filled(values * usize::from(u8::from(bits) / 8), 0)?;
    reader.next_frame(&mut bytes).map_err(broken)?;
    reader.finish().map_err(broken)?;
    Ok((bits, bytes))
}

/// What is wrong with a PNG; the decoder says it in names of its types.
fn fault(error: &png::DecodingError) -> String {
    use png::DecodingError::{Format, IoError, LimitsExceeded, Parameter};
    match error {
        IoError(e) if e.kind() == ErrorKind::UnexpectedEof => "is cut off".into(),
        IoError(e) => format!("cannot be read: {e}"),
        Format(_) | Parameter(_) => {
            "is damaged, or no PNG that can be read: a checksum, a length or a kind in it is wrong".into()
        }
        LimitsExceeded => "is damaged: it asks for more memory than a picture takes".into(),
    }
}

fn color_name(color: ColorType) -> &'static str {
    match color {
        ColorType::Grayscale => "grey",
        ColorType::Rgb => "RGB",
        ColorType::Indexed => "palette",
        ColorType::GrayscaleAlpha => "grey with alpha",
        ColorType::Rgba => "RGB with alpha",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_with_a_file_is_said_in_words() {
        let good = png_bytes(2, &[0, 60, 120, 255], ColorType::Grayscale, Bits::Eight).unwrap();
        let file = std::env::temp_dir().join(format!("diffkern-picture-{}.png", std::process::id()));
        let refusal = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            read_png(&file, ColorType::Grayscale, 2, 2).unwrap_err().to_string()
        };
        let data = good.windows(4).position(|kind| kind == b"IDAT").unwrap();
        let mut flipped = good.clone();
        flipped[data + 8] ^= 1;
        let cases: [(&[u8], &str); 5] = [
            (
                &flipped[..],
                "frame is damaged, or no PNG that can be read: a checksum, a length or a kind in it is wrong, expected 2x2 pixels",
            ),
            (&good[..good.len() / 2], "frame is cut off, expected"),
            (&[], "frame is cut off, expected"),
            (b"hello, I am no picture", "frame is no PNG, expected"),
            (b"\xff\xd8\xff\xe0", "frame is no PNG, expected"),
        ];
        for (bytes, said) in cases {
            let found = refusal(bytes);
            assert!(found.contains(said), "{found}\n{said}");
        }
        std::fs::remove_file(&file).unwrap();
    }
}
