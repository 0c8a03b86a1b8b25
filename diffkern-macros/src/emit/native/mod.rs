//! IR to Rust for the host CPU: one function over a chunk of the domain for a kernel, a plain function for a device
//! function.
//!
//! ```text
//! primal  x_next[i] = x[i] + v[i] * dt   let v3 = a0.get(i, 7); .. a2.set(i, v6, 7);
//! adjoint                                let v3 = a6.take(i, 7); a4.add(i, v3 * dt, 7); a5.add(i, v3, 7);
//! ```

mod ops;

use std::collections::HashSet;

use diffkern_ir::{Access, Block, CallArg, FaultKind, Func, FuncKind, Id, ParamKind, Slot, Stmt, StmtKind, Ty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};
use syn::{Ident, TypeParam};

use super::growing::growing_or_logs;
use crate::places::{places, takes_once};
use crate::source::Source;
use crate::writes::writes;

/// `struct name<F>` with the body of a kernel over a chunk of its domain.
///
/// Where every array is only touched at the thread's own position, the body is there twice: first for chunks that all
/// arrays cover, in which the compiler needs no test of an index and can use vector instructions.
pub fn kernel(func: &Func, source: &Source, name: &Ident, laws: &[TypeParam], lanes: bool) -> TokenStream {
    let law_names: Vec<_> = laws.iter().map(|law| &law.ident).collect();
    let emit = Emit { func, source, growing: growing_or_logs(func) };
    let stacks = emit.stacks();
    let body = emit.stmts(&func.body);
    let bindings = emit.bindings(false);
    let range = format_ident!("{}", if writes(func).is_empty() { "range" } else { "noted_range" });
    let covered = func.only_own_positions().then(|| {
        let bindings = emit.bindings(true);
        quote! {
            if let ::core::option::Option::Some(covered) = c.covered() {
                #bindings
                #stacks
                for p in covered.range() {
                    #body
                }
                return;
            }
        }
    });
    let lanes = lanes.then(|| super::lanes::kernel(func, source));
    // The lanes come last: what they repeat of a mistake in a call is reported after the message on its token.
    quote! {
        struct #name<F #(, #law_names)*>(::core::marker::PhantomData<(F, #(#law_names,)*)>);

        impl<F: ::diffkern::Float #(, #laws)*> ::diffkern::private::Body for #name<F #(, #law_names)*> {
            type Real = F;
            const CHECKED: ::core::primitive::bool = ::core::cfg!(debug_assertions);

            #[inline(always)]
            fn run(c: &::diffkern::private::Chunk<'_>) {
                #covered
                #bindings
                #stacks
                for p in c.#range() {
                    #body
                }
            }

            #lanes
        }
    }
}

