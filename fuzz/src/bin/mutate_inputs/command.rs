//! Command lines, right and wrong. They name no file outside of the folder that the program runs in, but for some devices.

use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;

use diffkern_fuzz::random::Random;

use crate::words;

const RIGHT: &[&str] = &[
    "identify video --out out --max-iterations 1",
    "identify video --unknown mu --set lambda=9000 --start mu=5000 --out out --max-iterations 1",
    "identify video --optimizer adam --seed 3 --device cpu --out out --max-iterations 1",
    "simulate video --set mu=6000,lambda=15000 --out out",
    "simulate video --set mu=6000,lambda=15000 --out out --bits 16 --noise 0.1 --seed 4",
    "throw video --to 0.1,-0.2,0.1 --set lambda=9000 --out out",
    "run job.ron",
    "devices",
    "resume video",
    "simulate video --set mu=6000,lambda=15000 --out video",
    "--help",
    "--version",
];

/// Words of a command line; the files are there, or are devices that take or give for ever.
const WORDS: &[&str] = &[
    "identify",
    "simulate",
    "throw",
    "--to",
    "0.1,-0.2,0.1",
    "resume",
    "run",
    "devices",
    "video",
    "video/scene.json",
    "job.ron",
    "out",
    "absent",
    "/dev/null",
    "/dev/zero",
    "/dev/full",
    "/proc/self/mem",
    "/proc",
    "--out",
    "--set",
    "--start",
    "--unknown",
    "--video",
    "--overwrite",
    "--max-time",
    "--max-memory",
    "1ms",
    "90m",
    "8GiB",
    "--device",
    "--seed",
    "--bits",
    "--noise",
    "--max-iterations",
    "--optimizer",
    "--trace",
    "--help",
    "--",
    "-",
    "-h",
    "-x",
    "mu=1e400",
    "mu=NaN,lambda=1",
    "mu=",
    "=",
    "mu",
    ",",
    "mu=6000,mu=7000",
    "lambda=1e-300",
    "0",
    "-1",
    "99999999999999999999",
    "1e9",
    "8",
    "cuda",
    "wgpu",
    "best",
    "lm",
    "adam",
    "newton-cg",
    "auto",
];

/// The words of a text.
pub fn words(text: &str) -> Vec<OsString> {
    text.split(' ').map(OsString::from).collect()
}

/// A command that reads scene, frames and mesh.
pub fn of_video(random: &mut Random) -> Vec<OsString> {
    words(random.word(&[
        "identify video --start mu=4000,lambda=9000 --max-iterations 1 --max-time 20s --max-memory 512MiB --out out",
        "simulate video --set mu=6000,lambda=15000 --max-time 20s --max-memory 512MiB --out out",
        "simulate video --set mu=6000,lambda=15000 --max-time 20s --max-memory 512MiB --out out",
    ]))
}

/// A command line of which some words are others.
pub fn random(random: &mut Random) -> Vec<OsString> {
    let mut line: Vec<Vec<u8>> = random.word(RIGHT).split(' ').map(|word| word.into()).collect();
    for _ in 0..1 + random.below(3) {
        let at = random.below(line.len());
        let new = random.word(WORDS).as_bytes().to_vec();
        match random.below(8) {
            0 if line.len() > 1 => drop(line.remove(at)),
            1 => line.insert(at, new),
            2 | 3 => line[at] = new,
            4 => line.insert(at, line[random.below(line.len())].clone()),
            5 => line[at] = words::string(random),
            6 => line[at].extend(words::number(random)),
            _ => words::mutate_bytes(&mut line[at], random),
        }
    }
    // No argument holds a zero; nothing is written elsewhere.
    line.iter_mut().for_each(|word| word.retain(|&byte| byte != 0));
    let inside = |word: &Vec<u8>| WORDS.iter().any(|known| known.as_bytes() == word) || !leaves(word);
    line.into_iter().filter(inside).map(|word| OsString::from_vec(word.into_iter().take(100_000).collect())).collect()
}

/// Whether this may name a file elsewhere.
pub fn leaves(word: &[u8]) -> bool {
    word.contains(&b'/') || word.windows(2).any(|two| two == b"..")
}
