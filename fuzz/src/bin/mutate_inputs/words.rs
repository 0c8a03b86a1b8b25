//! Words, numbers and bytes that readers trip over.

use diffkern_fuzz::random::Random;

/// Numbers that are extreme, or that only some languages take for numbers.
const NUMBERS: &[&str] = &[
    "0",
    "-0",
    "-0.0",
    "-1",
    "1",
    "2",
    "3",
    "1e-300",
    "5e-324",
    "1e-400",
    "1e300",
    "1.7976931348623157e308",
    "1e308",
    "1e400",
    "-1e400",
    "1e999999999999",
    "NaN",
    "nan",
    "-NaN",
    "Infinity",
    "-inf",
    "inf",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "9223372036854775808",
    "18446744073709551615",
    "18446744073709551616",
    "-9223372036854775809",
    "340282366920938463463374607431768211456",
    "0x10",
    "01",
    "1.",
    ".5",
    "+1",
    "1e",
    "1e+",
    "1_000",
    "1,5",
    "2e9",
    "8192",
    "8193",
    "10000",
    "10001",
    "65536",
    "0.1e-9",
    "179.9999",
    "1e-9",
    "1e6",
    "30",
    "1e5",
    "-9.81e6",
    "0.5",
];

/// Texts between the quotes of a string; some are not UTF-8, or no JSON.
const TEXTS: &[&[u8]] = &[
    b"",
    b" ",
    b"x",
    b"nan",
    b"mu",
    b"lambda",
    b"none",
    b"soft_body",
    b"rigid_body",
    b"cloth",
    b"block",
    b"pinhole",
    b"video",
    b"box.obj",
    b"box.obj (a remark)",
    b"scene.json",
    b"..",
    b".",
    b"-",
    b"--out",
    b"\\u0000",
    b"\\u001b[31mred",
    b"\x1b[2J",
    b"\x07",
    b"a\\nb",
    b"a\nb",
    b"\\ud800",
    b"\\x00",
    b"\xff\xfe",
    b"\xc3\x28",
    b"\xef\xbb\xbf",
    b"\xe2\x80\xae",
    b"%s%n%p",
    b"{}",
    b"\\\\",
    b"\\\"",
    "\u{202e}\u{200b}".as_bytes(),
    "Gummi\u{e4}\u{1f9f8}".as_bytes(),
    b"CON",
    b"a/b",
    b"neo-Hookean",
    b"corotated",
    b"frictionless",
    b"sticky",
    b"neo_hookean",
    b"kPa",
    b"mm",
    b"../box.obj",
    b"/etc/passwd",
    b"closed.obj",
    b"log",
];

/// Keys that scenes, records and jobs know.
const KEYS: &[&str] = &[
    "name",
    "kind",
    "duration",
    "frame_rate",
    "num_frames",
    "gravity",
    "camera",
    "width",
    "far",
    "near",
    "object",
    "mesh",
    "material",
    "mu",
    "lambda",
    "floor",
    "friction",
    "clamp",
    "axis",
    "plane",
    "unknowns",
    "range",
    "iteration",
    "seconds",
    "state",
    "stage",
    "at",
    "level",
    "lm",
    "normals",
    "history",
    "version",
    "checksum",
    "loss",
    "damping",
    "relaxation",
    "modulus",
    "time",
    "eta",
    "known",
    "version",
    "units",
    "axes",
    "frames",
    "bodies",
    "jelly",
    "shape",
    "sphere",
    "box",
    "size",
    "mesh",
    "file",
    "pose",
    "rotation",
    "density",
    "velocity",
    "law",
    "young",
    "clamps",
    "colliders",
    "half_space",
    "capsule",
    "motion",
    "angular_velocity",
    "contact",
    "cameras",
    "distortion",
    "shutter",
    "lights",
    "videos",
    "masks",
    "weights",
    "observations",
    "markers",
    "points",
    "deviation",
    "marker",
    "bodies.jelly.density",
    "gravity.x",
    "transform",
    "prior",
    "__proto__",
    "",
];

/// A string of JSON.
pub fn quoted(text: &str) -> Vec<u8> {
    serde_json::Value::from(text).to_string().into_bytes()
}