/// A device function in one of its modes, in an `impl` of its own.
pub fn function(func: &Func, source: &Source, name: &Ident) -> TokenStream {
    let method = form(func, source, name, &quote!(self,));
    quote!(#[inline(always)] pub #method)
}

/// `fn name<F: Float>(args) -> results`, a method of a law in one of its modes.
pub fn method(func: &Func, source: &Source, name: &Ident) -> TokenStream {
    form(func, source, name, &quote!())
}

fn form(func: &Func, source: &Source, name: &Ident, receiver: &TokenStream) -> TokenStream {
    let emit = Emit { func, source, growing: growing_or_logs(func) };
    let args = func.params.iter().enumerate().map(|(slot, param)| match &param.kind {
        ParamKind::Array { elem, access, .. } => {
            let (var, elem) = (array(slot), rust_type(*elem));
            match access {
                Access::Add => quote!(#var: &::diffkern::private::Acc<'_, #elem>),
                Access::Read | Access::Store | Access::Take | Access::Update | Access::Fetch | Access::Unused => {
                    quote!(#var: ::diffkern::private::In<'_, #elem>)
                }
            }
        }
        ParamKind::Scalar { id, .. } => {
            let (var, ty) = (value(*id), rust_type(func.ty(*id)));
            quote!(#var: #ty)
        }
    });
    let args: Vec<_> = args.collect();
    let types: Vec<_> = func.body.yields.iter().map(|&id| rust_type(func.ty(id))).collect();
    let output = tuple(&types);
    let result = emit.yields(&func.body);
    let stacks = emit.stacks();
    let body = emit.stmts(&func.body);
    quote! {
        fn #name<F: ::diffkern::Float>(#receiver #(#args),*) -> #output {
            #stacks
            #body
            #result
        }
    }
}

/// The Rust type of a value, with the real type `F`.
pub fn rust_type(ty: Ty) -> TokenStream {
    match ty {
        Ty::Real => quote!(F),
        Ty::U32 | Ty::Usize => quote!(::core::primitive::u32),
        Ty::I32 => quote!(::core::primitive::i32),
        Ty::Bool => quote!(::core::primitive::bool),
        Ty::Vec(n) => {
            let name = format_ident!("Vec{n}");
            quote!(::diffkern::#name<F>)
        }
        Ty::Mat(n) => {
            let name = format_ident!("Mat{n}");
            quote!(::diffkern::#name<F>)
        }
        Ty::Quat => quote!(::diffkern::Quat<F>),
    }
}

fn scalar_method(ty: Ty) -> Ident {
    format_ident!(
        "{}",
        match ty {
            Ty::U32 | Ty::Usize => "u32",
            Ty::I32 => "i32",
            Ty::Bool => "bool",
            Ty::Real | Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => "real",
        }
    )
}

pub(super) fn value(id: Id) -> Ident {
    format_ident!("v{}", id.0)
}

pub(super) fn array(slot: Slot) -> Ident {
    format_ident!("a{slot}")
}

fn tuple(parts: &[TokenStream]) -> TokenStream {
    match parts {
        [one] => one.clone(),
        parts => quote!((#(#parts),*)),
    }
}

pub(super) struct Emit<'a> {
    pub(super) func: &'a Func,
    pub(super) source: &'a Source,
    pub(super) growing: HashSet<u32>,
}

impl Emit<'_> {
    /// A view per array, a value per scalar; `own`: views of the thread's own positions.
    fn bindings(&self, own: bool) -> TokenStream {
        let places = places(self.func);
        let binding = |slot: Slot| {
            let var = array(slot);
            match &self.func.params[slot].kind {
                ParamKind::Array { elem, access, .. } => {
                    let elem = rust_type(*elem);
                    let (method, mutable) = match access {
                        Access::Read => ("read", false),
                        Access::Store => ("store", true),
                        Access::Add if !own && places.iter().any(|(_, to)| *to == slot) => ("add_once", true),
                        Access::Add => ("add", true),
                        Access::Take if takes_once(self.func, slot) => ("take_once", true),
                        Access::Take => ("take", true),
                        Access::Update => ("update", true),
                        Access::Fetch => ("fetch", true),
                        Access::Unused => return quote!(),
                    };
                    let mutable = mutable.then(|| quote!(mut));
                    if own {
                        let method = format_ident!("own_{method}");
                        quote!(let #mutable #var = c.#method::<#elem>(#slot, covered);)
                    } else {
                        let method = format_ident!("{method}");
                        quote!(let #mutable #var = c.#method::<#elem>(#slot);)
                    }
                }
                ParamKind::Scalar { .. } => self.scalar_binding(slot),
            }
        };
        (0..self.func.params.len()).map(binding).collect()
    }

    /// The value of a scalar parameter.
    pub(super) fn scalar_binding(&self, slot: Slot) -> TokenStream {
        let ParamKind::Scalar { id, .. } = self.func.params[slot].kind else { return quote!() };
        let ty = self.func.ty(id);
        let (var, rust, method) = (value(id), rust_type(ty), scalar_method(ty));
        quote!(let #var: #rust = c.#method(#slot);)
    }

    /// The stacks, made once and used again for every index.
    fn stacks(&self) -> TokenStream {
        self.func
            .stack_types()
            .iter()
            .map(|(stack, ty)| {
                let (name, ty) = (format_ident!("s{stack}"), rust_type(*ty));
                quote!(let mut #name = ::std::vec::Vec::<#ty>::new();)
            })
            .collect()
    }

    fn stmts(&self, block: &Block) -> TokenStream {
        block.stmts.iter().map(|s| self.stmt(s)).collect()
    }

    fn yields(&self, block: &Block) -> TokenStream {
        let parts: Vec<_> = block
            .yields
            .iter()
            .map(|&id| {
                let v = value(id);
                quote!(#v)
            })
            .collect();
        tuple(&parts)
    }

    fn typed(&self, id: Id) -> (Ident, TokenStream) {
        (value(id), rust_type(self.func.ty(id)))
    }

    /// `let a: A = ..`, `let (a, b): (A, B) = ..`, or nothing to bind.
    pub(super) fn binding(&self, ids: &[Id]) -> TokenStream {
        if ids.is_empty() {
            return quote!();
        }
        let (names, types): (Vec<_>, Vec<_>) = ids.iter().map(|&id| self.typed(id)).unzip();
        let names: Vec<_> = names.into_iter().map(|n| quote!(#n)).collect();
        let (names, types) = (tuple(&names), tuple(&types));
        quote!(let #names: #types =)
    }

    pub(super) fn stmt(&self, stmt: &Stmt) -> TokenStream {
        let line = u32::try_from(self.source.line(stmt.node)).unwrap_or(u32::MAX);
        match &stmt.kind {
            StmtKind::Let { id, op } => {
                let (name, ty) = self.typed(*id);
                let op = self.op(op, self.func.ty(*id));
                quote!(let #name: #ty = #op;)
            }
            StmtKind::Load { id, array: slot, index } => {
                let ((name, ty), array, index) = (self.typed(*id), array(*slot), value(*index));
                quote!(let #name: #ty = #array.get(#index, #line);)
            }
            StmtKind::Take { id, array: slot, index } => {
                let ((name, ty), array, index) = (self.typed(*id), array(*slot), value(*index));
                quote!(let #name: #ty = #array.take(#index, #line);)
            }
            StmtKind::Fetch { id, array: slot, index, value: v, .. } => {
                let ((name, ty), array, index, v) = (self.typed(*id), array(*slot), value(*index), value(*v));
                quote!(let #name: #ty = #array.fetch_add(#index, #v, #line);)
            }
            StmtKind::Store { array: slot, index, value: v } => {
                let (array, index, v) = (array(*slot), value(*index), value(*v));
                quote!(#array.set(#index, #v, #line);)
            }
            StmtKind::Add { array: slot, index, value: v } => {
                let (array, index, v) = (array(*slot), value(*index), value(*v));
                quote!(#array.add(#index, #v, #line);)
            }
            StmtKind::If { cond, then, els, results } => {
                let (binding, cond) = (self.binding(results), value(*cond));
                let (then_body, then_value) = (self.stmts(then), self.yields(then));
                let (else_body, else_value) = (self.stmts(els), self.yields(els));
                quote!(#binding if #cond { #then_body #then_value } else { #else_body #else_value };)
            }
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                self.for_loop(*index, (*lo, *hi), (carried, init, *live), body, results)
            }
            StmtKind::Fault { cond, what } => {
                let (cond, told) = (value(*cond), value(what.id()));
                let report = match (what, self.func.kind) {
                    (FaultKind::Bound(_), _) => quote!(c.bound_exceeded(#told as u32, #line)),
                    (FaultKind::Index(_, len), FuncKind::Kernel) => quote!(c.local_outside(#told as u32, #len, #line)),
                    (FaultKind::Index(_, len), FuncKind::DiffFn) => {
                        quote!(::diffkern::private::local_outside(#told as u32, #len, #line))
                    }
                };
                quote!(if #cond { #report; })
            }
            StmtKind::StackNew { stack, .. } if self.growing.contains(stack) => {
                let stack = format_ident!("s{stack}");
                quote!(#stack.clear();)
            }
            StmtKind::StackNew { stack, len, .. } => {
                let (stack, len) = (format_ident!("s{stack}"), value(*len));
                quote! {
                    #stack.clear();
                    #stack.resize(#len as usize, ::core::default::Default::default());
                }
            }
            StmtKind::StackSet { stack, at, value: v } => {
                let growing = self.growing.contains(stack);
                let (stack, at, v) = (format_ident!("s{stack}"), value(*at), value(*v));
                if growing {
                    return quote!(if #stack.len() <= #at as usize { #stack.push(#v) } else { #stack[#at as usize] = #v });
                }
                quote!(#stack[#at as usize] = #v;)
            }
            StmtKind::StackGet { id, stack, at } => {
                let ((name, ty), stack, at) = (self.typed(*id), format_ident!("s{stack}"), value(*at));
                quote!(let #name: #ty = #stack[#at as usize];)
            }
            StmtKind::Call { callee, mode, args, results } => {
                let form = super::callee::callee_form(self.source, &self.func.callees[*callee], mode.name());
                let args = args.iter().map(|arg| match arg {
                    CallArg::Value(id) => {
                        let v = value(*id);
                        quote!(#v)
                    }
                    CallArg::Array(slot) => self.array_argument(*slot),
                });
                let args: Vec<_> = args.collect();
                let binding = self.binding(results);
                let call = quote_spanned!(self.source.span(stmt.node)=> #form::<F>(#(#args),*));
                quote!(#binding #call;)
            }
        }
    }

    /// A read array is passed by copy, one that is added to by reference, since it may be two arguments at once.
    fn array_argument(&self, slot: Slot) -> TokenStream {
        let var = array(slot);
        let access = match &self.func.params[slot].kind {
            ParamKind::Array { access, .. } => *access,
            ParamKind::Scalar { .. } => Access::Unused,
        };
        match (access, self.func.kind) {
            (Access::Add, FuncKind::Kernel) => quote!(&#var),
            _ => quote!(#var),
        }
    }

    fn for_loop(
        &self,
        index: Id,
        (lo, hi): (Id, Id),
        (carried, init, live): (&[Id], &[Id], Option<Id>),
        body: &Block,
        results: &[Id],
    ) -> TokenStream {
        let test = live.map(|id| {
            let slot = format_ident!("c{}", id.0);
            quote!(if !#slot { break; })
        });
        let slots: Vec<_> = carried.iter().map(|id| format_ident!("c{}", id.0)).collect();
        let starts = slots.iter().zip(init).zip(carried).map(|((slot, init), id)| {
            let (ty, init) = (rust_type(self.func.ty(*id)), value(*init));
            quote!(let mut #slot: #ty = #init;)
        });
        let entries = slots.iter().zip(carried).map(|(slot, id)| {
            let v = value(*id);
            quote!(let #v = #slot;)
        });
        let exits = slots.iter().zip(&body.yields).map(|(slot, id)| {
            let v = value(*id);
            quote!(#slot = #v;)
        });
        let ends = slots.iter().zip(results).map(|(slot, id)| {
            let v = value(*id);
            quote!(let #v = #slot;)
        });
        let (index, lo, hi, stmts) = (value(index), value(lo), value(hi), self.stmts(body));
        quote! {
            #(#starts)*
            for #index in #lo..#hi {
                #test
                #(#entries)*
                #stmts
                #(#exits)*
            }
            #(#ends)*
        }
    }
}
