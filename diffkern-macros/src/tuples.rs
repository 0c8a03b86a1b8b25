//! Tuples in tuples, laid flat.
//!
//! | source | becomes |
//! |---|---|
//! | `let (a, (b, c)): (F, (F, F)) = (x, (y, z));` | `let (a, b, c): (F, F, F) = (x, y, z);` |
//! | `(a, (b, c)) = if k { (x, (y, z)) } else { .. };` | `(a, b, c) = if k { (x, y, z) } else { .. };` |
//!
//! What cannot be laid flat, such as the result of a call, is left as it is.

use syn::punctuated::Punctuated;
use syn::{Block, Expr, ExprAssign, Local, Pat, Stmt, Type};

/// What a pattern takes apart.
enum Shape {
    One,
    Many(Vec<Shape>),
}

impl Shape {
    fn of_pattern(pattern: &Pat) -> Shape {
        match pattern {
            Pat::Paren(p) => Shape::of_pattern(&p.pat),
            Pat::Tuple(t) => Shape::Many(t.elems.iter().map(Shape::of_pattern).collect()),
            _ => Shape::One,
        }
    }

    fn of_place(place: &Expr) -> Shape {
        match place {
            Expr::Paren(p) => Shape::of_place(&p.expr),
            Expr::Tuple(t) => Shape::Many(t.elems.iter().map(Shape::of_place).collect()),
            _ => Shape::One,
        }
    }

    fn is_nested(&self) -> bool {
        matches!(self, Shape::Many(all) if all.iter().any(|inner| matches!(inner, Shape::Many(_))))
    }
}

/// Lays a `let` flat.
pub fn binding(local: &mut Local) {
    let (pattern, ty) = match &mut local.pat {
        Pat::Type(t) => (&mut *t.pat, Some(&mut *t.ty)),
        other => (other, None),
    };
    let shape = Shape::of_pattern(pattern);
    let (Some(init), true) = (&mut local.init, shape.is_nested()) else { return };
    let mut value = (*init.expr).clone();
    if flatten(&mut value, &shape).is_none() {
        return;
    }
    let Pat::Tuple(tuple) = pattern else { return };
    *init.expr = value;
    tuple.elems = patterns(std::mem::take(&mut tuple.elems));
    if let Some(Type::Tuple(types)) = ty {
        types.elems = flat_types(std::mem::take(&mut types.elems), &shape);
    }
}

/// Lays an assignment flat.
pub fn assignment(assign: &mut ExprAssign) {
    let shape = Shape::of_place(&assign.left);
    let (Expr::Tuple(places), true) = (&mut *assign.left, shape.is_nested()) else { return };
    let mut value = (*assign.right).clone();
    if flatten(&mut value, &shape).is_some() {
        *assign.right = value;
        places.elems = expressions(std::mem::take(&mut places.elems), &shape).unwrap_or_default();
    }
}

/// `None`, with perhaps half of it done, where the value is not written as such a tuple.
fn flatten(value: &mut Expr, shape: &Shape) -> Option<()> {
    match value {
        Expr::Paren(p) => flatten(&mut p.expr, shape),
        Expr::Group(g) => flatten(&mut g.expr, shape),
        Expr::Block(b) => flatten_block(&mut b.block, shape),
        Expr::If(e) => {
            flatten_block(&mut e.then_branch, shape)?;
            flatten(&mut e.else_branch.as_mut()?.1, shape)
        }
        Expr::Match(m) => m.arms.iter_mut().try_for_each(|arm| flatten(&mut arm.body, shape)),
        Expr::Tuple(t) => {
            t.elems = expressions(std::mem::take(&mut t.elems), shape)?;
            Some(())
        }
        _ => None,
    }
}

fn flatten_block(block: &mut Block, shape: &Shape) -> Option<()> {
    match block.stmts.last_mut()? {
        Stmt::Expr(value, None) => flatten(value, shape),
        _ => None,
    }
}

fn expressions<P: Default>(all: Punctuated<Expr, P>, shape: &Shape) -> Option<Punctuated<Expr, P>> {
    let Shape::Many(shapes) = shape else { return Some(all) };
    if shapes.len() != all.len() {
        return None;
    }
    let mut flat = Punctuated::new();
    for (e, shape) in all.into_iter().zip(shapes) {
        match (shape, e) {
            (Shape::One, e) => flat.push(e),
            (Shape::Many(_), e) => {
                let mut inner = &e;
                while let Expr::Paren(p) = inner {
                    inner = &p.expr;
                }
                let Expr::Tuple(t) = inner else { return None };
                flat.extend(expressions(t.elems.clone(), shape)?);
            }
        }
    }
    Some(flat)
}

fn patterns<P: Default>(all: Punctuated<Pat, P>) -> Punctuated<Pat, P> {
    let mut flat = Punctuated::new();
    for pattern in all {
        let mut inner = pattern;
        while let Pat::Paren(p) = inner {
            inner = *p.pat;
        }
        match inner {
            Pat::Tuple(t) => flat.extend(patterns(t.elems)),
            one => flat.push(one),
        }
    }
    flat
}

fn flat_types<P: Default>(all: Punctuated<Type, P>, shape: &Shape) -> Punctuated<Type, P> {
    let Shape::Many(shapes) = shape else { return all };
    if shapes.len() != all.len() {
        return all;
    }
    let mut flat = Punctuated::new();
    for (ty, shape) in all.into_iter().zip(shapes) {
        match (ty, shape) {
            (Type::Tuple(t), Shape::Many(_)) => flat.extend(flat_types(t.elems, shape)),
            (ty, _) => flat.push(ty),
        }
    }
    flat
}
