//! From the command line to a job, and from its end to an exit code.

mod args;
mod lines;
mod output;
mod screen;
mod signals;
mod terminal;
mod trace;

use anyhow::Result;
use args::{Cli, Command};
use clap::Parser;
use screen::Screen;
use signals::{INTERRUPTED, Interrupt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use terminal::Terminal;
use train::Error;
use train::experiment::{Console, Ended, Experiment, Identify, Prepared};
use train::experiments::{self, Trial};
use train::run::Former;
use train::scene::Access;
use train::scene::document::Document;
use train::tosses::Tosses;
use train::{beam, pendulum, solids, steering, stiffness, tennis};

/// Exit code of a gradient that differences do not confirm.
const WRONG_GRADIENT: u8 = 1;

/// Runs the command line; every failure is one line on the error stream.
pub(crate) fn run() -> ExitCode {
    let cli = match Cli::try_parse() {
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
    if let Some(Command::Run { target, trial, tosses }) = &cli.command
        && let Some(scene) = steering::find(target)?
    {
        return steer(&scene, trial, tosses, &mut terminal);
    }
    let experiment = match cli.command {
        // The sample video that comes with the source.
        None => Experiment::Identify(Identify::new(sample_folder("jelly_drop_e")?)),
        Some(Command::Experiment(experiment)) => experiment,
        Some(Command::Run { target, trial, tosses }) if target == Path::new(Tosses::NAME) => {
            if trial.is_given() {
                let problem = "are of drawn experiments, expected --data, --test-data, --train, --test and --out alone";
                return Err(Error::argument("options", problem).into());
            }
            // The sample need not be there where data is given.
            let sample = if tosses.data.is_some() { PathBuf::new() } else { sample_folder("cube_tosses")? };
            return Ok(code(tosses.run(&sample, &mut terminal)?));
        }
        Some(Command::Run { target, trial, tosses }) if let Some((study, sample)) = filmed(&target) => {
            if trial.is_given() || tosses.train.is_some() || tosses.test.is_some() || tosses.test_data.is_some() {
                let problem = "are of other experiments, expected --data and --out alone";
                return Err(Error::argument("options", problem).into());
            }
            let folder = tosses.data.map_or_else(|| sample_folder(sample), Ok)?;
            let out = tosses.out.unwrap_or_else(|| Path::new("out").join("tables"));
            return Ok(code(study(&folder, &out, &mut terminal)?));
        }
        Some(Command::Run { target, trial, tosses }) if target == Path::new(pendulum::NAME) => {
            if trial.is_given() || tosses.train.is_some() || tosses.test.is_some() {
                let problem = "are of other experiments, expected --data, --test-data and --out alone";
                return Err(Error::argument("options", problem).into());
            }
            let data = match tosses.data {
                Some(data) => data,
                None => sample_folder("pendulum")?.join("pendulum.npz"),
            };
            let out = tosses.out.unwrap_or_else(|| Path::new("out").join("tables"));
            return Ok(code(pendulum::run(&data, tosses.test_data.as_deref(), &out, &mut terminal)?));
        }
        Some(Command::Run { target, trial, tosses }) if let Some(protocol) = stiffness::Protocol::find(&target)? => {
            let (seed, out) = (trial.seed.unwrap_or(0), tosses.out.clone());
            if (Trial { seed: None, ..trial }).is_given() || (Tosses { out: None, ..tosses }).is_given() {
                let problem = "are of other experiments, expected --seed and --out alone";
                return Err(Error::argument("options", problem).into());
            }
            let out = out.unwrap_or_else(|| Path::new("out").join("tables"));
            return Ok(code(stiffness::run(&protocol, seed, &out, &mut terminal)?));
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

type Study = fn(&Path, &Path, &mut dyn Console) -> train::Result<Ended>;

/// A study of measurements that takes a folder and nothing else, with the name of its sample.
fn filmed(target: &Path) -> Option<(Study, &'static str)> {
    let studies: [(&str, Study, &str); 2] =
        [(tennis::NAME, tennis::run, "tennis"), (beam::NAME, beam::run, "silicone_beam")];
    studies.into_iter().find(|(name, ..)| target == Path::new(name)).map(|(_, study, sample)| (study, sample))
}

/// Searches what steers a scene.
fn steer(scene: &steering::Named, trial: &Trial, tosses: &Tosses, terminal: &mut Terminal) -> Result<u8> {
    if trial.is_given() || *tosses != (Tosses { out: tosses.out.clone(), ..Tosses::default() }) {
        return Err(Error::argument("options", "are of other experiments, expected --out alone").into());
    }
    let out = tosses.out.clone().unwrap_or_else(|| Path::new("out").join("tables"));
    Ok(code(steering::run(scene, &out, terminal)?))
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
