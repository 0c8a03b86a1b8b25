//! Tests of the simulators: what physics asks of them, their gradients, every kernel at random interior points. Kernels are compiled with
//! `diffkern-sim`; what launches them here runs as fast without optimisation, and takes the compiler a fraction of the time.
