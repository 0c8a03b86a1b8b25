//! Tests of `diffkern` that have many kernels and launch each a few times. They would wait for the compiler, not for the kernels,
//! so this package is built without optimisation.
