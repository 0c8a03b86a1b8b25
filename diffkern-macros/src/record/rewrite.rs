//! From a function with structs to one without.
//!
//! | source | becomes |
//! |---|---|
//! | `p: Body<F>` (`x: Vec3<F>, m: F`) | `p__x: Vec3<F>, p__m: F` |
//! | `a: &Array<Body<F>>` | `a: &Array<F>` |
//! | `a[i].x` | `Vec3::new(a[i * 4 + 0], a[i * 4 + 1], a[i * 4 + 2])` |
//! | `let q: Body<F> = f(p);` | `let (q__x, q__m): (Vec3<F>, F) = f(p__x, p__m);` |
//! | `a[i].m += e` | `a[i * 4 + 3] += e` |

use std::collections::HashMap;

use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::{Block, Expr, FnArg, Ident, ItemFn, Local, Pat, Stmt, Type, parse_quote, parse_quote_spanned};

use super::def::{Kind, Leaf, Record, Records};
use super::host::{self, HostParam, HostSide};
use super::values::{Place, component, compose, leaf_name, plain_type};
use crate::diagnostics::Diagnostics;
use crate::ir::FuncKind;

/// A name that is a struct, or an array of structs.
#[derive(Clone)]
pub enum Var {
    Value(Record),
    Array(Record),
}

pub struct Rewrite<'a> {
    pub records: &'a Records,
    pub errors: &'a Diagnostics,
    real: Option<Ident>,
    scopes: Vec<HashMap<String, Option<Var>>>,
    fresh: usize,
}

