//! From the command line to a job, and from its end to an exit code.

mod args;
mod lines;
mod screen;
mod signals;
mod table;
mod trace;

use anyhow::Result;
use args::{Cli, Command, IdentifyArgs};
use clap::Parser;
use screen::Screen;
use signals::{INTERRUPTED, Interrupt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;
use train::Error;
use train::experiment::{Experiment, Identify, Simulate};
use train::job::{Ending, Gradcheck};
use train::run::{Former, Prepared, Simulation};
use train::scene::Access;
use train::scene::document::Document;
use train::text::path;

/// Exit code of a gradient that differences do not confirm.
const WRONG_GRADIENT: u8 = 1;

/// Runs the command line; every failure is one line on the error stream.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return fail(&args::one_line(&error), 2),
        Err(help) => {
            table::print(help.to_string().trim_end());
            return ExitCode::SUCCESS;
        }
    };
    match Interrupt::listen().and_then(|interrupt| interrupt.stop().scope(|| command(cli, &interrupt))) {
        Ok(code) => ExitCode::from(code),
        Err(error) => match error.downcast_ref::<Error>() {
            // These say their cause themselves.
            Some(known) => fail(&known.to_string(), known.exit_code()),
            None => fail(&format!("{error:#}"), 1),
        },
    }
}

fn fail(message: &str, code: u8) -> ExitCode {
    Screen::new().say(&format!("error: {message}"));
    ExitCode::from(code)
}

fn command(cli: Cli, interrupt: &Interrupt) -> Result<u8> {
    let trace = cli.trace.as_deref().map(trace::Trace::start).transpose()?;
    let done = dispatch(cli, interrupt);
    // Of a job that failed as well; its error is the one to tell.
    let traced = trace.map_or(Ok(()), trace::Trace::finish);
    done.and_then(|code| Ok(traced.map(|()| code)?))
}

fn dispatch(cli: Cli, interrupt: &Interrupt) -> Result<u8> {
    match cli.command {
        // The sample video that comes with the source.
        None => job(Experiment::Identify(Identify::new(sample_folder()?)), cli.former.choice(), interrupt),
        Some(Command::Identify(args)) => identify_args(&args, interrupt),
        Some(Command::Simulate(args)) => {
            let former = args.former.choice();
            job(args.job(), former, interrupt)
        }
        Some(Command::Run { file, former }) => job(Experiment::read(&file)?, former.choice(), interrupt),
        Some(Command::Import { folder, allow_outside }) => import(&folder, Access::of(allow_outside)),
        Some(Command::Devices) => {
            table::devices();
            Ok(0)
        }
    }
}

/// Writes the document to the output stream, and how its texts were taken to the other.
fn import(folder: &Path, access: Access) -> Result<u8> {
    let (document, notes) = Document::read(folder, access)?;
    let screen = Screen::new();
    for note in &notes {
        screen.say(&format!("note: {note}"));
    }
    table::print(document.to_json()?.trim_end());
    Ok(0)
}

fn job(experiment: Experiment, former: Former, interrupt: &Interrupt) -> Result<u8> {
    match (experiment, former) {
        (Experiment::Identify(job), Former::Keep) => identify(Prepared::new(&job)?, job.gradcheck, interrupt),
        (Experiment::Identify(job), Former::Replace) => identify(Prepared::replacing(&job)?, job.gradcheck, interrupt),
        (Experiment::Simulate(job), Former::Keep) => simulate(&job, &Simulation::new(&job)?, interrupt),
        (Experiment::Simulate(job), Former::Replace) => simulate(&job, &Simulation::replacing(&job)?, interrupt),
    }
}

/// `DIFFKERN_SAMPLES`, the source tree that this was built from, or a folder beside the program.
fn sample_folder() -> Result<PathBuf, Error> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("samples")));
    let places = [
        std::env::var_os("DIFFKERN_SAMPLES").map(PathBuf::from),
        Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")),
        beside,
    ];
    let samples = places.into_iter().flatten().map(|place| place.join("jelly_drop_a"));
    samples.into_iter().find(|sample| sample.is_dir()).ok_or_else(|| {
        let problem = "the sample video is not where this program was built; \
                       name a video with `identify FOLDER` or set DIFFKERN_SAMPLES";
        Error::argument("samples", problem)
    })
}

fn identify_args(args: &IdentifyArgs, interrupt: &Interrupt) -> Result<u8> {
    let Some(folder) = &args.resume else {
        let folder = args.folder.clone().unwrap_or_default();
        return job(Experiment::Identify(args.job(folder)), args.former.choice(), interrupt);
    };
    let prepared = Prepared::resume(folder, args.folder.as_deref(), args.max_iterations, args.limits.limits())?;
    identify(prepared, args.gradcheck, interrupt)
}

fn identify(prepared: Prepared, gradcheck: bool, interrupt: &Interrupt) -> Result<u8> {
    let screen = Screen::new();
    for note in &prepared.notes {
        screen.say(&format!("note: {note}"));
    }
    screen.say(&format!("identifying {} into {}", prepared.scene().name, path(prepared.folder())));
    let check = gradcheck.then(|| prepared.gradcheck(&interrupt.stop())).transpose()?;
    let code = check.as_ref().map_or(0, show_gradient);
    let mut show = |progress: &train::job::Progress, seconds: f64| {
        screen.progress(progress, seconds);
        interrupt.flow()
    };
    let done = prepared.run(&mut show, &interrupt.stop());
    screen.finish();
    let done = done?;
    for warning in &done.outcome.warnings {
        screen.say(&format!("note: {warning}"));
    }
    table::finished(&done, prepared.folder());
    Ok(if done.outcome.ending == Ending::Interrupted { INTERRUPTED } else { code })
}

fn simulate(job: &Simulate, simulation: &Simulation, interrupt: &Interrupt) -> Result<u8> {
    let screen = Screen::new();
    for note in &simulation.notes {
        screen.say(&format!("note: {note}"));
    }
    let check = job.gradcheck.then(|| simulation.gradcheck(&interrupt.stop())).transpose()?;
    let code = check.as_ref().map_or(0, show_gradient);
    let begun = Instant::now();
    let mut show = |fraction: f64| {
        screen.fraction(fraction, begun.elapsed().as_secs_f64());
        interrupt.flow()
    };
    let done = simulation.run(&mut show, &interrupt.stop());
    screen.finish();
    let Some(files) = done? else {
        screen.say("stopped, nothing was written");
        return Ok(INTERRUPTED);
    };
    for file in files {
        table::print(&format!("wrote {}", path(&file)));
    }
    Ok(code)
}

fn show_gradient(check: &Gradcheck) -> u8 {
    table::gradient(check);
    if check.passed { 0 } else { WRONG_GRADIENT }
}
