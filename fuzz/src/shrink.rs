//! Smaller kernels than one that fails: without a statement, with the insides of a branch or loop in its place, with a
//! part of an expression for the whole. Some do not compile; the search passes over these.

use crate::ast::{Expr, Kernel, Kind, Stmt, Ty};

/// Candidates, the boldest first.
pub fn candidates(kernel: &Kernel) -> Vec<Kernel> {
    bodies(&kernel.body).into_iter().map(|body| Kernel { body, ..*kernel }).collect()
}

/// Statements of a kernel, those inside others included.
pub fn size(kernel: &Kernel) -> usize {
    fn count(stmts: &[Stmt]) -> usize {
        stmts
            .iter()
            .map(|stmt| match stmt {
                Stmt::If(_, then, els) => 1 + count(then) + count(els),
                Stmt::For(.., body) | Stmt::While(.., body) => 1 + count(body),
                _ => 1,
            })
            .sum()
    }
    count(&kernel.body)
}

fn bodies(body: &[Stmt]) -> Vec<Vec<Stmt>> {
    let mut out = Vec::new();
    let half = body.len() / 2;
    if half > 0 {
        out.push(body[half..].to_vec());
        out.push(body[..half].to_vec());
    }
    let with = |k: usize, stmts: &[Stmt]| {
        let mut new = body[..k].to_vec();
        new.extend_from_slice(stmts);
        new.extend_from_slice(&body[k + 1..]);
        new
    };
    out.extend((0..body.len()).rev().map(|k| with(k, &[])));
    for (k, stmt) in body.iter().enumerate() {
        out.extend(replacements(stmt).iter().map(|stmts| with(k, stmts)));
    }
    out
}

fn replacements(stmt: &Stmt) -> Vec<Vec<Stmt>> {
    let one = |stmts: Vec<Stmt>| stmts.into_iter().map(|stmt| vec![stmt]).collect::<Vec<_>>();
    match stmt {
        Stmt::Let(v, e) => one(smaller(e).into_iter().map(|e| Stmt::Let(*v, e)).collect()),
        Stmt::Assign(v, e) => one(smaller(e).into_iter().map(|e| Stmt::Assign(*v, e)).collect()),
        Stmt::Compound(v, op, e) => one(smaller(e).into_iter().map(|e| Stmt::Compound(*v, op, e)).collect()),
        Stmt::Component(v, ty, k, e) => one(smaller(e).into_iter().map(|e| Stmt::Component(*v, *ty, *k, e)).collect()),
        Stmt::Field(v, ty, path, e) => one(smaller(e).into_iter().map(|e| Stmt::Field(*v, *ty, path, e)).collect()),
        Stmt::StoreField(a, path, op, e) => {
            one(smaller(e).into_iter().map(|e| Stmt::StoreField(*a, path, op, e)).collect())
        }
        Stmt::AddField(a, at, path, minus, e) => {
            let with = |at: &Option<Expr>, e| Stmt::AddField(*a, at.clone(), path, *minus, e);
            let mut out = one(smaller(e).into_iter().map(|e| with(at, e)).collect());
            if at.is_some() {
                out.push(vec![with(&None, e.clone())]);
            }
            out
        }
        Stmt::Store(a, e) => one(smaller(e).into_iter().map(|e| Stmt::Store(*a, e)).collect()),
        Stmt::Add(a, at, minus, e) => {
            let mut out = one(smaller(e).into_iter().map(|e| Stmt::Add(*a, at.clone(), *minus, e)).collect());
            if at.is_some() {
                out.push(vec![Stmt::Add(*a, None, *minus, e.clone())]);
            }
            out
        }
        Stmt::Return(c) => one(smaller(c).into_iter().map(Stmt::Return).collect()),
        Stmt::Leave(c, again) => one(smaller(c).into_iter().map(|c| Stmt::Leave(c, *again)).collect()),
        Stmt::Element(v, at, op, e) => {
            let mut out = one(smaller(e).into_iter().map(|e| Stmt::Element(*v, at.clone(), op, e)).collect());
            out.extend(one(smaller(at).into_iter().map(|at| Stmt::Element(*v, at, op, e.clone())).collect()));
            out
        }
        Stmt::Local(v, parts) => {
            let mut out = Vec::new();
            for k in 0..parts.len() {
                for less in smaller(&parts[k]) {
                    let mut parts = parts.clone();
                    parts[k] = less;
                    out.push(vec![Stmt::Local(*v, parts)]);
                }
            }
            out
        }
        Stmt::While(v, c, most, body) => {
            let mut out = vec![body.clone()];
            out.extend(one(bodies(body).into_iter().map(|b| Stmt::While(*v, c.clone(), *most, b)).collect()));
            out.extend(one(smaller(c).into_iter().map(|c| Stmt::While(*v, c, *most, body.clone())).collect()));
            if *most > 1 {
                out.push(vec![Stmt::While(*v, c.clone(), most - 1, body.clone())]);
            }
            out
        }
        Stmt::Split(..) => Vec::new(),
        Stmt::If(c, then, els) => {
            let mut out = vec![then.clone(), els.clone()];
            out.extend(one(bodies(then).into_iter().map(|b| Stmt::If(c.clone(), b, els.clone())).collect()));
            out.extend(one(bodies(els).into_iter().map(|b| Stmt::If(c.clone(), then.clone(), b)).collect()));
            out.extend(one(smaller(c).into_iter().map(|c| Stmt::If(c, then.clone(), els.clone())).collect()));
            out
        }
        Stmt::For(v, lo, hi, unroll, body) => {
            let again =
                |lo: &Expr, hi: &Expr, body: &[Stmt]| Stmt::For(*v, lo.clone(), hi.clone(), *unroll, body.to_vec());
            let mut out = vec![body.clone()];
            out.extend(one(bodies(body).iter().map(|b| again(lo, hi, b)).collect()));
            out.extend(one(smaller(hi).iter().map(|hi| again(lo, hi, body)).collect()));
            out.extend(one(smaller(lo).iter().map(|lo| again(lo, hi, body)).collect()));
            out
        }
    }
}

