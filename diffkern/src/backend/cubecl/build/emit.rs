//! Writing CubeCL instructions: registers, constants that are folded here, blocks.

use cubecl::ir::{
    Arithmetic, BinaryOperator, Bitwise, Branch, Comparison, ConstantValue, ElemType, FloatKind, If,
    IndexAssignOperator, IndexOperator, Instruction, IntKind, ManagedVariable, Operation, Operator, RangeLoop, Scope,
    Select, StorageType, Type, UIntKind, UnaryOperator, Variable, VariableKind,
};
use cubecl::prelude::KernelBuilder;

/// What the instructions are for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Target {
    /// Reals are `f64`, else `f32`.
    pub double: bool,
    /// The device adds floats atomically; else they are added by exchanges.
    pub atomic_add: bool,
    /// The device's transcendental functions are as good as a libm's; else they are emitted as polynomials.
    pub exact_math: bool,
}

/// The kernel being written.
pub(crate) struct Emit {
    pub kernel: KernelBuilder,
    pub target: Target,
    pub real: StorageType,
    /// Always zero at run time, and unknown to every compiler that would fold a constant.
    pub zero_bits: Option<Variable>,
    /// Number of branches and loops so far.
    pub blocks: usize,
    /// Variables must outlive the kernel's construction, or their slots are handed out again.
    keep: Vec<ManagedVariable>,
}

pub(crate) const U32: StorageType = StorageType::Scalar(ElemType::UInt(UIntKind::U32));
pub(crate) const I32: StorageType = StorageType::Scalar(ElemType::Int(IntKind::I32));
pub(crate) const BOOL: StorageType = StorageType::Scalar(ElemType::Bool);
const F32: StorageType = StorageType::Scalar(ElemType::Float(FloatKind::F32));
const F64: StorageType = StorageType::Scalar(ElemType::Float(FloatKind::F64));
const U64: StorageType = StorageType::Scalar(ElemType::UInt(UIntKind::U64));

/// Operations of two real or integer scalars that are folded when both are constants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Bin {
    Add,
    Sub,
    Mul,
    /// Of reals; of integers only with a divisor that is neither 0 nor -1.
    Div,
    Rem,
    And,
    Or,
    Xor,
    Shl,
    Shr,
}

/// Comparisons.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cmp {
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
}

impl Emit {
    pub fn new(kernel: KernelBuilder, target: Target) -> Self {
        let real = if target.double { F64 } else { F32 };
        Self { kernel, target, real, zero_bits: None, blocks: 0, keep: vec![] }
    }

    fn scope(&mut self) -> &mut Scope {
        &mut self.kernel.scope
    }

    /// A register that holds the result of `operation`.
    pub fn register(&mut self, operation: impl Into<Operation>, ty: StorageType) -> Variable {
        let out = *self.scope().create_local(Type::new(ty));
        self.scope().register(Instruction::new(operation, out));
        out
    }

    /// A variable that can be assigned.
    pub fn mutable(&mut self, ty: StorageType) -> Variable {
        let managed = self.scope().create_local_mut(Type::new(ty));
        let var = *managed;
        self.keep.push(managed);
        var
    }

    pub fn assign(&mut self, var: Variable, value: Variable) {
        self.scope().register(Instruction::new(Operation::Copy(value), var));
    }

    /// The present value of a variable, which later assignments do not change.
    pub fn read(&mut self, var: Variable) -> Variable {
        let ty = var.storage_type();
        self.register(Operation::Copy(var), ty)
    }

    pub fn local_array(&mut self, ty: StorageType, len: usize) -> Variable {
        *self.scope().create_local_array(Type::new(ty), len)
    }

    /// Instructions go to a new block until [`Emit::leave`] with the value returned.
    pub fn enter(&mut self) -> Scope {
        let child = self.scope().child();
        std::mem::replace(self.scope(), child)
    }

    /// Ends the block that [`Emit::enter`] began.
    pub fn leave(&mut self, parent: Scope) -> Scope {
        std::mem::replace(self.scope(), parent)
    }

    /// `if cond { scope }`
    pub fn when(&mut self, cond: Variable, scope: Scope) {
        self.blocks += 1;
        self.branch(Branch::If(Box::new(If { cond, scope })));
    }

    /// Begins `for i in ..`; returns what [`Emit::end_loop`] needs, and the index.
    pub fn begin_loop(&mut self, ty: Type) -> (Scope, Variable, Variable) {
        self.blocks += 1;
        let parent = self.enter();
        let i = *self.scope().create_local_restricted(ty);
        let index = self.read(i);
        (parent, i, index)
    }

    /// Ends a loop from `start` up to `end`, exclusive.
    pub fn end_loop(&mut self, parent: Scope, i: Variable, (start, end): (Variable, Variable)) {
        let scope = self.leave(parent);
        let range = RangeLoop { i, start, end, step: None, inclusive: false, scope };
        self.branch(Branch::RangeLoop(Box::new(range)));
    }

    pub fn branch(&mut self, branch: Branch) {
        self.scope().register(Instruction::no_out(branch));
    }

