//! Pure operations, scalar by scalar.

use std::sync::Arc;

use cubecl::ir::Variable;

use super::super::bound::{Sym, select};
use super::emit::{BOOL, Bin, Cmp, I32, U32, int_constant};
use super::math::Function;
use super::{Builder, Frame, Val, storage};
use diffkern_ir::{BinaryOp, Lit, Op, Ty, UnaryOp};

impl Builder {
    pub(super) fn op(&mut self, frame: &Frame<'_>, op: &Op, result: Ty) -> Result<Val, String> {
        Ok(match op {
            Op::Const(lit) => self.constant(*lit, result),
            Op::Builtin(builtin) => self.builtin(*builtin),
            Op::Len(slot) => {
                let slot = frame.arrays[*slot];
                Val { regs: vec![self.len(slot)?], sym: Some(Arc::new(Sym::Len(slot))) }
            }
            Op::Unary(op, a) => {
                let ty = frame.ty(*a);
                let regs = frame.regs(*a)?;
                let sym = if *op == UnaryOp::Detach { frame.get(*a)?.sym.clone() } else { None };
                Val { regs: self.unary(*op, ty, regs), sym }
            }
            Op::Binary(op, a, b) => {
                let ty = frame.ty(*a);
                let (a, b) = (frame.get(*a)?.clone(), frame.get(*b)?.clone());
                let sym = match (a.sym, b.sym) {
                    (Some(a), Some(b)) if result.is_int() || *op == BinaryOp::Lt => {
                        Some(Arc::new(Sym::Binary(*op, a, b)))
                    }
                    // Wherever an unsigned value comes from, the smaller of it and a known one is in between.
                    (Some(known), None) | (None, Some(known))
                        if *op == BinaryOp::Min && matches!(result, Ty::U32 | Ty::Usize) =>
                    {
                        Some(Arc::new(Sym::UpTo(known)))
                    }
                    _ => None,
                };
                Val { regs: self.binary(*op, ty, &a.regs, &b.regs), sym }
            }
            Op::Select(c, a, b) => {
                let cond = frame.get(*c)?.sym.clone();
                let c = frame.reg(*c)?;
                let (a, b) = (frame.get(*a)?.clone(), frame.get(*b)?.clone());
                let sym = match (a.sym, b.sym) {
                    (Some(a), Some(b)) => Some(select(cond.as_ref(), a, b)),
                    _ => None,
                };
                Val { regs: a.regs.iter().zip(&b.regs).map(|(&a, &b)| self.e.select(c, a, b)).collect(), sym }
            }
            Op::Cast(a) => {
                let sym = frame.get(*a)?.sym.clone().filter(|_| result.is_int());
                Val { regs: vec![self.cast(frame.reg(*a)?, result)], sym }
            }
            Op::Compose(parts) => Val::new(parts.iter().map(|&p| frame.reg(p)).collect::<Result<_, _>>()?),
            Op::Extract(a, k) => Val::new(frame.regs(*a)?.get(*k as usize).copied().into_iter().collect()),
            Op::Insert(a, k, b) => {
                let mut regs = frame.regs(*a)?;
                if let Some(reg) = regs.get_mut(*k as usize) {
                    *reg = frame.reg(*b)?;
                }
                Val::new(regs)
            }
        })
    }

    fn constant(&mut self, lit: Lit, ty: Ty) -> Val {
        let (reg, sym) = match (lit, ty) {
            (Lit::Real(v), _) => (self.e.f(v), None),
            (Lit::Bool(v), _) => (self.e.bool(v), None),
            (Lit::Int(v), Ty::I32) => (self.e.i32(v as i32), Some(Sym::Const(i64::from(v as i32)))),
            (Lit::Int(v), _) => (self.e.u32(v as u32), Some(Sym::Const(i64::from(v as u32)))),
        };
        Val { regs: vec![reg], sym: sym.map(Arc::new) }
    }

    fn unary(&mut self, op: UnaryOp, ty: Ty, regs: Vec<Variable>) -> Vec<Variable> {
        match (op, ty) {
            (UnaryOp::Detach, _) => regs,
            (UnaryOp::Transpose, Ty::Mat(n)) => {
                let n = n as usize;
                (0..n * n).map(|k| regs[k % n * n + k / n]).collect()
            }
            (UnaryOp::Nonzero, _) => {
                let parts: Vec<_> = regs.into_iter().map(|a| self.unary_scalar(op, ty, a)).collect();
                parts.into_iter().reduce(|any, part| self.e.or(any, part)).into_iter().collect()
            }
            (op, _) => regs.into_iter().map(|a| self.unary_scalar(op, ty, a)).collect(),
        }
    }

