//! Statements: branches, loops, calls.

use std::sync::Arc;

use cubecl::ir::{Branch, IfElse, Variable};

use super::super::bound::{Sym, select};
use super::{Builder, Frame, Val, storage};
use diffkern_ir::{BinaryOp, Block, CallArg, CallMode, FaultKind, Id, Op, ParamKind, Stmt, StmtKind, UnaryOp};

/// Blocks up to this many cheap operations are computed on both sides and selected from.
const MAX_SELECT: usize = 12;

impl Builder {
    pub(super) fn block<'p>(&mut self, frame: &mut Frame<'p>, block: &'p Block) -> Result<(), String> {
        block.stmts.iter().try_for_each(|stmt| self.stmt(frame, stmt))
    }

    fn stmt<'p>(&mut self, frame: &mut Frame<'p>, stmt: &'p Stmt) -> Result<(), String> {
        match &stmt.kind {
            StmtKind::Let { id, op } => {
                let value = self.op(frame, op, frame.ty(*id))?;
                frame.set(*id, value);
                Ok(())
            }
            StmtKind::Load { id, array, index } => {
                let regs = self.load(frame.arrays[*array], frame.reg(*index)?)?;
                frame.set(*id, Val::new(regs));
                Ok(())
            }
            StmtKind::Take { id, array, index } => {
                let (slot, index) = (frame.arrays[*array], frame.reg(*index)?);
                let regs = self.load(slot, index)?;
                let zero = regs.iter().map(|r| self.zero(*r)).collect::<Vec<_>>();
                self.store(slot, index, &zero)?;
                frame.set(*id, Val::new(regs));
                Ok(())
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                let (index, value) = (frame.reg(*index)?, frame.reg(*value)?);
                let old = self.fetch(frame.arrays[*array], index, value)?;
                frame.set(*id, Val::new(vec![old]));
                Ok(())
            }
            StmtKind::Store { array, index, value } => {
                self.store(frame.arrays[*array], frame.reg(*index)?, &frame.regs(*value)?)
            }
            StmtKind::Add { array, index, value } => {
                self.accumulate(frame.arrays[*array], frame.reg(*index)?, &frame.regs(*value)?)
            }
            StmtKind::If { cond, then, els, results } => self.branch(frame, *cond, (then, els), results),
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                self.repeat(frame, *index, (*lo, *hi), (carried, init, results), (*live, body))
            }
            // It was clamped, and a GPU does not say so.
            StmtKind::Fault { what: FaultKind::Index(..), .. } => Ok(()),
            StmtKind::Fault { cond, what: FaultKind::Bound(_) } => self.flag(frame.reg(*cond)?, stmt.node),
            StmtKind::StackNew { stack, len, kind, .. } => self.stack_new(frame, *stack, *len, *kind),
            StmtKind::StackSet { stack, at, value } => self.stack_set(frame, *stack, *at, *value),
            StmtKind::StackGet { id, stack, at } => {
                let regs = self.stack_get(frame, *stack, *at)?;
                frame.set(*id, Val::new(regs));
                Ok(())
            }
            StmtKind::Call { callee, mode, args, results } => self.call(frame, (*callee, *mode), args, results),
        }
    }

    fn branch<'p>(
        &mut self,
        frame: &mut Frame<'p>,
        cond: Id,
        (then, els): (&'p Block, &'p Block),
        results: &[Id],
    ) -> Result<(), String> {
        let known = frame.get(cond)?.sym.clone();
        let cond = frame.reg(cond)?;
        let flat = is_cheap(then) && is_cheap(els);
        if flat {
            self.block(frame, then)?;
            self.block(frame, els)?;
        }
        let vars = if flat { vec![] } else { self.variables(frame, results) };
        if !flat {
            let inner = self.e.enter();
            let done = self.block(frame, then).and_then(|()| self.assign_all(frame, &vars, &then.yields));
            let scope_if = self.e.leave(inner);
            done?;
            let inner = self.e.enter();
            let done = self.block(frame, els).and_then(|()| self.assign_all(frame, &vars, &els.yields));
            let scope_else = self.e.leave(inner);
            done?;
            if results.is_empty() && els.stmts.is_empty() {
                self.e.when(cond, scope_if);
            } else {
                self.e.blocks += 2;
                self.e.branch(Branch::IfElse(Box::new(IfElse { cond, scope_if, scope_else })));
            }
        }
        for (k, &id) in results.iter().enumerate() {
            let (a, b) = (frame.get(then.yields[k])?.clone(), frame.get(els.yields[k])?.clone());
            let regs = match vars.get(k) {
                Some(vars) => vars.iter().map(|&v| self.e.read(v)).collect(),
                None => a.regs.iter().zip(&b.regs).map(|(&a, &b)| self.e.select(cond, a, b)).collect(),
            };
            let sym = match (a.sym, b.sym) {
                (Some(a), Some(b)) => Some(select(known.as_ref(), a, b)),
                _ => None,
            };
            frame.set(id, Val { regs, sym });
        }
        Ok(())
    }

    fn repeat<'p>(
        &mut self,
        frame: &mut Frame<'p>,
        index: Id,
        (lo, hi): (Id, Id),
        (carried, init, results): (&[Id], &[Id], &[Id]),
        (live, body): (Option<Id>, &'p Block),
    ) -> Result<(), String> {
        let (lo, hi) = (frame.get(lo)?.clone(), frame.get(hi)?.clone());
        let (Some(&start), Some(&end)) = (lo.regs.first(), hi.regs.first()) else {
            return Err("a loop without bounds".into());
        };
        let vars = self.variables(frame, carried);
        self.assign_all(frame, &vars, init)?;
        let (parent, i, reg) = self.e.begin_loop(start.ty);
        let live = live.and_then(|live| carried.iter().position(|id| *id == live));
        if let Some(&live) = live.and_then(|k| vars.get(k)?.first()) {
            let live = self.e.read(live);
            let over = self.e.not(live);
            let inner = self.e.enter();
            self.e.branch(Branch::Break);
            let scope = self.e.leave(inner);
            self.e.when(over, scope);
        }
        let bounds = lo.sym.zip(hi.sym);
        let sym = bounds.clone().map(|(lo, hi)| Arc::new(Sym::Index(lo, hi)));
        frame.set(index, Val { regs: vec![reg], sym });
        self.read_all(frame, &vars, carried);
        self.loops.push(bounds.map(|(lo, hi)| Arc::new(Sym::Turns(lo, hi))));
        let done = self.block(frame, body).and_then(|()| self.assign_all(frame, &vars, &body.yields));
        self.loops.pop();
        self.e.end_loop(parent, i, (start, end));
        done?;
        self.read_all(frame, &vars, results);
        Ok(())
    }

    /// Variables for values that change, one per scalar.
    fn variables(&mut self, frame: &Frame<'_>, ids: &[Id]) -> Vec<Vec<Variable>> {
        let mut all = vec![];
        for &id in ids {
            let ty = frame.ty(id);
            let scalar = storage(&self.e, ty);
            all.push((0..ty.components()).map(|_| self.e.mutable(scalar)).collect());
        }
        all
    }

    fn assign_all(&mut self, frame: &Frame<'_>, vars: &[Vec<Variable>], ids: &[Id]) -> Result<(), String> {
        for (vars, &id) in vars.iter().zip(ids) {
            for (&var, reg) in vars.iter().zip(frame.regs(id)?) {
                self.e.assign(var, reg);
            }
        }
        Ok(())
    }

    fn read_all(&mut self, frame: &mut Frame<'_>, vars: &[Vec<Variable>], ids: &[Id]) {
        for (vars, &id) in vars.iter().zip(ids) {
            let regs = vars.iter().map(|&v| self.e.read(v)).collect();
            frame.set(id, Val::new(regs));
        }
    }

    fn call<'p>(
        &mut self,
        frame: &mut Frame<'p>,
        callee: (usize, CallMode),
        args: &[CallArg],
        results: &[Id],
    ) -> Result<(), String> {
        let program: &'p _ = frame.program;
        let Some(callee) = program.callees.get(&callee) else {
            return Err(format!("`{}` calls what is not linked", program.func.name));
        };
        let func = &callee.func;
        if func.params.len() != args.len() || func.body.yields.len() != results.len() {
            return Err(format!(
                "`{}` takes {} arguments and gives {} results; `{}` passes {} and takes {}",
                func.name,
                func.params.len(),
                func.body.yields.len(),
                program.func.name,
                args.len(),
                results.len()
            ));
        }
        let mut inner = Frame::new(callee);
        for (slot, (param, arg)) in func.params.iter().zip(args).enumerate() {
            match (&param.kind, arg) {
                (ParamKind::Scalar { id, .. }, CallArg::Value(value)) => {
                    let value = frame.get(*value)?.clone();
                    if value.regs.len() != func.ty(*id).components() {
                        return Err(format!("`{}`, parameter `{}`: wrong type", func.name, param.name));
                    }
                    inner.set(*id, value);
                }
                (ParamKind::Array { .. }, CallArg::Array(outer)) => inner.arrays[slot] = frame.arrays[*outer],
                _ => return Err(format!("`{}`, parameter `{}`: array and value mixed up", func.name, param.name)),
            }
        }
        self.block(&mut inner, &func.body)?;
        for (&id, &yielded) in results.iter().zip(&func.body.yields) {
            frame.set(id, inner.get(yielded)?.clone());
        }
        Ok(())
    }
}

