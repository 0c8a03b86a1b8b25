//! Statements.

use super::token::{id, ids, literal, number, ty};
use super::{End, Parser, Res};
use crate::{BinaryOp, Builtin, CallArg, CallMode, FaultKind, Id, Node, Op, StackKind, Stmt, StmtKind, Ty, UnaryOp};

/// Stacks of a function, at most.
const MAX_STACKS: u32 = 1 << 16;

impl<'t> Parser<'t> {
    pub(super) fn stmt(&mut self, tokens: &[&'t str]) -> Res<Stmt> {
        let (tokens, line) = match tokens {
            [rest @ .., last] if last.starts_with('@') => (rest, number(&last[1..])?),
            _ => (tokens, 0),
        };
        Ok(Stmt { kind: self.kind(tokens)?, node: Node(line) })
    }

    fn kind(&mut self, tokens: &[&'t str]) -> Res<StmtKind> {
        Ok(match tokens {
            [value, ":", of, "=", rest @ ..] => return self.definition(value, ty(of)?, rest),
            ["store", array, index, value] => {
                StmtKind::Store { array: number(array)?, index: id(index)?, value: id(value)? }
            }
            ["add", array, index, value] => {
                StmtKind::Add { array: number(array)?, index: id(index)?, value: id(value)? }
            }
            [kind, stack, of, len]
                if let Some(kind) = StackKind::ALL.into_iter().find(|known| known.name() == *kind) =>
            {
                let stack = self.stack(stack)?;
                self.func.stacks = self.func.stacks.max(stack + 1);
                StmtKind::StackNew { stack, ty: ty(of)?, len: id(len)?, kind }
            }
            ["push", stack, at, value] => {
                StmtKind::StackSet { stack: self.stack(stack)?, at: id(at)?, value: id(value)? }
            }
            ["fault", cond, "bound", of] => StmtKind::Fault { cond: id(cond)?, what: FaultKind::Bound(id(of)?) },
            ["fault", cond, "index", of, len] => {
                StmtKind::Fault { cond: id(cond)?, what: FaultKind::Index(id(of)?, number(len)?) }
            }
            ["if", cond, rest @ .., "{"] => return self.branch(cond, rest),
            ["for", index, ":", of, "=", lo, "..", hi, rest @ .., "{"] => {
                return self.repeat((index, ty(of)?), (id(lo)?, id(hi)?), rest);
            }
            ["call", callee, mode, "(", rest @ ..] => return self.call(callee, mode, rest),
            other => return Err(format!("unknown statement `{}`", other.join(" "))),
        })
    }

    fn definition(&mut self, value: &str, ty: Ty, rest: &[&'t str]) -> Res<StmtKind> {
        Ok(match rest {
            ["load", array, index] => {
                let (array, index) = (number(array)?, id(index)?);
                StmtKind::Load { id: self.typed(value, ty)?, array, index }
            }
            ["take", array, index] => {
                let (array, index) = (number(array)?, id(index)?);
                StmtKind::Take { id: self.typed(value, ty)?, array, index }
            }
            ["fetch", array, index, added] => {
                let (array, index, added) = (number(array)?, id(index)?, id(added)?);
                StmtKind::Fetch { id: self.typed(value, ty)?, array, index, value: added, again: false }
            }
            ["peek", stack, at] => {
                let (stack, at) = (self.stack(stack)?, id(at)?);
                StmtKind::StackGet { id: self.typed(value, ty)?, stack, at }
            }
            rest => {
                let op = operation(rest, ty)?;
                StmtKind::Let { id: self.typed(value, ty)?, op }
            }
        })
    }

    /// `if %C -> %r : TYPE .. {` and its two blocks.
    fn branch(&mut self, cond: &str, rest: &[&'t str]) -> Res<StmtKind> {
        let cond = id(cond)?;
        let (then, end) = self.block()?;
        if end != End::Else {
            return Err("an `if` without `} else {`".into());
        }
        let (els, end) = self.block()?;
        if end != End::Brace {
            return Err("an `if` without its closing brace".into());
        }
        let results = self.results(rest, &then.yields)?;
        Ok(StmtKind::If { cond, then, els, results })
    }

    /// `for %i : T = %lo .. %hi while %c carry %c : TYPE = %init .. -> %r .. {` and its body.
    fn repeat(&mut self, (index, of): (&str, Ty), (lo, hi): (Id, Id), rest: &[&'t str]) -> Res<StmtKind> {
        let (live, rest) = match rest {
            ["while", live, rest @ ..] => (Some(id(live)?), rest),
            rest => (None, rest),
        };
        let split = rest.iter().position(|t| *t == "->").unwrap_or(rest.len());
        let carry = match &rest[..split] {
            ["carry", carry @ ..] => carry,
            [] => &[],
            other => return Err(format!("expected `carry`, found `{}`", other.join(" "))),
        };
        let index = self.typed(index, of)?;
        let (mut carried, mut init) = (vec![], vec![]);
        for part in carry.chunks(5) {
            let [value, ":", of, "=", start] = part else {
                return Err(format!("expected `%c : TYPE = %init`, found `{}`", part.join(" ")));
            };
            carried.push(self.typed(value, ty(of)?)?);
            init.push(id(start)?);
        }
        let (body, end) = self.block()?;
        if end != End::Brace {
            return Err("a `for` without its closing brace".into());
        }
        let results = self.results(&rest[split..], &carried)?;
        Ok(StmtKind::For { index, lo, hi, carried, init, live, body, results })
    }

    /// `call CALLEE MODE ( args ) -> %r : TYPE ..`
    fn call(&mut self, callee: &str, mode: &str, rest: &[&'t str]) -> Res<StmtKind> {
        let known = CallMode::ALL.into_iter().find(|known| known.name() == mode);
        let mode = known.ok_or_else(|| format!("unknown mode of a call `{mode}`"))?;
        let end = rest.iter().position(|t| *t == ")").ok_or("a call without `)`")?;
        let args = rest[..end].iter().map(|arg| match arg.strip_prefix('#') {
            Some(slot) => number(slot).map(CallArg::Array),
            None => id(arg).map(CallArg::Value),
        });
        let args = args.collect::<Res<_>>()?;
        Ok(StmtKind::Call { callee: number(callee)?, mode, args, results: self.results(&rest[end + 1..], &[])? })
    }

    /// Defines `-> %r : TYPE ..`; a result without a type has that of the value `like` it.
    fn results(&mut self, rest: &[&'t str], like: &[Id]) -> Res<Vec<Id>> {
        let mut rest = rest.strip_prefix(&["->"]).unwrap_or(rest);
        let mut results = vec![];
        while let [value, tail @ ..] = rest {
            let (of, tail) = match tail {
                [":", of, tail @ ..] => (Some(ty(of)?), tail),
                tail => (like.get(results.len()).and_then(|id| self.func.types.get(id.0 as usize)).copied(), tail),
            };
            let of = of.ok_or_else(|| format!("result {value} has no type"))?;
            results.push(self.typed(value, of)?);
            rest = tail;
        }
        Ok(results)
    }

    fn stack(&self, token: &str) -> Res<u32> {
        number(token)
            .ok()
            .filter(|stack| *stack < MAX_STACKS)
            .ok_or_else(|| format!("expected a stack, found `{token}`"))
    }
}

fn operation(tokens: &[&str], ty: Ty) -> Res<Op> {
    Ok(match tokens {
        ["len", slot] => Op::Len(number(slot)?),
        ["const", lit] => Op::Const(literal(lit, ty)?),
        ["select", c, a, b] => Op::Select(id(c)?, id(a)?, id(b)?),
        ["cast", a] => Op::Cast(id(a)?),
        ["compose", parts @ ..] => Op::Compose(ids(parts)?),
        ["extract", a, k] => Op::Extract(id(a)?, number(k)?),
        ["insert", a, k, b] => Op::Insert(id(a)?, number(k)?, id(b)?),
        [name] => {
            let builtin = Builtin::ALL.into_iter().find(|builtin| builtin.name() == *name);
            Op::Builtin(builtin.ok_or_else(|| unknown(name))?)
        }
        [name, a] => Op::Unary(UnaryOp::parse(name).ok_or_else(|| unknown(name))?, id(a)?),
        [name, a, b] => Op::Binary(BinaryOp::parse(name).ok_or_else(|| unknown(name))?, id(a)?, id(b)?),
        other => return Err(unknown(&other.join(" "))),
    })
}

fn unknown(operation: &str) -> String {
    format!("unknown operation `{operation}`")
}
