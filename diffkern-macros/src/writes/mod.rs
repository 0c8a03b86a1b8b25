//! Which elements a kernel stores to: whether two threads may have one.
//!
//! `y[i] = e` is only what it says where no two threads have the same index. Of most kernels the source proves it; of the
//! others the launcher has to find out, and this says how.

mod digits;

use std::collections::HashMap;

pub use digits::{Digit, Extent, Form, Term};

use diffkern_ir::{Access, BinaryOp, Block, Builtin, Func, Id, Lit, Node, Op, ParamKind, Slot, StmtKind, Ty, UnaryOp};

use crate::diagnostics::Diagnostics;
use crate::source::Source;
use crate::uniform::Shapes;

/// Where a kernel stores to an array.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Indices {
    /// At numbers that the digits of the thread make, in one of several forms.
    Digits(Vec<Form>),
    /// At `stride * by[ABSOLUTE_POS] + k` with `k` below `stride`.
    Listed { by: Slot, stride: u32 },
    /// The source does not tell.
    Anywhere,
}

/// An access of an array that is written.
struct Touch {
    array: Slot,
    index: Id,
    /// The condition that lets a single thread come here.
    alone: Option<Id>,
    read: bool,
    node: Node,
}

/// The arrays that are stored to at other indices than `ABSOLUTE_POS`, by more than one thread.
pub fn writes(func: &Func) -> Vec<(Slot, Indices)> {
    let look = Look::new(func);
    let of = |slot: Slot| look.found.iter().filter(move |access| access.array == slot && !access.read);
    let indices = |slot: Slot| {
        let first = of(slot).next()?;
        if first.alone.is_some() && of(slot).all(|access| access.alone == first.alone) {
            return None;
        }
        let listed = look.listed(first.index);
        Some(match digits::forms(&look, of(slot).map(|access| access.index)) {
            Some(forms) => Indices::Digits(forms),
            None if of(slot).all(|access| look.listed(access.index) == listed) => listed.unwrap_or(Indices::Anywhere),
            None => Indices::Anywhere,
        })
    };
    look.written.iter().filter_map(|&slot| Some((slot, indices(slot)?))).collect()
}

/// Refuses kernels that read and overwrite an element that all their threads have.
pub fn refuse_shared(func: &Func, source: &Source, errors: &Diagnostics) {
    let (look, shapes) = (Look::new(func), Shapes::new(func, &[]));
    let shared = |access: &&Touch| access.alone.is_none() && !shapes.varies(access.index);
    for &slot in &look.written {
        let mut all = look.found.iter().filter(|access| access.array == slot).filter(shared);
        let written = all.clone().any(|access| !access.read);
        if let (true, Some(read)) = (written, all.find(|access| access.read)) {
            let param = &func.params[slot];
            let way = match param.kind {
                ParamKind::Array { elem: Ty::U32 | Ty::I32, .. } => {
                    "; what gives each thread a number of its own is `fetch_add`"
                }
                _ => "",
            };
            errors.error(
                source.span(read.node),
                format!(
                    "this element of `{}` is overwritten by every thread, so what is read here depends on their order; read it in \
                     a kernel of its own before or after this one, or let one thread do both, `if ABSOLUTE_POS == 0 {{ .. }}`{way}",
                    param.name
                ),
            );
        }
    }
}

struct Look {
    operations: HashMap<Id, Op>,
    loads: HashMap<Id, (Slot, Id)>,
    /// The ends of the loops, by what counts in them; parameters.
    turns: HashMap<Id, Id>,
    scalars: HashMap<Id, Slot>,
    types: Vec<Ty>,
    /// Arrays of integers that the kernel only reads.
    lists: Vec<bool>,
    /// Arrays that are stored to, or read and overwritten, not at `ABSOLUTE_POS` alone.
    written: Vec<Slot>,
    found: Vec<Touch>,
}

