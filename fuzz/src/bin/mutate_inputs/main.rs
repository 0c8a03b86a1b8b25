//! Changes right inputs of the program `diffkern` by structure and by bytes, and demands that each is taken, or refused well.
//!
//! ```console
//! cargo run -p diffkern-fuzz --bin mutate_inputs -- --count 2000
//! ```
//!
//! Each input follows from its number. It is read by the library in this process, which catches panics, counts memory and
//! watches the time; a share of them, and all command lines, meet the binary in a process of its own. What fails is kept in a
//! folder, with the reason beside it.

mod case;
mod command;
mod inside;
mod judge;
mod memory;
mod node;
mod picture;
mod record;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Parser;
use diffkern_fuzz::program::Program;
use diffkern_fuzz::random::Random;
use diffkern_fuzz::sample::Sample;

use crate::case::{Case, Kind};
use crate::inside::Reader;
use crate::judge::Taken;

/// Changes scenes, frames, meshes, jobs, runs and command lines, and looks how the program takes them.
#[derive(Parser)]
struct Args {
    /// How many inputs.
    #[arg(long, default_value_t = 2000)]
    count: u64,
    /// The first input's number; the others follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Only inputs of this kind.
    #[arg(long, value_enum)]
    kind: Option<Kind>,
    /// How many percent of them meet the binary, too.
    #[arg(long, default_value_t = 4)]
    process: usize,
    /// The binary [default: built here].
    #[arg(long)]
    program: Option<PathBuf>,
    /// How long one input may take, in seconds.
    #[arg(long, default_value_t = 5)]
    seconds: u64,
    /// Folder to work in [default: one for temporary files].
    #[arg(long)]
    folder: Option<PathBuf>,
    /// Where inputs that fail are kept.
    #[arg(long, default_value = "target/failed-inputs")]
    failed: PathBuf,
}

/// How often each kind of input was taken in which way: by the library, by the binary.
type Counts = BTreeMap<(Kind, &'static str, Result<Taken, ()>), u64>;

struct Campaign {
    args: Args,
    program: Program,
    sample: Arc<Sample>,
    /// Where each input is written.
    folder: PathBuf,
    reader: Reader,
    counts: Counts,
}

impl Campaign {
    /// Tries input `number` in every way that it should be.
    fn run(&mut self, number: u64) -> Result<()> {
        let case = Arc::new(Case::new(number, self.args.kind, &self.sample));
        if case.kind != Kind::Command {
            fresh(&self.folder, &case)?;
            let taken = self.reader.read(&case, &self.folder, Duration::from_secs(self.args.seconds));
            self.note(number, &case, "library", taken)?;
        }
        // Where a run goes on, not all can be checked before.
        let share = if case.kind == Kind::Run { 3 * self.args.process } else { self.args.process };
        let chosen = Random::new(number).chance(share);
        if (chosen && stays(&case)) || case.kind == Kind::Command {
            fresh(&self.folder, &case)?;
            let done = self.program.run(&self.folder, &case.arguments, Duration::from_secs(self.args.seconds))?;
            self.note(number, &case, "binary", judge::process(&case, &self.folder, &done))?;
        }
        Ok(())
    }

    fn note(&mut self, number: u64, case: &Case, by: &'static str, taken: Result<Taken, String>) -> Result<()> {
        if let Err(why) = &taken {
            let why = why.chars().take(600).collect::<String>();
            println!("input {number} ({:?}, by the {by}): {why}", case.kind);
            let kept = self.args.failed.join(number.to_string());
            fresh(&kept, case)?;
            fs::write(kept.join("why.txt"), format!("{by}, {:?}: {why}\n", case.arguments))?;
        }
        *self.counts.entry((case.kind, by, taken.map_err(drop))).or_default() += 1;
        Ok(())
    }
}

/// Writes an input into a folder with nothing else in it.
fn fresh(folder: &Path, case: &Case) -> Result<()> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    Ok(case.write(folder)?)
}

/// Whether a job writes into the folder that it runs in.
fn stays(case: &Case) -> bool {
    let job = case.files.iter().find(|(name, _)| name == "job.ron");
    let text = match job {
        Some((_, case::Content::Bytes(bytes))) => bytes,
        _ => return true,
    };
    !command::leaves(text)
}

fn main() -> Result<()> {
    let args = Args::parse();
    let mut program = Program::find(args.program.clone(), None)?;
    let own = Random::new(u64::from(std::process::id())).below(1 << 30);
    let root = args.folder.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("diffkern-inputs-{own}")));
    let sample = Arc::new(Sample::make(&program, &root, 300.0)?);
    // Without a command, the program identifies a video from here.
    program.variables.push(("DIFFKERN_SAMPLES".into(), sample.samples.display().to_string()));
    inside::catch_panics();
    let (first, last) = (args.seed, args.seed + args.count);
    let folder = root.join("input");
    let mut campaign = Campaign { args, program, sample, folder, reader: Reader::start(), counts: Counts::new() };
    let begun = Instant::now();
    for number in first..last {
        campaign.run(number)?;
    }
    fs::remove_dir_all(&root)?;
    show(&campaign.counts, campaign.reader.most(), begun.elapsed());
    let failed: u64 = campaign.counts.iter().filter(|((.., taken), _)| taken.is_err()).map(|(_, count)| count).sum();
    if failed > 0 {
        bail!("{failed} inputs of {first}..{last} are not taken well; they are in {}", campaign.args.failed.display());
    }
    Ok(())
}

fn show(counts: &Counts, most: usize, time: Duration) {
    println!("| input | by | accepted | refused | failed |\n|---|---|---|---|---|");
    let mut rows: Vec<_> = counts.keys().map(|(kind, by, _)| (*kind, *by)).collect();
    rows.dedup();
    for (kind, by) in rows {
        let count = |taken| counts.get(&(kind, by, taken)).copied().unwrap_or(0);
        let [accepted, refused, failed] = [Ok(Taken::Accepted), Ok(Taken::Refused), Err(())].map(count);
        println!("| {kind:?} | {by} | {accepted} | {refused} | {failed} |");
    }
    println!("at most {} MB at a time, {:.0} s", most / 1_000_000, time.as_secs_f64());
}
