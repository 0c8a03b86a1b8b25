//! Branches and loops under a mask.

use diffkern_ir::{Block, Id, StmtKind, Ty};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Lanes;
use super::statements::empty_part;
use crate::emit::native::{rust_type, value};

/// A block of so few components' operations and nothing else is run without asking whether a lane wants it.
const CHEAP: usize = 6;

impl Lanes<'_> {
    pub(super) fn branch(
        &self,
        cond: Id,
        then: &Block,
        els: &Block,
        results: &[Id],
        out: &mut TokenStream,
    ) -> Option<()> {
        // What holds the results; set on both sides.
        let slots = self.slots(results);
        let declare = slots.iter().map(|(name, ty, _)| quote!(let mut #name: #ty;));
        let varies = self.varies(cond);
        if !varies {
            let c = value(cond);
            let then = self.side(then, results, None)?;
            let els = self.side(els, results, None)?;
            out.extend(quote!(#(#declare)* if #c { #then } else { #els }));
        } else {
            let c = self.parts(cond, out)[0].clone();
            let mask = format_ident!("t{}", fresh(results, cond));
            let starts = slots.iter().map(|(name, ty, zero)| quote!(let mut #name: #ty = #zero;));
            self.masks.set(self.masks.get() + 1);
            let (first, second) = (self.side(then, results, None)?, self.side(els, results, Some(quote!(#mask)))?);
            self.masks.set(self.masks.get() - 1);
            let first = guarded(then, first, quote!(S::and(m, #mask)));
            let second = guarded(els, second, quote!(S::and(m, S::not(#mask))));
            out.extend(quote!(let #mask = #c; #(#starts)* #first #second));
        }
        self.end(results, out);
        Some(())
    }

    /// The statements of one side, and what its results become; `others`: the lanes that keep what they have.
    fn side(&self, block: &Block, results: &[Id], others: Option<TokenStream>) -> Option<TokenStream> {
        let mut out = TokenStream::new();
        self.depth.set(self.depth.get() + 1);
        let done = self.block(block, &mut out);
        self.depth.set(self.depth.get() - 1);
        done?;
        for (&result, &id) in results.iter().zip(&block.yields) {
            if !self.varies(result) {
                let (slot, v) = (format_ident!("r{}", result.0), value(id));
                out.extend(quote!(#slot = #v;));
                continue;
            }
            let (parts, select) = (self.parts(id, &mut out), self.values.select_method(id));
            for (k, part) in parts.iter().enumerate() {
                let slot = format_ident!("r{}_{k}", result.0);
                out.extend(match &others {
                    Some(mask) => quote!(#slot = S::#select(#mask, #slot, #part);),
                    None => quote!(#slot = #part;),
                });
            }
        }
        Some(out)
    }

    /// Name, type and first contents of the variables for values that a branch or a loop leaves.
    fn slots(&self, ids: &[Id]) -> Vec<(proc_macro2::Ident, TokenStream, TokenStream)> {
        let mut all = Vec::new();
        for &id in ids {
            let ty = self.func.ty(id);
            if self.varies(id) {
                for k in 0..ty.components() {
                    all.push((format_ident!("r{}_{k}", id.0), self.values.pack(id), empty_part(ty)));
                }
            } else {
                all.push((format_ident!("r{}", id.0), rust_type(ty), quote!(::core::default::Default::default())));
            }
        }
        all
    }

    /// The results from their variables.
    fn end(&self, results: &[Id], out: &mut TokenStream) {
        for &id in results {
            if self.varies(id) {
                for (k, name) in self.values.name(id).iter().enumerate() {
                    let slot = format_ident!("r{}_{k}", id.0);
                    out.extend(quote!(let #name = #slot;));
                }
            } else {
                let (name, slot) = (value(id), format_ident!("r{}", id.0));
                out.extend(quote!(let #name = #slot;));
            }
        }
    }

    pub(super) fn for_loop(
        &self,
        (index, lo, hi): (Id, Id, Id),
        (carried, init, live): (&[Id], &[Id], Option<Id>),
        body: &Block,
        results: &[Id],
        out: &mut TokenStream,
    ) -> Option<()> {
        // The variable that says whether there is another turn.
        let live = live.and_then(|id| results.get(carried.iter().position(|&c| c == id)?).copied());
        let masked = self.varies(lo) || self.varies(hi) || live.is_some_and(|id| self.varies(id));
        // Variables: `r` of the results, which start as `init`.
        for (&result, &from) in results.iter().zip(init) {
            if self.varies(result) {
                let parts = self.parts(from, out);
                let ty = self.values.pack(result);
                for (k, part) in parts.iter().enumerate() {
                    let slot = format_ident!("r{}_{k}", result.0);
                    out.extend(quote!(let mut #slot: #ty = #part;));
                }
            } else {
                let (slot, ty, from) = (format_ident!("r{}", result.0), rust_type(self.func.ty(result)), value(from));
                out.extend(quote!(let mut #slot: #ty = #from;));
            }
        }
        let mut turn = TokenStream::new();
        for (&id, &result) in carried.iter().zip(results) {
            if self.varies(id) {
                for (k, name) in self.values.name(id).iter().enumerate() {
                    let slot = format_ident!("r{}_{k}", result.0);
                    turn.extend(quote!(let #name = #slot;));
                }
            } else {
                let (name, slot) = (value(id), format_ident!("r{}", result.0));
                turn.extend(quote!(let #name = #slot;));
            }
        }
        let counter = format_ident!("k{}", index.0);
        if self.varies(index) {
            self.values.define(index, vec![quote!(#counter)]);
        }
        self.depth.set(self.depth.get() + 1);
        self.masks.set(self.masks.get() + usize::from(masked));
        let done = self.block(body, &mut turn);
        self.masks.set(self.masks.get() - usize::from(masked));
        self.depth.set(self.depth.get() - 1);
        done?;
        // First all, then the variables: one may be made of another.
        let mut sets = TokenStream::new();
        for (&result, &id) in results.iter().zip(&body.yields) {
            if self.varies(result) {
                let (parts, select) = (self.parts(id, &mut turn), self.values.select_method(id));
                for (k, part) in parts.iter().enumerate() {
                    let (slot, next) = (format_ident!("r{}_{k}", result.0), format_ident!("n{}_{k}", result.0));
                    turn.extend(if masked {
                        quote!(let #next = S::#select(m, #part, #slot);)
                    } else {
                        quote!(let #next = #part;)
                    });
                    sets.extend(quote!(#slot = #next;));
                }
            } else {
                let (slot, next, v) = (format_ident!("r{}", result.0), format_ident!("n{}", result.0), value(id));
                turn.extend(quote!(let #next = #v;));
                sets.extend(quote!(#slot = #next;));
            }
        }
        turn.extend(sets);
        out.extend(if !masked {
            let (index, lo, hi) = (value(index), value(lo), value(hi));
            let test = live.map(|id| {
                let slot = format_ident!("r{}", id.0);
                quote!(if !#slot { break; })
            });
            quote!(for #index in #lo..#hi { #test #turn })
        } else {
            let mut ends = TokenStream::new();
            let hi = self.parts(hi, &mut ends)[0].clone();
            let end = format_ident!("e{}", index.0);
            let less = format_ident!("{}", if self.func.ty(index) == Ty::I32 { "lt_i" } else { "lt_u" });
            let (start, now, bind, step) = if self.varies(lo) {
                let lo = self.parts(lo, &mut ends)[0].clone();
                (quote!(#lo), quote!(#counter), quote!(), quote!(S::add_i(#counter, S::splat_i(1))))
            } else {
                let (lo, index) = (value(lo), value(index));
                let bind = quote!(let #index = #counter;);
                (quote!(#lo), quote!(S::splat_i(#counter as u32)), bind, quote!(#counter.wrapping_add(1)))
            };
            let test = live.map(|id| {
                let slot = format_ident!("r{}_0", id.0);
                quote!(let m = S::and(m, #slot);)
            });
            quote! {
                #ends
                let #end = #hi;
                let mut #counter = #start;
                loop {
                    let m = S::and(m, S::#less(#now, #end));
                    #test
                    if !S::any(m) {
                        break;
                    }
                    #bind
                    #turn
                    #counter = #step;
                }
            }
        });
        self.end(results, out);
        Some(())
    }
}

/// Runs `text` under `mask` where a lane takes part.
fn guarded(block: &Block, text: TokenStream, mask: TokenStream) -> TokenStream {
    if cheap(block) { quote!({ #text }) } else { quote!({ let m = #mask; if S::any(m) { #text } }) }
}

fn cheap(block: &Block) -> bool {
    block.stmts.len() <= CHEAP && block.stmts.iter().all(|stmt| matches!(stmt.kind, StmtKind::Let { .. }))
}

/// A number that no other branch's mask has.
fn fresh(results: &[Id], cond: Id) -> u32 {
    results.first().map_or(cond.0, |id| id.0)
}
