//! The study of tosses, for people.

use super::markdown;
use super::recording::read;
use super::study::{Study, within};
use crate::error::{Error, Result};
use crate::experiment::{Console, Ended, alone, keep, tell};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Instant;

/// Numbers of tosses, written `0..100`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Numbers(Range<usize>);

impl FromStr for Numbers {
    type Err = String;

    fn from_str(text: &str) -> std::result::Result<Self, String> {
        let ends = text.split_once("..").and_then(|(a, b)| Some(a.trim().parse().ok()?..b.trim().parse().ok()?));
        match ends {
            Some(range) if range.start < range.end => Ok(Self(range)),
            _ => Err("expected FIRST..END, such as 0..100".into()),
        }
    }
}

/// Options of measured tosses.
#[derive(Debug, Clone, Default, PartialEq, clap::Args)]
pub struct Tosses {
    /// Folder of tosses (toss_NNNN.csv, or a file .npz), or one such file, or of other measurements [default: the sample].
    #[arg(long, value_name = "PATH")]
    pub data: Option<PathBuf>,
    /// Where the tosses or swings to judge on are [default: as --data]; of `tosses` and `pendulum`.
    #[arg(long, value_name = "PATH")]
    pub test_data: Option<PathBuf>,
    /// Numbers of the tosses to fit [default: 0..100]; of `tosses`.
    #[arg(long, value_name = "A..B")]
    pub train: Option<Numbers>,
    /// Numbers of the tosses to judge on [default: 100..200]; of `tosses`.
    #[arg(long, value_name = "A..B")]
    pub test: Option<Numbers>,
    /// Folder of the table [default: out/tables].
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
}

impl Tosses {
    /// Its name.
    pub const NAME: &'static str = "tosses";

    /// Whether an option was given.
    pub fn is_given(&self) -> bool {
        *self != Self::default()
    }

    /// Reads, fits, judges, and writes `tosses.md` and `tosses.json`; `sample` is where the sample lies.
    ///
    /// # Errors
    /// When a file is wrong, a range holds no tosses, a simulation fails, or a file cannot be written.
    pub fn run(&self, sample: &Path, console: &mut dyn Console) -> Result<Ended> {
        let all = read(self.data.as_deref().unwrap_or(sample))?;
        let other = self.test_data.as_deref().map(read).transpose()?;
        let of = |numbers: &Option<Numbers>, default: Range<usize>| numbers.as_ref().map_or(default, |n| n.0.clone());
        let train = within(&all, &of(&self.train, 0..100), "train")?;
        let test = within(other.as_ref().unwrap_or(&all), &of(&self.test, 100..200), "test")?;
        if other.is_none()
            && let Some(toss) = test.iter().find(|toss| train.iter().any(|own| own.id == toss.id))
        {
            let problem = format!("toss {} is among those to fit, expected others", toss.id);
            return Err(Error::argument("test", problem));
        }
        let begun = Instant::now();
        let study = Study::new(&train, &test, &mut |part| tell(console, begun, part));
        let out = self.out.clone().unwrap_or_else(|| Path::new("out").join("tables"));
        keep((Self::NAME, &out), study, markdown::text, alone, console)
    }
}
