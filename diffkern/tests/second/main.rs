//! Second derivatives over tapes: Hessian and Gauss-Newton products.

mod common;

mod gauss_newton;
mod implicit;
mod language;
mod misuse;
mod rollouts;
mod tapes;
