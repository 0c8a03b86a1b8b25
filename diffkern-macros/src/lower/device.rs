//! Calls of device functions.

use diffkern_ir::{ArgTy, CallArg, CallMode, CallTypes, Callee, Id, StmtKind, Ty};
use syn::spanned::Spanned;
use syn::{Expr, ExprCall};

use super::Lower;

impl Lower<'_> {
    /// A call of a `#[diff_fn]`. Its result types are what the call's surroundings say; rustc checks them.
    pub(super) fn device_call(&mut self, c: &ExprCall, types: Option<&[Ty]>, results: usize) -> Option<Vec<Id>> {
        let Expr::Path(path) = &*c.func else {
            self.errors.at(&c.func, "call a function by its name");
            return None;
        };
        if path.qself.is_some() {
            self.errors
                .at(path, "the method of a law is called by its type, `Type::method(x)`, with the trait in scope");
            return None;
        }
        let shown = path.path.segments.iter().map(|s| s.ident.to_string()).collect::<Vec<_>>().join("::");
        let own = shown.strip_prefix("self::").unwrap_or(&shown) == self.own_name;
        let own_method = path.path.segments.len() == 2 && shown == format!("Self::{}", self.own_name);
        if own || own_method && self.source.laws.iter().any(|law| law == "Self") {
            self.errors.at(&c.func, format!("`{shown}` calls itself; recursion is refused, write a loop"));
            return None;
        }
        let scalar = if self.real.is_some() { Ty::Real } else { Ty::U32 };
        let guess = vec![scalar; results];
        let guess = (types.is_none() && self.guesses).then_some(guess.as_slice());
        self.guessed |= guess.is_some();
        let Some(types) = types.or(guess) else {
            let mut call = crate::diagnostics::as_written(c);
            if call.len() > 80 {
                call = format!("{shown}(..)");
            }
            let ty = self.type_name(scalar);
            let binding = if results > 1 { format!("(a, b): ({ty}, {ty})") } else { format!("value: {ty}") };
            self.missing.at(
                &c.func,
                format!("write the result's type where the device function is called: `let {binding} = {call};` with the type that `{shown}` returns"),
            );
            return None;
        };
        let mut args = Vec::new();
        for arg in &c.args {
            let inner = match arg {
                Expr::Reference(r) => &*r.expr,
                other => other,
            };
            if let Some(slot) = self.array_named(inner) {
                if self.arrays[slot].mutable || self.arrays[slot].atomic {
                    let name = &self.func.params[slot].name;
                    self.errors.at(
                        arg,
                        format!(
                            "this kernel may write `{name}`, and a device function takes arrays that are only read: pass \
                             an element, `{name}[i]`, or read from a second array"
                        ),
                    );
                    return None;
                }
                self.arrays[slot].read.get_or_insert(arg.span());
                self.arrays[slot].not_owned = true;
                args.push(CallArg::Array(slot));
            } else {
                args.push(CallArg::Value(self.expr(arg, real_if_literal(arg))?));
            }
        }
        let mut callee = path.path.clone();
        if let Some(last) = callee.segments.last_mut() {
            last.arguments = self.without_real(&last.arguments);
        }
        let arg_type = |arg: &CallArg| match *arg {
            CallArg::Value(id) => Some(ArgTy::Value(self.ty(id))),
            CallArg::Array(slot) => self.array_elem(slot).map(ArgTy::Array),
        };
        let call = CallTypes { args: args.iter().filter_map(arg_type).collect(), results: types.to_vec() };
        let same = |known: &Callee| known.call == call && *self.source.path(known) == callee;
        let callee = match self.func.callees.iter().position(same) {
            Some(k) => k,
            None => {
                let name = callee.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
                self.func.callees.push(Callee { name, node: self.source.callee(callee), call });
                self.func.callees.len() - 1
            }
        };
        let results: Vec<Id> = types.iter().map(|&t| self.func.fresh(t)).collect();
        self.emit(StmtKind::Call { callee, mode: CallMode::Primal, args, results: results.clone() }, c.span());
        Some(results)
    }

    /// Whether an expression calls a function that is not of the language.
    pub(super) fn calls_device(&self, e: &Expr) -> bool {
        let Expr::Call(c) = e else { return false };
        let Expr::Path(path) = &*c.func else { return false };
        let names: Vec<String> = path.path.segments.iter().map(|s| s.ident.to_string()).collect();
        match names.iter().map(String::as_str).collect::<Vec<_>>().as_slice() {
            ["select" | "select_many" | "detach" | "min" | "max" | "fma"] => false,
            [owner, _] if self.source.laws.iter().any(|law| law == owner) => true,
            [.., owner, _] if owner.starts_with(char::is_lowercase) => super::call::integer(owner).is_none(),
            [.., owner, _] => !self.is_of_the_language(owner),
            _ => true,
        }
    }

    /// Whether a type has functions of the language, and so none of a law.
    fn is_of_the_language(&self, owner: &str) -> bool {
        self.real.as_ref().is_some_and(|real| real == owner)
            || crate::parse::named_shape(owner).is_some()
            || crate::cube::is_operation(owner)
            || crate::cube::is_vector(owner)
            || matches!(owner, "Array" | "Atomic")
    }

    /// The types of a turbofish but the real one, which calls have anyway.
    fn without_real(&self, arguments: &syn::PathArguments) -> syn::PathArguments {
        let syn::PathArguments::AngleBracketed(arguments) = arguments else { return syn::PathArguments::None };
        let mut kept = arguments.clone();
        kept.args = arguments.args.iter().filter(|arg| !self.is_real_type(arg)).cloned().collect();
        if kept.args.is_empty() { syn::PathArguments::None } else { syn::PathArguments::AngleBracketed(kept) }
    }

    fn is_real_type(&self, arg: &syn::GenericArgument) -> bool {
        match arg {
            syn::GenericArgument::Type(syn::Type::Infer(_)) => true,
            syn::GenericArgument::Type(syn::Type::Path(path)) => {
                self.real.as_ref().is_some_and(|real| path.path.is_ident(real))
            }
            _ => false,
        }
    }
}

fn real_if_literal(e: &Expr) -> Option<Ty> {
    match e {
        Expr::Lit(l) if matches!(l.lit, syn::Lit::Float(_)) => Some(Ty::Real),
        _ => None,
    }
}