    pub fn instruction(&mut self, operation: impl Into<Operation>, out: Variable) {
        self.scope().register(Instruction::new(operation, out));
    }

    pub fn index(&mut self, list: Variable, index: Variable, ty: StorageType) -> Variable {
        let op = IndexOperator { list, index, vector_size: 0, unroll_factor: 1 };
        self.register(Operator::UncheckedIndex(op), ty)
    }

    pub fn set_index(&mut self, list: Variable, index: Variable, value: Variable) {
        let op = IndexAssignOperator { index, value, vector_size: 0, unroll_factor: 1 };
        self.instruction(Operator::UncheckedIndexAssign(op), list);
    }

    pub fn u32(&self, value: u32) -> Variable {
        Variable::constant(ConstantValue::UInt(u64::from(value)), U32)
    }

    pub fn i32(&self, value: i32) -> Variable {
        Variable::constant(ConstantValue::Int(i64::from(value)), I32)
    }

    pub fn bool(&self, value: bool) -> Variable {
        Variable::constant(ConstantValue::Bool(value), BOOL)
    }

    /// A real at full precision. What a shading language has no literal for goes through its bits.
    pub fn f(&mut self, value: f64) -> Variable {
        let narrow = f64::from(value as f32);
        let seen = if self.target.double { value } else { narrow };
        let plain = seen.is_finite() && !(seen == 0.0 && seen.is_sign_negative());
        if plain {
            // A subnormal f32 would be refused as a literal by some compilers.
            let tiny = !self.target.double && seen != 0.0 && seen.abs() < f64::from(f32::MIN_POSITIVE);
            if !tiny {
                return Variable::constant(ConstantValue::Float(seen), self.real);
            }
        }
        if self.target.double {
            let bits = Variable::constant(ConstantValue::UInt(value.to_bits()), U64);
            let zero = self.zero_bits.unwrap_or(self.u32(0));
            let zero = self.unary(|a| Operator::Cast(a).into(), zero, U64);
            let bits = self.binary(|a| Bitwise::BitwiseOr(a).into(), bits, zero, U64);
            return self.unary(|a| Operator::Reinterpret(a).into(), bits, F64);
        }
        let bits = self.u32((value as f32).to_bits());
        let zero = self.zero_bits.unwrap_or(self.u32(0));
        let bits = self.binary(|a| Bitwise::BitwiseOr(a).into(), bits, zero, U32);
        self.float_of(bits)
    }

    pub fn unary(&mut self, op: impl FnOnce(UnaryOperator) -> Operation, input: Variable, ty: StorageType) -> Variable {
        self.register(op(UnaryOperator { input }), ty)
    }

    pub fn binary(
        &mut self,
        op: impl FnOnce(BinaryOperator) -> Operation,
        lhs: Variable,
        rhs: Variable,
        ty: StorageType,
    ) -> Variable {
        self.register(op(BinaryOperator { lhs, rhs }), ty)
    }

    /// Bits of an `f32`.
    pub fn bits(&mut self, a: Variable) -> Variable {
        if let Some(v) = real_constant(a) {
            return self.u32((v as f32).to_bits());
        }
        self.unary(|a| Operator::Reinterpret(a).into(), a, U32)
    }

    /// `f32` from its bits.
    pub fn float_of(&mut self, a: Variable) -> Variable {
        self.unary(|a| Operator::Reinterpret(a).into(), a, F32)
    }

    /// Whether a real is not a number, by its bits: compilers fold `a != a` to false.
    pub fn is_nan(&mut self, a: Variable) -> Variable {
        if self.target.double {
            return self.unary(|a| Comparison::IsNan(a).into(), a, BOOL);
        }
        let bits = self.bits(a);
        let magnitude = self.bin(Bin::And, bits, self.u32(0x7fff_ffff));
        self.cmp(Cmp::Gt, magnitude, self.u32(0x7f80_0000))
    }

    pub fn cast(&mut self, a: Variable, ty: StorageType) -> Variable {
        if a.storage_type() == ty {
            return a;
        }
        match (int_constant(a), ty) {
            (Some(v), U32) => self.u32(v as u32),
            (Some(v), I32) => self.i32(v as i32),
            _ => self.unary(|a| Operator::Cast(a).into(), a, ty),
        }
    }

    pub fn bin(&mut self, op: Bin, a: Variable, b: Variable) -> Variable {
        let ty = a.storage_type();
        if let Some(folded) = self.folded(op, a, b) {
            return folded;
        }
        if let Some(simple) = trivial(op, a, b) {
            return simple;
        }
        let operator = BinaryOperator { lhs: a, rhs: b };
        let operation: Operation = match op {
            Bin::Add => Arithmetic::Add(operator).into(),
            Bin::Sub => Arithmetic::Sub(operator).into(),
            Bin::Mul => Arithmetic::Mul(operator).into(),
            Bin::Div => Arithmetic::Div(operator).into(),
            Bin::Rem => Arithmetic::Modulo(operator).into(),
            Bin::And => Bitwise::BitwiseAnd(operator).into(),
            Bin::Or => Bitwise::BitwiseOr(operator).into(),
            Bin::Xor => Bitwise::BitwiseXor(operator).into(),
            Bin::Shl => Bitwise::ShiftLeft(operator).into(),
            Bin::Shr => Bitwise::ShiftRight(operator).into(),
        };
        self.register(operation, ty)
    }

