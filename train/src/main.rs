//! The program `diffkern`: a video in, material parameters out.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    let code = cli::run();
    #[cfg(feature = "faults")]
    count_faults();
    code
}

/// For a program that wants to know how many failures there are to try.
#[cfg(feature = "faults")]
fn count_faults() {
    if std::env::var_os("DIFFKERN_FAIL_COUNT").is_some() {
        let [allocations, launches] = diffkern::faults::asked();
        eprintln!("{allocations} large allocations, {launches} launches");
    }
}
