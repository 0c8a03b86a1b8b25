//! Types and names of values.

use std::fmt;

/// Type of a value; vectors and matrices are of the kernel's real scalar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Ty {
    /// The kernel's real scalar.
    Real,
    /// 32-bit unsigned.
    U32,
    /// 32-bit signed.
    I32,
    /// Index type, 32-bit unsigned.
    Usize,
    /// Truth value.
    Bool,
    /// 2, 3 or 4 components.
    Vec(u8),
    /// Square, row-major: 2 or 3 rows.
    Mat(u8),
    /// w, x, y, z. To everything but the source and Rust it is a vector of 4, as which the text form has it; its
    /// products are made of other operations.
    Quat,
}

impl Ty {
    /// Every type.
    pub const ALL: [Ty; 11] = [
        Ty::Real,
        Ty::U32,
        Ty::I32,
        Ty::Usize,
        Ty::Bool,
        Ty::Vec(2),
        Ty::Vec(3),
        Ty::Vec(4),
        Ty::Mat(2),
        Ty::Mat(3),
        Ty::Quat,
    ];

    /// Whether its scalars are real, so that it can carry a derivative.
    pub fn is_real(self) -> bool {
        match self {
            Ty::Real | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => true,
            Ty::U32 | Ty::I32 | Ty::Usize | Ty::Bool => false,
        }
    }

    /// Whether it is made of several reals.
    pub fn is_compound(self) -> bool {
        self.is_real() && self != Ty::Real
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        match self {
            Ty::U32 | Ty::I32 | Ty::Usize => true,
            Ty::Real | Ty::Bool | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => false,
        }
    }

    /// Whether it is one real or one integer.
    pub fn is_number(self) -> bool {
        self == Ty::Real || self.is_int()
    }

    /// Number of scalars.
    pub fn components(self) -> usize {
        match self {
            Ty::Vec(n) => n as usize,
            Ty::Mat(n) => n as usize * n as usize,
            Ty::Quat => 4,
            Ty::Real | Ty::U32 | Ty::I32 | Ty::Usize | Ty::Bool => 1,
        }
    }

    /// Type of each of its scalars.
    pub fn scalar(self) -> Ty {
        if self.is_compound() { Ty::Real } else { self }
    }

    /// Whether the two are represented alike on every backend: `usize` and `u32` are.
    pub fn same(self, other: Ty) -> bool {
        let plain = |ty| if ty == Ty::Usize { Ty::U32 } else { ty };
        plain(self) == plain(other)
    }

    /// Its name in the text form.
    pub fn name(self) -> &'static str {
        match self {
            Ty::Real => "real",
            Ty::U32 => "u32",
            Ty::I32 => "i32",
            Ty::Usize => "usize",
            Ty::Bool => "bool",
            Ty::Vec(2) => "vec2",
            Ty::Vec(3) => "vec3",
            Ty::Vec(_) | Ty::Quat => "vec4",
            Ty::Mat(2) => "mat2",
            Ty::Mat(_) => "mat3",
        }
    }

    /// The type called `name` in the text form.
    pub fn parse(name: &str) -> Option<Ty> {
        Ty::ALL.into_iter().find(|ty| ty.name() == name)
    }
}

impl fmt::Display for Ty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A value, defined once in its function; its type is [`Func::ty`](crate::Func::ty).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "%{}", self.0)
    }
}

/// Number of a parameter: index into [`Func::params`](crate::Func::params).
pub type Slot = usize;
