//! Statements that touch memory, and calls.

use diffkern_ir::{
    Access, Block, CallArg, CallMode, FaultKind, FuncKind, Id, ParamKind, Slot, StackKind, Stmt, StmtKind, Ty,
};
use proc_macro2::TokenStream;
use quote::{format_ident, quote, quote_spanned};

use super::Lanes;
use crate::emit::callee::callee_form;
use crate::emit::native::{array, rust_type, value};

impl Lanes<'_> {
    pub(super) fn block(&self, block: &Block, out: &mut TokenStream) -> Option<()> {
        block.stmts.iter().try_for_each(|stmt| {
            let done = self.statement(stmt, out);
            if done.is_none() {
                self.note(stmt);
            }
            done
        })
    }

    fn statement(&self, stmt: &Stmt, out: &mut TokenStream) -> Option<()> {
        let line = u32::try_from(self.source.line(stmt.node)).unwrap_or(u32::MAX);
        match &stmt.kind {
            StmtKind::Let { id, op } => {
                if self.varies(*id) && self.values.shapes.stride(*id).is_none() {
                    return self.values.operation(*id, op, out);
                }
                out.extend(self.scalar.stmt(stmt));
            }
            StmtKind::Load { id, array: slot, index } => self.load(*id, *slot, *index, line, out),
            StmtKind::Take { id, array: slot, index } => {
                let (a, names) = (array(*slot), self.values.name(*id));
                let (at, index) = self.index(*index, out);
                let method = format_ident!("take{at}");
                out.extend(quote!(let [#(#names),*] = #a.#method(m, #index, #line);));
            }
            StmtKind::Store { array: slot, index, value: v } => {
                let int = self.func.ty(*v).is_int();
                let (a, parts) = (array(*slot), self.parts(*v, out));
                let (at, at_index) = self.index(*index, out);
                if int {
                    let index = &self.parts(*index, out)[0];
                    out.extend(quote!(#a.set_i(m, p, #index, #(#parts)*, #line);));
                } else {
                    let method = format_ident!("set{at}");
                    out.extend(quote!(#a.#method(m, p, #at_index, [#(#parts),*], #line);));
                }
            }
            StmtKind::Add { array: slot, index, value: v } => {
                if !self.func.ty(*v).is_real() {
                    return None;
                }
                let (a, parts) = (array(*slot), self.parts(*v, out));
                let bad = self.bad();
                if self.varies(*index) {
                    let listed = self.values.shapes.is_listed(*index);
                    let (at, index) = self.index(*index, out);
                    let at = if listed { "_run" } else { at };
                    let place = if at.is_empty() { self.fixed_place(*slot) } else { None };
                    out.extend(match place {
                        Some(e) => quote!(#a.add_fixed(#e, m, #index, [#(#parts),*], #bad);),
                        None => {
                            let method = format_ident!("add{at}");
                            quote!(#a.#method(m, #index, [#(#parts),*], #bad);)
                        }
                    });
                } else {
                    let index = value(*index);
                    out.extend(quote!(#a.add_all(m, #index as u32, [#(#parts),*], #line);));
                }
            }
            StmtKind::If { cond, then, els, results } => return self.branch(*cond, then, els, results, out),
            StmtKind::For { index, lo, hi, carried, init, live, body, results } => {
                return self.for_loop((*index, *lo, *hi), (carried, init, *live), body, results, out);
            }
            StmtKind::StackNew { .. } | StmtKind::StackSet { .. } | StmtKind::StackGet { .. } => {
                return self.stack(&stmt.kind, out);
            }
            StmtKind::Call { callee, mode, args, results } => {
                return self.call(stmt, *callee, *mode, args, results, out);
            }
            // Old values come in the order of the positions.
            StmtKind::Fetch { .. } => return None,
            StmtKind::Fault { cond, what } => self.fault(stmt, *cond, *what, line, out),
        }
        Some(())
    }

    /// The end of the method's name, and the index: that of the first lane where the others follow.
    fn index(&self, index: Id, out: &mut TokenStream) -> (&'static str, TokenStream) {
        if self.values.shapes.stride(index) == Some(1) {
            let v = value(index);
            ("_at", quote!(#v as u32))
        } else {
            ("", self.parts(index, out)[0].clone())
        }
    }

    fn load(&self, id: Id, slot: Slot, index: Id, line: u32, out: &mut TokenStream) {
        let (a, bad) = (array(slot), self.bad());
        if !self.varies(id) {
            let (name, ty, index) = (value(id), rust_type(self.func.ty(id)), value(index));
            out.extend(quote!(let #name: #ty = #a.get(#index as u32, #line);));
            return;
        }
        let names = self.values.name(id);
        let ty = self.func.ty(id);
        if let Some(stride) = self.values.shapes.stride(index).filter(|&stride| stride > 1 && ty.is_int()) {
            let first = value(index);
            out.extend(quote!(let #(#names)* = #a.load_i_by::<#stride>(m, #first as u32, #bad);));
            return;
        }
        let listed = self.values.shapes.is_listed(index);
        let (at, index) = self.index(index, out);
        if ty.is_int() {
            let method = format_ident!("load_i{at}");
            out.extend(quote!(let #(#names)* = #a.#method(m, #index, #bad);));
        } else {
            let method = format_ident!("load{}", if listed { "_run" } else { at });
            out.extend(quote!(let [#(#names),*] = #a.#method(m, #index, #bad);));
        }
    }

    /// Of several lanes, the first is told of.
    fn fault(&self, stmt: &Stmt, cond: Id, what: FaultKind, line: u32, out: &mut TokenStream) {
        if !self.varies(cond) && !self.varies(what.id()) {
            out.extend(self.scalar.stmt(stmt));
            return;
        }
        let (cond, told) = (self.parts(cond, out)[0].clone(), self.parts(what.id(), out)[0].clone());
        let report = match (what, self.func.kind) {
            (FaultKind::Bound(_), _) => quote!(c.bound_exceeded(told, #line)),
            (FaultKind::Index(_, len), FuncKind::Kernel) => quote!(c.local_outside(told, #len, #line)),
            (FaultKind::Index(_, len), FuncKind::DiffFn) => {
                quote!(::diffkern::private::local_outside(told, #len, #line))
            }
        };
        out.extend(quote! {
            if let ::core::option::Option::Some(told) = ::diffkern::private::first::<S>(S::and(m, #cond), #told) {
                #report;
            }
        });
    }

    fn stack(&self, stmt: &StmtKind, out: &mut TokenStream) -> Option<()> {
        let name = |stack: u32| format_ident!("s{stack}");
        match stmt {
            // As many slots as the bound says, for each lane, of which a turn or two may be used.
            StmtKind::StackNew { stack, .. } if self.growing.contains(stack) => return None,
            // It grows by what is set, and nothing is read that was not.
            StmtKind::StackNew { kind: StackKind::Log, .. } => {}
            StmtKind::StackNew { stack, ty, len, kind } => {
                let name = name(*stack);
                let varies = self.values.shapes.stack_varies(*stack);
                let len = if self.varies(*len) {
                    let len = &self.parts(*len, out)[0];
                    quote!(::diffkern::private::largest::<S>(m, #len))
                } else {
                    let len = value(*len);
                    quote!(#len as u32)
                };
                let any = if varies { empty(*ty) } else { quote!(::core::default::Default::default()) };
                let method = format_ident!("{}", if *kind == StackKind::Array { "clear" } else { "reserve" });
                out.extend(quote!(#name.#method(#len, #any);));
            }
            StmtKind::StackSet { stack, at, value: v } => {
                let name = name(*stack);
                let varies = self.values.shapes.stack_varies(*stack);
                let any = if varies { empty(self.func.ty(*v)) } else { quote!(::core::default::Default::default()) };
                if self.varies(*at) {
                    let suffix = self.each(*v);
                    let method = format_ident!("set_each{suffix}");
                    let (at, parts) = (self.parts(*at, out)[0].clone(), self.parts(*v, out));
                    if self.logs.contains(stack) {
                        out.extend(quote!(#name.reserve(::diffkern::private::largest::<S>(m, #at), #any);));
                    }
                    out.extend(quote!(#name.#method::<S>(m, #at, [#(#parts),*]);));
                    return Some(());
                }
                let at = value(*at);
                if self.logs.contains(stack) {
                    out.extend(quote!(#name.reserve(#at as u32, #any);));
                }
                let v = if varies {
                    let mut parts = self.parts(*v, out);
                    // Lanes that are masked off keep what they have.
                    if self.arrays.contains(stack) && self.masks.get() > 0 {
                        let select = self.values.select_method(*v);
                        let old: Vec<_> = (0..parts.len()).map(|k| format_ident!("old{k}")).collect();
                        out.extend(quote!(let [#(#old),*] = #name.get(#at as u32);));
                        parts = parts.iter().zip(&old).map(|(new, old)| quote!(S::#select(m, #new, #old))).collect();
                    }
                    quote!([#(#parts),*])
                } else {
                    let v = value(*v);
                    quote!(#v)
                };
                out.extend(quote!(#name.set(#at as u32, #v);));
            }
            StmtKind::StackGet { id, stack, at } => {
                let stack = name(*stack);
                if self.varies(*at) {
                    let suffix = self.each(*id);
                    let method = format_ident!("get_each{suffix}");
                    let (at, names) = (self.parts(*at, out)[0].clone(), self.values.name(*id));
                    out.extend(quote!(let [#(#names),*] = #stack.#method::<S>(m, #at);));
                    return Some(());
                }
                let at = value(*at);
                if self.varies(*id) {
                    let names = self.values.name(*id);
                    out.extend(quote!(let [#(#names),*] = #stack.get(#at as u32);));
                } else {
                    let (name, ty) = (value(*id), rust_type(self.func.ty(*id)));
                    out.extend(quote!(let #name: #ty = #stack.get(#at as u32);));
                }
            }
            _ => return None,
        }
        Some(())
    }

    /// How the methods for slots that differ among lanes end.
    fn each(&self, id: Id) -> &'static str {
        match self.func.ty(id) {
            Ty::Bool => "_m",
            ty if ty.is_int() => "_i",
            _ => "",
        }
    }

    fn call(
        &self,
        stmt: &Stmt,
        callee: usize,
        mode: CallMode,
        args: &[CallArg],
        results: &[Id],
        out: &mut TokenStream,
    ) -> Option<()> {
        let callee = &self.func.callees[callee];
        // There are no lanes for tangents of adjoints.
        if mode == CallMode::Second {
            return None;
        }
        // Two arguments cannot add to one array here; in scalar they can.
        let added = |slot: &Slot| matches!(self.func.params[*slot].kind, ParamKind::Array { access: Access::Add, .. });
        let mut slots: Vec<Slot> = args
            .iter()
            .filter_map(|arg| if let CallArg::Array(slot) = arg { Some(*slot) } else { None })
            .filter(added)
            .collect();
        slots.sort_unstable();
        if slots.windows(2).any(|pair| pair[0] == pair[1]) {
            return None;
        }
        let mode = mode.name();
        let span = self.source.span(stmt.node);
        if self.values.shapes.is_uniform_call(self.func, args) {
            let args = args.iter().map(|arg| match arg {
                CallArg::Value(id) => {
                    let v = value(*id);
                    quote!(#v)
                }
                CallArg::Array(slot) => {
                    let a = array(*slot);
                    quote!(#a.scalar())
                }
            });
            let function = callee_form(self.source, callee, mode);
            let (args, binding) = (args.collect::<Vec<_>>(), self.scalar.binding(results));
            out.extend(quote_spanned!(span=> #binding #function::<F>(#(#args),*);));
            return Some(());
        }
        // Integers and truth values stay scalar where all of them are uniform.
        let integers = |id: &Id| !self.func.ty(*id).is_real();
        let mixed = args.iter().any(|arg| matches!(arg, CallArg::Value(id) if integers(id) && self.varies(*id)));
        let mut list = Vec::new();
        for arg in args {
            match arg {
                CallArg::Value(id) if integers(id) && !mixed => {
                    let v = value(*id);
                    list.push(quote!(#v));
                }
                CallArg::Value(id) => list.extend(self.parts(*id, out)),
                CallArg::Array(slot) => list.push(self.array_argument(*slot)),
            }
        }
        let form = format!("{mode}_lanes{}", if mixed { "_varying" } else { "" });
        let function = callee_form(self.source, callee, &form);
        let patterns: Vec<_> = results
            .iter()
            .map(|&id| {
                let names = self.values.name(id);
                quote!([#(#names),*])
            })
            .collect();
        let binding = if patterns.is_empty() { quote!() } else { quote!(let (#(#patterns,)*) =) };
        // Not with the span of the source, which may be that of a macro's definition.
        let (mask, bad) = (quote!(m), self.bad());
        let call = quote_spanned!(span=> #function::<F, S>(#mask, #bad, #(#list),*));
        out.extend(quote!(#binding #call;));
        Some(())
    }

    /// What is told of lanes that leave an array.
    fn bad(&self) -> TokenStream {
        match self.func.kind {
            FuncKind::Kernel => quote!(&mut bad),
            FuncKind::DiffFn => quote!(&mut *bad),
        }
    }

    /// Where the present addition to the array is kept: a place of its own if every pack makes it once.
    fn fixed_place(&self, slot: Slot) -> Option<usize> {
        if self.depth.get() > 0 || self.func.kind == FuncKind::DiffFn {
            return None;
        }
        let mut fixed = self.fixed.borrow_mut();
        let count = fixed.entry(slot).or_insert(0usize);
        *count += 1;
        Some(*count - 1)
    }

    /// A read array is passed by copy, one that is added to by a new borrow.
    fn array_argument(&self, slot: Slot) -> TokenStream {
        let var = array(slot);
        let access = match &self.func.params[slot].kind {
            ParamKind::Array { access, .. } => *access,
            ParamKind::Scalar { .. } => Access::Unused,
        };
        match (access, self.func.kind) {
            (Access::Add, FuncKind::Kernel) => quote!(&mut #var),
            (Access::Add, FuncKind::DiffFn) => quote!(&mut *#var),
            _ => quote!(#var),
        }
    }

    /// The stacks, made once and used again for every pack.
    pub(super) fn stacks(&self) -> TokenStream {
        self.func
            .stack_types()
            .iter()
            .map(|(stack, ty)| {
                let name = format_ident!("s{stack}");
                let slot = if self.values.shapes.stack_varies(*stack) { packs(*ty) } else { rust_type(*ty) };
                quote!(let mut #name = ::diffkern::private::LaneStack::<#slot>::new();)
            })
            .collect()
    }
}

/// `[S::R; 3]`, the components of a value that varies.
pub(super) fn packs(ty: Ty) -> TokenStream {
    let n = ty.components();
    match ty {
        Ty::Bool => quote!([S::M; 1]),
        ty if ty.is_int() => quote!([S::I; 1]),
        _ => quote!([S::R; #n]),
    }
}

/// Any value of [`packs`].
pub(super) fn empty(ty: Ty) -> TokenStream {
    let n = ty.components();
    let zero = empty_part(ty);
    quote!([#zero; #n])
}

pub(super) fn empty_part(ty: Ty) -> TokenStream {
    match ty {
        Ty::Bool => quote!(S::splat_m(false)),
        ty if ty.is_int() => quote!(S::splat_i(0)),
        _ => quote!(S::splat(<F as ::diffkern::Float>::zero())),
    }
}