impl Look {
    fn new(func: &Func) -> Look {
        let array = |wanted: fn(Ty, Access, bool) -> bool| {
            move |kind: &ParamKind| match *kind {
                ParamKind::Array { elem, access, owned } => wanted(elem, access, owned),
                ParamKind::Scalar { .. } => false,
            }
        };
        let list = array(|elem, access, _| elem == Ty::U32 && access == Access::Read);
        let written = array(|_, access, owned| matches!(access, Access::Store | Access::Update) && !owned);
        let mut look = Look {
            operations: HashMap::new(),
            loads: HashMap::new(),
            turns: HashMap::new(),
            scalars: HashMap::new(),
            types: func.types.clone(),
            lists: func.params.iter().map(|param| list(&param.kind)).collect(),
            written: (0..func.params.len()).filter(|&slot| written(&func.params[slot].kind)).collect(),
            found: Vec::new(),
        };
        for (slot, param) in func.params.iter().enumerate() {
            if let ParamKind::Scalar { id, .. } = param.kind {
                look.scalars.insert(id, slot);
            }
        }
        if !look.written.is_empty() {
            let shapes = Shapes::new(func, &[]);
            look.block(&func.body, None, &shapes);
        }
        look
    }

    fn block(&mut self, block: &Block, alone: Option<Id>, shapes: &Shapes) {
        for stmt in &block.stmts {
            match &stmt.kind {
                StmtKind::Let { id, op } => {
                    self.operations.insert(*id, op.clone());
                }
                StmtKind::Load { id, array, index } => {
                    self.loads.insert(*id, (*array, *index));
                    self.note(Touch { array: *array, index: *index, alone, read: true, node: stmt.node });
                }
                StmtKind::Store { array, index, .. } | StmtKind::Add { array, index, .. } => {
                    self.note(Touch { array: *array, index: *index, alone, read: false, node: stmt.node });
                }
                StmtKind::If { cond, then, els, .. } => {
                    let by = |holds: bool| alone.or(self.names_one(*cond, holds, shapes).then_some(*cond));
                    let (inside, otherwise) = (by(true), by(false));
                    self.block(then, inside, shapes);
                    self.block(els, otherwise, shapes);
                }
                StmtKind::For { index, hi, body, .. } => {
                    // A signed one may begin below zero.
                    if self.is_unsigned(*index) {
                        self.turns.insert(*index, *hi);
                    }
                    self.block(body, alone, shapes);
                }
                StmtKind::Take { .. }
                | StmtKind::Fetch { .. }
                | StmtKind::Fault { .. }
                | StmtKind::StackNew { .. }
                | StmtKind::StackSet { .. }
                | StmtKind::StackGet { .. }
                | StmtKind::Call { .. } => {}
            }
        }
    }

    fn note(&mut self, access: Touch) {
        if self.written.contains(&access.array) {
            self.found.push(access);
        }
    }

    /// Whether at most one thread has a condition that `holds`, or does not.
    fn names_one(&self, cond: Id, holds: bool, shapes: &Shapes) -> bool {
        let one = |a: Id, b: Id| {
            let is = |position: Id, other: Id| self.is_position(position) && !shapes.varies(other);
            is(a, b) || is(b, a)
        };
        match (self.operations.get(&cond), holds) {
            (Some(Op::Binary(BinaryOp::Eq, a, b)), true) | (Some(Op::Binary(BinaryOp::Ne, a, b)), false) => one(*a, *b),
            (Some(Op::Binary(BinaryOp::And, a, b)), true) | (Some(Op::Binary(BinaryOp::Or, a, b)), false) => {
                self.names_one(*a, holds, shapes) || self.names_one(*b, holds, shapes)
            }
            (Some(Op::Unary(UnaryOp::Not, a)), _) => self.names_one(*a, !holds, shapes),
            _ => false,
        }
    }

    /// The integer that a chain of casts among integers begins with: all have 32 bits, and these are alike.
    fn uncast(&self, id: Id) -> Id {
        let is_int = |id: Id| self.types[id.0 as usize].is_int();
        match self.operations.get(&id) {
            Some(&Op::Cast(from)) if is_int(from) && is_int(id) => self.uncast(from),
            _ => id,
        }
    }

    fn is_unsigned(&self, id: Id) -> bool {
        matches!(self.types[id.0 as usize], Ty::U32 | Ty::Usize)
    }

