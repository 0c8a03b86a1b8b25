//! What a kernel is: the text of its programs, their parameters, where they store.

pub use diffkern_ir::Access;

use crate::error::{Error, Result};

/// Scalar type of the elements of an array, and of the reals of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarTy {
    /// 32-bit floating point.
    F32,
    /// 64-bit floating point.
    F64,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
}

impl ScalarTy {
    /// Size in bytes.
    pub const fn bytes(self) -> usize {
        match self {
            ScalarTy::F64 => 8,
            _ => 4,
        }
    }

    /// Whether it can carry a derivative.
    pub const fn is_real(self) -> bool {
        matches!(self, ScalarTy::F32 | ScalarTy::F64)
    }

    /// Its name in Rust.
    pub const fn name(self) -> &'static str {
        match self {
            ScalarTy::F32 => "f32",
            ScalarTy::F64 => "f64",
            ScalarTy::U32 => "u32",
            ScalarTy::I32 => "i32",
        }
    }
}

/// Type of the elements of an array parameter; the reals among them are of the kernel's scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ElemTy {
    /// A real scalar.
    Real,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// Two reals.
    Vec2,
    /// Three reals.
    Vec3,
    /// Four reals.
    Vec4,
    /// 2x2 reals, row-major.
    Mat2,
    /// 3x3 reals, row-major.
    Mat3,
}

impl ElemTy {
    /// Number of scalars.
    pub const fn components(self) -> usize {
        match self {
            ElemTy::Real | ElemTy::U32 | ElemTy::I32 => 1,
            ElemTy::Vec2 => 2,
            ElemTy::Vec3 => 3,
            ElemTy::Vec4 | ElemTy::Mat2 => 4,
            ElemTy::Mat3 => 9,
        }
    }

    /// Whether it can carry a derivative.
    pub const fn is_real(self) -> bool {
        !matches!(self, ElemTy::U32 | ElemTy::I32)
    }

    /// Its name in Rust, the reals being called `scalar`.
    pub fn name(self, scalar: ScalarTy) -> String {
        match self {
            ElemTy::Real => scalar.name().to_owned(),
            ElemTy::U32 => "u32".to_owned(),
            ElemTy::I32 => "i32".to_owned(),
            other => format!("{other:?}<{}>", scalar.name()),
        }
    }
}

/// Type of a scalar parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ScalarKind {
    /// A real of the kernel's scalar.
    Real,
    /// Unsigned 32-bit integer.
    U32,
    /// Signed 32-bit integer.
    I32,
    /// Index, 32 bits.
    Usize,
    /// Truth value.
    Bool,
}

/// One parameter of a program.
#[derive(Clone, Copy, Debug)]
pub struct ParamDef {
    /// As in the source.
    pub name: &'static str,
    /// Array or scalar.
    pub kind: ParamKind,
}

/// Kind of a parameter.
#[derive(Clone, Copy, Debug)]
pub enum ParamKind {
    /// An array on the device.
    Array {
        /// Type of its elements.
        elem: ElemTy,
        /// How it is touched.
        access: Access,
        /// Every access has the index `ABSOLUTE_POS`.
        owned: bool,
    },
    /// A value.
    Scalar {
        /// Its type.
        ty: ScalarKind,
        /// Known when the program is compiled.
        comptime: bool,
    },
}

/// A program in the text form of the intermediate representation, with its parameters.
#[derive(Clone, Copy)]
pub struct Program {
    /// Source file.
    pub file: &'static str,
    /// By slot.
    pub params: &'static [ParamDef],
    /// One statement per line.
    pub text: &'static str,
    /// Operations on scalars for one position, more or less.
    pub work: u32,
    /// Device functions called.
    pub callees: &'static [fn() -> &'static FnDef],
    /// The arrays that it stores to at other indices than `ABSOLUTE_POS`. Empty for a derivative that is generated: it
    /// stores where the kernel does, which has run before.
    pub writes: &'static [Write],
}

/// Where a kernel stores to an array.
#[derive(Clone, Copy, Debug)]
pub struct Write {
    /// The array.
    pub slot: usize,
    /// At which of its elements.
    pub indices: Indices,
    /// The author says that no two threads store to one element.
    pub promised: bool,
}

