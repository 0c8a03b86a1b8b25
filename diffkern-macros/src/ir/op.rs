//! Pure operations.

use super::{Id, Slot};

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lit {
    Real(f64),
    /// Of any integer type; the value's type says which.
    Int(i64),
    Bool(bool),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    Pos,
    PosX,
    PosY,
    PosZ,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    Const(Lit),
    Builtin(Builtin),
    /// Elements of an array parameter, `usize`.
    Len(Slot),
    Unary(UnaryOp, Id),
    Binary(BinaryOp, Id, Id),
    /// `cond, if true, if false`; the two sides are already computed.
    Select(Id, Id, Id),
    /// To the type of the result: among integers (wrapping), integer to real, real to integer (saturating, NaN to 0).
    Cast(Id),
    /// Vector or matrix (row-major) from its components.
    Compose(Vec<Id>),
    Extract(Id, u8),
    /// A copy of the first with one component replaced.
    Insert(Id, u8, Id),
}

/// `Neg` works on every real type and on `i32`; `Not` on `bool`; `Transpose` on matrices; the rest on real scalars
/// (`Abs` also on `i32`). `Detach` is the identity on real types and cuts the derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOp {
    Neg,
    Not,
    Abs,
    Exp,
    Ln,
    Sqrt,
    /// `Sqrt` of a sum of squares: its derivative at 0 is 0.
    Length,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Tanh,
    Sinh,
    Cosh,
    Erf,
    Log1p,
    Floor,
    Ceil,
    Round,
    /// -1, 0 (for a zero) or 1: the derivative of `Abs`.
    Sign,
    IsNan,
    Detach,
    Transpose,
    /// Of any real type: whether a component differs from zero. Only an adjoint asks, see [`crate::guard`].
    Nonzero,
}

/// `Add`, `Sub`: equal types, real or integer. `Mul`: equal scalars. `Div`: equal scalars. `Min`, `Max`: equal scalars,
/// real or integer. `Rem`, bits and shifts: integers. `Powi`: real, `i32`. `Scale`: vector or matrix, real.
/// `MulElem`: equal vectors. `Dot`: equal vectors, or equal matrices (double contraction).
/// Comparisons: equal scalars to `bool`. `And`, `Or`: `bool`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOp {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Min,
    Max,
    Powf,
    Powi,
    Atan2,
    Hypot,
    Scale,
    MulElem,
    Dot,
    Cross,
    MatVec,
    MatMul,
    Outer,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    And,
    Or,
}

macro_rules! op_names {
    ($ty:ident: $($variant:ident $name:literal),* $(,)?) => {
        impl $ty {
            /// Name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($ty::$variant => $name),* }
            }
        }
    };
}

op_names!(UnaryOp: Neg "neg", Not "not", Abs "abs", Exp "exp", Ln "ln", Sqrt "sqrt", Length "sqrt", Sin "sin", Cos "cos",
    Tan "tan", Asin "asin", Acos "acos", Atan "atan", Tanh "tanh", Sinh "sinh", Cosh "cosh", Erf "erf", Log1p "log1p",
    Floor "floor", Ceil "ceil", Round "round", Sign "sign", IsNan "is_nan", Detach "detach", Transpose "transpose",
    Nonzero "nonzero");
op_names!(BinaryOp: Add "add", Sub "sub", Mul "mul", Div "div", Rem "rem", Min "min", Max "max", Powf "powf",
    Powi "powi", Atan2 "atan2", Hypot "hypot", Scale "scale", MulElem "mul_elem", Dot "dot", Cross "cross",
    MatVec "mat_vec", MatMul "mat_mul", Outer "outer", BitAnd "bit_and", BitOr "bit_or", BitXor "bit_xor",
    Shl "shl", Shr "shr", Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge", And "and", Or "or");
