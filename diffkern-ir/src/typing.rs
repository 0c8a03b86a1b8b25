//! What the operands of an operation may be, and what the result then is.

use crate::Ty;

/// Type rule of an operation of one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UnaryTyping {
    /// `bool` to itself.
    Truth,
    /// What is real, or an `i32`, to itself.
    Signed,
    /// A real or an `i32` to itself.
    SignedScalar,
    /// A real to itself.
    Real,
    /// What is real to itself.
    AnyReal,
    /// A matrix to itself.
    Matrix,
    /// A real to `bool`.
    TestReal,
    /// What is real to `bool`.
    TestAny,
}

impl UnaryTyping {
    /// The type of the result, if the operand is of a legal one.
    pub fn result(self, x: Ty) -> Option<Ty> {
        use UnaryTyping as T;
        let (legal, result) = match self {
            T::Truth => (x == Ty::Bool, x),
            T::Signed => (x.is_real() || x == Ty::I32, x),
            T::SignedScalar => (x == Ty::Real || x == Ty::I32, x),
            T::Real => (x == Ty::Real, x),
            T::AnyReal => (x.is_real(), x),
            T::Matrix => (matches!(x, Ty::Mat(_)), x),
            T::TestReal => (x == Ty::Real, Ty::Bool),
            T::TestAny => (x.is_real(), Ty::Bool),
        };
        legal.then_some(result)
    }
}

/// Type rule of an operation of two operands. Equal types: `usize` and `u32` are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BinaryTyping {
    /// Equal types but `bool`, to the first.
    Sum,
    /// Equal numbers, to the first.
    Number,
    /// Reals to a real.
    Real,
    /// A real and an `i32` to a real.
    Power,
    /// Equal integers, to the first.
    Integer,
    /// Integers, to the first.
    Shift,
    /// A vector or matrix and a real, to the first.
    Scale,
    /// Equal vectors to such a one.
    Elementwise,
    /// Equal vectors or equal matrices to a real.
    Dot,
    /// Three-vectors to a three-vector.
    Cross,
    /// A matrix and a vector of as many components as it has rows, to the second.
    MatVec,
    /// Equal matrices to such a one.
    MatMul,
    /// Equal vectors of 2 or 3 to a matrix.
    Outer,
    /// Equal scalars to `bool`.
    Equality,
    /// Equal numbers to `bool`.
    Order,
    /// `bool`s to `bool`.
    Logic,
}

impl BinaryTyping {
    /// The type of the result, if the operands are of legal ones.
    pub fn result(self, a: Ty, b: Ty) -> Option<Ty> {
        use BinaryTyping as T;
        let equal = a.same(b);
        let (legal, result) = match self {
            T::Sum => (equal && a != Ty::Bool, a),
            T::Number => (equal && a.is_number(), a),
            T::Real => (equal && a == Ty::Real, a),
            T::Power => (a == Ty::Real && b == Ty::I32, a),
            T::Integer => (equal && a.is_int(), a),
            T::Shift => (a.is_int() && b.is_int(), a),
            T::Scale => (a.is_compound() && b == Ty::Real, a),
            T::Elementwise => (equal && matches!(a, Ty::Vec(_)), a),
            T::Dot => (equal && a.is_compound(), Ty::Real),
            T::Cross => (equal && a == Ty::Vec(3), a),
            T::MatVec => (matches!((a, b), (Ty::Mat(n), Ty::Vec(m)) if n == m), b),
            T::MatMul => (equal && matches!(a, Ty::Mat(_)), a),
            T::Outer => match a {
                Ty::Vec(n @ 2..=3) => (equal, Ty::Mat(n)),
                _ => (false, a),
            },
            T::Equality => (equal && (a.is_number() || a == Ty::Bool), Ty::Bool),
            T::Order => (equal && a.is_number(), Ty::Bool),
            T::Logic => (equal && a == Ty::Bool, a),
        };
        legal.then_some(result)
    }
}
