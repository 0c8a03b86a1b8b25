//! Text to [`Func`], with every use of a value, an array and a stack checked.

use super::check;
use super::types::*;

/// The text of a kernel does not follow the format; this is never the fault of the kernel's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl std::fmt::Display for ParseError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "line {} of the kernel's text: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

type Res<T> = Result<T, String>;

/// Reads the text of one program.
///
/// # Errors
/// When a line is not of the format, or uses a value that is not defined, or one of the wrong type.
pub fn parse(text: &str) -> Result<Func, ParseError> {
    let lines = text
        .lines()
        .enumerate()
        .map(|(k, line)| (k + 1, line.split_whitespace().filter(|t| *t != ",").collect::<Vec<_>>()))
        .filter(|(_, tokens)| !tokens.is_empty())
        .collect();
    let func = Func { name: String::new(), params: vec![], body: Block::default(), types: vec![], stacks: vec![] };
    let mut parser = Parser { lines, next: 0, func, visible: vec![] };
    match parser.program() {
        Ok(()) => Ok(parser.func),
        Err(message) => {
            let at = parser.next.saturating_sub(1);
            let line = parser.lines.get(at).map_or(0, |(line, _)| *line);
            Err(ParseError { line, message })
        }
    }
}

struct Parser<'t> {
    lines: Vec<(usize, Vec<&'t str>)>,
    next: usize,
    func: Func,
    /// By id, whether a use here would see the definition.
    visible: Vec<Visible>,
}

#[derive(Clone, Copy, PartialEq)]
enum Visible {
    Undefined,
    Yes,
    /// Defined in a block that has ended.
    Gone,
}

/// How a block ended.
#[derive(PartialEq)]
enum End {
    Brace,
    Else,
    Text,
}

