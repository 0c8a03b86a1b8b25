//! The intermediate representation at run time: what the text of a kernel says, checked.
//!
//! It mirrors the representation of the macro: structured static single assignment, one definition per value.

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
    /// Vector of 2, 3 or 4 components.
    Vec(u8),
    /// Square matrix of 2 or 3 rows, row-major.
    Mat(u8),
}

impl Ty {
    /// Type called `name` in the text.
    pub fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "real" => Self::Real,
            "u32" => Self::U32,
            "i32" => Self::I32,
            "usize" => Self::Usize,
            "bool" => Self::Bool,
            "vec2" => Self::Vec(2),
            "vec3" => Self::Vec(3),
            "vec4" => Self::Vec(4),
            "mat2" => Self::Mat(2),
            "mat3" => Self::Mat(3),
            _ => return None,
        })
    }

    /// Number of scalars.
    pub fn components(self) -> usize {
        match self {
            Self::Vec(n) => n as usize,
            Self::Mat(n) => n as usize * n as usize,
            _ => 1,
        }
    }

    /// Whether its scalars are real.
    pub fn is_real(self) -> bool {
        matches!(self, Self::Real | Self::Vec(_) | Self::Mat(_))
    }

    /// Whether it is an integer.
    pub fn is_int(self) -> bool {
        matches!(self, Self::U32 | Self::I32 | Self::Usize)
    }

    /// Type of each of its scalars.
    pub fn scalar(self) -> Self {
        match self {
            Self::Vec(_) | Self::Mat(_) => Self::Real,
            other => other,
        }
    }

    /// Whether the two are represented alike: `usize` and `u32` are.
    pub fn same(self, other: Self) -> bool {
        let plain = |ty| if ty == Self::Usize { Self::U32 } else { ty };
        plain(self) == plain(other)
    }
}

impl std::fmt::Display for Ty {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Real => f.write_str("real"),
            Self::U32 => f.write_str("u32"),
            Self::I32 => f.write_str("i32"),
            Self::Usize => f.write_str("usize"),
            Self::Bool => f.write_str("bool"),
            Self::Vec(n) => write!(f, "vec{n}"),
            Self::Mat(n) => write!(f, "mat{n}"),
        }
    }
}

/// A value, defined once; its type is [`Func::ty`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Id(pub u32);

/// Index into [`Func::params`].
pub type Slot = usize;

/// How a function touches an array parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Only read.
    Read,
    /// Only stored to.
    Store,
    /// Only added to.
    Add,
    /// Read, then set to zero: the adjoint of a store.
    Take,
    /// Read and overwritten, or taken and added to, at one index that no other thread touches.
    Update,
    /// Atomic additions to integers, which give what was there before.
    Fetch,
    /// Not touched, but its length may be asked for.
    Unused,
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Name in the source.
    pub name: String,
    /// What it is.
    pub kind: ParamKind,
}

/// What a parameter is.
#[derive(Clone, Debug)]
pub enum ParamKind {
    /// An array.
    Array {
        /// Type of an element.
        elem: Ty,
        /// How the function touches it.
        access: Access,
        /// Every access has the index of the thread, so no two threads touch one element.
        owned: bool,
    },
    /// A scalar by value.
    Scalar {
        /// Its value in the body.
        id: Id,
        /// Fixed when the kernel is built.
        comptime: bool,
    },
}

/// A kernel or a device function.
#[derive(Clone, Debug)]
pub struct Func {
    /// Name in the source.
    pub name: String,
    /// Parameters, in order of their slots.
    pub params: Vec<Param>,
    /// Statements; the yields are the results of a device function, and empty for a kernel.
    pub body: Block,
    /// Types of the values, by id; ids that do not occur hold `Bool`.
    pub types: Vec<Ty>,
    /// Element type of each stack.
    pub stacks: Vec<Option<Ty>>,
}

impl Func {
    /// Type of a value that occurs in the function.
    pub fn ty(&self, id: Id) -> Ty {
        self.types.get(id.0 as usize).copied().unwrap_or(Ty::Bool)
    }
}

/// Statements and the values that they give to the enclosing statement.
#[derive(Clone, Debug, Default)]
pub struct Block {
    /// Statements, in order.
    pub stmts: Vec<Stmt>,
    /// Values given on.
    pub yields: Vec<Id>,
}

/// Which program of a device function a call runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CallMode {
    /// The function.
    Primal,
    /// The function as adjoints and tangents run it again.
    Replay,
    /// Its adjoint.
    Vjp,
    /// Its tangent.
    Jvp,
    /// The tangent of its adjoint.
    Second,
}

