//! The text form read back: what a line says becomes a statement, and [`verify`] says whether they make a function.

mod stmt;
mod token;

use std::fmt;

use crate::{Access, Block, Func, FuncKind, Id, Param, ParamKind, Ty, verify};
use token::{id, ty};

/// The text of a kernel does not follow the format; this is never the fault of the kernel's author.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParseError {
    /// Line of the text, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub message: String,
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} of the kernel's text: {}", self.line, self.message)
    }
}

impl std::error::Error for ParseError {}

type Res<T> = Result<T, String>;

/// Reads the text of one function, and verifies it.
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
    let mut parser = Parser { lines, next: 0, func: Func::new("", FuncKind::Kernel), known: vec![], stmts: vec![] };
    match parser.program() {
        Ok(()) => {}
        Err(message) => return Err(ParseError { line: parser.at(), message }),
    }
    let Parser { func, stmts, .. } = parser;
    match verify(&func) {
        Ok(()) => Ok(func),
        Err(error) => {
            let line = error.stmt.and_then(|stmt| stmts.get(stmt)).copied().unwrap_or(0);
            Err(ParseError { line, message: error.message })
        }
    }
}

struct Parser<'t> {
    /// Number and tokens of each line that is not empty.
    lines: Vec<(usize, Vec<&'t str>)>,
    next: usize,
    func: Func,
    /// By id, whether the text has said its type.
    known: Vec<bool>,
    /// The line of each statement, in the order of the text.
    stmts: Vec<usize>,
}

/// How a block ended.
#[derive(PartialEq)]
enum End {
    Brace,
    Else,
    Text,
}

impl<'t> Parser<'t> {
    /// The line that was read last.
    fn at(&self) -> usize {
        self.lines.get(self.next.saturating_sub(1)).map_or(0, |(line, _)| *line)
    }

    fn line(&mut self) -> Option<Vec<&'t str>> {
        let line = self.lines.get_mut(self.next)?;
        self.next += 1;
        Some(std::mem::take(&mut line.1))
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
                ["array", slot, access, elem, name, rest @ ..] => {
                    let known = Access::ALL.into_iter().find(|known| known.name() == *access);
                    let access = known.ok_or_else(|| format!("unknown access `{access}`"))?;
                    let kind = ParamKind::Array { elem: ty(elem)?, access, owned: rest == ["owned"] };
                    self.param(slot, name, kind)?;
                }
                ["scalar", slot, value, of, name, rest @ ..] => {
                    let id = self.typed(value, ty(of)?)?;
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

    /// Statements up to the end of the block.
    fn block(&mut self) -> Res<(Block, End)> {
        let mut block = Block::default();
        loop {
            let Some(line) = self.line() else { return Ok((block, End::Text)) };
            match line.as_slice() {
                ["}"] => return Ok((block, End::Brace)),
                ["}", "else", "{"] => return Ok((block, End::Else)),
                ["yield", ids @ ..] => block.yields = token::ids(ids)?,
                ["return", ids @ ..] => {
                    self.func.kind = FuncKind::DiffFn;
                    block.yields = token::ids(ids)?;
                }
                tokens => {
                    self.stmts.push(self.at());
                    let stmt = self.stmt(tokens)?;
                    block.stmts.push(stmt);
                }
            }
        }
    }

    /// The value that is defined here, with a type.
    fn typed(&mut self, token: &str, ty: Ty) -> Res<Id> {
        let id = id(token)?;
        let k = id.0 as usize;
        if k >= self.known.len() {
            self.known.resize(k + 1, false);
            self.func.types.resize(k + 1, Ty::Bool);
        }
        if self.known[k] {
            return Err(format!("{token} is defined twice"));
        }
        self.known[k] = true;
        self.func.types[k] = ty;
        Ok(id)
    }
}
