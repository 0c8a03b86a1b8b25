//! Kernels as trees. Every expression knows its type, so that a smaller tree of the same type can take its place.

/// Type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ty {
    /// A real scalar.
    Real,
    /// Two reals.
    Vec2,
    /// Three reals.
    Vec3,
    /// 2x2 reals.
    Mat2,
    /// 3x3 reals.
    Mat3,
    /// Unsigned 32-bit integer.
    U32,
    /// Truth value.
    Bool,
    /// A local array of [`LOCAL`] reals.
    Local,
    /// A struct of a real, `mass`, and a vector, `at`.
    Body,
    /// A struct of a vector of two, `size`, a [`Ty::Body`], `body`, and a real, `gain`.
    Held,
}

/// Elements of a local array.
pub const LOCAL: usize = 3;

impl Ty {
    /// The types that carry derivatives.
    pub const REALS: [Ty; 5] = [Ty::Real, Ty::Vec2, Ty::Vec3, Ty::Mat2, Ty::Mat3];

    /// Number of scalars.
    pub fn components(self) -> usize {
        match self {
            Ty::Vec2 => 2,
            Ty::Vec3 => 3,
            Ty::Local => LOCAL,
            Ty::Mat2 | Ty::Body => 4,
            Ty::Held => 7,
            Ty::Mat3 => 9,
            _ => 1,
        }
    }

    /// Rows of a matrix, components of a vector.
    pub fn rows(self) -> usize {
        match self {
            Ty::Vec2 | Ty::Mat2 => 2,
            Ty::Vec3 | Ty::Mat3 => 3,
            _ => 1,
        }
    }

    /// Whether it is a number, a vector or a matrix, which carry derivatives.
    pub fn is_real(self) -> bool {
        !matches!(self, Ty::U32 | Ty::Bool | Ty::Local) && !self.is_struct()
    }

    /// Whether it is a struct.
    pub fn is_struct(self) -> bool {
        matches!(self, Ty::Body | Ty::Held)
    }

    /// The fields of a struct, those of fields and components too, by their path; with their types.
    pub fn fields(self) -> &'static [(&'static str, Ty)] {
        match self {
            Ty::Body => &[("mass", Ty::Real), ("at", Ty::Vec3), ("at.x", Ty::Real), ("at.z", Ty::Real)],
            Ty::Held => &[
                ("size", Ty::Vec2),
                ("body", Ty::Body),
                ("gain", Ty::Real),
                ("size.y", Ty::Real),
                ("body.mass", Ty::Real),
                ("body.at", Ty::Vec3),
                ("body.at.y", Ty::Real),
            ],
            _ => &[],
        }
    }

    /// Whether it is a matrix.
    pub fn is_matrix(self) -> bool {
        matches!(self, Ty::Mat2 | Ty::Mat3)
    }

    /// The vector of as many rows.
    pub fn column(self) -> Ty {
        if self.rows() == 2 { Ty::Vec2 } else { Ty::Vec3 }
    }
}

/// What one array parameter of every kernel is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Use {
    /// Only read.
    Read,
    /// Stored to at the thread's own position.
    Store,
    /// Accumulated into anywhere.
    Add,
    /// Read and then stored to at the thread's own position.
    Update,
}

/// The array parameters of every kernel: name, element, use. All have [`crate::case::LEN`] elements. Those of structs, from
/// [`PLAIN`] on, are parameters of the kernels with structs only.
pub const ARRAYS: [(&str, Ty, Use); 17] = [
    ("x", Ty::Real, Use::Read),
    ("p", Ty::Vec2, Use::Read),
    ("q", Ty::Vec3, Use::Read),
    ("m", Ty::Mat2, Use::Read),
    ("t", Ty::Mat3, Use::Read),
    ("idx", Ty::U32, Use::Read),
    ("y", Ty::Real, Use::Store),
    ("z", Ty::Vec3, Use::Store),
    ("a", Ty::Real, Use::Add),
    ("b", Ty::Vec2, Use::Add),
    ("c", Ty::Mat3, Use::Add),
    ("u", Ty::Real, Use::Update),
    ("r", Ty::Body, Use::Read),
    ("h", Ty::Held, Use::Read),
    ("w", Ty::Held, Use::Store),
    ("e", Ty::Held, Use::Add),
    ("o", Ty::Held, Use::Update),
];

/// Arrays before the first of structs.
pub const PLAIN: usize = 12;

/// The array that each thread reads and overwrites at its position.
pub const UPDATED: usize = 11;