/// Indices of the elements that a kernel stores to.
#[derive(Clone, Copy, Debug)]
pub enum Indices {
    /// Numbers that the digits of the thread make.
    Digits {
        /// The ways in which they make them. Threads with other digits have other elements by all of these if no digit
        /// reaches the weight of the next.
        forms: &'static [&'static [Term]],
    },
    /// `stride * by[ABSOLUTE_POS] + k` with `k` below `stride`.
    Listed {
        /// The array of integers, which the kernel only reads.
        by: usize,
        /// Elements by thread.
        stride: u32,
    },
    /// The source does not tell.
    Anywhere,
}

/// A digit of an index, by increasing weight.
#[derive(Clone, Copy, Debug)]
pub struct Term {
    /// What counts.
    pub digit: Digit,
    /// The factors of its weight.
    pub weight: &'static [Extent],
}

/// What an index counts by.
#[derive(Clone, Copy, Debug)]
pub enum Digit {
    /// `ABSOLUTE_POS`.
    Pos,
    /// `ABSOLUTE_POS_X`.
    X,
    /// `ABSOLUTE_POS_Y`.
    Y,
    /// `ABSOLUTE_POS_Z`.
    Z,
    /// `ABSOLUTE_POS / n`.
    Quotient(Extent),
    /// `ABSOLUTE_POS % n`.
    Remainder(Extent),
    /// The turns of a loop, `0..n`.
    Below(Extent),
}

/// A number that all threads of a launch have.
#[derive(Clone, Copy, Debug)]
pub enum Extent {
    /// This one.
    Number(u32),
    /// A scalar argument.
    Scalar(usize),
    /// The length of an array argument.
    Len(usize),
}

/// A device function: itself, its vector-Jacobian product with the tangent of that, its Jacobian-vector product.
#[derive(Clone, Copy)]
pub struct FnDef {
    /// As in the source.
    pub name: &'static str,
    /// The function.
    pub primal: Program,
    /// The function as adjoints and tangents run it again: itself, unless it says otherwise.
    pub replay: Program,
    /// Its adjoint.
    pub vjp: Program,
    /// Its tangent.
    pub jvp: Program,
    /// The tangent of its adjoint, with the feature `second-order`.
    pub second: Option<Program>,
}

/// A kernel with its derivatives.
#[derive(Clone, Copy)]
pub struct KernelDef {
    /// As in the source.
    pub name: &'static str,
    /// Source file.
    pub file: &'static str,
    /// Source line.
    pub line: u32,
    /// The kernel.
    pub primal: Program,
    /// Parameters: those of the kernel, then a bar per real array.
    pub adjoint: Program,
    /// Parameters: those of the kernel, then a dot per real array.
    pub tangent: Program,
    /// The kernel and its tangents along several directions in one, where the kernel asks for it.
    pub directions: Option<Directions>,
    /// After an adjoint written by hand: sets the bars of what a store has overwritten to zero. Parameters are those of
    /// the adjoint.
    pub clear: Option<Program>,
    /// The adjoint and its tangent in one, with the feature `second-order`. Parameters: those of the adjoint, then a dot
    /// per real array of these.
    pub second: Option<Program>,
    /// Pairs of parameters of the adjoint, bars that may be one: at its own index alone, every position takes from the
    /// first, once, before it adds to the second, once, which counts as zero.
    pub places: &'static [(usize, usize)],
}

/// A kernel and its tangents along several directions in one.
#[derive(Clone, Copy)]
pub struct Directions {
    /// How many.
    pub count: usize,
    /// Parameters: those of the kernel, then for each direction a dot per real array.
    pub program: Program,
}

/// Which of the programs of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Which {
    Primal,
    Adjoint,
    Tangent,
    Directions,
    Clear,
    /// The adjoint and its tangent in one.
    Second,
}

impl Which {
    pub(crate) fn of(self, def: &'static KernelDef) -> Result<&'static Program> {
        Ok(match self {
            Which::Primal => &def.primal,
            Which::Adjoint => &def.adjoint,
            Which::Tangent => &def.tangent,
            Which::Directions => match &def.directions {
                Some(directions) => &directions.program,
                None => {
                    let reason = "it has no tangents along several directions at once".to_owned();
                    return Err(Error::Launch { kernel: def.name, reason });
                }
            },
            Which::Clear => def.clear.as_ref().unwrap_or(&def.adjoint),
            Which::Second => def.second.as_ref().ok_or_else(|| Which::missing(def))?,
        })
    }

    /// Why there is no tangent of an adjoint.
    pub(crate) fn missing(def: &'static KernelDef) -> Error {
        let reason = "it has no second derivatives; switch on the feature `second-order` of diffkern".to_owned();
        Error::Launch { kernel: def.name, reason }
    }
}
