//! Times and sizes as people write them: `90m`, `8GiB`.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// A time \[s\], written `45s`, `90m`, `2h`, `3d` or as a number of seconds.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Seconds(pub f64);

/// A size in bytes, written `512MiB`, `8GiB`, `8GB`, `8G` (GiB) or as a number of bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Bytes(pub u64);

const TIMES: [(&str, f64); 4] = [("d", 86_400.0), ("h", 3600.0), ("m", 60.0), ("s", 1.0)];
const KIB: f64 = 1024.0;
const SIZES: [(&str, f64); 13] = [
    ("TiB", KIB * KIB * KIB * KIB),
    ("GiB", KIB * KIB * KIB),
    ("MiB", KIB * KIB),
    ("KiB", KIB),
    ("TB", 1e12),
    ("GB", 1e9),
    ("MB", 1e6),
    ("kB", 1e3),
    ("T", KIB * KIB * KIB * KIB),
    ("G", KIB * KIB * KIB),
    ("M", KIB * KIB),
    ("K", KIB),
    ("B", 1.0),
];

/// A positive number and one of these units, or none.
fn parse(text: &str, units: &[(&str, f64)]) -> Option<f64> {
    let text = text.trim();
    let unit = units.iter().find(|(unit, _)| text.len() > unit.len() && text.ends_with(unit));
    let (number, scale) = unit.map_or((text, 1.0), |(unit, scale)| (&text[..text.len() - unit.len()], *scale));
    let value = number.trim().parse::<f64>().ok()? * scale;
    (value.is_finite() && value > 0.0).then_some(value)
}

impl FromStr for Seconds {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} is no time, expected one such as 90m, 2h or a number of seconds");
        parse(text, &TIMES).map(Self).ok_or_else(expected)
    }
}

impl FromStr for Bytes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let expected = || format!("{text:?} is no size, expected one such as 512MiB, 8GiB or a number of bytes");
        let bytes = parse(text, &SIZES).filter(|&b| (1.0..1e19).contains(&b));
        bytes.map(|b| Self(b as u64)).ok_or_else(expected)
    }
}

impl TryFrom<String> for Seconds {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl TryFrom<String> for Bytes {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl From<Seconds> for String {
    fn from(time: Seconds) -> Self {
        time.0.to_string()
    }
}

impl From<Bytes> for String {
    fn from(size: Bytes) -> Self {
        size.0.to_string()
    }
}

/// To two or three digits, in the unit that a person would choose.
impl fmt::Display for Seconds {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let s = self.0;
        match s {
            s if s < 1.0 => write!(f, "less than a second"),
            s if s < 120.0 => write!(f, "{s:.0} s"),
            s if s < 7200.0 => write!(f, "{:.0} min", s / 60.0),
            s if s < 172_800.0 => write!(f, "{:.1} h", s / 3600.0),
            s if s < 3.15e8 => write!(f, "{:.0} days", s / 86_400.0),
            s => write!(f, "{:.1e} years", s / 3.156e7),
        }
    }
}

/// To two or three digits, in a unit of 1024.
impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&size(self.0 as f64))
    }
}

/// A size that may be more than any integer holds.
pub(crate) fn size(bytes: f64) -> String {
    let unit = SIZES[..4].iter().rev().rfind(|(_, scale)| bytes >= *scale);
    match unit {
        _ if bytes >= 1e16 => format!("{bytes:.1e} bytes"),
        Some((unit, scale)) if bytes < 10.0 * scale => format!("{:.1} {unit}", bytes / scale),
        Some((unit, scale)) => format!("{:.0} {unit}", bytes / scale),
        None => format!("{bytes:.0} bytes"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_and_sizes_are_read_and_written() {
        for (text, seconds) in [("90m", 5400.0), (" 2 h", 7200.0), ("3.5", 3.5), ("1d", 86_400.0), ("45s", 45.0)] {
            assert_eq!(text.parse(), Ok(Seconds(seconds)), "{text}");
        }
        for (text, bytes) in [("8GiB", 8 << 30), ("8G", 8 << 30), ("5MB", 5_000_000), ("77", 77), ("2 kB", 2000)] {
            assert_eq!(text.parse(), Ok(Bytes(bytes)), "{text}");
        }
        for text in ["", "h", "-3s", "0", "NaN", "inf", "1e30", "3 weeks", "\u{e9}"] {
            assert!(text.parse::<Bytes>().is_err(), "{text}");
        }
        assert!("0s".parse::<Seconds>().is_err() && "3 weeks".parse::<Seconds>().is_err());
        let written = [0.2, 45.0, 5400.0, 36_000.0, 1e7, 1e12].map(|s| Seconds(s).to_string());
        assert_eq!(written, ["less than a second", "45 s", "90 min", "10.0 h", "116 days", "3.2e4 years"]);
        let written = [900.0, 5e6, 2e9, 3e13, 1e20].map(size);
        assert_eq!(written, ["900 bytes", "4.8 MiB", "1.9 GiB", "27 TiB", "1.0e20 bytes"]);
    }
}