    /// Two constants, as the device would combine them; compilers refuse some of these.
    fn folded(&mut self, op: Bin, a: Variable, b: Variable) -> Option<Variable> {
        if let (Some(x), Some(y)) = (int_constant(a), int_constant(b)) {
            let (ux, uy) = (x as u32, y as u32);
            let signed = a.storage_type() == I32;
            let v = match op {
                Bin::Add => ux.wrapping_add(uy),
                Bin::Sub => ux.wrapping_sub(uy),
                Bin::Mul => ux.wrapping_mul(uy),
                Bin::Div if signed => (x as i32).checked_div(y as i32)? as u32,
                Bin::Rem if signed => (x as i32).checked_rem(y as i32)? as u32,
                Bin::Div => ux.checked_div(uy)?,
                Bin::Rem => ux.checked_rem(uy)?,
                Bin::And => ux & uy,
                Bin::Or => ux | uy,
                Bin::Xor => ux ^ uy,
                Bin::Shl => ux.wrapping_shl(uy),
                Bin::Shr if signed => (x as i32).wrapping_shr(uy) as u32,
                Bin::Shr => ux.wrapping_shr(uy),
            };
            return Some(if signed { self.i32(v as i32) } else { self.u32(v) });
        }
        let (x, y) = (real_constant(a)?, real_constant(b)?);
        // Rounding an exact operation twice, to f64 and to f32, gives what f32 gives.
        let v = match op {
            Bin::Add => x + y,
            Bin::Sub => x - y,
            Bin::Mul => x * y,
            Bin::Div => x / y,
            _ => return None,
        };
        Some(self.f(v))
    }

    pub fn cmp(&mut self, op: Cmp, lhs: Variable, rhs: Variable) -> Variable {
        let operator = BinaryOperator { lhs, rhs };
        let operation = match op {
            Cmp::Eq => Comparison::Equal(operator),
            Cmp::Ne => Comparison::NotEqual(operator),
            Cmp::Lt => Comparison::Lower(operator),
            Cmp::Le => Comparison::LowerEqual(operator),
            Cmp::Gt => Comparison::Greater(operator),
            Cmp::Ge => Comparison::GreaterEqual(operator),
        };
        self.register(operation, BOOL)
    }

    pub fn select(&mut self, cond: Variable, then: Variable, or_else: Variable) -> Variable {
        if let VariableKind::Constant(ConstantValue::Bool(c)) = cond.kind {
            return if c { then } else { or_else };
        }
        if then == or_else {
            return then;
        }
        let ty = then.storage_type();
        self.register(Operator::Select(Select { cond, then, or_else }), ty)
    }

    pub fn not(&mut self, a: Variable) -> Variable {
        self.unary(|a| Operator::Not(a).into(), a, BOOL)
    }

    pub fn and(&mut self, a: Variable, b: Variable) -> Variable {
        self.binary(|a| Operator::And(a).into(), a, b, BOOL)
    }

    pub fn or(&mut self, a: Variable, b: Variable) -> Variable {
        self.binary(|a| Operator::Or(a).into(), a, b, BOOL)
    }

    pub fn add(&mut self, a: Variable, b: Variable) -> Variable {
        self.bin(Bin::Add, a, b)
    }

    pub fn sub(&mut self, a: Variable, b: Variable) -> Variable {
        self.bin(Bin::Sub, a, b)
    }

    pub fn mul(&mut self, a: Variable, b: Variable) -> Variable {
        self.bin(Bin::Mul, a, b)
    }

    pub fn div(&mut self, a: Variable, b: Variable) -> Variable {
        self.bin(Bin::Div, a, b)
    }

    pub fn neg(&mut self, a: Variable) -> Variable {
        if let Some(v) = real_constant(a) {
            return self.f(-v);
        }
        self.unary(|a| Arithmetic::Neg(a).into(), a, a.storage_type())
    }
}

/// Cases that need no instruction. Of reals only those that are exact for every operand.
fn trivial(op: Bin, a: Variable, b: Variable) -> Option<Variable> {
    let (x, y) = (int_constant(a), int_constant(b));
    match op {
        Bin::Add if x == Some(0) => Some(b),
        Bin::Add | Bin::Sub if y == Some(0) => Some(a),
        Bin::Mul if x == Some(1) || real_constant(a) == Some(1.0) => Some(b),
        Bin::Mul | Bin::Div if y == Some(1) || real_constant(b) == Some(1.0) => Some(a),
        _ => None,
    }
}

/// Value of an integer constant.
pub(crate) fn int_constant(a: Variable) -> Option<i64> {
    match (a.kind, a.storage_type()) {
        (VariableKind::Constant(value), U32 | I32) => Some(value.as_i64()),
        _ => None,
    }
}

/// Value of a real constant.
pub(crate) fn real_constant(a: Variable) -> Option<f64> {
    match a.kind {
        VariableKind::Constant(ConstantValue::Float(value)) => Some(value),
        _ => None,
    }
}
