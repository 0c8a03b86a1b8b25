//! The text form of a function, from which kernels for GPUs are built. Golden files hold it too.
//!
//! One statement a line, tokens separated by spaces, values `%N`; `@N` is the line of the source, of what touches memory,
//! calculates or calls.
//!
//! ```text
//! fn axpy
//! array 0 read real x
//! array 1 add real y owned
//! scalar 2 %0 real a
//! body
//! %1 : usize = pos
//! %2 : real = load 0 %1 @7
//! %3 : real = mul %0 %2 @7
//! add 1 %1 %3 @7
//! ```

use std::fmt::Write;

use crate::{Block, CallArg, FaultKind, Func, FuncKind, Id, Lit, Node, Op, ParamKind, Stmt, StmtKind};

/// Prints `func`; `line` says on which line of the source a node is.
pub fn print(func: &Func, line: &dyn Fn(Node) -> usize) -> String {
    let mut out = Printer { func, line, text: String::new() };
    out.header();
    out.block(&func.body);
    if func.kind == FuncKind::DiffFn {
        out.line(format_args!("return{}", Ids(&func.body.yields)));
    }
    out.text
}

/// The text with the names of values before their numbers: `%sum.3` for `%3`. It can be parsed as well.
pub fn with_names<'n>(text: &str, mut name: impl FnMut(Id) -> Option<&'n str>) -> String {
    let mut named = String::with_capacity(text.len());
    let mut parts = text.split('%');
    named.push_str(parts.next().unwrap_or_default());
    for part in parts {
        named.push('%');
        let digits = &part[..part.find(|c: char| !c.is_ascii_digit()).unwrap_or(part.len())];
        if let Some(name) = digits.parse().ok().and_then(|id| name(Id(id))) {
            named.push_str(name);
            named.push('.');
        }
        named.push_str(part);
    }
    named
}

struct Printer<'a> {
    func: &'a Func,
    line: &'a dyn Fn(Node) -> usize,
    text: String,
}

/// `%1 %2`, each after a space.
struct Ids<'a>(&'a [Id]);

impl std::fmt::Display for Ids<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.iter().try_for_each(|id| write!(f, " {id}"))
    }
}

