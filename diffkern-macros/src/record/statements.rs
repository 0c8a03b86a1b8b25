//! Statements that bind, store or return structs.

use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Expr, Ident, Local, Pat, Stmt, parse_quote, parse_quote_spanned};

use super::def::{Kind, Leaf, Record};
use super::parts::binding;
use super::rewrite::{Rewrite, Var, position};
use super::values::{Place, leaf_name, plain_type};
use crate::lower;

impl Rewrite<'_> {
    pub(super) fn statement(&mut self, stmt: Stmt) -> Vec<Stmt> {
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
                match lower::compound(&b.op).and_then(|_| self.assign(&b.left, &b.right, &op)) {
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
                self.tail(&mut init.expr, &[Some(record.clone())]);
                let (mutable, leaves) = (&name.mutability, record.leaves());
                let names = leaves.iter().map(|leaf| leaf_name(&name.ident, &leaf.path));
                let names: Vec<Pat> = names.map(|n| parse_quote!(#mutable #n)).collect();
                let stmt = binding(&names, &leaves, &init.expr, self.real.as_ref());
                self.bind(&name.ident, Some(Var::Value(record)));
                stmt
            }
            (Pat::Tuple(names), annotation) => {
                let wants = match &annotation {
                    Some(ty) => self.shapes(ty),
                    None => self.shapes_of(&init.expr),
                };
                if wants.iter().all(Option::is_none) {
                    self.visit_expr_mut(&mut init.expr);
                    self.bind_pattern(&pat, &[]);
                    return Stmt::Local(local);
                }
                self.tail(&mut init.expr, &wants);
                let all = flat_names(names, &wants);
                self.bind_pattern(&pat, &wants);
                let written = annotation.map(|ty| self.flat_types(&ty));
                let types = written.or_else(|| {
                    let leaves = wants.iter().flatten().flat_map(Record::leaves);
                    let known = wants.iter().all(Option::is_some);
                    known.then(|| leaves.map(|leaf| plain_type(leaf.ty, self.real.as_ref())).collect())
                });
                let types = types.map(|types| quote!(: (#(#types),*)));
                let value = &init.expr;
                parse_quote!(let (#(#all),*) #types = #value;)
            }
            (pat, _) => {
                self.visit_expr_mut(&mut init.expr);
                self.bind_pattern(pat, &[]);
                Stmt::Local(local)
            }
        }
    }

    pub(super) fn temporaries(&mut self, n: usize) -> Vec<Ident> {
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
            Kind::Record(record) => {
                self.tail(&mut right, &[Some(record.clone())]);
                right
            }
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
                let mut stmts = vec![binding(&pats, &leaves, &value, self.real.as_ref())];
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
                // As for arrays of other types the right side comes first.
                let mut stmts = vec![binding(&pats, &leaves, &value, self.real.as_ref())];
                stmts.extend(first);
                let values: Vec<Expr> = names.iter().map(|n| parse_quote!(#n)).collect();
                stmts.extend(self.store((&array, &index, stride), offset, (&leaves, &values), op));
                Some(stmts)
            }
        }
    }
}

/// A name per plain field.
fn flat_names(names: &syn::PatTuple, wants: &[Option<Record>]) -> Vec<Pat> {
    let mut all = Vec::new();
    for (k, pat) in names.elems.iter().enumerate() {
        match (pat, wants.get(k)) {
            (Pat::Ident(name), Some(Some(record))) => {
                let mutable = &name.mutability;
                all.extend(record.leaves().iter().map(|leaf| {
                    let leaf = leaf_name(&name.ident, &leaf.path);
                    parse_quote!(#mutable #leaf)
                }));
            }
            (Pat::Wild(_), Some(Some(record))) => all.extend(record.leaves().iter().map(|_| parse_quote!(_))),
            (other, _) => all.push(other.clone()),
        }
    }
    all
}
