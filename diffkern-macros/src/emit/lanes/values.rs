//! How a value of the intermediate representation is written down in a body of lanes.
//!
//! ```text
//! uniform        let v3: F = ..;                      one scalar, as in the scalar body
//! strided        let v3: u32 = ..;                    that of the first lane
//! varying        let v3_0 = ..; let v3_1 = ..;        a pack per component
//! ```

use std::cell::RefCell;
use std::collections::HashMap;

use diffkern_ir::{Block, CallArg, Func, Id, StmtKind, Ty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use crate::emit::native::value;
use crate::uniform::Shapes;

/// The components of a varying value.
#[derive(Clone)]
enum Parts {
    Made(Vec<TokenStream>),
    /// A product that is used once, not made yet: an addition may take it in.
    Product(Vec<(TokenStream, TokenStream)>),
}

pub struct Values<'a> {
    pub func: &'a Func,
    pub shapes: Shapes,
    uses: Vec<u32>,
    parts: RefCell<HashMap<Id, Parts>>,
}

impl<'a> Values<'a> {
    pub fn new(func: &'a Func, parameters: &[Id]) -> Self {
        let mut uses = vec![0; func.types.len()];
        count_uses(&func.body, &mut uses);
        Values { func, shapes: Shapes::new(func, parameters), uses, parts: RefCell::default() }
    }

    pub fn varies(&self, id: Id) -> bool {
        self.shapes.varies(id)
    }

    pub fn used_once(&self, id: Id) -> bool {
        self.uses[id.0 as usize] == 1
    }

    /// The type of one component.
    pub fn pack(&self, id: Id) -> TokenStream {
        match self.func.ty(id) {
            Ty::Bool => quote!(S::M),
            ty if ty.is_int() => quote!(S::I),
            _ => quote!(S::R),
        }
    }

    /// Names for the components of `id`, which stand for it from now on.
    pub fn name(&self, id: Id) -> Vec<TokenStream> {
        let names: Vec<_> = (0..self.func.ty(id).components())
            .map(|k| {
                let name = format_ident!("v{}_{k}", id.0);
                quote!(#name)
            })
            .collect();
        self.define(id, names.clone());
        names
    }

    /// `parts` stand for `id`; they may be evaluated several times.
    pub fn define(&self, id: Id, parts: Vec<TokenStream>) {
        self.parts.borrow_mut().insert(id, Parts::Made(parts));
    }

    pub fn define_product(&self, id: Id, factors: Vec<(TokenStream, TokenStream)>) {
        self.parts.borrow_mut().insert(id, Parts::Product(factors));
    }

    /// The factors of a product that nobody has asked for yet.
    pub fn product(&self, id: Id) -> Option<Vec<(TokenStream, TokenStream)>> {
        match self.parts.borrow().get(&id) {
            Some(Parts::Product(factors)) => Some(factors.clone()),
            _ => None,
        }
    }

    /// A pack per component; `out` gets what must be computed first.
    pub fn parts(&self, id: Id, out: &mut TokenStream) -> Vec<TokenStream> {
        let ty = self.func.ty(id);
        let v = value(id);
        if let Some(stride) = self.shapes.stride(id) {
            let steps =
                if stride == 1 { quote!(S::count()) } else { quote!(S::mul_i(S::count(), S::splat_i(#stride))) };
            return vec![quote!(S::add_i(S::splat_i(#v as u32), #steps))];
        }
        if !self.varies(id) {
            return match ty {
                Ty::Bool => vec![quote!(S::splat_m(#v))],
                ty if ty.is_int() => vec![quote!(S::splat_i(#v as u32))],
                Ty::Real => vec![quote!(S::splat(#v))],
                ty => (0..ty.components()).map(|k| quote!(S::splat(#v.get(#k)))).collect(),
            };
        }
        let parts = self.parts.borrow().get(&id).cloned();
        match parts {
            Some(Parts::Made(parts)) => parts,
            Some(Parts::Product(factors)) => {
                let names = self.name(id);
                for (name, (a, b)) in names.iter().zip(factors) {
                    out.extend(quote!(let #name = S::mul(#a, #b);));
                }
                names
            }
            // Not defined: what this text belongs to does not compile.
            None => vec![quote!(#v); ty.components()],
        }
    }
}

fn count_uses(block: &Block, uses: &mut [u32]) {
    let mut count = |id: &Id| uses[id.0 as usize] += 1;
    block.yields.iter().for_each(&mut count);
    for stmt in &block.stmts {
        let mut count = |id: &Id| uses[id.0 as usize] += 1;
        match &stmt.kind {
            StmtKind::Let { op, .. } => op.operands().iter().for_each(count),
            StmtKind::Load { index, .. } | StmtKind::Take { index, .. } => count(index),
            StmtKind::Store { index, value, .. }
            | StmtKind::Add { index, value, .. }
            | StmtKind::Fetch { index, value, .. } => {
                [index, value].into_iter().for_each(count);
            }
            StmtKind::If { cond, then, els, .. } => {
                count(cond);
                count_uses(then, uses);
                count_uses(els, uses);
            }
            StmtKind::For { lo, hi, init, body, .. } => {
                [lo, hi].into_iter().chain(init).for_each(count);
                count_uses(body, uses);
            }
            StmtKind::StackNew { len, .. } => count(len),
            StmtKind::StackSet { at, value, .. } => [at, value].into_iter().for_each(count),
            StmtKind::StackGet { at, .. } => count(at),
            StmtKind::Call { args, .. } => args.iter().for_each(|arg| {
                if let CallArg::Value(id) = arg {
                    count(id);
                }
            }),
            StmtKind::Fault { cond, what } => [*cond, what.id()].iter().for_each(count),
        }
    }
}