impl Printer<'_> {
    fn line(&mut self, line: std::fmt::Arguments<'_>) {
        // Writing to a string does not fail.
        let _ = writeln!(self.text, "{line}");
    }

    fn header(&mut self) {
        self.line(format_args!("fn {}", self.func.name));
        let func = self.func;
        for (slot, param) in func.params.iter().enumerate() {
            let name = &param.name;
            match &param.kind {
                ParamKind::Array { elem, access, owned } => {
                    let owned = if *owned { " owned" } else { "" };
                    self.line(format_args!("array {slot} {} {elem} {name}{owned}", access.name()));
                }
                ParamKind::Scalar { id, comptime } => {
                    let comptime = if *comptime { " comptime" } else { "" };
                    self.line(format_args!("scalar {slot} {id} {} {name}{comptime}", func.ty(*id)));
                }
            }
        }
        self.line(format_args!("body"));
    }

    fn block(&mut self, block: &Block) {
        block.stmts.iter().for_each(|stmt| self.stmt(stmt));
    }

    fn yields(&mut self, block: &Block) {
        self.line(format_args!("yield{}", Ids(&block.yields)));
    }

    /// `%1 : real`
    fn typed(&self, id: Id) -> String {
        format!("{id} : {}", self.func.ty(id))
    }

    /// `-> %1 : real , %2 : real`
    fn results(&self, ids: &[Id]) -> String {
        let list: Vec<String> = ids.iter().map(|&id| self.typed(id)).collect();
        let gap = if list.is_empty() { "" } else { " " };
        format!("->{gap}{}", list.join(" , "))
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let at = (self.line)(stmt.node);
        match &stmt.kind {
            StmtKind::Let { id, op: op @ (Op::Unary(..) | Op::Binary(..)) } if self.func.ty(*id).is_real() => {
                self.line(format_args!("{} = {} @{at}", self.typed(*id), operation(op)));
            }
            StmtKind::Let { id, op } => self.line(format_args!("{} = {}", self.typed(*id), operation(op))),
            StmtKind::Load { id, array, index } => {
                self.line(format_args!("{} = load {array} {index} @{at}", self.typed(*id)));
            }
            StmtKind::Take { id, array, index } => {
                self.line(format_args!("{} = take {array} {index} @{at}", self.typed(*id)));
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                self.line(format_args!("{} = fetch {array} {index} {value} @{at}", self.typed(*id)));
            }
            StmtKind::Store { array, index, value } => {
                self.line(format_args!("store {array} {index} {value} @{at}"));
            }
            StmtKind::Add { array, index, value } => self.line(format_args!("add {array} {index} {value} @{at}")),
            StmtKind::If { cond, then, els, results } => {
                self.line(format_args!("if {cond} {} {{", self.results(results)));
                self.block(then);
                self.yields(then);
                self.line(format_args!("}} else {{"));
                self.block(els);
                self.yields(els);
                self.line(format_args!("}}"));
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let carry: Vec<String> =
                    carried.iter().zip(init).map(|(&c, i)| format!("{} = {i}", self.typed(c))).collect();
                let carry = if carry.is_empty() { String::new() } else { format!(" {}", carry.join(" , ")) };
                let live = live.map_or_else(String::new, |live| format!(" while {live}"));
                let (index, results) = (self.typed(*index), Ids(results));
                self.line(format_args!("for {index} = {lo} .. {hi}{live} carry{carry} ->{results} {{"));
                self.block(body);
                self.yields(body);
                self.line(format_args!("}}"));
            }
            StmtKind::Fault { cond, what } => match what {
                FaultKind::Bound(id) => self.line(format_args!("fault {cond} bound {id} @{at}")),
                FaultKind::Index(id, len) => self.line(format_args!("fault {cond} index {id} {len} @{at}")),
            },
            StmtKind::StackNew { stack, ty, len, kind } => {
                self.line(format_args!("{} {stack} {ty} {len}", kind.name()));
            }
            StmtKind::StackSet { stack, at, value } => self.line(format_args!("push {stack} {at} {value}")),
            StmtKind::StackGet { id, stack, at } => {
                self.line(format_args!("{} = peek {stack} {at}", self.typed(*id)));
            }
            StmtKind::Call { callee, mode, args, results } => {
                let args: String = args.iter().map(argument).collect();
                self.line(format_args!("call {callee} {} ({args} ) {} @{at}", mode.name(), self.results(results)));
            }
        }
    }
}

fn argument(arg: &CallArg) -> String {
    match arg {
        CallArg::Value(id) => format!(" {id}"),
        CallArg::Array(slot) => format!(" #{slot}"),
    }
}

fn operation(op: &Op) -> String {
    match op {
        Op::Const(Lit::Real(x)) if x.is_nan() => "const nan".into(),
        Op::Const(Lit::Real(x)) => format!("const {x:?}"),
        Op::Const(Lit::Int(x)) => format!("const {x}"),
        Op::Const(Lit::Bool(x)) => format!("const {x}"),
        Op::Builtin(builtin) => builtin.name().into(),
        Op::Len(slot) => format!("len {slot}"),
        Op::Unary(op, a) => format!("{} {a}", op.name()),
        Op::Binary(op, a, b) => format!("{} {a} {b}", op.name()),
        Op::Select(c, a, b) => format!("select {c} {a} {b}"),
        Op::Cast(a) => format!("cast {a}"),
        Op::Compose(parts) => format!("compose{}", Ids(parts)),
        Op::Extract(a, k) => format!("extract {a} {k}"),
        Op::Insert(a, k, b) => format!("insert {a} {k} {b}"),
    }
}
