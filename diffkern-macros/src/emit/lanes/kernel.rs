//! A kernel over packs of its positions.

use diffkern_ir::{Access, Builtin, CallMode, Func, Op, ParamKind, StmtKind, Ty, UnaryOp};
use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::Lanes;
use super::lack::{Lack, first};
use crate::emit::callee::callee_lacks;
use crate::emit::native::{array, rust_type};
use crate::places::{adds_once, places, takes_once};
use crate::source::Source;

/// The items of `Body` that make it one of lanes, or say what it lacks; nothing where lanes do not pay. Where the compiler
/// makes vector instructions of the scalar body, they pay when one array takes the place of another: the compiler does not
/// know then that no position reads what another has written.
pub fn kernel(func: &Func, source: &Source) -> TokenStream {
    let (vectorizes, places) = (vectorizes(func), !places(func).is_empty());
    if vectorizes && !places {
        return quote!();
    }
    let body = if vectorizes && adds_up(func) { own(func, source) } else { any(func, source) };
    let lacks = |words| quote!(const LACKS: ::core::option::Option<&'static ::core::primitive::str> = #words;);
    let body = match body {
        Ok(body) => body,
        Err(_) if vectorizes => return quote!(),
        Err(lack) => return lacks(lack.words()),
    };
    let lacks = lacks(first(&callees(func, source)));
    let always = (!vectorizes).then(|| {
        quote!(
            const LANES: bool = Self::LACKS.is_none();
        )
    });
    let in_place = places.then(|| {
        quote!(
            const LANES_IN_PLACE: bool = Self::LACKS.is_none();
        )
    });
    quote!(#lacks #always #in_place #body)
}

/// The body where all arrays cover the positions; else the scalar one.
fn own(func: &Func, source: &Source) -> Result<TokenStream, Lack> {
    let lanes = Lanes::new(func, source, &[]);
    let mut text = TokenStream::new();
    lanes.statements(&func.body, &mut text)?;
    let arrays = func.params.iter().enumerate().filter_map(|(slot, param)| {
        let ParamKind::Array { elem, access, .. } = &param.kind else { return None };
        let method = match access {
            Access::Unused => return None,
            Access::Read => format_ident!("lanes_own_read"),
            Access::Store | Access::Add | Access::Take | Access::Update | Access::Fetch => {
                format_ident!("lanes_own_write")
            }
        };
        let (var, elem) = (array(slot), rust_type(*elem));
        Some(quote!(let #var = c.#method::<S, #elem>(#slot, covered);))
    });
    let scalars = scalars(&lanes);
    let covered = quote! {
        let ::core::option::Option::Some(covered) = c.covered_by_all() else {
            return Self::run(c);
        };
    };
    Ok(packs(quote!(#covered #(#arrays)* #scalars), &quote!(covered), &text, &quote!()))
}

/// `run_lanes`: what comes `before`, then `each` for every pack of the positions of `of`, then what comes `after`.
fn packs(before: TokenStream, of: &TokenStream, each: &TokenStream, after: &TokenStream) -> TokenStream {
    quote! {
        #[inline(always)]
        fn run_lanes<S: ::diffkern::private::Lanes<F = F>>(c: &::diffkern::private::Chunk<'_>) {
            #before
            let (mut p, mut left) = #of.positions();
            let mut bad = S::splat_m(false);
            while left > 0 {
                let m = S::first(left);
                #each
                p = p.wrapping_add(S::N as u32);
                left = left.saturating_sub(S::N as u32);
            }
            #after
        }
    }
}

fn scalars(lanes: &Lanes<'_>) -> TokenStream {
    (0..lanes.func.params.len()).map(|slot| lanes.scalar.scalar_binding(slot)).collect()
}

pub fn any(func: &Func, source: &Source) -> Result<TokenStream, Lack> {
    let lanes = Lanes::new(func, source, &[]);
    let mut text = TokenStream::new();
    lanes.statements(&func.body, &mut text)?;
    let (stacks, scalars) = (lanes.stacks(), scalars(&lanes));
    let mut arrays = TokenStream::new();
    let mut flushes = TokenStream::new();
    let places = places(func);
    for (slot, param) in func.params.iter().enumerate() {
        let ParamKind::Array { elem, access, .. } = &param.kind else { continue };
        let (var, elem) = (array(slot), rust_type(*elem));
        let (method, mutable) = match access {
            Access::Read => ("read", false),
            Access::Store => ("store", true),
            Access::Add if places.iter().any(|(_, to)| *to == slot) => ("add_once", true),
            Access::Add => ("add", true),
            Access::Take if takes_once(func, slot) => ("take_once", true),
            Access::Take => ("take", true),
            Access::Unused => continue,
            Access::Update | Access::Fetch => return Err(Lack::UPDATE),
        };
        let (method, mutable) = (format_ident!("lanes_{method}"), mutable.then(|| quote!(mut)));
        let fixed = (*access == Access::Add).then(|| lanes.fixed.borrow().get(&slot).copied().unwrap_or(0));
        let fixed = fixed.iter();
        arrays.extend(quote!(let #mutable #var = c.#method::<S, #elem>(#slot #(, #fixed)*);));
        if *access == Access::Add {
            flushes.extend(quote!(#var.flush();));
        }
    }
    let after = quote!(if S::any(bad) {
        c.suspect();
    });
    Ok(packs(quote!(#arrays #scalars #stacks), &quote!(c), &quote!(#text #flushes), &after))
}

/// What each function that it calls lacks, see [`first`].
pub(super) fn callees(func: &Func, source: &Source) -> Vec<TokenStream> {
    let mut found: Vec<(usize, CallMode)> = Vec::new();
    func.body.each(&mut |stmt| match stmt.kind {
        StmtKind::Call { callee, mode, .. } if !found.contains(&(callee, mode)) => found.push((callee, mode)),
        _ => {}
    });
    found.into_iter().map(|(callee, mode)| callee_lacks(source, &func.callees[callee], mode.name())).collect()
}

/// Whether it does nothing to arrays but read them, add to elements once and take elements once, as adjoints do.
fn adds_up(func: &Func) -> bool {
    func.params.iter().enumerate().all(|(slot, param)| match param.kind {
        ParamKind::Array { access: Access::Add, .. } => adds_once(func, slot),
        ParamKind::Array { access: Access::Take, .. } => takes_once(func, slot),
        ParamKind::Array { access, .. } => matches!(access, Access::Read | Access::Unused),
        ParamKind::Scalar { .. } => true,
    })
}

/// Whether the compiler makes vector instructions of the scalar body: scalars at the thread's own position, straight on.
fn vectorizes(func: &Func) -> bool {
    let scalars = |elem: Ty| elem.components() == 1;
    let params = func.params.iter().all(|param| match param.kind {
        ParamKind::Array { elem, access, .. } => access == Access::Unused || scalars(elem),
        ParamKind::Scalar { .. } => true,
    });
    let plain = func.body.stmts.iter().all(|stmt| match &stmt.kind {
        StmtKind::Let { op: Op::Unary(op, _), .. } => matches!(
            op,
            UnaryOp::Neg
                | UnaryOp::Not
                | UnaryOp::Abs
                | UnaryOp::Sqrt
                | UnaryOp::Length
                | UnaryOp::Transpose
                | UnaryOp::Detach
        ),
        StmtKind::Let { op, .. } => !matches!(op, Op::Builtin(b) if *b != Builtin::Pos),
        StmtKind::Load { .. } | StmtKind::Store { .. } | StmtKind::Add { .. } | StmtKind::Take { .. } => true,
        _ => false,
    });
    func.only_own_positions() && params && plain
}
