//! The table of operations: all that is known of each but its derivative, which is a row of the macros' `rules`, and how
//! a backend writes it.
//!
//! A new operation is a row here. What then fails to compile, or fails the tests that ask every backend for every row,
//! is what it still lacks.

use crate::typing::{BinaryTyping as B, UnaryTyping as U};
use crate::{BinaryTyping, Ty, UnaryTyping};

/// Where the derivative of an operation is one-sided, zero or infinite. The page of the kernel language says it of the
/// source's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kink {
    /// What the page's row is about.
    pub of: &'static str,
    /// What the row says.
    pub says: &'static str,
}

/// Piecewise constant.
const FLAT: &str = "derivative 0, at their jumps too";
const ORIGIN: &str = "derivative 0";
const TIE: &str = "at a tie of `min` or `max` that of the first operand";
const LIMIT: &str = "the limit, an infinity";
const ZERO_TO_ZERO: &str = "`0^0` is 1, with derivative 0";

macro_rules! kink {
    () => {
        None
    };
    ($of:literal $says:expr) => {
        Some(Kink { of: $of, says: $says })
    };
}

macro_rules! operations {
    (
        $(#[$meta:meta])* $ops:ident, $typing:ident;
        $($(#[$doc:meta])* $row:ident $name:literal $rule:expr, $cost:literal $(, commutes $commutes:literal)?
            $(, kink $of:literal $says:expr)?;)*
    ) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is named for what it computes")]
        pub enum $ops { $($(#[$doc])* $row),* }

        impl $ops {
            /// Every row.
            pub const ALL: &[$ops] = &[$($ops::$row),*];

            /// Name in the text form.
            pub fn name(self) -> &'static str {
                match self { $($ops::$row => $name),* }
            }

            /// The operation called `name` in the text form.
            pub fn parse(name: &str) -> Option<$ops> {
                $ops::ALL.iter().copied().find(|op| op.name() == name)
            }

            /// What it takes and gives.
            pub fn typing(self) -> $typing {
                match self { $($ops::$row => $rule),* }
            }

            /// Work of each scalar of the result. One for all of them: how much more a sine is than a sum depends on
            /// the machine, and what the numbers decide must not.
            pub fn cost(self) -> u64 {
                match self { $($ops::$row => $cost),* }
            }

            /// Where its derivative is one-sided, zero or infinite.
            pub fn kink(self) -> Option<Kink> {
                match self { $($ops::$row => kink!($($of $says)?)),* }
            }

            operations!(@commutes $ops $($row $($commutes)?),*);
        }
    };
    (@commutes UnaryOp $($row:ident),*) => {};
    (@commutes BinaryOp $($row:ident $commutes:literal),*) => {
        /// Whether its operands may be exchanged.
        pub fn commutes(self) -> bool {
            match self { $(BinaryOp::$row => $commutes),* }
        }
    };
}

operations! {
    /// Operations of one operand.
    UnaryOp, UnaryTyping;
    // row      text         operand            cost
    Neg         "neg"        U::Signed,         1;
    Not         "not"        U::Truth,          1;
    Abs         "abs"        U::SignedScalar,   1, kink "`abs`" "of `abs` at 0 it is 0";
    Exp         "exp"        U::Real,           1;
    Ln          "ln"         U::Real,           1, kink "`ln`" LIMIT;
    Sqrt        "sqrt"       U::Real,           1, kink "`sqrt`" LIMIT;
    /// [`UnaryOp::Sqrt`] of a sum of squares, in the text form that. Its derivative at 0 is 0.
    Length      "sqrt"       U::Real,           1, kink "`norm`" ORIGIN;
    Sin         "sin"        U::Real,           1;
    Cos         "cos"        U::Real,           1;
    Tan         "tan"        U::Real,           1;
    Asin        "asin"       U::Real,           1, kink "`asin`" LIMIT;
    Acos        "acos"       U::Real,           1, kink "`acos`" LIMIT;
    Atan        "atan"       U::Real,           1;
    Tanh        "tanh"       U::Real,           1;
    Sinh        "sinh"       U::Real,           1;
    Cosh        "cosh"       U::Real,           1;
    Erf         "erf"        U::Real,           1;
    Log1p       "log1p"      U::Real,           1, kink "`log1p`" LIMIT;
    Floor       "floor"      U::Real,           1, kink "`floor`" FLAT;
    Ceil        "ceil"       U::Real,           1, kink "`ceil`" FLAT;
    Round       "round"      U::Real,           1, kink "`round`" FLAT;
    /// -1, 0 (for a zero) or 1: the derivative of [`UnaryOp::Abs`].
    Sign        "sign"       U::Real,           1, kink "`sign`" FLAT;
    IsNan       "is_nan"     U::TestReal,       1;
    /// The identity, whose derivative is 0.
    Detach      "detach"     U::AnyReal,        1, kink "`detach(x)`" "derivative 0";
    Transpose   "transpose"  U::Matrix,         1;
    /// Whether a component differs from zero. Only an adjoint asks; it is gone before anything is written.
    Nonzero     "nonzero"    U::TestAny,        1;
}

operations! {
    /// Operations of two operands.
    BinaryOp, BinaryTyping;
    // row      text         operands           cost
    Add         "add"        B::Sum,            1, commutes true;
    Sub         "sub"        B::Sum,            1, commutes false;
    Mul         "mul"        B::Number,         1, commutes true;
    /// Of integers, 0 for a divisor of 0.
    Div         "div"        B::Number,         1, commutes false;
    /// 0 for a divisor of 0.
    Rem         "rem"        B::Integer,        1, commutes false;
    Min         "min"        B::Number,         1, commutes false, kink "`min`" TIE;
    Max         "max"        B::Number,         1, commutes false, kink "`max`" TIE;
    Powf        "powf"       B::Real,           1, commutes false, kink "powf" ZERO_TO_ZERO;
    Powi        "powi"       B::Power,          1, commutes false, kink "powi" ZERO_TO_ZERO;
    Atan2       "atan2"      B::Real,           1, commutes false, kink "`atan2`" ORIGIN;
    Hypot       "hypot"      B::Real,           1, commutes false, kink "`hypot`" ORIGIN;
    Scale       "scale"      B::Scale,          1, commutes false;
    MulElem     "mul_elem"   B::Elementwise,    1, commutes true;
    /// Of matrices the double contraction.
    Dot         "dot"        B::Dot,            1, commutes true;
    Cross       "cross"      B::Cross,          1, commutes false;
    MatVec      "mat_vec"    B::MatVec,         1, commutes false;
    MatMul      "mat_mul"    B::MatMul,         1, commutes false;
    Outer       "outer"      B::Outer,          1, commutes false;
    BitAnd      "bit_and"    B::Integer,        1, commutes true;
    BitOr       "bit_or"     B::Integer,        1, commutes true;
    BitXor      "bit_xor"    B::Integer,        1, commutes true;
    /// By the lowest five bits of the second.
    Shl         "shl"        B::Shift,          1, commutes false;
    /// By the lowest five bits of the second; of an `i32` the sign stays.
    Shr         "shr"        B::Shift,          1, commutes false;
    Eq          "eq"         B::Equality,       1, commutes true, kink "comparisons" FLAT;
    Ne          "ne"         B::Equality,       1, commutes true, kink "comparisons" FLAT;
    Lt          "lt"         B::Order,          1, commutes false, kink "comparisons" FLAT;
    Le          "le"         B::Order,          1, commutes false, kink "comparisons" FLAT;
    Gt          "gt"         B::Order,          1, commutes false, kink "comparisons" FLAT;
    Ge          "ge"         B::Order,          1, commutes false, kink "comparisons" FLAT;
    And         "and"        B::Logic,          1, commutes true;
    Or          "or"         B::Logic,          1, commutes true;
}

impl UnaryOp {
    /// Number of operands.
    pub const ARITY: usize = 1;

    /// The type of the result, if the operand is of a legal one.
    pub fn result(self, x: Ty) -> Option<Ty> {
        self.typing().result(x)
    }
}

impl BinaryOp {
    /// Number of operands.
    pub const ARITY: usize = 2;

    /// The type of the result, if the operands are of legal ones.
    pub fn result(self, a: Ty, b: Ty) -> Option<Ty> {
        self.typing().result(a, b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page says of each operation with a kink what the table says.
    #[test]
    fn kinks_are_documented() {
        let page = include_str!("../../docs/kernel-language.md");
        let rows: Vec<Vec<&str>> =
            page.lines().filter(|l| l.starts_with('|')).map(|l| l.split(" | ").collect()).collect();
        let kinks =
            UnaryOp::ALL.iter().filter_map(|op| op.kink()).chain(BinaryOp::ALL.iter().filter_map(|op| op.kink()));
        for kink in kinks {
            let says = |row: &&Vec<&str>| row[0].contains(kink.of) && row[1..].concat().contains(kink.says);
            assert!(
                rows.iter().find(says).is_some(),
                "docs/kernel-language.md: no row of {} says: {}",
                kink.of,
                kink.says
            );
        }
    }

    #[test]
    fn names_are_distinct() {
        for op in UnaryOp::ALL.iter().filter(|op| **op != UnaryOp::Length) {
            assert_eq!(UnaryOp::parse(op.name()), Some(*op));
        }
        for op in BinaryOp::ALL {
            assert_eq!(BinaryOp::parse(op.name()), Some(*op));
        }
        assert_eq!(UnaryOp::parse("sqrt"), Some(UnaryOp::Sqrt));
    }
}
