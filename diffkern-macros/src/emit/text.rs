//! The text form of a function, which `diffkern` parses to build a kernel for a GPU. Golden files hold it too.

use std::fmt::Write;

use crate::ir::{
    Access, Block, Builtin, CallArg, FaultKind, Func, FuncKind, Id, Lit, Op, ParamKind, Stmt, StmtKind, Ty,
};

/// Prints `func`, one statement a line.
pub fn text(func: &Func) -> String {
    let mut out = Printer { func, text: String::new() };
    out.header();
    out.block(&func.body);
    if func.kind == FuncKind::DiffFn {
        out.line(&format!("return{}", ids(&func.body.yields)));
    }
    out.text
}

struct Printer<'a> {
    func: &'a Func,
    text: String,
}

impl Printer<'_> {
    fn line(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn header(&mut self) {
        self.line(&format!("fn {}", self.func.name));
        for (slot, param) in self.func.params.iter().enumerate() {
            let line = match &param.kind {
                ParamKind::Array { elem, access, owned } => {
                    let owned = if *owned { " owned" } else { "" };
                    format!("array {slot} {} {} {}{owned}", access_name(*access), ty_name(*elem), param.name)
                }
                ParamKind::Scalar { id, comptime } => {
                    let comptime = if *comptime { " comptime" } else { "" };
                    format!("scalar {slot} {} {} {}{comptime}", name(*id), ty_name(self.func.ty(*id)), param.name)
                }
            };
            self.line(&line);
        }
        self.line("body");
    }

    fn block(&mut self, block: &Block) {
        for stmt in &block.stmts {
            self.stmt(stmt);
        }
    }

    /// `%1 : real`
    fn typed(&self, id: Id) -> String {
        format!("{} : {}", name(id), ty_name(self.func.ty(id)))
    }

    fn typed_list(&self, ids: &[Id]) -> String {
        ids.iter().map(|&id| self.typed(id)).collect::<Vec<_>>().join(" , ")
    }

    fn stmt(&mut self, stmt: &Stmt) {
        let at = stmt.span.start().line;
        match &stmt.kind {
            StmtKind::Let { id, op } => self.line(&format!("{} = {}", self.typed(*id), operation(op))),
            StmtKind::Load { id, array, index } => {
                self.line(&format!("{} = load {array} {} @{at}", self.typed(*id), name(*index)));
            }
            StmtKind::Take { id, array, index } => {
                self.line(&format!("{} = take {array} {} @{at}", self.typed(*id), name(*index)));
            }
            StmtKind::Store { array, index, value } => {
                self.line(&format!("store {array} {} {} @{at}", name(*index), name(*value)));
            }
            StmtKind::Add { array, index, value } => {
                self.line(&format!("add {array} {} {} @{at}", name(*index), name(*value)));
            }
            StmtKind::If { cond, then, els, results } => {
                let list = self.typed_list(results);
                let gap = if list.is_empty() { "" } else { " " };
                self.line(&format!("if {} ->{gap}{list} {{", name(*cond)));
                self.block(then);
                self.line(&format!("yield{}", ids(&then.yields)));
                self.line("} else {");
                self.block(els);
                self.line(&format!("yield{}", ids(&els.yields)));
                self.line("}");
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                let carry: Vec<String> =
                    carried.iter().zip(init).map(|(&c, &i)| format!("{} = {}", self.typed(c), name(i))).collect();
                let carry = if carry.is_empty() { String::new() } else { format!(" {}", carry.join(" , ")) };
                let live = live.map_or_else(String::new, |live| format!(" while {}", name(live)));
                self.line(&format!(
                    "for {} = {} .. {}{live} carry{carry} ->{} {{",
                    self.typed(*index),
                    name(*lo),
                    name(*hi),
                    ids(results)
                ));
                self.block(body);
                self.line(&format!("yield{}", ids(&body.yields)));
                self.line("}");
            }
            StmtKind::Fetch { id, array, index, value, .. } => {
                let line = format!("{} = fetch {array} {} {} @{at}", self.typed(*id), name(*index), name(*value));
                self.line(&line);
            }
            StmtKind::Fault { cond, what } => {
                let what = match what {
                    FaultKind::Bound(id) => format!("bound {}", name(*id)),
                    FaultKind::Index(id, len) => format!("index {} {len}", name(*id)),
                };
                self.line(&format!("fault {} {what} @{at}", name(*cond)));
            }
            StmtKind::StackNew { stack, ty, len } => {
                self.line(&format!("stack {stack} {} {}", ty_name(*ty), name(*len)));
            }
            StmtKind::StackSet { stack, at, value } => {
                self.line(&format!("push {stack} {} {}", name(*at), name(*value)));
            }
            StmtKind::StackGet { id, stack, at } => {
                self.line(&format!("{} = peek {stack} {}", self.typed(*id), name(*at)));
            }
            StmtKind::Call { callee, mode, args, results } => {
                let mut line = format!("call {callee} {} (", mode.name());
                for arg in args {
                    match arg {
                        CallArg::Value(id) => line.push_str(&format!(" {}", name(*id))),
                        CallArg::Array(slot) => {
                            let _ = write!(line, " #{slot}");
                        }
                    }
                }
                let list = self.typed_list(results);
                let gap = if list.is_empty() { "" } else { " " };
                self.line(&format!("{line} ) ->{gap}{list}"));
            }
        }
    }
}

fn name(id: Id) -> String {
    format!("%{}", id.0)
}

fn ids(ids: &[Id]) -> String {
    ids.iter().map(|&id| format!(" {}", name(id))).collect()
}

fn ty_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Real => "real",
        Ty::U32 => "u32",
        Ty::I32 => "i32",
        Ty::Usize => "usize",
        Ty::Bool => "bool",
        Ty::Vec(2) => "vec2",
        Ty::Vec(3) => "vec3",
        Ty::Vec(_) | Ty::Quat => "vec4",
        Ty::Mat(2) => "mat2",
        Ty::Mat(_) => "mat3",
    }
}

fn access_name(access: Access) -> &'static str {
    match access {
        Access::Read => "read",
        Access::Store => "store",
        Access::Add => "add",
        Access::Take => "take",
        Access::Update => "update",
        Access::Fetch => "fetch",
        Access::Unused => "unused",
    }
}

fn operation(op: &Op) -> String {
    match op {
        Op::Const(Lit::Real(x)) if x.is_nan() => "const nan".into(),
        Op::Const(Lit::Real(x)) => format!("const {x:?}"),
        Op::Const(Lit::Int(x)) => format!("const {x}"),
        Op::Const(Lit::Bool(x)) => format!("const {x}"),
        Op::Builtin(b) => match b {
            Builtin::Pos => "pos",
            Builtin::PosX => "posx",
            Builtin::PosY => "posy",
            Builtin::PosZ => "posz",
        }
        .into(),
        Op::Len(slot) => format!("len {slot}"),
        Op::Unary(op, a) => format!("{} {}", op.name(), name(*a)),
        Op::Binary(op, a, b) => format!("{} {} {}", op.name(), name(*a), name(*b)),
        Op::Select(c, a, b) => format!("select {} {} {}", name(*c), name(*a), name(*b)),
        Op::Cast(a) => format!("cast {}", name(*a)),
        Op::Compose(parts) => format!("compose{}", ids(parts)),
        Op::Extract(a, k) => format!("extract {} {k}", name(*a)),
        Op::Insert(a, k, b) => format!("insert {} {k} {}", name(*a), name(*b)),
    }
}
