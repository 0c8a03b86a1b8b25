//! A kernel as source.

use std::fmt::Write;

use crate::ast::{ARRAYS, Binary, Expr, Kernel, Kind, LOCAL, Stmt, Ty, Unary, Use};
use crate::case::LEN;

/// The device functions that kernels call, as source.
pub const LIBRARY: [&str; 5] = [
    "fn blend<F: Float>(a: F, b: F, t: F) -> F {
        let s = t.sin();
        a * (1.0 - s) + b * s * s
    }",
    "fn turn<F: Float>(v: Vec2<F>, angle: F) -> Vec2<F> {
        let (c, s) = (angle.cos(), angle.sin());
        Vec2::new(c * v.x - s * v.y, s * v.x + c * v.y)
    }",
    "fn gather<F: Float>(x: &Array<F>, start: u32, w: F) -> F {
        let mut sum = F::new(0.5);
        for k in 0..3u32 {
            let e = x[((start + k) % 7) as usize];
            if e > 0.0 {
                sum = sum + (sum * e).sin() * w;
            } else {
                sum = sum - e * w * w;
            }
        }
        sum
    }",
    "fn split<F: Float>(v: Vec3<F>, w: F) -> (F, Vec3<F>) {
        let length = v.dot(v) + 0.5;
        (length.ln() * w, v * (w / length))
    }",
    "fn both<F: Float>(v: Vec3<F>, w: F) -> (F, Vec3<F>) {
        let (a, u): (F, Vec3<F>) = split(v, w);
        let (b, t): (F, Vec3<F>) = split(u + v, a);
        (a * b, t)
    }",
];

/// The structs that kernels have variables and arrays of, as source.
pub const STRUCTS: [&str; 2] =
    ["struct Body<F> { mass: F, at: Vec3<F> }", "struct Held<F> { size: Vec2<F>, body: Body<F>, gain: F }"];

/// Device functions of these.
pub const OF_STRUCTS: [&str; 3] = [
    "fn push<F: Float>(b: Body<F>, w: F) -> Body<F> {
        let mut c = b;
        c.at = b.at * (w.sin() + 1.0);
        c.mass += b.at.x * w;
        Body { mass: c.mass * 0.5, ..c }
    }",
    "fn hold<F: Float>(b: Body<F>, v: Vec2<F>, w: F) -> Held<F> {
        Held {
            gain: b.mass * w,
            body: if w > 0.0 { let half = 0.5; Body { mass: b.mass * half, at: b.at * half } } else { b },
            size: Vec2::new(v.x * w, v.y),
        }
    }",
    "fn let_go<F: Float>(h: Held<F>) -> Body<F> {
        if h.gain > 0.5 {
            if h.size.x > 0.0 {
                let at = h.body.at;
                Body { mass: h.body.mass + h.gain, at: Vec3::new(at.x + h.size.x, at.y * h.size.y, at.z) }
            } else {
                h.body
            }
        } else {
            Body { mass: h.gain, at: Vec3::new(h.body.at.x, h.size.x, h.size.y) }
        }
    }",
];

/// The trait that kernels are over, and the types that implement it, as source.
pub const RESPONSE: [&str; 3] = [
    "trait Response {
        fn bend<F: Float>(x: F, w: F, n: u32) -> F;
        fn pull<F: Float>(v: Vec3<F>, w: F, n: u32) -> Vec3<F>;
    }",
    "impl Response for Soft {
        fn bend<F: Float>(x: F, w: F, n: u32) -> F {
            let c = F::cast_from(n % 3) * 0.25 + 0.5;
            (x * c).sin() * w
        }
        fn pull<F: Float>(v: Vec3<F>, w: F, n: u32) -> Vec3<F> {
            v * (w.tanh() + F::cast_from(n % 2))
        }
    }",
    "impl Response for Stiff {
        fn bend<F: Float>(x: F, w: F, n: u32) -> F {
            let mut s = x;
            for k in 0..n % 4 {
                if s > w {
                    s = (s * w).sin();
                } else {
                    s += F::cast_from(k) * w * w;
                }
            }
            s
        }
        fn pull<F: Float>(v: Vec3<F>, w: F, n: u32) -> Vec3<F> {
            if v.x > w {
                let a: F = blend(v.y, w, v.z);
                Vec3::new(v.z, a, v.x * w)
            } else {
                v + v * (v.dot(v) * 0.25)
            }
        }
    }",
];

/// The name of a type in a kernel.
pub fn type_name(ty: Ty) -> &'static str {
    match ty {
        Ty::Real => "F",
        Ty::Vec2 => "Vec2<F>",
        Ty::Vec3 => "Vec3<F>",
        Ty::Mat2 => "Mat2<F>",
        Ty::Mat3 => "Mat3<F>",
        Ty::U32 => "u32",
        Ty::Bool => "bool",
        Ty::Local => "[F; 3]",
        Ty::Body => "Body<F>",
        Ty::Held => "Held<F>",
    }
}