/// An argument of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallArg {
    /// A value.
    Value(Id),
    /// An array of the caller.
    Array(Slot),
}

/// A statement.
#[derive(Clone, Debug)]
#[allow(missing_docs, reason = "the fields are those of the text form, which the module documents")]
pub enum Stmt {
    Let {
        id: Id,
        op: Op,
    },
    Load {
        id: Id,
        array: Slot,
        index: Id,
    },
    Store {
        array: Slot,
        index: Id,
        value: Id,
    },
    Add {
        array: Slot,
        index: Id,
        value: Id,
    },
    Take {
        id: Id,
        array: Slot,
        index: Id,
    },
    If {
        cond: Id,
        then: Block,
        els: Block,
        results: Vec<Id>,
    },
    For {
        index: Id,
        lo: Id,
        hi: Id,
        carried: Vec<Id>,
        init: Vec<Id>,
        /// Position in `carried` of what must be true for another turn.
        live: Option<usize>,
        body: Block,
        results: Vec<Id>,
    },
    Fetch {
        id: Id,
        array: Slot,
        index: Id,
        value: Id,
    },
    Fault {
        cond: Id,
        what: FaultKind,
    },
    StackNew {
        stack: usize,
        len: Id,
    },
    StackSet {
        stack: usize,
        at: Id,
        value: Id,
    },
    StackGet {
        id: Id,
        stack: usize,
        at: Id,
    },
    Call {
        callee: usize,
        mode: CallMode,
        args: Vec<CallArg>,
        results: Vec<Id>,
    },
}

/// What is wrong where a [`Stmt::Fault`] strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultKind {
    /// A `while` on this line wants more turns than its bound.
    Bound(u32),
    /// An index of a local array is out of range; it was clamped.
    Index,
}

/// A constant.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Lit {
    /// Real.
    Real(f64),
    /// Of any integer type; the value's type says which.
    Int(i64),
    /// Truth value.
    Bool(bool),
}

/// The place of the thread in the domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Builtin {
    /// Linear index.
    Pos,
    /// Fastest coordinate.
    PosX,
    /// Second coordinate.
    PosY,
    /// Third coordinate.
    PosZ,
}

/// A pure operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Op {
    /// Constant.
    Const(Lit),
    /// Place of the thread.
    Builtin(Builtin),
    /// Number of elements of an array.
    Len(Slot),
    /// One operand.
    Unary(UnaryOp, Id),
    /// Two operands.
    Binary(BinaryOp, Id, Id),
    /// Condition, value if true, value if false.
    Select(Id, Id, Id),
    /// To the type of the result.
    Cast(Id),
    /// Vector or matrix from its components.
    Compose(Vec<Id>),
    /// One component.
    Extract(Id, u8),
    /// A copy with one component replaced.
    Insert(Id, u8, Id),
}

macro_rules! ops {
    ($(#[$doc:meta])* $ty:ident: $($variant:ident $name:literal),* $(,)?) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[allow(missing_docs, reason = "each is named for what it computes")]
        pub enum $ty { $($variant),* }

        impl $ty {
            /// Operation called `name` in the text.
            pub fn parse(name: &str) -> Option<Self> {
                match name { $($name => Some(Self::$variant),)* _ => None }
            }
        }
    };
}

ops!(
    /// Operations of one operand.
    UnaryOp: Neg "neg", Not "not", Abs "abs", Exp "exp", Ln "ln", Sqrt "sqrt", Sin "sin", Cos "cos", Tan "tan",
    Asin "asin", Acos "acos", Atan "atan", Tanh "tanh", Sinh "sinh", Cosh "cosh", Erf "erf", Log1p "log1p",
    Floor "floor", Ceil "ceil", Round "round", Sign "sign", IsNan "is_nan", Detach "detach", Transpose "transpose"
);
ops!(
    /// Operations of two operands.
    BinaryOp: Add "add", Sub "sub", Mul "mul", Div "div", Rem "rem", Min "min", Max "max", Powf "powf", Powi "powi",
    Atan2 "atan2", Hypot "hypot", Scale "scale", MulElem "mul_elem", Dot "dot", Cross "cross", MatVec "mat_vec",
    MatMul "mat_mul", Outer "outer", BitAnd "bit_and", BitOr "bit_or", BitXor "bit_xor", Shl "shl", Shr "shr",
    Eq "eq", Ne "ne", Lt "lt", Le "le", Gt "gt", Ge "ge", And "and", Or "or"
);