    fn is_position(&self, id: Id) -> bool {
        matches!(self.operations.get(&self.uncast(id)), Some(Op::Builtin(Builtin::Pos)))
    }

    fn number(&self, id: Id) -> Option<u32> {
        match self.operations.get(&self.uncast(id)) {
            Some(Op::Const(Lit::Int(n))) => u32::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The other operand of a sum or product with a number.
    fn with_number(&self, id: Id, of: BinaryOp) -> Option<(Id, u32)> {
        match self.operations.get(&self.uncast(id)) {
            Some(&Op::Binary(op, a, b)) if op == of => {
                self.number(b).map(|n| (a, n)).or_else(|| self.number(a).map(|n| (b, n)))
            }
            _ => None,
        }
    }

    fn listed(&self, index: Id) -> Option<Indices> {
        let (rest, part) = self.with_number(index, BinaryOp::Add).unwrap_or((index, 0));
        let (base, stride) = self.with_number(rest, BinaryOp::Mul).unwrap_or((rest, 1));
        match self.loads.get(&self.uncast(base)) {
            Some(&(by, at)) if part < stride && self.lists[by] && self.is_position(at) => {
                Some(Indices::Listed { by, stride })
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::gradient_tests::support::kernel;

    /// Of `y`, which is at 4, in a kernel with this body after `let i = ABSOLUTE_POS`.
    fn of(body: &str) -> Option<Indices> {
        let params = "x: &Array<F>, at: &Array<u32>, w: usize, h: u32, y: &mut Array<F>";
        let mut func = kernel(&format!("fn k<F: Float>({params}) {{ let i = ABSOLUTE_POS; {body} }}"));
        crate::simplify::simplify(&mut func);
        let writes = writes(&func);
        assert!(writes.len() < 2 && writes.iter().all(|(slot, _)| *slot == 4), "{writes:?}");
        writes.first().map(|(_, indices)| indices.clone())
    }

    /// As a formula.
    fn formula(form: &Form) -> String {
        let extent = |extent: &Extent| match extent {
            Extent::Number(n) => n.to_string(),
            Extent::Scalar(slot) => ["x", "at", "w", "h", "y"][*slot].to_owned(),
            Extent::Len(slot) => format!("{}.len", ["x", "at", "w", "h", "y"][*slot]),
        };
        let term = |term: &Term| {
            let digit = match &term.digit {
                Digit::Quotient(by) => format!("i/{}", extent(by)),
                Digit::Remainder(by) => format!("i%{}", extent(by)),
                Digit::Below(end) => format!("..{}", extent(end)),
                other => format!("{other:?}"),
            };
            let weight: Vec<String> = term.weight.iter().map(extent).collect();
            format!(
                "{}{digit}{}",
                if term.negative { "-" } else { "" },
                weight.iter().map(|w| format!(" {w}")).collect::<String>()
            )
        };
        form.iter().map(term).collect::<Vec<_>>().join(" + ")
    }

    #[test]
    fn what_one_thread_does_needs_no_look() {
        for body in [
            "y[i] = x[i];",
            "y[0] += x[i];",
            "if i == 0 { y[0] = x[1]; y[1] = x[0]; }",
            "if i != 3 { return; } y[w] = x[1];",
            "if x[i] > 0.5 && i == w { y[0] = y[0] * 2.0; }",
        ] {
            assert_eq!(of(body), None, "{body}");
        }
    }

    #[test]
    fn digits_of_indices_are_found() {
        for (body, expected) in [
            ("y[2 * i] = x[i]; y[2 * i + 1] = x[i];", "Pos 2 | ..2 + Pos 2"),
            ("y[i * 3 + 2] = y[i * 3 + 2] * x[i];", "Pos 3"),
            ("let k = i as u32; y[k * 4] = x[i];", "Pos 4"),
            ("y[i + 1] = x[i];", "Pos"),
            ("let k = i as i32; y[(k * 2 - 1) as usize] = x[i];", "Pos 2"),
            ("y[y.len() - 1 - i] = x[i];", "-Pos"),
            ("y[2 * i + 2] = x[i];", "Pos 2"),
            ("y[ABSOLUTE_POS_Y * 4 + ABSOLUTE_POS_X] = x[i];", "X + Y 4"),
            ("y[(ABSOLUTE_POS_Z * h as usize + ABSOLUTE_POS_Y) * w + ABSOLUTE_POS_X] = x[i];", "X + Y w + Z w h"),
            (
                "let wh = w * h as usize; y[ABSOLUTE_POS_Z * wh + ABSOLUTE_POS_Y * w + ABSOLUTE_POS_X] = x[i];",
                "X + Y w + Z w h",
            ),
            ("let (r, c) = (i / w, i % w); y[c * h as usize + r] = x[i];", "i/w + i%w h"),
            ("for k in 0..h { y[i * h as usize + k as usize] = x[i]; }", "..h + Pos h"),
            ("for k in 0..h { y[k as usize * w + i] = x[i]; }", "Pos + ..h w"),
            ("for a in 0..h { for b in 0..h { y[(i as u32 * h + a) * h + b] = x[i]; } }", "..h + ..h h + Pos h h"),
            ("for k in 0..x.len() { y[i * x.len() + k] = x[k]; }", "..x.len + Pos x.len"),
        ] {
            let Some(Indices::Digits(forms)) = of(body) else { panic!("{body}: {:?}", of(body)) };
            assert_eq!(forms.iter().map(formula).collect::<Vec<_>>().join(" | "), expected, "{body}");
        }
    }

    #[test]
    fn lists_are_looked_at() {
        for (body, stride) in [
            ("y[at[i]] = x[i];", 1),
            ("let k = at[i]; if x[i] > 0.5 { y[k] = x[i]; } else { y[k] = y[k]; }", 1),
            ("let k = at[i] as usize * 2; y[k] = x[i]; y[k + 1] = x[i] * 2.0;", 2),
        ] {
            assert_eq!(of(body), Some(Indices::Listed { by: 1, stride }), "{body}");
        }
    }

    #[test]
    fn of_others_the_source_does_not_tell() {
        for body in [
            "y[0] = x[i];",
            "y[w] = x[i];",
            "y[2 * i] = x[i]; y[w + 2 * i] = x[i];",
            "y[w - i] = x[i]; y[w + i] = x[i];",
            "y[w + 1 - i] = x[i]; y[w - 1 - i] = x[i];",
            "y[i * 2] = x[i]; y[i * 3] = x[i];",
            "y[i - i] = x[i];",
            "y[i * i] = x[i];",
            "y[i * (w + 1)] = x[i];",
            "y[at[i + 1]] = x[i];",
            "y[at[at[i]]] = x[i];",
            "y[at[i] + 1] = x[i];",
            "y[i % 2 + 1 / w] = x[i];",
            "y[ABSOLUTE_POS_Y * w + ABSOLUTE_POS_X * h as usize] = x[i];",
            "y[ABSOLUTE_POS_X + ABSOLUTE_POS_Y] = x[i];",
            "y[ABSOLUTE_POS_X + ABSOLUTE_POS_Y * w] = x[i]; y[ABSOLUTE_POS_X + 1 + ABSOLUTE_POS_Y * w] = x[i];",
            "for k in 0..h { y[i + k as usize * w] = x[i]; y[i + k as usize * x.len()] = x[i]; }",
            "for k in 0..h { y[k] = x[i]; }",
            "for k in -2..2i32 { y[i * 2 + (k + 2) as usize] = x[i]; }",
            "let k = i as i32; y[(k / 3 + k % 3 * 100) as usize] = x[i];",
            "for k in 0..h { y[i + k as usize] = x[i]; }",
            "for k in 0..at[i] { y[i * w + k as usize] = x[i]; }",
            "if i == 0 { y[0] = x[0]; } if i == 1 { y[0] = x[1]; }",
            "if i == 0 || x[i] > 0.5 { y[0] = x[0]; }",
            "if i != 0 { y[0] = x[0]; }",
            "if i == at[i] as usize { y[0] = x[0]; }",
        ] {
            assert_eq!(of(body), Some(Indices::Anywhere), "{body}");
        }
    }
}
