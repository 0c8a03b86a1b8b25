//! What a function must obey: each value is defined once and before its uses, operands have the types that their
//! operation takes, arrays and stacks are used as they are declared.

mod op;

use std::fmt;

use crate::{Access, Block, CallArg, Func, FuncKind, Id, ParamKind, Slot, Stmt, StmtKind, Ty};

/// The first rule that a function breaks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VerifyError {
    /// The statement, counted in the order of the text.
    pub stmt: Option<usize>,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for VerifyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.stmt {
            Some(stmt) => write!(f, "statement {stmt}: {}", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for VerifyError {}

/// Checks `func`.
///
/// # Errors
/// With the first rule that it breaks.
pub fn verify(func: &Func) -> Result<(), VerifyError> {
    let mut state = Verify {
        func,
        values: vec![Value::Undefined; func.types.len()],
        scope: Vec::new(),
        stacks: vec![None; func.stacks as usize],
        seen: 0,
    };
    let outside = |message| VerifyError { stmt: None, message };
    state.params().map_err(outside)?;
    if let Err(message) = state.block(&func.body) {
        return Err(VerifyError { stmt: state.seen.checked_sub(1), message });
    }
    ensure(func.kind == FuncKind::DiffFn || func.body.yields.is_empty(), || "a kernel has no results".into())
        .map_err(outside)
}

/// What a use of a value would see.
#[derive(Clone, Copy, PartialEq)]
enum Value {
    Undefined,
    Visible,
    /// Defined in a block that has ended.
    Gone,
}

struct Verify<'a> {
    func: &'a Func,
    /// By id.
    values: Vec<Value>,
    /// The values that may be read here, in the order of their definitions.
    scope: Vec<Id>,
    stacks: Vec<Option<Ty>>,
    /// Statements begun.
    seen: usize,
}

type Checked = Result<(), String>;

fn ensure(holds: bool, what: impl Fn() -> String) -> Checked {
    if holds { Ok(()) } else { Err(what()) }
}

impl Verify<'_> {
    fn params(&mut self) -> Checked {
        for param in &self.func.params {
            match param.kind {
                ParamKind::Scalar { id, .. } => self.define(id)?,
                ParamKind::Array { elem, .. } => {
                    ensure(elem != Ty::Bool && elem != Ty::Usize, || format!("arrays of {elem} do not exist"))?;
                }
            }
        }
        Ok(())
    }

    fn define(&mut self, id: Id) -> Checked {
        let value = self.values.get_mut(id.0 as usize).ok_or_else(|| format!("{id} has no type"))?;
        ensure(*value == Value::Undefined, || format!("{id} is defined twice"))?;
        *value = Value::Visible;
        self.scope.push(id);
        Ok(())
    }

    fn define_all(&mut self, ids: &[Id]) -> Checked {
        ids.iter().try_for_each(|id| self.define(*id))
    }

    fn leave(&mut self, depth: usize) {
        for id in self.scope.drain(depth..) {
            self.values[id.0 as usize] = Value::Gone;
        }
    }

    fn ty(&self, id: Id) -> Result<Ty, String> {
        match self.values.get(id.0 as usize) {
            Some(Value::Visible) => Ok(self.func.ty(id)),
            Some(Value::Gone) => Err(format!("{id} belongs to a block that has ended")),
            Some(Value::Undefined) | None => Err(format!("{id} is not defined")),
        }
    }

    fn expect(&self, id: Id, ty: Ty) -> Checked {
        let found = self.ty(id)?;
        ensure(found.same(ty), || format!("{id} is a {found}, not a {ty}"))
    }

    fn int(&self, id: Id) -> Checked {
        let found = self.ty(id)?;
        ensure(found.is_int(), || format!("{id} is a {found}, not an integer"))
    }

    /// That the type of a value that is defined here is this.
    fn gives(&mut self, id: Id, ty: Ty, from: &str) -> Checked {
        self.define(id)?;
        let found = self.func.ty(id);
        ensure(found.same(ty), || format!("a {found} from {from} of {ty}"))
    }

    fn pairs(&self, what: &str, values: &[Id], targets: &[Id]) -> Checked {
        ensure(values.len() == targets.len(), || {
            format!("the {what} gives {} values where {} are expected", values.len(), targets.len())
        })?;
        let types = self.func.types.as_slice();
        values.iter().zip(targets).try_for_each(|(value, target)| match types.get(target.0 as usize) {
            Some(ty) => self.expect(*value, *ty),
            None => Err(format!("{target} has no type")),
        })
    }

    /// The type of the elements of an array that the function declares to use in this way.
    fn element(&self, slot: Slot, want: Access) -> Result<Ty, String> {
        match self.func.params.get(slot).map(|param| &param.kind) {
            Some(ParamKind::Array { elem, access, .. }) if *access == want || *access == Access::Update => Ok(*elem),
            Some(ParamKind::Array { access, .. }) => {
                Err(format!("parameter {slot} is declared {access:?} and used as {want:?}"))
            }
            Some(ParamKind::Scalar { .. }) | None => Err(format!("parameter {slot} is not an array")),
        }
    }

    fn is_array(&self, slot: Slot) -> Checked {
        ensure(self.func.element(slot).is_some(), || format!("parameter {slot} is not an array"))
    }

    fn stack(&self, stack: u32) -> Result<Ty, String> {
        self.stacks.get(stack as usize).copied().flatten().ok_or_else(|| format!("stack {stack} is not defined"))
    }

    fn block(&mut self, block: &Block) -> Checked {
        block.stmts.iter().try_for_each(|stmt| self.stmt(stmt))?;
        block.yields.iter().try_for_each(|id| self.ty(*id).map(|_| ()))
    }

    /// A block whose values end with it; its yields are of the types of `targets`.
    fn inner(&mut self, what: &str, block: &Block, targets: &[Id]) -> Checked {
        let depth = self.scope.len();
        self.block(block)?;
        self.pairs(what, &block.yields, targets)?;
        self.leave(depth);
        Ok(())
    }

    fn stmt(&mut self, stmt: &Stmt) -> Checked {
        self.seen += 1;
        match &stmt.kind {
            StmtKind::Let { id, op } => {
                let ty = self.func.types.get(id.0 as usize).copied().ok_or_else(|| format!("{id} has no type"))?;
                self.op(op, ty)?;
                self.define(*id)
            }
            StmtKind::Load { id, array, index } => {
                self.int(*index)?;
                let elem = self.element(*array, Access::Read)?;
                self.gives(*id, elem, "an array")
            }
            StmtKind::Take { id, array, index } => {
                self.int(*index)?;
                let elem = self.element(*array, Access::Take)?;
                self.gives(*id, elem, "an array")
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                self.int(*index)?;
                let elem = self.element(*array, Access::Fetch)?;
                ensure(elem.is_int(), || format!("a fetch from an array of {elem}"))?;
                self.expect(*value, elem)?;
                self.gives(*id, elem, "an array")
            }
            StmtKind::Store { array, index, value } => {
                self.int(*index)?;
                self.expect(*value, self.element(*array, Access::Store)?)
            }
            StmtKind::Add { array, index, value } => {
                self.int(*index)?;
                self.expect(*value, self.element(*array, Access::Add)?)
            }
            StmtKind::If { cond, then, els, results } => {
                self.expect(*cond, Ty::Bool)?;
                self.inner("first block", then, results)?;
                self.inner("second block", els, results)?;
                self.define_all(results)
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                self.int(*lo)?;
                self.expect(*hi, self.func.ty(*lo))?;
                self.pairs("start", init, carried)?;
                let depth = self.scope.len();
                self.gives(*index, self.func.ty(*lo), "bounds")?;
                self.define_all(carried)?;
                if let Some(live) = live {
                    self.expect(*live, Ty::Bool)?;
                    ensure(carried.contains(live), || "a loop tests what it does not carry".into())?;
                }
                self.inner("body", body, carried)?;
                self.pairs("loop", carried, results)?;
                self.leave(depth);
                self.define_all(results)
            }
            StmtKind::Fault { cond, what } => {
                self.expect(*cond, Ty::Bool)?;
                self.int(what.id())
            }
            StmtKind::StackNew { stack, ty, len, .. } => {
                self.int(*len)?;
                let slot = self.stacks.get_mut(*stack as usize).ok_or("no such stack")?;
                ensure(slot.is_none_or(|old| old == *ty), || format!("stack {stack} is of {ty} and of another type"))?;
                *slot = Some(*ty);
                Ok(())
            }
            StmtKind::StackSet { stack, at, value } => {
                self.int(*at)?;
                self.expect(*value, self.stack(*stack)?)
            }
            StmtKind::StackGet { id, stack, at } => {
                self.int(*at)?;
                let elem = self.stack(*stack)?;
                self.gives(*id, elem, "a stack")
            }
            StmtKind::Call { callee, args, results, .. } => {
                let known = self.func.callees.len();
                ensure(known == 0 || *callee < known, || "no such callee".into())?;
                args.iter().try_for_each(|arg| match arg {
                    CallArg::Value(id) => self.ty(*id).map(|_| ()),
                    CallArg::Array(slot) => self.is_array(*slot),
                })?;
                self.define_all(results)
            }
        }
    }
}
