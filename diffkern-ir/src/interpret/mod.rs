//! Runs a function at one position, in `f64`: the judge of the transformations, independent of what is emitted; finds
//! the statement at which a value that is not finite arises, and the one that reaches beyond an array.

mod fault;
mod frame;
mod memory;
mod ops;

use std::collections::HashMap;

use crate::{CallMode, Func, Node, Slot, Ty};
pub use fault::Fault;
use frame::{Frame, Given, Known, Shared};
pub use memory::{Array, Memory};

/// A value.
#[derive(Clone, Debug, PartialEq)]
pub enum Val {
    /// The components of what is real.
    Real(Vec<f64>),
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
}

impl Val {
    /// The components of what is real.
    ///
    /// # Panics
    /// When it is not.
    pub fn reals(&self) -> &[f64] {
        match self {
            Val::Real(parts) => parts,
            other => panic!("{other:?} is not real"),
        }
    }

    /// Zero of this type.
    pub fn zero(ty: Ty) -> Val {
        match ty {
            Ty::Bool => Val::Bool(false),
            ty if ty.is_int() => Val::Int(0),
            ty => Val::Real(vec![0.0; ty.components()]),
        }
    }

    fn int(&self) -> i64 {
        match self {
            Val::Int(value) => *value,
            other => panic!("{other:?} is not an integer"),
        }
    }

    fn bool(&self) -> bool {
        match self {
            Val::Bool(value) => *value,
            other => panic!("{other:?} is not a bool"),
        }
    }

    fn is_finite(&self) -> bool {
        match self {
            Val::Real(parts) => parts.iter().all(|x| x.is_finite()),
            Val::Int(_) | Val::Bool(_) => true,
        }
    }
}

fn wrap(ty: Ty, value: i64) -> Val {
    Val::Int(if ty == Ty::I32 { i64::from(value as i32) } else { i64::from(value as u32) })
}

/// An argument: one of the arrays of the memory, or a value.
#[derive(Clone, Debug)]
pub enum Arg {
    /// By its number.
    Array(usize),
    /// By value.
    Value(Val),
}

/// The device functions that a function calls.
pub trait Functions {
    /// The form of a device function that `caller` calls, and those that it calls in turn.
    fn callee(&self, caller: &Func, callee: usize, mode: CallMode) -> Option<(&Func, &dyn Functions)>;
}

/// Device functions by name.
#[derive(Clone, Default)]
pub struct Library {
    functions: HashMap<String, Forms>,
}

/// A device function in its forms.
#[derive(Clone)]
pub struct Forms {
    /// Itself.
    pub primal: Func,
    /// Its adjoint.
    pub vjp: Func,
    /// Its tangent.
    pub jvp: Func,
    /// The tangent of its adjoint.
    pub second: Func,
}

impl Library {
    /// Adds a function, which is called by the name of its primal.
    pub fn add(&mut self, forms: Forms) {
        self.functions.insert(forms.primal.name.clone(), forms);
    }
}

impl Functions for Library {
    fn callee(&self, caller: &Func, callee: usize, mode: CallMode) -> Option<(&Func, &dyn Functions)> {
        let forms = self.functions.get(&caller.callees.get(callee)?.name)?;
        let form = match mode {
            CallMode::Primal | CallMode::Replay => &forms.primal,
            CallMode::Vjp => &forms.vjp,
            CallMode::Jvp => &forms.jvp,
            CallMode::Second => &forms.second,
        };
        Some((form, self))
    }
}

/// Where a function runs.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    /// `ABSOLUTE_POS`.
    pub position: usize,
    /// `ABSOLUTE_POS_X`, `_Y` and `_Z`.
    pub coordinates: [usize; 3],
    /// What becomes of a real that was computed: itself, or its neighbour in a smaller type.
    pub round: fn(f64) -> f64,
}

/// Runs `func` at position `pos` of a one-dimensional domain; returns its results.
///
/// # Panics
/// When the function is not valid by [`verify`](crate::verify()), or its arguments are not its.
pub fn run(func: &Func, args: &[Arg], arrays: &mut [Array], pos: usize, library: &Library) -> Vec<Val> {
    let point = Point { position: pos, coordinates: [pos, 0, 0], round: |x| x };
    let mut arrays = arrays;
    let results = through((func, library), args, &mut Shared::new(&mut arrays, point));
    let results = results.unwrap_or_else(|why| panic!("{}: {why}", func.name));
    results.into_iter().map(|known| known.val).collect()
}

/// A statement of a function, or of one that it calls.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The calls that lead there, from the function on, with their statements.
    pub calls: Vec<(Node, usize, CallMode)>,
    /// The statement in the last of them.
    pub node: Node,
}

/// Runs `func`, and says at which statement that arose which leaves the element `index` of the array in `slot` not finite: the
/// first of its history that gave what is not finite, from operands that were, or that read it from an array or a
/// parameter. Nothing when the element is finite in the end, or was not touched.
///
/// # Errors
/// Says why the function cannot run with these arguments: an index out of range, a `while` beyond its bound, arguments that
/// are not those of its parameters.
///
/// # Panics
/// When the function is not valid by [`verify`](crate::verify()), or an argument is not of the type of its parameter.
pub fn arises(
    (func, functions): (&Func, &dyn Functions),
    args: &[Arg],
    memory: &mut dyn Memory,
    point: Point,
    (slot, index): (Slot, usize),
) -> Result<Option<Place>, Fault> {
    let Some(Arg::Array(array)) = args.get(slot) else { return Ok(None) };
    let mut shared = Shared::new(memory, point);
    through((func, functions), args, &mut shared)?;
    Ok(shared.from(*array, index))
}

/// Runs `func` for what it does to the memory.
///
/// # Errors
/// The first statement that cannot be done.
///
/// # Panics
/// When the function is not valid by [`verify`](crate::verify()), or an argument is not of the type of its parameter.
pub fn attempt(
    (func, functions): (&Func, &dyn Functions),
    args: &[Arg],
    memory: &mut dyn Memory,
    point: Point,
) -> Result<(), Fault> {
    through((func, functions), args, &mut Shared::new(memory, point)).map(|_| ())
}

fn through(function: (&Func, &dyn Functions), args: &[Arg], shared: &mut Shared<'_>) -> Result<Vec<Known>, Fault> {
    Frame::new(function, args.iter().map(Given::from).collect(), shared, Vec::new())?.run()
}