/// Expressions of the same type with fewer nodes.
fn smaller(e: &Expr) -> Vec<Expr> {
    let mut out = Vec::new();
    match (e.ty, &e.kind) {
        (Ty::Real, Kind::Real(_)) | (Ty::U32, Kind::Int(_)) | (Ty::Bool, Kind::Bool(_)) => return out,
        (Ty::Real, _) => out.push(Expr { ty: Ty::Real, kind: Kind::Real(0.625) }),
        (Ty::U32, _) => out.extend([1, 0].map(|x| Expr { ty: Ty::U32, kind: Kind::Int(x) })),
        (Ty::Bool, _) => out.extend([true, false].map(|x| Expr { ty: Ty::Bool, kind: Kind::Bool(x) })),
        _ => {}
    }
    if let Kind::Block(stmts, value) = &e.kind {
        let with = |stmts: Vec<Stmt>| Expr { ty: e.ty, kind: Kind::Block(stmts, value.clone()) };
        out.extend(bodies(stmts).into_iter().map(with));
    }
    let parts: Vec<&Expr> = parts(e);
    out.extend(
        parts.iter().filter(|part| part.ty == e.ty && !matches!(part.kind, Kind::Array(_))).map(|part| (*part).clone()),
    );
    for (k, part) in parts.iter().enumerate() {
        for less in smaller(part) {
            let mut new = e.clone();
            if let Some(place) = parts_mut(&mut new).into_iter().nth(k) {
                *place = less;
            }
            out.push(new);
        }
    }
    out
}

fn parts(e: &Expr) -> Vec<&Expr> {
    match &e.kind {
        Kind::Load(_, Some(x)) | Kind::Element(_, x) | Kind::Unary(_, x) | Kind::Powi(x, _) => vec![x],
        Kind::Binary(_, a, b) => vec![a, b],
        Kind::Select(c, a, b) | Kind::If(c, a, b) => vec![c, a, b],
        Kind::Match(of, arms) => std::iter::once(&**of).chain(arms).collect(),
        Kind::Block(_, e) => vec![e],
        Kind::With(given, base) => given.iter().map(|(_, e)| e).chain([&**base]).collect(),
        Kind::New(parts) | Kind::Call(_, parts) => parts.iter().collect(),
        _ => Vec::new(),
    }
}

fn parts_mut(e: &mut Expr) -> Vec<&mut Expr> {
    match &mut e.kind {
        Kind::Load(_, Some(x)) | Kind::Element(_, x) | Kind::Unary(_, x) | Kind::Powi(x, _) => vec![x],
        Kind::Binary(_, a, b) => vec![a, b],
        Kind::Select(c, a, b) | Kind::If(c, a, b) => vec![c, a, b],
        Kind::Match(of, arms) => std::iter::once(&mut **of).chain(arms).collect(),
        Kind::Block(_, e) => vec![e],
        Kind::With(given, base) => given.iter_mut().map(|(_, e)| e).chain([&mut **base]).collect(),
        Kind::New(parts) | Kind::Call(_, parts) => parts.iter_mut().collect(),
        _ => Vec::new(),
    }
}
