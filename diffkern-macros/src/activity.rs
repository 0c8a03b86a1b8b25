//! Which values carry a derivative: those that vary with an input, and those that an output depends on.

use std::collections::HashSet;

use diffkern_ir::{Block, CallArg, Func, FuncKind, Id, Op, ParamKind, StmtKind, Ty};

use crate::rules::{BinaryRule, UnaryRule, binary, unary};

/// The type of the elements of an array parameter.
pub fn element(func: &Func, slot: usize) -> Option<Ty> {
    match func.params.get(slot)?.kind {
        ParamKind::Array { elem, .. } => Some(elem),
        ParamKind::Scalar { .. } => None,
    }
}

pub fn is_real_array(func: &Func, slot: usize) -> bool {
    element(func, slot).is_some_and(Ty::is_real)
}

/// The operands through which a derivative passes.
pub fn active_operands(op: &Op) -> Vec<Id> {
    match op {
        Op::Const(_) | Op::Builtin(_) | Op::Len(_) | Op::Cast(_) => Vec::new(),
        Op::Unary(op, x) => match unary(*op) {
            UnaryRule::Cut => Vec::new(),
            _ => vec![*x],
        },
        Op::Binary(op, a, b) => match binary(*op) {
            BinaryRule::Cut => Vec::new(),
            _ => vec![*a, *b],
        },
        Op::Select(_, a, b) | Op::Insert(a, _, b) => vec![*a, *b],
        Op::Compose(parts) => parts.clone(),
        Op::Extract(x, _) => vec![*x],
    }
}

/// The values that vary with an input: an element of a real array, a real argument of a device function.
pub fn varied(func: &Func) -> Vec<bool> {
    let mut flags = Varied { func, values: vec![false; func.types.len()], stacks: HashSet::new() };
    if func.kind == FuncKind::DiffFn {
        for param in &func.params {
            if let ParamKind::Scalar { id, .. } = param.kind {
                flags.set(id, true);
            }
        }
    }
    // A stack may be written after a read in the text of a loop, hence the repetition.
    loop {
        let before = flags.stacks.len();
        flags.block(&func.body);
        if flags.stacks.len() == before {
            return flags.values;
        }
    }
}

struct Varied<'a> {
    func: &'a Func,
    values: Vec<bool>,
    stacks: HashSet<u32>,
}

impl Varied<'_> {
    fn get(&self, id: Id) -> bool {
        self.values[id.0 as usize]
    }

    fn set(&mut self, id: Id, varied: bool) {
        self.values[id.0 as usize] |= varied && self.func.ty(id).is_real();
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Let { id, op } => {
                    let any = active_operands(op).iter().any(|x| self.get(*x));
                    self.set(*id, any);
                }
                StmtKind::Load { id, .. } | StmtKind::Take { id, .. } => self.set(*id, true),
                StmtKind::If { then, els, results, .. } => {
                    self.block(then);
                    self.block(els);
                    for (k, result) in results.iter().enumerate() {
                        let any = self.get(then.yields[k]) || self.get(els.yields[k]);
                        self.set(*result, any);
                    }
                }
                StmtKind::For { carried, init, body, results, .. } => self.turns(carried, init, body, results),
                StmtKind::StackSet { stack, value, .. } => {
                    if self.get(*value) {
                        self.stacks.insert(*stack);
                    }
                }
                StmtKind::StackGet { id, stack, .. } => self.set(*id, self.stacks.contains(stack)),
                StmtKind::Call { args, results, .. } => {
                    let any = args.iter().any(|arg| match arg {
                        CallArg::Value(id) => self.get(*id),
                        CallArg::Array(slot) => is_real_array(self.func, *slot),
                    });
                    for result in results {
                        self.set(*result, any);
                    }
                }
                StmtKind::Store { .. }
                | StmtKind::Add { .. }
                | StmtKind::StackNew { .. }
                | StmtKind::Fault { .. }
                | StmtKind::Fetch { .. } => {}
            }
        }
    }

    fn turns(&mut self, carried: &[Id], init: &[Id], body: &Block, results: &[Id]) {
        for (value, start) in carried.iter().zip(init) {
            self.set(*value, self.get(*start));
        }
        loop {
            self.block(body);
            let mut changed = false;
            for (value, next) in carried.iter().zip(&body.yields) {
                let before = self.get(*value);
                self.set(*value, self.get(*next));
                changed |= self.get(*value) != before;
            }
            if !changed {
                break;
            }
        }
        for (result, value) in results.iter().zip(carried) {
            self.set(*result, self.get(*value));
        }
    }
}