    fn unary_scalar(&mut self, op: UnaryOp, ty: Ty, a: Variable) -> Variable {
        use UnaryOp as U;
        let function = match op {
            U::Exp => Function::Exp,
            U::Ln => Function::Ln,
            U::Sin => Function::Sin,
            U::Cos => Function::Cos,
            U::Tan => Function::Tan,
            U::Asin => Function::Asin,
            U::Acos => Function::Acos,
            U::Atan => Function::Atan,
            U::Tanh => Function::Tanh,
            U::Sinh => Function::Sinh,
            U::Cosh => Function::Cosh,
            U::Erf => Function::Erf,
            U::Log1p => Function::Log1p,
            // A scalar is its own transpose.
            U::Detach | U::Transpose => return a,
            U::Not => return self.e.not(a),
            U::IsNan => return self.e.is_nan(a),
            U::Neg if ty == Ty::I32 => return self.e.bin(Bin::Sub, self.e.i32(0), a),
            U::Neg => return self.e.neg(a),
            U::Abs if ty == Ty::I32 => {
                let minus = self.e.bin(Bin::Sub, self.e.i32(0), a);
                let negative = self.e.cmp(Cmp::Lt, a, self.e.i32(0));
                return self.e.select(negative, minus, a);
            }
            U::Abs => return self.e.abs(a),
            U::Sign => return self.e.sign(a),
            U::Floor => return self.e.floor(a),
            U::Ceil => return self.e.ceil(a),
            U::Round => return self.e.round(a),
            U::Sqrt | U::Length => return self.e.sqrt(a),
            U::Nonzero => {
                let zero = self.zero(a);
                return self.e.cmp(Cmp::Ne, a, zero);
            }
        };
        self.e.function(function, a)
    }

    fn binary(&mut self, op: BinaryOp, ty: Ty, a: &[Variable], b: &[Variable]) -> Vec<Variable> {
        use BinaryOp as B;
        let n = match ty {
            Ty::Vec(n) | Ty::Mat(n) => n as usize,
            _ => 1,
        };
        match op {
            B::Scale => a.iter().map(|&x| self.e.mul(x, b[0])).collect(),
            B::MulElem => a.iter().zip(b).map(|(&x, &y)| self.e.mul(x, y)).collect(),
            B::Dot => {
                let pairs = a.iter().copied().zip(b.iter().copied());
                vec![self.sum_of_products(pairs)]
            }
            B::Cross => (0..3)
                .map(|k| {
                    let (i, j) = ((k + 1) % 3, (k + 2) % 3);
                    let plus = self.e.mul(a[i], b[j]);
                    let minus = self.e.mul(a[j], b[i]);
                    self.e.sub(plus, minus)
                })
                .collect(),
            B::MatVec => (0..n).map(|r| self.sum_of_products((0..n).map(|k| (a[r * n + k], b[k])))).collect(),
            B::MatMul => (0..n * n)
                .map(|at| self.sum_of_products((0..n).map(|k| (a[at / n * n + k], b[k * n + at % n]))))
                .collect(),
            B::Outer => a.iter().flat_map(|&x| b.iter().map(move |&y| (x, y))).map(|(x, y)| self.e.mul(x, y)).collect(),
            B::Add
            | B::Sub
            | B::Mul
            | B::Div
            | B::Rem
            | B::Min
            | B::Max
            | B::Powf
            | B::Powi
            | B::Atan2
            | B::Hypot
            | B::BitAnd
            | B::BitOr
            | B::BitXor
            | B::Shl
            | B::Shr
            | B::Eq
            | B::Ne
            | B::Lt
            | B::Le
            | B::Gt
            | B::Ge
            | B::And
            | B::Or => a.iter().zip(b).map(|(&x, &y)| self.binary_scalar(op, ty.scalar(), x, y)).collect(),
        }
    }

    fn sum_of_products(&mut self, pairs: impl Iterator<Item = (Variable, Variable)>) -> Variable {
        let mut sum = None;
        for (x, y) in pairs {
            let product = self.e.mul(x, y);
            sum = Some(match sum {
                Some(sum) => self.e.add(sum, product),
                None => product,
            });
        }
        match sum {
            Some(sum) => sum,
            None => self.e.f(0.0),
        }
    }