/// Digits.
pub fn number(random: &mut Random) -> Vec<u8> {
    match random.below(12) {
        0 => "9".repeat(1 + random.below(2_000)).into_bytes(),
        1 => format!("0.{}1", "0".repeat(random.below(2_000))).into_bytes(),
        2 => format!("1e{}", random.below(700) as i64 - 350).into_bytes(),
        3 => random.below(10_000).to_string().into_bytes(),
        _ => random.word(NUMBERS).as_bytes().to_vec(),
    }
}

/// A number not far from `x`, or of another magnitude or sign.
pub fn scaled(x: f64, random: &mut Random) -> Vec<u8> {
    let factor =
        *random.pick(&[-1.0, 0.0, 0.5, 2.0, 10.0, 1e-3, 1e3, 1e-6, 1e6, 1e9, -1e9, 1e30, 1e-30, 1e300, 1.0 + 1e-15]);
    match (random.below(3), x.fract() == 0.0) {
        (0, _) => (x + *random.pick(&[-2.0, -1.0, -0.1, 0.1, 1.0, 2.0])).to_string().into_bytes(),
        (1, true) => format!("{}", (x * factor) as i64).into_bytes(),
        _ => format!("{:?}", x * factor).into_bytes(),
    }
}

/// A string with its quotes.
pub fn string(random: &mut Random) -> Vec<u8> {
    let text = match random.below(12) {
        0 => random.pick(TEXTS).repeat(1 + random.below(5_000)),
        1 => b"x".repeat(1 << random.below(21)),
        _ => random.pick(TEXTS).to_vec(),
    };
    [b"\"", &text[..], b"\""].concat()
}

/// A key with its quotes.
pub fn key(random: &mut Random) -> Vec<u8> {
    if random.chance(75) { quoted(random.word(KEYS)) } else { string(random) }
}

/// A word of any type.
pub fn word(random: &mut Random) -> Vec<u8> {
    match random.below(8) {
        0..=2 => number(random),
        3..=5 => string(random),
        _ => random
            .word(&[
                "null",
                "true",
                "false",
                "[]",
                "{}",
                "[[]]",
                "undefined",
                "'x'",
                "// remark",
                "",
                "None",
                "Some(1)",
                "()",
            ])
            .into(),
    }
}

/// Changes some bytes: bits flipped, pieces gone, doubled or put elsewhere, the end cut off.
pub fn mutate_bytes(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(3) {
        let length = bytes.len();
        let at = random.below(length);
        let most = *random.pick(&[1, 4, 64, 4096]);
        let upto = (at + 1 + random.below(most)).min(length);
        match random.below(8) {
            0 => bytes.truncate(at),
            1 if at < upto => drop(bytes.drain(at..upto)),
            2 if at < upto => {
                let piece = bytes[at..upto].repeat(1 + random.below(8));
                let to = random.below(length);
                bytes.splice(to..to, piece);
            }
            3 => drop(bytes.splice(at..at, random.pick(TEXTS).iter().copied())),
            4 => drop(bytes.splice(at..at, number(random))),
            _ if at < length => bytes[at] ^= 1 << random.below(8),
            _ => bytes.push(random.below(256) as u8),
        }
    }
}

/// Changes a text word by word, as `1.5`, `mu` and `(` are words: one is gone, doubled, exchanged or another.
pub fn mutate_text(text: &mut Vec<u8>, random: &mut Random) {
    let class = |byte: &u8| match byte {
        b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'.' | b'_' | b'-' => 0,
        b' ' | b'\n' => 1,
        other => 2 + u16::from(*other),
    };
    let mut parts: Vec<Vec<u8>> = text.chunk_by(|a, b| class(a) == class(b)).map(<[u8]>::to_vec).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(parts.len());
        let other = parts.get(random.below(parts.len())).cloned().unwrap_or_default();
        match random.below(6) {
            0 if !parts.is_empty() => drop(parts.remove(at)),
            1 => parts.insert(at, other),
            2 => parts.insert(at, word(random)),
            3 if !parts.is_empty() => parts[at] = other,
            _ if !parts.is_empty() => parts[at] = word(random),
            _ => parts.push(word(random)),
        }
    }
    *text = parts.concat();
}
