//! Makes every file call, large allocation and launch of each command of `diffkern` fail in turn, kills runs at random
//! moments, and demands a clear error, whole files, and the same bits once the command is given again.
//!
//! ```console
//! cargo run -p diffkern-fuzz --bin faults
//! ```
//!
//! File calls fail by `strace`, where it is there and may trace; allocations and launches by the feature `faults`.

mod calls;
mod jobs;
mod judge;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use clap::Parser;
use diffkern_fuzz::program::Program;
use diffkern_fuzz::random::Random;

use crate::jobs::Job;
use crate::judge::{Taken, judge, left_behind, torn};

/// Lets what a command asks of the system fail, one thing at a time.
#[derive(Parser)]
struct Args {
    /// Only the command of this name.
    #[arg(long)]
    only: Option<String>,
    /// What fails: files, allocations, launches or kills; all if not given.
    #[arg(long)]
    kind: Option<String>,
    /// Only every so many of them.
    #[arg(long, default_value_t = 1)]
    every: usize,
    /// How often a run is killed.
    #[arg(long, default_value_t = 100)]
    kills: usize,
    /// What the moments of kills are drawn from.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Allocations of as many bytes are large.
    #[arg(long, default_value_t = 64 << 10)]
    bytes: usize,
    /// The binary, with the feature `faults` [default: built here].
    #[arg(long)]
    program: Option<PathBuf>,
    /// Folder to work in [default: one for temporary files].
    #[arg(long)]
    folder: Option<PathBuf>,
}

/// How often a command took a kind of failure in which way.
type Counts = BTreeMap<(&'static str, &'static str, Taken), usize>;

struct Campaign<'a> {
    args: &'a Args,
    program: &'a Program,
    root: &'a Path,
    counts: Counts,
}

impl Campaign<'_> {
    fn note(&mut self, job: &Job, kind: &'static str, fault: &str, (taken, why): (Taken, String)) {
        if matches!(taken, Taken::Panic | Taken::Wrong) {
            println!("{}, {fault}: {taken:?}: {why}", job.name);
        }
        *self.counts.entry((job.name, kind, taken)).or_default() += 1;
    }

    fn files(&mut self, job: &Job) -> Result<()> {
        let log = self.root.join("strace.log");
        for call in calls::of(job, self.program, &log)?.iter().step_by(self.args.every) {
            let done = job.run(&calls::failing(self.program, call, &log))?;
            let failed = calls::has_failed(&log)?.unwrap_or_default();
            let taken = judge(job, self.program, &done, &failed)?;
            self.note(job, "file calls", &call.text, taken);
        }
        Ok(())
    }

    /// Fails each of the allocations or launches, by a variable.
    fn device(&mut self, job: &Job, kind: &'static str, variable: &str, place: usize) -> Result<()> {
        let with = |n: usize| {
            let mut program = self.program.clone();
            let variables = [(variable, n), ("DIFFKERN_FAIL_BYTES", self.args.bytes), ("DIFFKERN_FAIL_COUNT", 1)];
            program.variables.extend(variables.map(|(name, value)| (name.to_owned(), value.to_string())));
            program
        };
        let done = job.run(&with(0))?;
        let counts = done.errors.lines().last().context("no counts: the program lacks the feature `faults`")?;
        let mut counts = counts.split(' ').filter_map(|word| word.parse::<usize>().ok());
        let count = counts.nth(place).context("no counts: the program lacks the feature `faults`")?;
        for n in (1..=count).step_by(self.args.every) {
            let done = job.run(&with(n))?;
            let taken = judge(job, self.program, &done, "")?;
            self.note(job, kind, &format!("{kind} {n} of {count}"), taken);
        }
        Ok(())
    }

    fn kills(&mut self, job: &Job) -> Result<()> {
        let begun = Instant::now();
        job.run(self.program)?;
        let whole = begun.elapsed().as_secs_f64();
        let mut random = Random::new(self.args.seed);
        for k in 0..self.args.kills {
            let moment = random.within(0.0, whole);
            job.fresh()?;
            let mut child = self.program.start(job.folder(), &job.words())?;
            std::thread::sleep(Duration::from_secs_f64(moment));
            child.kill()?;
            child.wait()?;
            let taken = match torn(job.folder())?.or(job.lost()?) {
                Some(name) => (Taken::Wrong, format!("{name} is lost or torn")),
                None => match job.again(self.program)? {
                    Err(why) => (Taken::Wrong, why),
                    Ok(()) => match left_behind(job.folder()).first() {
                        Some(name) => (Taken::Wrong, format!("{name} is left")),
                        None => (Taken::Clearly, String::new()),
                    },
                },
            };
            self.note(job, "kill -9", &format!("kill {k} after {moment:.3} s"), taken);
        }
        Ok(())
    }
}

fn main() -> Result<()> {
    let args = Args::parse();
    let program = Program::find(args.program.clone(), Some("faults"))?;
    let own = Random::new(u64::from(std::process::id())).below(1 << 30);
    let root = args.folder.clone().unwrap_or_else(|| std::env::temp_dir().join(format!("diffkern-faults-{own}")));
    let jobs = Job::all(&program, &root, args.only.as_deref())?;
    let mut campaign = Campaign { args: &args, program: &program, root: &root, counts: Counts::new() };
    let wanted = |kind: &str| args.kind.as_deref().is_none_or(|wanted| wanted == kind);
    let traced = wanted("files") && calls::can_trace();
    if wanted("files") && !traced {
        println!("FILE CALLS ARE LEFT OUT: strace (Debian: apt-get install strace) is not there, or may not trace");
    }
    for job in jobs.iter().filter(|job| job.killed && wanted("kills")) {
        campaign.kills(job)?;
    }
    for job in jobs.iter().filter(|job| !job.killed) {
        if traced {
            campaign.files(job)?;
        }
        if wanted("allocations") {
            campaign.device(job, "allocations", "DIFFKERN_FAIL_ALLOCATION", 0)?;
        }
        if wanted("launches") {
            campaign.device(job, "launches", "DIFFKERN_FAIL_LAUNCH", 1)?;
        }
    }
    let counts = campaign.counts;
    show(&counts);
    std::fs::remove_dir_all(&root)?;
    match counts.keys().any(|(.., taken)| matches!(taken, Taken::Panic | Taken::Wrong)) {
        true => bail!("some failures are not taken well"),
        false => Ok(()),
    }
}

fn show(counts: &Counts) {
    println!(
        "| command | what fails | times | clear errors | unharmed | panics | wrong |\n|---|---|---|---|---|---|---|"
    );
    let mut rows: Vec<_> = counts.keys().map(|(job, kind, _)| (*job, *kind)).collect();
    rows.dedup();
    for (job, kind) in rows {
        let count = |taken| counts.get(&(job, kind, taken)).copied().unwrap_or(0);
        let [clear, unharmed, panics, wrong] = [Taken::Clearly, Taken::Unharmed, Taken::Panic, Taken::Wrong].map(count);
        let all = clear + unharmed + panics + wrong;
        println!("| `{job}` | {kind} | {all} | {clear} | {unharmed} | {panics} | {wrong} |");
    }
}
