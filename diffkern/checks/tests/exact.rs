//! The table of exactness: each case is a program of launches with a gradient derived by hand.
//!
//! A case is checked in f64 on the CPU against its formula (1e-12), against tangents and against finite differences of
//! the whole program (1e-6); in f32 against f64 (1e-4); and on every device that this build and machine have against the
//! CPU (1e-4). What cannot be exact is refused: by the compiler in `diffkern/tests/ui`, at launch in `refusals`.

#![expect(clippy::unwrap_used, reason = "tests")]
#![allow(clippy::needless_range_loop, reason = "formulas by hand read by their indices")]

#[path = "exact/case.rs"]
mod case;
#[path = "exact/run.rs"]
mod run;

#[path = "exact/arithmetic.rs"]
mod arithmetic;
#[path = "exact/branches.rs"]
mod branches;
#[path = "exact/decompositions.rs"]
mod decompositions;
#[path = "exact/edges.rs"]
mod edges;
#[path = "exact/found.rs"]
mod found;
#[path = "exact/functions.rs"]
mod functions;
#[path = "exact/habits.rs"]
mod habits;
#[path = "exact/integers.rs"]
mod integers;
#[path = "exact/laws.rs"]
mod laws;
#[path = "exact/leaving.rs"]
mod leaving;
#[path = "exact/library.rs"]
mod library;
#[path = "exact/loops.rs"]
mod loops;
#[path = "exact/memory.rs"]
mod memory;
#[path = "exact/ports.rs"]
mod ports;
#[path = "exact/programs.rs"]
mod programs;
#[path = "exact/quaternions.rs"]
mod quaternions;
#[path = "exact/refusals.rs"]
mod refusals;
#[path = "exact/softras.rs"]
mod softras;
#[path = "exact/spelling.rs"]
mod spelling;
#[path = "exact/strangers.rs"]
mod strangers;
#[path = "exact/struct_values.rs"]
mod struct_values;
#[path = "exact/structs.rs"]
mod structs;
#[path = "exact/updates.rs"]
mod updates;
#[path = "exact/vectors.rs"]
mod vectors;

/// One test per family.
macro_rules! families {
    ($($family:ident)*) => {
        $(#[test]
        fn $family() {
            run::check(&$family::cases());
        })*

        #[test]
        fn every_case_has_its_name() {
            let all: Vec<&str> = [$($family::cases()),*].iter().flatten().map(|case| case.name).collect();
            let mut names = all.clone();
            names.sort_unstable();
            names.dedup();
            assert_eq!(names.len(), all.len());
        }
    };
}

families!(
    memory updates loops leaving branches edges integers functions vectors quaternions structs struct_values laws decompositions
    library arithmetic spelling habits ports strangers programs
);
