//! Which values are alike in all lanes of a pack.
//!
//! A value is uniform unless it depends on the position or on what was read at an index that does. A branch or a loop
//! whose condition varies makes its results varying, whatever they are made of: lanes leave it at different times.

use std::collections::{BTreeSet, HashMap, HashSet};

use diffkern_ir::{Access, BinaryOp, Block, Builtin, CallArg, Func, Id, Lit, Op, ParamKind, StackKind, StmtKind};

/// The largest stride that is told from any other index.
const MOST_STRIDE: u32 = 4;

pub struct Shapes {
    varying: Vec<bool>,
    /// How much an integer grows from lane to lane; 0 where that is not known.
    strides: Vec<u32>,
    /// Integers that were read from an array, or differ from such by the same in all lanes.
    listed: Vec<bool>,
    constants: HashMap<Id, u32>,
    stacks: HashSet<u32>,
    /// Stacks that keep what they hold: lanes that do not take part have another value.
    lasting: BTreeSet<u32>,
    /// Whether lanes may be masked off here.
    masked: bool,
    changed: bool,
}

impl Shapes {
    /// `parameters`: the scalar parameters that vary, of a device function.
    pub fn new(func: &Func, parameters: &[Id]) -> Shapes {
        let n = func.types.len();
        let mut shapes = Shapes {
            varying: vec![false; n],
            strides: vec![0; n],
            listed: vec![false; n],
            constants: HashMap::new(),
            stacks: HashSet::new(),
            lasting: func.stacks_of(StackKind::Array),
            masked: false,
            changed: true,
        };
        parameters.iter().for_each(|&id| shapes.set(id, true));
        // What varies only grows: a fixed point.
        while std::mem::take(&mut shapes.changed) {
            shapes.block(func, &func.body);
        }
        shapes
    }

    pub fn varies(&self, id: Id) -> bool {
        self.varying[id.0 as usize]
    }

    /// How much an integer that varies grows from lane to lane, where that is known.
    pub fn stride(&self, id: Id) -> Option<u32> {
        Some(self.strides[id.0 as usize]).filter(|&stride| stride > 0)
    }

    /// Whether an integer comes from an array of them. Lists often name neighbours one after the other (the edges of a
    /// mesh, row by row), so it pays to ask at run time.
    pub fn is_listed(&self, id: Id) -> bool {
        self.listed[id.0 as usize]
    }

    pub fn stack_varies(&self, stack: u32) -> bool {
        self.stacks.contains(&stack)
    }

    fn set(&mut self, id: Id, varies: bool) {
        self.changed |= varies && !self.varying[id.0 as usize];
        self.varying[id.0 as usize] |= varies;
    }

    fn block(&mut self, func: &Func, block: &Block) {
        for stmt in &block.stmts {
            self.statement(func, &stmt.kind);
        }
    }

    fn statement(&mut self, func: &Func, stmt: &StmtKind) {
        match stmt {
            StmtKind::Let { id, op } => {
                if let Op::Const(Lit::Int(n)) = op {
                    self.constants.insert(*id, *n as u32);
                }
                let varies = self.operation(op);
                self.set(*id, varies);
                if varies && func.ty(*id).is_int() {
                    self.strides[id.0 as usize] = self.grows(func, op);
                    self.listed[id.0 as usize] = self.shifted(func, op).is_some_and(|from| self.is_listed(from));
                }
            }
            StmtKind::Load { id, index, .. } => {
                self.set(*id, self.varies(*index));
                self.listed[id.0 as usize] = func.ty(*id).is_int() && self.varies(*index);
            }
            StmtKind::Take { id, .. } => self.set(*id, true),
            StmtKind::If { cond, then, els, results } => {
                let masked = self.masked;
                self.masked |= self.varies(*cond);
                self.block(func, then);
                self.block(func, els);
                self.masked = masked;
                for (k, &result) in results.iter().enumerate() {
                    let sides = self.varies(then.yields[k]) || self.varies(els.yields[k]);
                    self.set(result, sides || self.varies(*cond));
                }
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let ends = self.varies(*lo) || self.varies(*hi) || live.is_some_and(|id| self.varies(id));
                self.set(*index, self.varies(*lo));
                for (k, &id) in carried.iter().enumerate() {
                    let varies = ends || self.varies(init[k]) || self.varies(body.yields[k]);
                    self.set(id, varies);
                    self.set(results[k], varies || self.varies(id));
                }
                let masked = self.masked;
                self.masked |= ends;
                self.block(func, body);
                self.masked = masked;
            }
            StmtKind::StackSet { stack, at, value }
                if self.varies(*at) || self.varies(*value) || self.masked && self.lasting.contains(stack) =>
            {
                self.changed |= self.stacks.insert(*stack);
            }
            StmtKind::StackGet { id, stack, at } => {
                if self.varies(*at) {
                    self.changed |= self.stacks.insert(*stack);
                }
                self.set(*id, self.stack_varies(*stack));
            }
            StmtKind::Call { args, results, .. } => {
                let varies = !self.is_uniform_call(func, args);
                results.iter().for_each(|&id| self.set(id, varies));
            }
            _ => {}
        }
    }

    /// Whether a call can be made once for all lanes: then it adds to nothing either.
    pub fn is_uniform_call(&self, func: &Func, args: &[CallArg]) -> bool {
        args.iter().all(|arg| match arg {
            CallArg::Value(id) => !self.varies(*id),
            CallArg::Array(slot) => {
                matches!(func.params[*slot].kind, ParamKind::Array { access: Access::Read | Access::Unused, .. })
            }
        })
    }

    fn operation(&self, op: &Op) -> bool {
        match op {
            Op::Const(_) | Op::Len(_) => false,
            Op::Builtin(_) => true,
            Op::Unary(_, a) | Op::Cast(a) | Op::Extract(a, _) => self.varies(*a),
            Op::Binary(_, a, b) | Op::Insert(a, _, b) => self.varies(*a) || self.varies(*b),
            Op::Select(c, a, b) => [c, a, b].iter().any(|id| self.varies(**id)),
            Op::Compose(parts) => parts.iter().any(|&id| self.varies(id)),
        }
    }

    /// How much the result grows from lane to lane, or 0.
    fn grows(&self, func: &Func, op: &Op) -> u32 {
        let stride = |id: Id| self.strides[id.0 as usize];
        match op {
            Op::Builtin(Builtin::Pos) => 1,
            Op::Binary(BinaryOp::Mul, a, b) => {
                let factor = |id: &Id| self.constants.get(id).copied().unwrap_or(0);
                let product = stride(*a).saturating_mul(factor(b)).max(stride(*b).saturating_mul(factor(a)));
                if product <= MOST_STRIDE { product } else { 0 }
            }
            _ => self.shifted(func, op).map_or(0, stride),
        }
    }

    /// The integer from which the result differs by the same in all lanes.
    fn shifted(&self, func: &Func, op: &Op) -> Option<Id> {
        match *op {
            Op::Cast(a) if func.ty(a).is_int() => Some(a),
            Op::Binary(BinaryOp::Add, a, b) if self.varies(a) && !self.varies(b) => Some(a),
            Op::Binary(BinaryOp::Add, a, b) if !self.varies(a) && self.varies(b) => Some(b),
            Op::Binary(BinaryOp::Sub, a, b) if self.varies(a) && !self.varies(b) => Some(a),
            _ => None,
        }
    }
}
