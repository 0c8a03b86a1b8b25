use diffkern::prelude::*;

#[diff_struct]
#[repr(packed)]
struct Packed<F> {
    a: F,
    b: F,
}

#[diff_struct]
struct Chosen<F> {
    a: F,
    #[cfg(windows)]
    b: F,
}

#[diff_struct(name = "Body")]
struct Named<F> {
    a: F,
}

#[diff_struct]
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
struct Derived<F> {
    a: F,
}

fn main() {}
