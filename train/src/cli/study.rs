//! What `run NAME` finds once and writes to a folder: scenes that are steered, a field, and measurements.

use super::sample_folder;
use std::path::{Path, PathBuf};
use train::experiment::{Console, Ended};
use train::experiments::Trial;
use train::tosses::Tosses;
use train::{Error, Result, beam, pendulum, steering, stiffness, tennis};

/// Reads a folder and writes to another.
type Measured = fn(&Path, &Path, &mut dyn Console) -> Result<Ended>;

/// A study.
pub(super) enum Study {
    Steered(Box<steering::Named>),
    Field(Box<stiffness::Protocol>),
    Tosses,
    /// With the name of its sample.
    Measured(Measured, &'static str),
    Pendulum,
}

impl Study {
    /// The study of a name, or of a RON file; none where it is something else.
    ///
    /// # Errors
    /// When the file cannot be read, or is wrong.
    pub(super) fn find(target: &Path) -> Result<Option<Self>> {
        let measured: [(&str, Self); 4] = [
            (Tosses::NAME, Self::Tosses),
            (tennis::NAME, Self::Measured(tennis::run, "tennis")),
            (beam::NAME, Self::Measured(beam::run, "silicone_beam")),
            (pendulum::NAME, Self::Pendulum),
        ];
        if let Some((_, study)) = measured.into_iter().find(|(name, _)| Path::new(name) == target) {
            return Ok(Some(study));
        }
        if let Some(scene) = steering::find(target)? {
            return Ok(Some(Self::Steered(Box::new(scene))));
        }
        Ok(stiffness::Protocol::find(target)?.map(|protocol| Self::Field(Box::new(protocol))))
    }

    /// The options that it takes.
    fn options(&self) -> &'static [&'static str] {
        match self {
            Self::Steered(_) => &["--out"],
            Self::Field(_) => &["--seed", "--out"],
            Self::Tosses => &["--data", "--test-data", "--train", "--test", "--out"],
            Self::Measured(..) => &["--data", "--out"],
            Self::Pendulum => &["--data", "--test-data", "--out"],
        }
    }

    /// Where its table goes.
    pub(super) fn folder(options: &Tosses) -> PathBuf {
        options.out.clone().unwrap_or_else(|| Path::new("out").join("tables"))
    }

    /// Refuses options of others.
    ///
    /// # Errors
    /// Names those that it takes.
    pub(super) fn check(&self, trial: &Trial, tosses: &Tosses) -> Result<()> {
        let taken = self.options();
        match given(trial, tosses).iter().find(|option| !taken.contains(option)) {
            None => Ok(()),
            Some(option) => {
                let problem = format!("is no option of this experiment, expected {} alone", listed(taken));
                Err(Error::argument(*option, problem))
            }
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// When an input is wrong, a computation fails, or a file cannot be written.
    pub(super) fn run(&self, trial: &Trial, tosses: &Tosses, console: &mut dyn Console) -> Result<Ended> {
        let (out, data) = (Self::folder(tosses), tosses.data.clone());
        match self {
            Self::Steered(scene) => steering::run(scene, &out, console),
            Self::Field(protocol) => stiffness::run(protocol, trial.seed.unwrap_or(0), &out, console),
            Self::Tosses => {
                // The sample need not be there where data is given.
                let sample = if data.is_some() { PathBuf::new() } else { sample_folder("cube_tosses")? };
                tosses.run(&sample, console)
            }
            Self::Measured(run, sample) => run(&data.map_or_else(|| sample_folder(sample), Ok)?, &out, console),
            Self::Pendulum => {
                let data = match data {
                    Some(data) => data,
                    None => sample_folder("pendulum")?.join("pendulum.npz"),
                };
                pendulum::run(&data, tosses.test_data.as_deref(), &out, console)
            }
        }
    }
}

/// The options that were given.
fn given(trial: &Trial, tosses: &Tosses) -> Vec<&'static str> {
    let drawn = Trial { seed: None, ..trial.clone() }.is_given();
    let all = [
        ("--seed", trial.seed.is_some()),
        ("an option of drawn experiments", drawn),
        ("--data", tosses.data.is_some()),
        ("--test-data", tosses.test_data.is_some()),
        ("--train", tosses.train.is_some()),
        ("--test", tosses.test.is_some()),
        ("--out", tosses.out.is_some()),
    ];
    all.into_iter().filter(|(_, given)| *given).map(|(option, _)| option).collect()
}

fn listed(options: &[&str]) -> String {
    match options {
        [first @ .., last] if !first.is_empty() => format!("{} and {last}", first.join(", ")),
        all => all.concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_of_others_are_refused() {
        let seed = Trial { seed: Some(3), ..Trial::default() };
        let instance = Trial { instance: Some(3), ..Trial::default() };
        let data = Tosses { data: Some("d".into()), ..Tosses::default() };
        let none = (Trial::default(), Tosses::default());
        for (name, trial, tosses, takes) in [
            ("billiards", &seed, &none.1, "--out"),
            ("billiards", &none.0, &data, "--out"),
            ("stiffness_field", &instance, &none.1, "--seed and --out"),
            ("stiffness_field", &seed, &data, "--seed and --out"),
            ("tennis", &seed, &none.1, "--data and --out"),
            ("tosses", &seed, &none.1, "--data, --test-data, --train, --test and --out"),
            ("pendulum", &instance, &data, "--data, --test-data and --out"),
        ] {
            let study = Study::find(Path::new(name)).ok().flatten().expect("a study of this name");
            let said = study.check(trial, tosses).map_err(|error| error.to_string());
            assert!(said.as_ref().is_err_and(|s| s.ends_with(&format!("expected {takes} alone"))), "{name}: {said:?}");
            assert!(study.check(&Trial::default(), &Tosses::default()).is_ok(), "{name}");
        }
        assert!(Study::find(Path::new("rigid")).is_ok_and(|study| study.is_none()));
    }
}