/// An operation on one operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unary {
    /// Written before the operand.
    Neg,
    /// Of a truth value.
    Not,
    /// A method of that name without arguments.
    Method(&'static str),
    /// `F::cast_from(..)` of an integer.
    ToReal,
    /// `detach(..)`.
    Detach,
    /// Component `k`, written `.x` or `[k]`.
    Component(u8),
    /// Entry of a matrix, `m[(r, c)]`, by its row-major number.
    Entry(u8),
    /// A field of a struct, by its path.
    Field(&'static str),
}

/// An operation on two operands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Binary {
    /// `+`, `-`, `*`, `/`, `%`, comparisons and logic, by their token; the types say which.
    Infix(&'static str),
    /// A method of that name with one argument.
    Method(&'static str),
}

/// An expression and its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Expr {
    /// Type of the value.
    pub ty: Ty,
    /// How it is made.
    pub kind: Kind,
}

/// How an expression is made.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// A real number.
    Real(f64),
    /// An integer.
    Int(u32),
    /// A truth value.
    Bool(bool),
    /// The variable of this number.
    Var(u32),
    /// The parameter `s`, a real by value.
    Scalar,
    /// The parameter `n`, an integer by value.
    Count,
    /// The thread's position as an integer.
    Position,
    /// An element of [`ARRAYS`]; no index stands for the thread's own position, an index is taken modulo the length.
    Load(usize, Option<Box<Expr>>),
    /// An element of a local array, its index taken modulo the length.
    Element(u32, Box<Expr>),
    /// An operation on one operand.
    Unary(Unary, Box<Expr>),
    /// An operation on two operands.
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `powi` by a written exponent.
    Powi(Box<Expr>, i32),
    /// `select(c, a, b)`.
    Select(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `if c { a } else { b }`.
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `match i % 3 { 0 => a, 1 => b, _ => c }`.
    Match(Box<Expr>, Vec<Expr>),
    /// `{ statements; e }`.
    Block(Vec<Stmt>, Box<Expr>),
    /// A struct with some fields given, as `body: e`, the others from the last: `Held { body: e, ..f }`.
    With(Vec<(&'static str, Expr)>, Box<Expr>),
    /// From components, row-major; a struct from its fields.
    New(Vec<Expr>),
    /// A device function of [`crate::print::LIBRARY`] by name, or a method of `R`; only as what a `let` binds, or where a struct is expected.
    Call(&'static str, Vec<Expr>),
    /// A whole array, as argument of a device function.
    Array(usize),
}

/// One statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stmt {
    /// `let mut v = e;`
    Let(u32, Expr),
    /// `let (mut v, mut w) = split(..);`, a real and a vector; `both` calls `split` twice.
    Split(u32, u32, Expr),
    /// `v = e;`
    Assign(u32, Expr),
    /// `v += e;` and the like.
    Compound(u32, &'static str, Expr),
    /// `v.x = e;` or `m[(r, c)] = e;`: variable, its type, component.
    Component(u32, Ty, u8, Expr),
    /// `v.at = e;` of a struct: variable, its type, path.
    Field(u32, Ty, &'static str, Expr),
    /// `if c { .. } else { .. }`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `for v in lo..hi { .. }`; unrolled where the flag says so, the bounds being numbers then.
    For(u32, Expr, Expr, bool, Vec<Stmt>),
    /// `let mut v = [a, b, c];`
    Local(u32, Vec<Expr>),
    /// `v[i % LOCAL] = e;`, or `+=`, `-=`.
    Element(u32, Expr, &'static str, Expr),
    /// `#[bound(most)] while c && v < most { v += 1; .. }` of a counter `v`.
    While(u32, Expr, u32, Vec<Stmt>),
    /// `if c { break; }`, or `continue`, in a loop.
    Leave(Expr, bool),
    /// `y[ABSOLUTE_POS] = e;`
    Store(usize, Expr),
    /// `w[ABSOLUTE_POS].body = e;`, or `*=` of a real.
    StoreField(usize, &'static str, &'static str, Expr),
    /// `a[i % LEN] += e;` or `-=`.
    Add(usize, Option<Expr>, bool, Expr),
    /// `e[i % LEN].gain += e;` or `-=`.
    AddField(usize, Option<Expr>, &'static str, bool, Expr),
    /// `if c { return; }`.
    Return(Expr),
}

/// A type that implements the trait `Response` of [`crate::print::RESPONSE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Response {
    /// Without control flow.
    Soft,
    /// With branches and a loop.
    Stiff,
}

/// A kernel over [`ARRAYS`], a real `s` and an integer `n`.
#[derive(Clone, Debug, PartialEq)]
pub struct Kernel {
    /// Whether it has the arrays of structs.
    pub structs: bool,
    /// The type that it is launched with, if it is over a type `R: Response`.
    pub response: Option<Response>,
    /// Its statements.
    pub body: Vec<Stmt>,
}

impl Kernel {
    /// Its array parameters.
    pub fn arrays(&self) -> &'static [(&'static str, Ty, Use)] {
        &ARRAYS[..if self.structs { ARRAYS.len() } else { PLAIN }]
    }
}
