//! Names of experiments: which command takes which, and what is said of others.

use std::path::Path;
use train::experiments::{catalogue, is_word};
use train::text;
use train::tosses::Tosses;
use train::{Error, Result, beam, pendulum, solids, steering, stiffness, tennis};

/// Commands that take an experiment by its name, each with the names that it takes.
fn taken() -> Result<[(&'static str, Vec<String>); 4]> {
    let drawn: Vec<String> = catalogue()?.into_iter().map(|named| named.name).collect();
    let steered: Vec<String> = steering::catalogue()?.into_iter().map(|named| named.name).collect();
    let studies = [stiffness::NAME, Tosses::NAME, tennis::NAME, beam::NAME, pendulum::NAME].map(str::to_owned);
    Ok([
        ("run", [drawn.as_slice(), steered.as_slice(), studies.as_slice()].concat()),
        ("table", [drawn.as_slice(), &[solids::NAME.to_owned()]].concat()),
        ("landscape", [drawn.as_slice(), steered.as_slice()].concat()),
        ("dataset", drawn),
    ])
}

/// Refuses a name that `command` does not take; a file is another matter.
///
/// # Errors
/// Says which names it takes, which of them is meant, or which command takes this one.
pub(super) fn check(command: &str, target: &Path) -> Result<()> {
    if !is_word(target) {
        return Ok(());
    }
    let all = taken()?;
    let is_target = |name: &String| Path::new(name) == target;
    let own = all.iter().find(|(other, _)| *other == command).map(|(_, names)| names.as_slice()).unwrap_or_default();
    if own.iter().any(is_target) {
        return Ok(());
    }
    let name = text::path(target);
    let others = all.iter().filter(|(_, names)| names.iter().any(is_target));
    let others: Vec<String> = others.map(|(other, _)| format!("`diffkern {other} {name}`")).collect();
    let expected = format!("one of {}, or a RON file", own.join(", "));
    let problem = match (others.as_slice(), text::nearest(&name, own)) {
        ([], Some(near)) => format!("{name} is no experiment, expected {expected}; did you mean {near}?"),
        ([], None) => format!("{name} is no experiment, expected {expected}"),
        (others, _) => {
            format!("`{command}` does not take {name}, expected {}; or {expected}", others.join(" or "))
        }
    };
    Err(Error::argument("name", problem))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_command_says_which_names_it_takes() {
        let said = |command: &str, name: &str| check(command, Path::new(name)).err().map(|error| error.to_string());
        for (command, names) in [
            ("run", &["rigid", "billiards", "three_springs", "stiffness_field", "tosses", "pendulum"][..]),
            ("table", &["contact", "solids"][..]),
            ("landscape", &["contact", "billiards"][..]),
            ("dataset", &["rigid"][..]),
        ] {
            for name in names {
                assert_eq!(said(command, name), None, "{command} {name}");
            }
            assert_eq!(said(command, "no such.ron"), None);
        }
        for (command, name, expected) in [
            ("run", "rigd", "rigd is no experiment, expected one of rigid, contact, billiards,"),
            ("run", "rigd", ", or a RON file; did you mean rigid?"),
            ("run", "what", "tennis, beam, pendulum, or a RON file"),
            ("run", "solids", "expected `diffkern table solids`; or one of rigid,"),
            (
                "table",
                "billiards",
                "expected `diffkern run billiards` or `diffkern landscape billiards`; or one of rigid,",
            ),
            ("dataset", "solids", "`dataset` does not take solids, expected `diffkern table solids`"),
            ("landscape", "tossess", "tossess is no experiment, expected one of rigid, contact, billiards,"),
        ] {
            let said = said(command, name);
            assert!(said.as_ref().is_some_and(|s| s.contains(expected)), "{said:?}\n{expected}");
        }
    }
}