impl<'t> Parser<'t> {
    fn line(&mut self) -> Option<Vec<&'t str>> {
        let line = self.lines.get(self.next)?.1.clone();
        self.next += 1;
        Some(line)
    }

    fn program(&mut self) -> Res<()> {
        match self.line().as_deref() {
            Some(["fn", name]) => self.func.name = (*name).into(),
            other => return Err(format!("expected `fn NAME`, found {other:?}")),
        }
        loop {
            let line = self.line().ok_or("the text ends before `body`")?;
            match line.as_slice() {
                ["body"] => break,
                ["array", slot, access, ty, name, rest @ ..] => {
                    let elem = self.ty(ty)?;
                    if elem == Ty::Bool || elem == Ty::Usize {
                        return Err(format!("arrays of {elem} do not exist"));
                    }
                    let access = match *access {
                        "read" => Access::Read,
                        "store" => Access::Store,
                        "add" => Access::Add,
                        "take" => Access::Take,
                        "update" => Access::Update,
                        "fetch" => Access::Fetch,
                        "unused" => Access::Unused,
                        other => return Err(format!("unknown access `{other}`")),
                    };
                    let kind = ParamKind::Array { elem, access, owned: rest == ["owned"] };
                    self.param(slot, name, kind)?;
                }
                ["scalar", slot, id, ty, name, rest @ ..] => {
                    let ty = self.ty(ty)?;
                    let id = self.define(id, ty)?;
                    self.param(slot, name, ParamKind::Scalar { id, comptime: rest == ["comptime"] })?;
                }
                other => return Err(format!("expected a parameter or `body`, found {other:?}")),
            }
        }
        let (body, end) = self.block()?;
        self.func.body = body;
        if end == End::Text { Ok(()) } else { Err("a closing brace too many".into()) }
    }

    fn param(&mut self, slot: &str, name: &str, kind: ParamKind) -> Res<()> {
        if slot.parse() != Ok(self.func.params.len()) {
            return Err(format!("parameter {slot} comes where {} should", self.func.params.len()));
        }
        self.func.params.push(Param { name: name.into(), kind });
        Ok(())
    }

    /// Statements up to the end of the block; what it defines is gone after it.
    fn block(&mut self) -> Res<(Block, End)> {
        let mut block = Block::default();
        let before = self.visible.clone();
        let end = loop {
            let Some(line) = self.line() else { break End::Text };
            match line.as_slice() {
                ["}"] => break End::Brace,
                ["}", "else", "{"] => break End::Else,
                ["yield", ids @ ..] | ["return", ids @ ..] => block.yields = self.uses(ids)?,
                tokens => {
                    let stmt = self.stmt(tokens)?;
                    block.stmts.push(stmt);
                }
            }
        };
        for (k, now) in self.visible.iter_mut().enumerate() {
            if *now == Visible::Yes && before.get(k).copied() != Some(Visible::Yes) {
                *now = Visible::Gone;
            }
        }
        Ok((block, end))
    }

    fn stmt(&mut self, tokens: &[&'t str]) -> Res<Stmt> {
        match tokens {
            [id, ":", ty, "=", rest @ ..] => self.definition(id, ty, rest),
            ["store", slot, index, value, ..] => {
                let (array, index) = self.element(slot, index, Access::Store)?;
                Ok(Stmt::Store { array, index, value: self.value_of(value, array)? })
            }
            ["add", slot, index, value, ..] => {
                let (array, index) = self.element(slot, index, Access::Add)?;
                Ok(Stmt::Add { array, index, value: self.value_of(value, array)? })
            }
            ["stack", stack, ty, len] => {
                let (stack, ty) = (number(stack)?, self.ty(ty)?);
                if stack >= self.func.stacks.len() {
                    self.func.stacks.resize(stack + 1, None);
                }
                match self.func.stacks[stack] {
                    Some(old) if old != ty => return Err(format!("stack {stack} is of {old} and of {ty}")),
                    _ => self.func.stacks[stack] = Some(ty),
                }
                Ok(Stmt::StackNew { stack, len: self.int(len)? })
            }
            ["push", stack, at, value] => {
                let (stack, ty) = self.stack(stack)?;
                Ok(Stmt::StackSet { stack, at: self.int(at)?, value: self.typed(value, ty)? })
            }
            ["fault", cond, "bound", _, line] => {
                let line = line.strip_prefix('@').map_or(Ok(0), number)?;
                Ok(Stmt::Fault { cond: self.typed(cond, Ty::Bool)?, what: FaultKind::Bound(line as u32) })
            }
            ["fault", cond, "index", ..] => {
                Ok(Stmt::Fault { cond: self.typed(cond, Ty::Bool)?, what: FaultKind::Index })
            }
            ["if", cond, rest @ .., "{"] => self.branch(cond, rest),
            ["for", index, ":", ty, "=", lo, "..", hi, rest @ .., "{"] => self.repeat([index, ty, lo, hi], rest),
            ["call", callee, mode, "(", rest @ ..] => self.call(callee, mode, rest),
            other => Err(format!("unknown statement `{}`", other.join(" "))),
        }
    }

    fn definition(&mut self, id: &str, ty: &str, rest: &[&'t str]) -> Res<Stmt> {
        let ty = self.ty(ty)?;
        let stmt = match rest {
            ["load", slot, index, ..] => {
                let (array, index) = self.element(slot, index, Access::Read)?;
                Stmt::Load { id: self.define_element(id, ty, array)?, array, index }
            }
            ["take", slot, index, ..] => {
                let (array, index) = self.element(slot, index, Access::Take)?;
                Stmt::Take { id: self.define_element(id, ty, array)?, array, index }
            }
            ["fetch", slot, index, value, ..] => {
                let (array, index) = self.element(slot, index, Access::Fetch)?;
                let value = self.value_of(value, array)?;
                Stmt::Fetch { id: self.define_element(id, ty, array)?, array, index, value }
            }
            ["peek", stack, at] => {
                let (stack, elem) = self.stack(stack)?;
                if elem != ty {
                    return Err(format!("a {ty} from a stack of {elem}"));
                }
                let at = self.int(at)?;
                Stmt::StackGet { id: self.define(id, ty)?, stack, at }
            }
            _ => {
                let op = self.op(rest, ty)?;
                check::op(&self.func, &op, ty)?;
                Stmt::Let { id: self.define(id, ty)?, op }
            }
        };
        Ok(stmt)
    }

    fn op(&mut self, rest: &[&'t str], ty: Ty) -> Res<Op> {
        Ok(match rest {
            ["pos"] => Op::Builtin(Builtin::Pos),
            ["posx"] => Op::Builtin(Builtin::PosX),
            ["posy"] => Op::Builtin(Builtin::PosY),
            ["posz"] => Op::Builtin(Builtin::PosZ),
            ["len", slot] => Op::Len(number(slot)?),
            ["const", lit] => Op::Const(literal(lit, ty)?),
            ["select", c, a, b] => Op::Select(self.value(c)?, self.value(a)?, self.value(b)?),
            ["cast", a] => Op::Cast(self.value(a)?),
            ["compose", parts @ ..] => Op::Compose(self.uses(parts)?),
            ["extract", a, k] => Op::Extract(self.value(a)?, number(k)? as u8),
            ["insert", a, k, b] => Op::Insert(self.value(a)?, number(k)? as u8, self.value(b)?),
            [name, a] => {
                let op = UnaryOp::parse(name).ok_or_else(|| format!("unknown operation `{name}`"))?;
                Op::Unary(op, self.value(a)?)
            }
            [name, a, b] => {
                let op = BinaryOp::parse(name).ok_or_else(|| format!("unknown operation `{name}`"))?;
                Op::Binary(op, self.value(a)?, self.value(b)?)
            }
            other => return Err(format!("unknown operation `{}`", other.join(" "))),
        })
    }

    /// `if %C -> %r : TYPE .. {` and its two blocks.
    fn branch(&mut self, cond: &str, rest: &[&'t str]) -> Res<Stmt> {
        let cond = self.typed(cond, Ty::Bool)?;
        let (then, end) = self.block()?;
        if end != End::Else {
            return Err("an `if` without `} else {`".into());
        }
        let (els, end) = self.block()?;
        if end != End::Brace {
            return Err("an `if` without its closing brace".into());
        }
        let results = self.results(rest, &then.yields)?;
        self.alike("then", &then.yields, &results)?;
        self.alike("else", &els.yields, &results)?;
        Ok(Stmt::If { cond, then, els, results })
    }

    /// `for %i : T = %lo .. %hi carry %c : TYPE = %init .. -> %r .. {` and its body.
    fn repeat(&mut self, [index, ty, lo, hi]: [&'t str; 4], rest: &[&'t str]) -> Res<Stmt> {
        let ty = self.ty(ty)?;
        if !ty.is_int() {
            return Err(format!("a loop counts in integers, not {ty}"));
        }
        let (lo, hi) = (self.typed(lo, ty)?, self.typed(hi, ty)?);
        let (live, rest) = match rest {
            ["while", live, rest @ ..] => (Some(*live), rest),
            rest => (None, rest),
        };
        let split = rest.iter().position(|t| *t == "->").unwrap_or(rest.len());
        let carry = match &rest[..split] {
            ["carry", carry @ ..] => carry,
            [] => &[],
            other => return Err(format!("expected `carry`, found `{}`", other.join(" "))),
        };
        let (mut heads, mut init) = (vec![], vec![]);
        for part in carry.chunks(5) {
            let [id, ":", ty, "=", value] = part else {
                return Err(format!("expected `%c : TYPE = %init`, found `{}`", part.join(" ")));
            };
            let ty = self.ty(ty)?;
            init.push(self.typed(value, ty)?);
            heads.push((*id, ty));
        }
        let before = self.visible.clone();
        let index = self.define(index, ty)?;
        let carried = heads.into_iter().map(|(id, ty)| self.define(id, ty)).collect::<Res<Vec<_>>>()?;
        let live = match live {
            Some(live) => {
                let live = self.typed(live, Ty::Bool)?;
                Some(carried.iter().position(|id| *id == live).ok_or("a loop tests what it does not carry")?)
            }
            None => None,
        };
        let (body, end) = self.block()?;
        if end != End::Brace {
            return Err("a `for` without its closing brace".into());
        }
        for id in carried.iter().chain([&index]) {
            if before.get(id.0 as usize) != Some(&Visible::Yes) {
                self.visible[id.0 as usize] = Visible::Gone;
            }
        }
        let results = self.results(&rest[split..], &carried)?;
        self.alike("body", &body.yields, &carried)?;
        self.alike("loop", &carried, &results)?;
        Ok(Stmt::For { index, lo, hi, carried, init, live, body, results })
    }

    /// `call CALLEE MODE ( args ) -> %r : TYPE ..`
    fn call(&mut self, callee: &str, mode: &str, rest: &[&'t str]) -> Res<Stmt> {
        let mode = match mode {
            "primal" => CallMode::Primal,
            "replay" => CallMode::Replay,
            "vjp" => CallMode::Vjp,
            "jvp" => CallMode::Jvp,
            "second" => CallMode::Second,
            other => return Err(format!("unknown mode of a call `{other}`")),
        };
        let end = rest.iter().position(|t| *t == ")").ok_or("a call without `)`")?;
        let mut args = vec![];
        for arg in &rest[..end] {
            args.push(match arg.strip_prefix('#') {
                Some(slot) => CallArg::Array(self.array(slot)?.0),
                None => CallArg::Value(self.value(arg)?),
            });
        }
        Ok(Stmt::Call { callee: number(callee)?, mode, args, results: self.results(&rest[end + 1..], &[])? })
    }

    /// Defines `-> %r : TYPE ..`; a result without a type has that of the value `like` it.
    fn results(&mut self, rest: &[&'t str], like: &[Id]) -> Res<Vec<Id>> {
        let mut rest = rest.strip_prefix(&["->"]).unwrap_or(rest);
        let mut results = vec![];
        while let [id, tail @ ..] = rest {
            let (ty, tail) = match tail {
                [":", ty, tail @ ..] => (self.ty(ty)?, tail),
                _ => match like.get(results.len()) {
                    Some(&like) => (self.func.ty(like), tail),
                    None => return Err(format!("result {id} has no type")),
                },
            };
            results.push(self.define(id, ty)?);
            rest = tail;
        }
        Ok(results)
    }

    fn alike(&self, what: &str, values: &[Id], results: &[Id]) -> Res<()> {
        let same = |(a, b): (&Id, &Id)| self.func.ty(*a).same(self.func.ty(*b));
        if values.len() == results.len() && values.iter().zip(results).all(same) {
            return Ok(());
        }
        Err(format!("the {what} gives {values:?} where {results:?} are expected"))
    }

    fn ty(&self, name: &str) -> Res<Ty> {
        Ty::parse(name).ok_or_else(|| format!("unknown type `{name}`"))
    }

    fn array(&self, slot: &str) -> Res<(Slot, Ty, Access)> {
        let slot: usize = number(slot)?;
        match self.func.params.get(slot).map(|p| &p.kind) {
            Some(ParamKind::Array { elem, access, .. }) => Ok((slot, *elem, *access)),
            _ => Err(format!("parameter {slot} is not an array")),
        }
    }

    /// Array and index of an access, which must be the one that the parameter declares.
    fn element(&self, slot: &str, index: &str, want: Access) -> Res<(Slot, Id)> {
        let (slot, _, access) = self.array(slot)?;
        if access != want && access != Access::Update {
            return Err(format!("parameter {slot} is declared {access:?} and used as {want:?}"));
        }
        Ok((slot, self.int(index)?))
    }

    fn value_of(&self, value: &str, array: Slot) -> Res<Id> {
        self.typed(value, self.elem(array))
    }

    fn elem(&self, array: Slot) -> Ty {
        match &self.func.params[array].kind {
            ParamKind::Array { elem, .. } => *elem,
            ParamKind::Scalar { id, .. } => self.func.ty(*id),
        }
    }

    fn define_element(&mut self, id: &str, ty: Ty, array: Slot) -> Res<Id> {
        let elem = self.elem(array);
        if elem != ty {
            return Err(format!("a {ty} from an array of {elem}"));
        }
        self.define(id, ty)
    }

    fn stack(&self, stack: &str) -> Res<(usize, Ty)> {
        let stack: usize = number(stack)?;
        match self.func.stacks.get(stack).copied().flatten() {
            Some(ty) => Ok((stack, ty)),
            None => Err(format!("stack {stack} is not defined")),
        }
    }

    fn uses(&self, ids: &[&str]) -> Res<Vec<Id>> {
        ids.iter().map(|id| self.value(id)).collect()
    }

    fn value(&self, token: &str) -> Res<Id> {
        let id = id(token)?;
        match self.visible.get(id.0 as usize) {
            Some(Visible::Yes) => Ok(id),
            Some(Visible::Gone) => Err(format!("{token} belongs to a block that has ended")),
            _ => Err(format!("{token} is not defined")),
        }
    }

    fn int(&self, token: &str) -> Res<Id> {
        let id = self.value(token)?;
        let ty = self.func.ty(id);
        if ty.is_int() { Ok(id) } else { Err(format!("{token} is a {ty}, not an integer")) }
    }

    fn typed(&self, token: &str, want: Ty) -> Res<Id> {
        let id = self.value(token)?;
        let ty = self.func.ty(id);
        if ty.same(want) { Ok(id) } else { Err(format!("{token} is a {ty}, not a {want}")) }
    }

    fn define(&mut self, token: &str, ty: Ty) -> Res<Id> {
        let id = id(token)?;
        let k = id.0 as usize;
        if k >= self.visible.len() {
            self.visible.resize(k + 1, Visible::Undefined);
            self.func.types.resize(k + 1, Ty::Bool);
        }
        if self.visible[k] != Visible::Undefined {
            return Err(format!("{token} is defined twice"));
        }
        self.visible[k] = Visible::Yes;
        self.func.types[k] = ty;
        Ok(id)
    }
}

fn id(token: &str) -> Res<Id> {
    let digits = token.strip_prefix('%').ok_or_else(|| format!("expected a value, found `{token}`"))?;
    match digits.parse::<u32>() {
        // A bound on the tables that are indexed by it.
        Ok(id) if id < 1 << 24 => Ok(Id(id)),
        _ => Err(format!("expected a value, found `{token}`")),
    }
}

fn number(token: &str) -> Res<usize> {
    token.parse().map_err(|_| format!("expected a number, found `{token}`"))
}

fn literal(token: &str, ty: Ty) -> Res<Lit> {
    let lit = match ty {
        Ty::Real => token.parse().ok().map(Lit::Real),
        Ty::Bool => token.parse().ok().map(Lit::Bool),
        Ty::U32 | Ty::I32 | Ty::Usize => token.parse().ok().map(Lit::Int),
        Ty::Vec(_) | Ty::Mat(_) => None,
    };
    lit.ok_or_else(|| format!("`{token}` is not a {ty}"))
}
