//! One kernel: how to launch it, what it writes, how to check its gradient.

use diffkern::{AnyArray, Array, Device, Element, GradcheckReport, Result, Tape};

/// A kernel and its inputs.
#[derive(Clone, Copy)]
pub struct Kernel {
    /// As in its source.
    pub name: &'static str,
    /// The inputs of a usual run, in f32.
    pub case: fn(&Device) -> Result<Case>,
    /// The generated check, in f64 on small inputs away from kinks; none of kernels that write integers alone.
    pub check: Option<fn(&Device) -> Result<GradcheckReport>>,
}

/// What the inputs are for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Size {
    /// To be timed.
    Usual,
    /// To be checked by finite differences.
    Small,
}

impl Size {
    /// One of two numbers.
    pub fn pick<T>(self, usual: T, small: T) -> T {
        match self {
            Size::Usual => usual,
            Size::Small => small,
        }
    }
}

/// A launch that is ready to be timed.
pub struct Case {
    /// What it is counted in: particles, nodes, pixels, ...
    pub unit: &'static str,
    /// How many of them one launch handles.
    pub elements: usize,
    pub(super) launch: Box<dyn Fn() -> Result<()>>,
    /// What the kernel writes, and the derivative of an imagined loss by it.
    pub(super) written: Vec<(AnyArray, AnyArray)>,
}

impl Case {
    /// Launches the kernel.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn forward(&self) -> Result<()> {
        (self.launch)()
    }

    /// A tape with this one launch.
    ///
    /// # Errors
    /// As [`Case::forward`].
    pub fn record(&self) -> Result<Tape> {
        Tape::record(|| self.forward())
    }

    /// Launches the adjoint: all gradients from all outputs, added to those there are.
    ///
    /// # Errors
    /// When the launch fails.
    pub fn backward(&self, tape: &Tape) -> Result<()> {
        tape.backward_from(&self.written.iter().map(|(output, seed)| (output, seed)).collect::<Vec<_>>())
    }
}

/// An output and the derivative of the imagined loss by each of its elements.
pub(super) fn seeded<T: Element>(output: &Array<T>, one: T) -> Result<(AnyArray, AnyArray)> {
    let seed = output.device().full(output.len(), one)?;
    Ok((output.as_any().clone(), seed.as_any().clone()))
}

/// A [`Kernel`]: `kernel!(name: inputs => |i| unit count, (arguments of the launch), writes [array => seed, ..])`, where
/// `inputs::<F>(device, size)` makes `i`. A kernel over a law has one of these after its name, `name<Law>`. The arguments are
/// those of the timed launch and of the check.
macro_rules! kernel {
    ($name:ident $(<$law:ident>)?: $inputs:ident => |$i:ident| $unit:literal $elements:expr,
     ($($arg:expr),+ $(,)?), writes [$($written:expr => $one:expr),+]) => {
        crate::kernels::Kernel {
            name: stringify!($name),
            case: |device| {
                let $i = $inputs::<f32>(device, crate::kernels::Size::Usual)?;
                let written = vec![$(crate::kernels::case::seeded(&$written, $one)?),+];
                let (unit, elements) = ($unit, $elements);
                Ok(crate::kernels::Case { unit, elements, written, launch: Box::new(move || $name $(::<f32, $law>)?($($arg),+)) })
            },
            check: Some(|device| {
                let $i = $inputs::<f64>(device, crate::kernels::Size::Small)?;
                $name $(::<$law>)?::gradcheck($($arg),+)
            }),
        }
    };
}

/// A [`Kernel`] that writes integers, or what depends on integers alone, or for a search, which has no gradient; otherwise as `kernel!`.
macro_rules! integers {
    ($name:ident $(<$law:ident>)?: $inputs:ident => |$i:ident| $unit:literal $elements:expr, ($($arg:expr),+ $(,)?)) => {
        crate::kernels::Kernel {
            name: stringify!($name),
            case: |device| {
                let $i = $inputs(device)?;
                let (unit, elements) = ($unit, $elements);
                let launch = Box::new(move || $name $(::<f32, $law>)?($($arg),+));
                Ok(crate::kernels::Case { unit, elements, written: Vec::new(), launch })
            },
            check: None,
        }
    };
}
