//! The program `diffkern`: a video in, material parameters out.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run()
}