/// The function over fields, and what the host sees of it.
pub fn rewrite(item: &ItemFn, kind: FuncKind, records: &Records, errors: &Diagnostics) -> (ItemFn, HostSide) {
    let real = item.sig.generics.params.iter().find_map(|p| match p {
        syn::GenericParam::Type(t) if t.bounds.to_token_stream().to_string().ends_with("Float") => {
            Some(t.ident.clone())
        }
        _ => None,
    });
    let mut rewrite = Rewrite { records, errors, real, scopes: vec![HashMap::new()], fresh: 0 };
    let mut item = item.clone();
    let mut side = HostSide::default();
    let prelude = rewrite.parameters(&mut item, kind, &mut side);
    let result = match &item.sig.output {
        syn::ReturnType::Type(_, ty) => Some((**ty).clone()),
        syn::ReturnType::Default => None,
    };
    let wants = result.as_ref().map(|ty| rewrite.shapes(ty)).unwrap_or_default();
    if let Some(ty) = result
        && wants.iter().any(Option::is_some)
    {
        side.result = Some(rewrite.host_result(&ty, &wants));
        let types = rewrite.flat_types(&ty);
        item.sig.output = parse_quote_spanned!(ty.span()=> -> (#(#types),*));
        rewrite.tail_block(&mut item.block, &wants);
    } else {
        rewrite.visit_block_mut(&mut item.block);
    }
    item.block.stmts.splice(0..0, prelude);
    (item, side)
}

impl Rewrite<'_> {
    pub fn find(&self, name: &Ident) -> Option<Var> {
        self.scopes.iter().rev().find_map(|s| s.get(&name.to_string()).cloned())?
    }

    fn bind(&mut self, name: &Ident, var: Option<Var>) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.insert(name.to_string(), var);
        }
    }

    pub fn expression(&mut self, e: &mut Expr) {
        self.visit_expr_mut(e);
    }

    // ---- signature

    fn parameters(&mut self, item: &mut ItemFn, kind: FuncKind, side: &mut HostSide) -> Vec<Stmt> {
        let mut prelude = Vec::new();
        let mut inputs = syn::punctuated::Punctuated::new();
        for arg in std::mem::take(&mut item.sig.inputs) {
            let FnArg::Typed(typed) = &arg else {
                inputs.push(arg);
                continue;
            };
            let Pat::Ident(name) = &*typed.pat else {
                inputs.push(arg);
                continue;
            };
            let name = name.ident.clone();
            if let Some((record, elem, mutable)) = self.array_of(&typed.ty) {
                if let Some(field) = record.leaves().into_iter().find(|leaf| !leaf.ty.is_real()) {
                    let field = field.path.last().map(ToString::to_string).unwrap_or_default();
                    self.errors.at(
                        &typed.ty,
                        format!(
                            "an array holds structs of reals, and `{}` has the field `{field}`; keep `{field}` in an array \
                             of its own",
                            record.name
                        ),
                    );
                }
                let real = plain_type(crate::ir::Ty::Real, self.real.as_ref());
                inputs.push(parse_quote_spanned!(typed.ty.span()=> #name: & #mutable Array<#real>));
                let elem = self.with_f(elem);
                side.params.push(HostParam {
                    ty: quote!(&::diffkern::Array<#elem>),
                    args: vec![quote!(::diffkern::private::Arg::Array(#name.any()))],
                    name: name.clone(),
                });
                self.bind(&name, Some(Var::Array(record)));
            } else if let Some(record) = self.records.of(&typed.ty).cloned() {
                for leaf in record.leaves() {
                    let (var, ty) = (leaf_name(&name, &leaf.path), plain_type(leaf.ty, self.real.as_ref()));
                    if kind == FuncKind::Kernel && leaf.ty.is_compound() {
                        let real = plain_type(crate::ir::Ty::Real, self.real.as_ref());
                        let parts: Vec<Ident> = (0..leaf.ty.components()).map(|k| format_ident!("{var}_{k}")).collect();
                        for part in &parts {
                            inputs.push(parse_quote!(#part: #real));
                        }
                        let value = compose(leaf.ty, parts.iter().map(|p| parse_quote!(#p)).collect(), name.span());
                        prelude.push(parse_quote!(let #var = #value;));
                    } else {
                        inputs.push(parse_quote!(#var: #ty));
                    }
                }
                let value = quote!(#name);
                let args = match kind {
                    FuncKind::Kernel => host::scalars(&value, &record),
                    FuncKind::DiffFn => host::fields(&value, &record),
                };
                let ty = self.with_f(typed.ty.to_token_stream());
                side.params.push(HostParam { name: name.clone(), ty, args });
                self.bind(&name, Some(Var::Value(record)));
            } else {
                inputs.push(arg.clone());
            }
        }
        item.sig.inputs = inputs;
        prelude
    }

    /// The real type is called `F` in what is generated.
    fn with_f(&self, tokens: proc_macro2::TokenStream) -> proc_macro2::TokenStream {
        match &self.real {
            Some(real) => crate::emit::replace_ident(tokens, &real.to_string(), "F"),
            None => tokens,
        }
    }

    /// `&Array<Body<F>>`: the struct, the tokens of its type, `mut`.
    fn array_of(&self, ty: &Type) -> Option<(Record, proc_macro2::TokenStream, Option<syn::Token![mut]>)> {
        let Type::Reference(r) = ty else { return None };
        let Type::Path(path) = &*r.elem else { return None };
        let last = path.path.segments.last().filter(|s| s.ident == "Array")?;
        let syn::PathArguments::AngleBracketed(args) = &last.arguments else { return None };
        let syn::GenericArgument::Type(elem) = args.args.first()? else { return None };
        Some((self.records.of(elem)?.clone(), elem.to_token_stream(), r.mutability))
    }

    /// For each value of a result, the struct that it is.
    fn shapes(&self, ty: &Type) -> Vec<Option<Record>> {
        match ty {
            Type::Tuple(t) => t.elems.iter().map(|t| self.records.of(t).cloned()).collect(),
            Type::Paren(p) => self.shapes(&p.elem),
            other => vec![self.records.of(other).cloned()],
        }
    }

    fn flat_types(&self, ty: &Type) -> Vec<Type> {
        let one = |ty: &Type| match self.records.of(ty) {
            Some(record) => record.leaves().iter().map(|leaf| plain_type(leaf.ty, self.real.as_ref())).collect(),
            None => vec![ty.clone()],
        };
        match ty {
            Type::Tuple(t) => t.elems.iter().flat_map(one).collect(),
            Type::Paren(p) => self.flat_types(&p.elem),
            other => one(other),
        }
    }

    fn host_result(&self, ty: &Type, wants: &[Option<Record>]) -> (proc_macro2::TokenStream, proc_macro2::TokenStream) {
        let count: usize = self.flat_types(ty).len();
        let mut next = (0..count).map(|k| {
            let k = syn::Index::from(k);
            if count == 1 { quote!(r) } else { quote!(r.#k) }
        });
        let types: Vec<&Type> = match ty {
            Type::Tuple(t) => t.elems.iter().collect(),
            other => vec![other],
        };
        let parts: Vec<_> = types
            .into_iter()
            .zip(wants)
            .map(|(ty, want)| match (ty, want) {
                (Type::Path(path), Some(record)) => {
                    let mut path = path.path.clone();
                    if let Some(last) = path.segments.last_mut() {
                        last.arguments = syn::PathArguments::None;
                    }
                    host::rebuild(&path, record, &mut next)
                }
                _ => next.next().unwrap_or_default(),
            })
            .collect();
        let value = match parts.as_slice() {
            [one] => one.clone(),
            all => quote!((#(#all),*)),
        };
        (self.with_f(ty.to_token_stream()), value)
    }

    // ---- statements

    /// A block that ends in the results of the function.
    fn tail_block(&mut self, block: &mut Block, wants: &[Option<Record>]) {
        self.scopes.push(HashMap::new());
        let stmts = std::mem::take(&mut block.stmts);
        let last = stmts.len().saturating_sub(1);
        for (k, stmt) in stmts.into_iter().enumerate() {
            match stmt {
                Stmt::Expr(mut e, None) if k == last => {
                    self.tail(&mut e, wants);
                    block.stmts.push(Stmt::Expr(e, None));
                }
                other => block.stmts.extend(self.statement(other)),
            }
        }
        self.scopes.pop();
    }

    fn tail(&mut self, e: &mut Expr, wants: &[Option<Record>]) {
        let span = e.span();
        match e {
            Expr::If(i) => {
                self.expression(&mut i.cond);
                self.tail_block(&mut i.then_branch, wants);
                if let Some((_, other)) = &mut i.else_branch {
                    self.tail(other, wants);
                }
            }
            Expr::Block(b) => self.tail_block(&mut b.block, wants),
            Expr::Tuple(t) => {
                let mut all: Vec<Expr> = Vec::new();
                for (value, want) in t.elems.iter_mut().zip(wants) {
                    match want {
                        Some(want) => all.extend(self.leaves(value, want).unwrap_or_default()),
                        None => {
                            self.expression(value);
                            all.push(value.clone());
                        }
                    }
                }
                *e = parse_quote_spanned!(span=> (#(#all),*));
            }
            Expr::Call(_) => self.expression(e),
            other => match wants {
                [Some(want)] => {
                    if let Some(all) = self.leaves(other, want) {
                        *other = tuple(&all, span);
                    }
                }
                _ => self.expression(other),
            },
        }
    }

    fn statement(&mut self, stmt: Stmt) -> Vec<Stmt> {
        match stmt {
            Stmt::Local(local) => vec![self.local(local)],
            Stmt::Expr(Expr::Assign(a), semi) => match self.assign(&a.left, &a.right, &quote!(=)) {
                Some(stmts) => stmts,
                None => {
                    let mut e = Expr::Assign(a);
                    self.expression(&mut e);
                    vec![Stmt::Expr(e, semi)]
                }
            },
            Stmt::Expr(Expr::Binary(b), semi) => {
                let op = b.op.to_token_stream();
                let assigns = op.to_string().ends_with('=')
                    && !matches!(b.op, syn::BinOp::Eq(_) | syn::BinOp::Ne(_) | syn::BinOp::Le(_) | syn::BinOp::Ge(_));
                match assigns.then(|| self.assign(&b.left, &b.right, &op)).flatten() {
                    Some(stmts) => stmts,
                    None => {
                        let mut e = Expr::Binary(b);
                        self.expression(&mut e);
                        vec![Stmt::Expr(e, semi)]
                    }
                }
            }
            mut other => {
                self.visit_stmt_mut(&mut other);
                vec![other]
            }
        }
    }

    fn local(&mut self, mut local: Local) -> Stmt {
        let (pat, annotation) = match &local.pat {
            Pat::Type(t) => ((*t.pat).clone(), Some((*t.ty).clone())),
            other => (other.clone(), None),
        };
        let Some(init) = &mut local.init else { return Stmt::Local(local) };
        match (&pat, annotation) {
            (Pat::Ident(name), annotation) => {
                let record = match &annotation {
                    Some(ty) => self.records.of(ty).cloned(),
                    None => self.record_of(&init.expr),
                };
                let Some(record) = record else {
                    self.visit_expr_mut(&mut init.expr);
                    self.bind(&name.ident, None);
                    return Stmt::Local(local);
                };
                let value = self.value(&mut init.expr, &record);
                let (mutable, leaves) = (&name.mutability, record.leaves());
                let names = leaves.iter().map(|leaf| leaf_name(&name.ident, &leaf.path));
                let names: Vec<Pat> = names.map(|n| parse_quote!(#mutable #n)).collect();
                let stmt = binding(&names, &leaves, value, self.real.as_ref());
                self.bind(&name.ident, Some(Var::Value(record)));
                stmt
            }
            (Pat::Tuple(tuple), Some(ty)) if self.shapes(&ty).iter().any(Option::is_some) => {
                self.visit_expr_mut(&mut init.expr);
                let mut names: Vec<Pat> = Vec::new();
                for (pat, want) in tuple.elems.iter().zip(self.shapes(&ty)) {
                    match (pat, want) {
                        (Pat::Ident(name), Some(record)) => {
                            let mutable = &name.mutability;
                            for leaf in record.leaves() {
                                let leaf = leaf_name(&name.ident, &leaf.path);
                                names.push(parse_quote!(#mutable #leaf));
                            }
                            self.bind(&name.ident, Some(Var::Value(record)));
                        }
                        (Pat::Wild(_), Some(record)) => {
                            names.extend(record.leaves().iter().map(|_| parse_quote!(_)));
                        }
                        (other, _) => {
                            if let Pat::Ident(name) = other {
                                self.bind(&name.ident, None);
                            }
                            names.push(other.clone());
                        }
                    }
                }
                let (types, value) = (self.flat_types(&ty), &init.expr);
                parse_quote!(let (#(#names),*): (#(#types),*) = #value;)
            }
            (pat, _) => {
                self.visit_expr_mut(&mut init.expr);
                if let Pat::Tuple(tuple) = pat {
                    for pat in &tuple.elems {
                        if let Pat::Ident(name) = pat {
                            self.bind(&name.ident, None);
                        }
                    }
                }
                Stmt::Local(local)
            }
        }
    }

    /// A struct-valued expression as a call or tuple of its leaves.
    fn value(&mut self, e: &mut Expr, want: &Record) -> Expr {
        match e {
            Expr::Call(_) | Expr::If(_) | Expr::Block(_) => {
                self.tail(e, &[Some(want.clone())]);
                e.clone()
            }
            other => {
                let span = other.span();
                self.leaves(other, want).map_or_else(|| other.clone(), |all| tuple(&all, span))
            }
        }
    }

    fn temporaries(&mut self, n: usize) -> Vec<Ident> {
        self.fresh += n;
        (self.fresh - n..self.fresh).map(|k| format_ident!("field__{k}")).collect()
    }

    /// An assignment to a struct, or to something in an element of an array of structs.
    fn assign(&mut self, left: &Expr, right: &Expr, op: &proc_macro2::TokenStream) -> Option<Vec<Stmt>> {
        let plain = op.to_string() == "=";
        // Components of a plain field: `a[i].x.y = e`.
        if let Expr::Field(_) | Expr::Index(_) = left
            && self.root(left).is_none()
        {
            let base = match left {
                Expr::Field(f) => &f.base,
                Expr::Index(i) => &i.expr,
                _ => return None,
            };
            let (Place::Element { array, mut index, stride }, path, Kind::Plain(ty), root) = self.root(base)? else {
                return None;
            };
            let k = match left {
                Expr::Field(f) => position(ty, &f.member),
                _ => None,
            };
            let Some(at) = k.and_then(|k| Some(root.offset(&path)? + k)) else {
                self.errors.at(left, "write the whole field: `a[i].x = ..`");
                return Some(Vec::new());
            };
            let mut right = right.clone();
            self.expression(&mut right);
            self.expression(&mut index);
            let to = Place::scalar(&array, &index, stride, at);
            return Some(syn::parse2(quote!(#to #op #right;)).into_iter().collect());
        }
        let (place, path, kind, root) = self.root(left)?;
        let leaves = match &kind {
            Kind::Record(record) => record.leaves(),
            Kind::Plain(ty) => vec![Leaf { path: Vec::new(), ty: *ty }],
        };
        if let (Kind::Record(record), false) = (&kind, plain) {
            self.errors.at(left, format!("`{}` has no arithmetic; write it for each field", record.name));
            return Some(Vec::new());
        }
        let mut right = right.clone();
        let value = match &kind {
            Kind::Record(record) => self.value(&mut right, record),
            Kind::Plain(_) => {
                self.expression(&mut right);
                right
            }
        };
        match place {
            Place::Variable(var) if matches!(kind, Kind::Plain(_)) => {
                let mut name = leaf_name(&var, &path);
                name.set_span(left.span());
                let text = quote!(#name #op #value;);
                Some(syn::parse2(text).into_iter().collect())
            }
            Place::Variable(var) => {
                let names = self.temporaries(leaves.len());
                let pats: Vec<Pat> = names.iter().map(|n| parse_quote!(#n)).collect();
                let mut stmts = vec![binding(&pats, &leaves, value, self.real.as_ref())];
                for (leaf, name) in leaves.iter().zip(&names) {
                    let whole: Vec<Ident> = path.iter().chain(&leaf.path).cloned().collect();
                    let to = leaf_name(&var, &whole);
                    stmts.push(parse_quote!(#to = #name;));
                }
                Some(stmts)
            }
            Place::Element { array, mut index, stride } => {
                self.expression(&mut index);
                let names = self.temporaries(leaves.len() + 1);
                let (at, names) = names.split_last()?;
                let pats: Vec<Pat> = names.iter().map(|n| parse_quote!(#n)).collect();
                let offset = if path.is_empty() { 0 } else { root.offset(&path)? };
                if !matches!(op.to_string().as_str(), "=" | "+=" | "-=") && leaves.iter().any(|l| l.ty.is_compound()) {
                    self.errors.at(left, "write the value out: `a[i].x = ..`");
                    return Some(Vec::new());
                }
                let at_value: Expr = parse_quote!(#at);
                let index_span = index.span();
                let typed: Stmt = parse_quote_spanned!(index_span=> let #at = #index;);
                let literal = matches!(&*index, Expr::Lit(_));
                let (first, index): (Vec<Stmt>, Expr) =
                    if literal { (Vec::new(), (*index).clone()) } else { (vec![typed], at_value) };
                let mut stmts = vec![binding(&pats, &leaves, value, self.real.as_ref())];
                stmts.extend(first);
                let values: Vec<Expr> = names.iter().map(|n| parse_quote!(#n)).collect();
                stmts.extend(self.store((&array, &index, stride), offset, (&leaves, &values), op));
                Some(stmts)
            }
        }
    }
}

fn tuple(all: &[Expr], span: proc_macro2::Span) -> Expr {
    match all {
        [one] => one.clone(),
        all => parse_quote_spanned!(span=> (#(#all),*)),
    }
}

fn binding(names: &[Pat], leaves: &[Leaf], value: Expr, real: Option<&Ident>) -> Stmt {
    let types = leaves.iter().map(|leaf| plain_type(leaf.ty, real));
    match names {
        [one] => parse_quote!(let #one: #(#types)* = #value;),
        names => parse_quote!(let (#(#names),*): (#(#types),*) = #value;),
    }
}

impl VisitMut for Rewrite<'_> {
    fn visit_block_mut(&mut self, block: &mut Block) {
        self.scopes.push(HashMap::new());
        for stmt in std::mem::take(&mut block.stmts) {
            let stmts = self.statement(stmt);
            block.stmts.extend(stmts);
        }
        self.scopes.pop();
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        if let Some((mut place, path, kind, root)) = self.root(e) {
            if let Place::Element { index, .. } = &mut place {
                self.expression(index);
            }
            match kind {
                Kind::Plain(ty) => *e = self.read(&place, &root, &path, ty, e.span()),
                Kind::Record(record) => self.errors.at(
                    &*e,
                    format!("a `{}` is passed to a device function, returned, stored or bound with `let`; here take a field", record.name),
                ),
            }
            return;
        }
        match e {
            // A component of a field in an array: only that scalar is read.
            Expr::Field(f) => {
                if let Some((mut place, path, Kind::Plain(ty), root)) = self.root(&f.base)
                    && matches!(place, Place::Element { .. })
                    && let Some(k) = position(ty, &f.member)
                    && let Some(offset) = root.offset(&path)
                {
                    if let Place::Element { index, .. } = &mut place {
                        self.expression(index);
                    }
                    if let Place::Element { array, index, stride } = &place {
                        *e = Place::scalar(array, index, *stride, offset + k);
                        return;
                    }
                }
                if self.record_of(&f.base).is_none() {
                    visit_mut::visit_expr_mut(self, e);
                }
            }
            Expr::MethodCall(m) => {
                if let (Expr::Path(p), "len") = (&*m.receiver, m.method.to_string().as_str())
                    && let Some(Var::Array(record)) = p.path.get_ident().and_then(|name| self.find(name))
                {
                    let n = record.scalars();
                    *e = parse_quote_spanned!(e.span()=> (#e / #n));
                    return;
                }
                visit_mut::visit_expr_mut(self, e);
            }
            Expr::Call(call) => {
                let mut args = syn::punctuated::Punctuated::new();
                for mut arg in std::mem::take(&mut call.args) {
                    match self.record_of(&arg) {
                        Some(record) => args.extend(self.leaves(&arg, &record).unwrap_or_default()),
                        None => {
                            self.visit_expr_mut(&mut arg);
                            args.push(arg);
                        }
                    }
                }
                call.args = args;
            }
            Expr::Struct(s) if s.path.segments.last().is_some_and(|l| self.records.named(&l.ident).is_some()) => {
                self.errors.at(&s.path, "bind the struct with `let` and use its name");
            }
            Expr::ForLoop(f) => {
                self.visit_expr_mut(&mut f.expr);
                self.scopes.push(HashMap::new());
                if let Pat::Ident(name) = &*f.pat {
                    self.bind(&name.ident, None);
                }
                self.visit_block_mut(&mut f.body);
                self.scopes.pop();
            }
            other => visit_mut::visit_expr_mut(self, other),
        }
    }
}

fn position(ty: crate::ir::Ty, member: &syn::Member) -> Option<usize> {
    let syn::Member::Named(name) = member else { return None };
    let value: Expr = parse_quote!(v);
    (0..ty.components()).find(|k| match component(&value, ty, *k) {
        Expr::Field(f) => matches!(&f.member, syn::Member::Named(n) if n == name),
        _ => false,
    })
}