/// The kernel as a function called `name`, without its attribute.
pub fn kernel(kernel: &Kernel, name: &str) -> String {
    let over = if kernel.response.is_some() { ", R: Response" } else { "" };
    let mut out = format!("fn {name}<F: Float{over}>(");
    for (array, ty, usage) in kernel.arrays() {
        let mutable = if *usage == Use::Read { "" } else { "mut " };
        let _ = write!(out, "{array}: &{mutable}Array<{}>, ", type_name(*ty));
    }
    out.push_str("s: F, n: u32) {\n");
    block(&kernel.body, 1, &mut out);
    out.push_str("}\n");
    out
}

fn block(stmts: &[Stmt], depth: usize, out: &mut String) {
    for stmt in stmts {
        let _ = write!(out, "{:1$}", "", depth * 4);
        statement(stmt, depth, out);
        out.push('\n');
    }
}

fn close(depth: usize, out: &mut String) {
    let _ = write!(out, "{:1$}}}", "", depth * 4);
}

fn statement(stmt: &Stmt, depth: usize, out: &mut String) {
    let _ = match stmt {
        Stmt::Let(v, e) => write!(out, "let mut v{v}: {} = {};", type_name(e.ty), bare(e)),
        Stmt::Split(v, w, e) => write!(out, "let (mut v{v}, mut v{w}): (F, Vec3<F>) = {};", bare(e)),
        Stmt::Assign(v, e) => write!(out, "v{v} = {};", bare(e)),
        Stmt::Compound(v, op, e) => write!(out, "v{v} {op} {};", bare(e)),
        Stmt::Component(v, ty, k, e) => write!(out, "v{v}{} = {};", part(*ty, *k), bare(e)),
        Stmt::Field(v, _, path, e) => write!(out, "v{v}.{path} = {};", bare(e)),
        Stmt::Store(array, e) => write!(out, "{}[ABSOLUTE_POS] = {};", ARRAYS[*array].0, bare(e)),
        Stmt::StoreField(array, path, op, e) => {
            write!(out, "{}[ABSOLUTE_POS].{path} {op} {};", ARRAYS[*array].0, bare(e))
        }
        Stmt::Add(array, at, minus, e) => {
            let op = if *minus { "-=" } else { "+=" };
            write!(out, "{}[{}] {op} {};", ARRAYS[*array].0, index(at.as_ref()), bare(e))
        }
        Stmt::AddField(array, at, path, minus, e) => {
            let op = if *minus { "-=" } else { "+=" };
            write!(out, "{}[{}].{path} {op} {};", ARRAYS[*array].0, index(at.as_ref()), bare(e))
        }
        Stmt::Local(v, parts) if in_memory(*v) => {
            // What it is made of may name the one of the same name before it.
            let _ = write!(out, "let parts = [{}]; let mut v{v} = Array::<F>::new({});", list(parts), STRIDE * LOCAL);
            (0..LOCAL).try_for_each(|k| write!(out, " v{v}[{}] = parts[{k}];", STRIDE * k))
        }
        Stmt::Local(v, parts) => write!(out, "let mut v{v} = [{}];", list(parts)),
        Stmt::Element(v, at, op, e) => write!(out, "v{v}[{}] {op} {};", place(*v, at), bare(e)),
        Stmt::Leave(c, again) => {
            write!(out, "if {} {{ {}; }}", bare(c), if *again { "continue" } else { "break" })
        }
        Stmt::While(v, c, most, body) => {
            let _ = writeln!(out, "{{ let mut v{v} = 0u32;");
            let pad = depth * 4;
            let _ =
                writeln!(out, "{:pad$}#[bound({most})] while v{v} < {most}u32 && {} {{ v{v} += 1u32;", "", operand(c));
            block(body, depth + 1, out);
            close(depth, out);
            out.push('}');
            Ok(())
        }
        Stmt::Return(c) => write!(out, "if {} {{ return; }}", bare(c)),
        Stmt::If(c, then, els) => {
            let _ = writeln!(out, "if {} {{", bare(c));
            block(then, depth + 1, out);
            close(depth, out);
            if !els.is_empty() {
                out.push_str(" else {\n");
                block(els, depth + 1, out);
                close(depth, out);
            }
            Ok(())
        }
        Stmt::For(v, lo, hi, unroll, body) => {
            let unroll = if *unroll { "#[unroll] " } else { "" };
            let _ = writeln!(out, "{unroll}for v{v} in {}..{} {{", bare(lo), bare(hi));
            block(body, depth + 1, out);
            close(depth, out);
            Ok(())
        }
    };
}

fn index(at: Option<&Expr>) -> String {
    match at {
        None => "ABSOLUTE_POS".to_owned(),
        Some(e) => format!("({} % {LEN}) as usize", operand(e)),
    }
}

/// How far apart elements of a local array are that is too large for registers.
const STRIDE: usize = 31;

/// Every other local array is so large that it is in memory, and has its elements here and there.
fn in_memory(var: u32) -> bool {
    var % 2 == 1
}

fn place(var: u32, at: &Expr) -> String {
    let at = format!("({} % {LOCAL}) as usize", operand(at));
    if in_memory(var) { format!("{STRIDE} * ({at})") } else { at }
}