    fn binary_scalar(&mut self, op: BinaryOp, ty: Ty, a: Variable, b: Variable) -> Variable {
        use BinaryOp as B;
        match op {
            B::Add => self.e.add(a, b),
            B::Sub => self.e.sub(a, b),
            B::Mul => self.e.mul(a, b),
            B::Div | B::Rem if ty.is_int() => self.int_div(op, a, b),
            B::Div | B::Rem => self.e.div(a, b),
            B::Min => self.e.extremum(false, a, b),
            B::Max => self.e.extremum(true, a, b),
            B::Powf => self.e.powf(a, b),
            B::Powi => self.e.powi(a, b),
            B::Atan2 => self.e.atan2(a, b),
            B::Hypot => self.e.hypot(a, b),
            B::BitAnd => self.e.bin(Bin::And, a, b),
            B::BitOr => self.e.bin(Bin::Or, a, b),
            B::BitXor => self.e.bin(Bin::Xor, a, b),
            B::Shl | B::Shr => {
                let by = self.e.cast(b, U32);
                let by = self.e.bin(Bin::And, by, self.e.u32(31));
                self.e.bin(if op == B::Shl { Bin::Shl } else { Bin::Shr }, a, by)
            }
            B::Eq | B::Ne if ty == Ty::Bool => {
                let other = self.e.not(b);
                let (same, differ) = if op == B::Eq { (b, other) } else { (other, b) };
                self.e.select(a, same, differ)
            }
            B::Eq => self.e.cmp(Cmp::Eq, a, b),
            B::Ne => self.e.cmp(Cmp::Ne, a, b),
            B::Lt => self.e.cmp(Cmp::Lt, a, b),
            B::Le => self.e.cmp(Cmp::Le, a, b),
            B::Gt => self.e.cmp(Cmp::Gt, a, b),
            B::Ge => self.e.cmp(Cmp::Ge, a, b),
            B::And => self.e.and(a, b),
            B::Or => self.e.or(a, b),
            // Of two scalars each of these is their product.
            B::Scale | B::MulElem | B::Dot | B::Cross | B::MatVec | B::MatMul | B::Outer => self.e.mul(a, b),
        }
    }

    /// Quotient or remainder; 0 for a divisor of 0, wrapped around for the least integer and -1.
    fn int_div(&mut self, op: BinaryOp, a: Variable, b: Variable) -> Variable {
        let signed = a.storage_type() == I32;
        let bin = if op == BinaryOp::Div { Bin::Div } else { Bin::Rem };
        if int_constant(b).is_some_and(|b| b > 0) {
            return self.e.bin(bin, a, b);
        }
        let (zero, one) = if signed { (self.e.i32(0), self.e.i32(1)) } else { (self.e.u32(0), self.e.u32(1)) };
        let none = self.e.cmp(Cmp::Eq, b, zero);
        let mut safe = self.e.select(none, one, b);
        let minus = signed.then(|| {
            let minus = self.e.i32(-1);
            self.e.cmp(Cmp::Eq, b, minus)
        });
        if let Some(minus) = minus {
            safe = self.e.select(minus, one, safe);
        }
        let mut value = self.e.bin(bin, a, safe);
        if let (Some(minus), Bin::Div) = (minus, bin) {
            let negated = self.e.bin(Bin::Sub, zero, a);
            value = self.e.select(minus, negated, value);
        }
        self.e.select(none, zero, value)
    }

    fn cast(&mut self, a: Variable, to: Ty) -> Variable {
        let want = storage(&self.e, to);
        let from = a.storage_type();
        if from == want {
            return a;
        }
        if from == BOOL {
            let (one, zero) = (self.e.u32(1), self.e.u32(0));
            let word = self.e.select(a, one, zero);
            return self.e.cast(word, want);
        }
        if want == BOOL {
            let zero = self.zero(a);
            return self.e.cmp(Cmp::Ne, a, zero);
        }
        if from != self.e.real || !to.is_int() {
            return self.e.cast(a, want);
        }
        // Real to integer: saturates, NaN gives 0. `above` is the first real that does not fit.
        let (below, above) = if to == Ty::I32 { (-2147483648.0, 2147483648.0) } else { (0.0, 4294967296.0) };
        let (low, high) = (self.e.f(below), self.e.f(above));
        let not_low = self.e.cmp(Cmp::Ge, a, low);
        let not_high = self.e.cmp(Cmp::Lt, a, high);
        let fits = self.e.and(not_low, not_high);
        let zero = self.e.f(0.0);
        let safe = self.e.select(fits, a, zero);
        let value = self.e.cast(safe, want);
        let over = self.e.cmp(Cmp::Ge, a, high);
        if to == Ty::I32 {
            let value = self.e.select(over, self.e.i32(i32::MAX), value);
            let under = self.e.cmp(Cmp::Lt, a, low);
            self.e.select(under, self.e.i32(i32::MIN), value)
        } else {
            self.e.select(over, self.e.u32(u32::MAX), value)
        }
    }
}