/// The values that a result or a written real array depends on through derivatives.
pub fn useful(func: &Func) -> Vec<bool> {
    let mut flags = Useful { func, values: vec![false; func.types.len()], stacks: HashSet::new(), changed: false };
    for id in &func.body.yields {
        flags.set(*id);
    }
    loop {
        flags.changed = false;
        flags.block(&func.body);
        if !flags.changed {
            return flags.values;
        }
    }
}

struct Useful<'a> {
    func: &'a Func,
    values: Vec<bool>,
    stacks: HashSet<u32>,
    changed: bool,
}

impl Useful<'_> {
    fn get(&self, id: Id) -> bool {
        self.values[id.0 as usize]
    }

    fn set(&mut self, id: Id) {
        let flag = &mut self.values[id.0 as usize];
        self.changed |= !*flag;
        *flag = true;
    }

    fn block(&mut self, block: &Block) {
        for stmt in block.stmts.iter().rev() {
            match &stmt.kind {
                StmtKind::Let { id, op } if self.get(*id) => {
                    for operand in active_operands(op) {
                        self.set(operand);
                    }
                }
                StmtKind::Store { array, value, .. } | StmtKind::Add { array, value, .. }
                    if is_real_array(self.func, *array) =>
                {
                    self.set(*value);
                }
                StmtKind::StackGet { id, stack, .. } if self.get(*id) => self.changed |= self.stacks.insert(*stack),
                StmtKind::StackSet { stack, value, .. } if self.stacks.contains(stack) => self.set(*value),
                StmtKind::If { then, els, results, .. } => {
                    for (k, result) in results.iter().enumerate() {
                        if self.get(*result) {
                            self.set(then.yields[k]);
                            self.set(els.yields[k]);
                        }
                    }
                    self.block(els);
                    self.block(then);
                }
                StmtKind::For { carried, init, body, results, .. } => {
                    for k in 0..results.len() {
                        if self.get(results[k]) || self.get(carried[k]) {
                            self.set(init[k]);
                            self.set(body.yields[k]);
                        }
                    }
                    self.block(body);
                }
                StmtKind::Call { args, results, .. } if results.iter().any(|id| self.get(*id)) => {
                    for arg in args {
                        if let CallArg::Value(id) = arg {
                            self.set(*id);
                        }
                    }
                }
                _ => {}
            }
        }
    }
}

/// The ids that a block defines, at any depth.
pub fn defined(block: &Block, into: &mut HashSet<Id>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Let { id, .. }
            | StmtKind::Load { id, .. }
            | StmtKind::Take { id, .. }
            | StmtKind::Fetch { id, .. }
            | StmtKind::StackGet { id, .. } => {
                into.insert(*id);
            }
            StmtKind::If { then, els, results, .. } => {
                into.extend(results);
                defined(then, into);
                defined(els, into);
            }
            StmtKind::For { index, carried, body, results, .. } => {
                into.insert(*index);
                into.extend(carried);
                into.extend(results);
                defined(body, into);
            }
            StmtKind::Call { results, .. } => into.extend(results),
            StmtKind::Store { .. }
            | StmtKind::Add { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackSet { .. }
            | StmtKind::Fault { .. } => {}
        }
    }
}

/// The values defined outside of a block that a derivative may flow to from inside, in order of first use.
pub fn free(block: &Block, varied: &[bool]) -> Vec<Id> {
    let mut inside = HashSet::new();
    defined(block, &mut inside);
    let mut uses = Vec::new();
    active_uses(block, &mut uses);
    let mut seen = HashSet::new();
    uses.retain(|id| varied[id.0 as usize] && !inside.contains(id) && seen.insert(*id));
    uses
}

fn active_uses(block: &Block, into: &mut Vec<Id>) {
    for stmt in &block.stmts {
        match &stmt.kind {
            StmtKind::Let { op, .. } => into.extend(active_operands(op)),
            StmtKind::Store { value, .. } | StmtKind::Add { value, .. } | StmtKind::StackSet { value, .. } => {
                into.push(*value);
            }
            StmtKind::If { then, els, .. } => {
                active_uses(then, into);
                active_uses(els, into);
            }
            StmtKind::For { init, body, .. } => {
                into.extend(init);
                active_uses(body, into);
            }
            StmtKind::Call { args, .. } => into.extend(args.iter().filter_map(|arg| match arg {
                CallArg::Value(id) => Some(*id),
                CallArg::Array(_) => None,
            })),
            StmtKind::Load { .. }
            | StmtKind::Take { .. }
            | StmtKind::StackNew { .. }
            | StmtKind::StackGet { .. }
            | StmtKind::Fetch { .. }
            | StmtKind::Fault { .. } => {}
        }
    }
    into.extend(&block.yields);
}