fn part(ty: Ty, k: u8) -> String {
    match ty {
        Ty::Mat2 | Ty::Mat3 => format!("[({}, {})]", k as usize / ty.rows(), k as usize % ty.rows()),
        Ty::Body => format!(".{}", ["mass", "at.x", "at.y", "at.z"][k as usize]),
        Ty::Held => {
            let names = ["size.x", "size.y", "body.mass", "body.at.x", "body.at.y", "body.at.z", "gain"];
            format!(".{}", names[k as usize])
        }
        _ => format!(".{}", ["x", "y", "z", "w"][k as usize]),
    }
}

/// Without parentheses that rustc would call superfluous.
fn bare(e: &Expr) -> String {
    let text = expression(e);
    match &e.kind {
        Kind::Binary(Binary::Infix(_), ..) => text[1..text.len() - 1].to_owned(),
        _ => text,
    }
}

/// As what a method is called on or a sign stands before.
fn operand(e: &Expr) -> String {
    match &e.kind {
        Kind::Unary(Unary::Neg | Unary::Not, _) | Kind::If(..) | Kind::Match(..) | Kind::Block(..) | Kind::With(..) => {
            format!("({})", expression(e))
        }
        Kind::New(_) if e.ty.is_struct() => format!("({})", expression(e)),
        Kind::Real(x) if *x < 0.0 => format!("({x:?})"),
        Kind::Real(x) => format!("F::new({x:?})"),
        _ => expression(e),
    }
}

fn list(parts: &[Expr]) -> String {
    parts.iter().map(bare).collect::<Vec<_>>().join(", ")
}

fn expression(e: &Expr) -> String {
    match &e.kind {
        Kind::Real(x) => format!("F::new({x:?})"),
        Kind::Int(x) => format!("{x}u32"),
        Kind::Bool(x) => x.to_string(),
        Kind::Var(v) => format!("v{v}"),
        Kind::Scalar => "s".to_owned(),
        Kind::Count => "n".to_owned(),
        Kind::Position => "(ABSOLUTE_POS as u32)".to_owned(),
        Kind::Load(array, at) => format!("{}[{}]", ARRAYS[*array].0, index(at.as_deref())),
        Kind::Element(v, at) => format!("v{v}[{}]", place(*v, at)),
        Kind::Unary(op, x) => match op {
            Unary::Neg => format!("-{}", operand(x)),
            Unary::Not => format!("!{}", operand(x)),
            Unary::Method(name) => format!("{}.{name}()", operand(x)),
            Unary::ToReal => format!("F::cast_from({})", bare(x)),
            Unary::Detach => format!("detach({})", bare(x)),
            Unary::Component(k) => format!("{}{}", operand(x), part(x.ty, *k)),
            Unary::Field(path) => format!("{}.{path}", operand(x)),
            Unary::Entry(k) => format!("{}{}", operand(x), part(x.ty, *k)),
        },
        Kind::Binary(Binary::Infix(op), a, b) => format!("({} {op} {})", operand(a), operand(b)),
        Kind::Binary(Binary::Method(name), a, b) => format!("{}.{name}({})", operand(a), bare(b)),
        Kind::Powi(x, n) => format!("{}.powi({n})", operand(x)),
        Kind::Select(c, a, b) => format!("select({}, {}, {})", bare(c), bare(a), bare(b)),
        Kind::If(c, a, b) => format!("if {} {{ {} }} else {{ {} }}", bare(c), bare(a), bare(b)),
        Kind::Match(of, arms) => {
            let [a, b, c] = [0, 1, 2].map(|k| bare(&arms[k]));
            format!("match {} % 3u32 {{ 0 => {{ {a} }} 1 => {b}, _ => {c} }}", operand(of))
        }
        Kind::Block(stmts, e) => {
            let mut text = String::from("{\n");
            block(stmts, 2, &mut text);
            let _ = write!(text, "{} }}", bare(e));
            text
        }
        Kind::With(given, base) => {
            let name = type_name(e.ty).trim_end_matches("<F>");
            let given: Vec<_> = given.iter().map(|(path, e)| format!("{path}: {}, ", bare(e))).collect();
            format!("{name} {{ {}..{} }}", given.concat(), operand(base))
        }
        Kind::New(parts) if e.ty == Ty::Body => {
            format!("Body {{ mass: {}, at: {} }}", bare(&parts[0]), bare(&parts[1]))
        }
        Kind::New(parts) if e.ty == Ty::Held => {
            format!("Held {{ size: {}, body: {}, gain: {} }}", bare(&parts[0]), bare(&parts[1]), bare(&parts[2]))
        }
        Kind::New(parts) => {
            let name = type_name(e.ty).trim_end_matches("<F>");
            format!("{name}::new({})", list(parts))
        }
        Kind::Call(name, args) => {
            let args: Vec<String> = args
                .iter()
                .map(|arg| match &arg.kind {
                    Kind::Array(slot) => ARRAYS[*slot].0.to_owned(),
                    _ => bare(arg),
                })
                .collect();
            format!("{name}::<F>({})", args.join(", "))
        }
        Kind::Array(slot) => ARRAYS[*slot].0.to_owned(),
    }
}
