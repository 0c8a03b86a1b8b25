//! Tests of the simulators: what physics asks of them, their gradients, every kernel at random interior points. Kernels are compiled with
//! `diffkern-sim`; what launches them here is not optimised: it takes the compiler a fraction of the time, and half as long again to run where
//! a test works much on the host.
