//! From the command line to a job, and from its end to an exit code.

mod args;
mod names;
mod study;
mod lines;
mod output;
mod screen;
mod signals;
mod terminal;
mod trace;

use anyhow::Result;
use args::{Cli, Command};
use screen::Screen;
use signals::{INTERRUPTED, Interrupt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use study::Study;
use terminal::Terminal;
use train::Error;
use train::experiment::{Ended, Experiment, Identify, Prepared};
use train::experiments;
use train::run::{Destination, Former};
use train::scene::Access;
use train::scene::document::Document;
use train::{solids, steering};

/// Exit code of a gradient that differences do not confirm.
const WRONG_GRADIENT: u8 = 1;

/// Runs the command line; every failure is one line on the error stream.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::read(std::env::args_os()) {
        Ok(cli) => cli,
        Err(error) if error.use_stderr() => return fail(&args::one_line(&error), 2),
        Err(help) => {
            output::print(help.to_string().trim_end());
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
    let (former, mut terminal) = (cli.former(), Terminal::new(interrupt));
    let keeps = matches!(
        cli.command,
        Some(
            Command::Resume(_)
                | Command::Import { .. }
                | Command::Devices
                | Command::List
                | Command::Table(_)
                | Command::Landscape(_)
                | Command::Dataset(_)
        )
    );
    if keeps && former == Former::Replace {
        let problem = "this command takes the place of nothing, expected it with a job that begins";
        return Err(Error::argument("overwrite", problem).into());
    }
    if let Some((command, target)) = cli.command.as_ref().and_then(Command::experiment) {
        names::check(command, target)?;
    }
    let study = match &cli.command {
        Some(Command::Run { target, .. }) => Study::find(target)?,
        Some(_) | None => None,
    };
    if let (Some(study), Some(Command::Run { trial, tosses, .. })) = (&study, &cli.command) {
        study.check(trial, tosses)?;
    }
    let out = cli.command.as_ref().and_then(|command| written(command, study.is_some()));
    // Before any work, and until its end.
    let _destination = out.as_deref().map(Destination::make).transpose()?;
    let experiment = match cli.command {
        // The sample video that comes with the source.
        None => Experiment::Identify(Identify::new(sample_folder("jelly_drop_e")?)),
        Some(Command::Experiment(experiment)) => experiment,
        Some(Command::Run { trial, tosses, .. }) if let Some(study) = &study => {
            return Ok(code(study.run(&trial, &tosses, &mut terminal)?));
        }
        Some(Command::Run { tosses, .. }) if tosses.is_given() => {
            let problem = "--data, --test-data, --train, --test and --out are of measurements, --out of scenes that are steered and of `run stiffness_field` too, expected none of them";
            return Err(Error::argument("options", problem).into());
        }
        Some(Command::Run { target, trial, .. }) if experiments::is_protocol(&target)? => {
            return Ok(code(trial.run(&target, &mut terminal)?));
        }
        Some(Command::Run { trial, .. }) if trial.is_given() => {
            let problem = "are of experiments, expected all options of a job in its RON file";
            return Err(Error::argument("options", problem).into());
        }
        Some(Command::Run { target, .. }) => Experiment::read(&target)?,
        Some(Command::Table(table)) => {
            if let Some(protocol) = solids::Protocol::find(&table.name)? {
                return Ok(code(solids::tabulate(&table, protocol, &mut terminal)?));
            }
            return Ok(code(table.run(&mut terminal)?));
        }
        Some(Command::Landscape(landscape)) => {
            return Ok(code(match steering::find(&landscape.name)? {
                Some(scene) => {
                    steering::draw(&scene, &landscape.over, landscape.points, &landscape.out, &mut terminal)?
                }
                None => landscape.run(&mut terminal)?,
            }));
        }
        Some(Command::Dataset(dataset)) => return Ok(code(dataset.run(&mut terminal)?)),
        Some(Command::List) => {
            output::list()?;
            return Ok(0);
        }
        Some(Command::Resume(args)) => {
            let prepared = Prepared::resume(&args.run, args.video.as_deref(), args.max_iterations, args.limits())?;
            return Ok(code(prepared.tell(args.gradcheck, &mut terminal)?));
        }
        Some(Command::Import { folder, allow_outside }) => return import(&folder, Access::of(allow_outside)),
        Some(Command::Devices) => {
            output::devices()?;
            return Ok(0);
        }
    };
    Ok(code(experiment.run(former, &mut terminal)?))
}

/// The folder that a command writes to; none of jobs, which see to theirs.
fn written(command: &Command, is_study: bool) -> Option<PathBuf> {
    match command {
        Command::Run { tosses, .. } => is_study.then(|| Study::folder(tosses)),
        Command::Table(table) => Some(table.out.clone()),
        Command::Landscape(landscape) => Some(landscape.out.clone()),
        Command::Dataset(dataset) => Some(dataset.out.clone()),
        Command::Experiment(_) | Command::Resume(_) | Command::List | Command::Import { .. } | Command::Devices => None,
    }
}

fn code(ended: Ended) -> u8 {
    match ended {
        Ended::Done => 0,
        Ended::Interrupted => INTERRUPTED,
        Ended::WrongGradient => WRONG_GRADIENT,
    }
}

/// Writes the document to the output stream, and how its texts were taken to the other.
fn import(folder: &Path, access: Access) -> Result<u8> {
    let (document, notes) = Document::read(folder, access)?;
    let screen = Screen::new();
    for note in &notes {
        screen.say(&format!("note: {note}"));
    }
    output::write(document.to_json()?.trim_end())?;
    Ok(0)
}

/// `DIFFKERN_SAMPLES`, the source tree that this was built from, or a folder beside the program.
fn sample_folder(name: &str) -> Result<PathBuf, Error> {
    let beside = std::env::current_exe().ok().and_then(|exe| Some(exe.parent()?.join("samples")));
    let places = [
        std::env::var_os("DIFFKERN_SAMPLES").map(PathBuf::from),
        Some(Path::new(env!("CARGO_MANIFEST_DIR")).join("samples")),
        beside,
    ];
    let samples = places.into_iter().flatten().map(|place| place.join(name));
    samples.into_iter().find(|sample| sample.is_dir()).ok_or_else(|| {
        let problem = format!(
            "the sample {name} is not where this program was built; name a video with `identify FOLDER`, tosses with `run tosses --data \
             FOLDER`, or set DIFFKERN_SAMPLES"
        );
        Error::argument("samples", problem)
    })
}