/// Whether computing a block costs less than branching around it, and does nothing else.
fn is_cheap(block: &Block) -> bool {
    let cheap = |stmt: &Stmt| match &stmt.kind {
        StmtKind::Let { op, .. } => is_cheap_op(op),
        StmtKind::Load { .. }
        | StmtKind::Store { .. }
        | StmtKind::Add { .. }
        | StmtKind::Take { .. }
        | StmtKind::Fetch { .. }
        | StmtKind::If { .. }
        | StmtKind::For { .. }
        | StmtKind::Fault { .. }
        | StmtKind::StackNew { .. }
        | StmtKind::StackSet { .. }
        | StmtKind::StackGet { .. }
        | StmtKind::Call { .. } => false,
    };
    block.stmts.len() <= MAX_SELECT && block.stmts.iter().all(cheap)
}

fn is_cheap_op(op: &Op) -> bool {
    use BinaryOp as B;
    use UnaryOp as U;
    match op {
        Op::Unary(op, _) => match op {
            U::Neg | U::Not | U::Abs | U::Floor | U::Ceil | U::Sign | U::Detach | U::Sqrt | U::Length => true,
            U::Exp
            | U::Ln
            | U::Sin
            | U::Cos
            | U::Tan
            | U::Asin
            | U::Acos
            | U::Atan
            | U::Tanh
            | U::Sinh
            | U::Cosh
            | U::Erf
            | U::Log1p
            | U::Round
            | U::IsNan
            | U::Nonzero
            | U::Transpose => false,
        },
        Op::Binary(op, ..) => match op {
            B::Powf | B::Powi | B::Atan2 | B::Hypot | B::MatVec | B::MatMul | B::Outer => false,
            B::Add
            | B::Sub
            | B::Mul
            | B::Div
            | B::Rem
            | B::Min
            | B::Max
            | B::Scale
            | B::MulElem
            | B::Dot
            | B::Cross
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
            | B::Or => true,
        },
        Op::Const(_)
        | Op::Builtin(_)
        | Op::Len(_)
        | Op::Select(..)
        | Op::Cast(_)
        | Op::Compose(_)
        | Op::Extract(..)
        | Op::Insert(..) => true,
    }
}
