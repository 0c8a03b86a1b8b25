//! The output stream.

use std::io::{ErrorKind, Write, stdout};
use std::path::Path;
use train::Error;
use train::experiment::jobs;
use train::experiments::{Named, catalogue};
use train::report::table::columns;
use train::{solids, steering, stiffness};

/// Writes a line where programs read it.
pub(super) fn print(line: &str) {
    // The reader has gone; the files are written all the same.
    let _ = writeln!(stdout(), "{line}");
}

/// Writes what is all that a command does.
///
/// # Errors
/// When it cannot be written and somebody still reads.
pub(super) fn write(text: &str) -> Result<(), Error> {
    let mut out = stdout().lock();
    match writeln!(out, "{text}").and_then(|()| out.flush()) {
        Err(error) if error.kind() != ErrorKind::BrokenPipe => {
            Err(Error::write(Path::new("to the output stream"), error))
        }
        _ => Ok(()),
    }
}

/// Every device, with why it is not offered where it is not.
///
/// # Errors
/// As [`write`].
pub(super) fn devices() -> Result<(), Error> {
    let line = |(name, found): (String, diffkern::Result<String>)| {
        let what = match found {
            Ok(description) => description,
            Err(diffkern::Error::Device { reason, .. }) => format!("not offered: {reason}"),
            Err(other) => format!("not offered: {other}"),
        };
        format!("{name:<6} {what}")
    };
    write(&diffkern::Device::known().into_iter().map(line).collect::<Vec<_>>().join("\n"))
}

/// Jobs, and the experiments that are in the program.
///
/// # Errors
/// As [`write`].
pub(super) fn list() -> Result<(), Error> {
    let of = |named: Named| [named.name, named.protocol.about];
    let experiments: Vec<[String; 2]> = catalogue()?.into_iter().map(of).collect();
    let steered: Vec<[String; 2]> =
        steering::catalogue()?.into_iter().map(|named| [named.name, named.plan.about]).collect();
    let lines = [
        vec!["jobs, with a scene of their own:".to_owned()],
        columns(&jobs()),
        vec![String::new(), "experiments, for `run NAME` and `table NAME`:".to_owned()],
        columns(&experiments),
        vec![String::new(), "scenes that are steered to a goal, for `run NAME` and `landscape NAME`:".to_owned()],
        columns(&steered),
        vec![String::new(), "elastic solids, for `table solids` and `run stiffness_field`:".to_owned()],
        columns(&[
            [solids::NAME.to_owned(), solids::Protocol::own()?.about],
            [stiffness::NAME.to_owned(), stiffness::Protocol::own()?.about],
        ]),
        vec![String::new(), "measurements, for `run NAME`:".to_owned()],
        columns(&[
            ["tosses", "a cube that falls on a table: friction, restitution and length scale"].map(str::to_owned),
            ["tennis", "two balls that collide on a table, filmed: restitution, friction, start and camera"]
                .map(str::to_owned),
            ["beam", "a silicone beam, seen by motion capture: stiffness, viscosity and what hangs on it"]
                .map(str::to_owned),
            ["pendulum", "a double pendulum that swings: lengths, inertias and friction"].map(str::to_owned),
        ]),
    ];
    write(&lines.concat().join("\n"))
}
