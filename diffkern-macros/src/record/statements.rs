//! Statements that bind, store or return structs.

use std::collections::HashMap;

use quote::{ToTokens, format_ident, quote};
use syn::spanned::Spanned;
use syn::visit_mut::VisitMut;
use syn::{Block, Expr, Ident, Local, Pat, Stmt, parse_quote, parse_quote_spanned};

use super::def::{Kind, Leaf, Record};
use super::rewrite::{Rewrite, Var, position};
use super::values::{Place, leaf_name, plain_type};

impl Rewrite<'_> {
    /// A block that ends in the results of the function.
    pub(super) fn tail_block(&mut self, block: &mut Block, wants: &[Option<Record>]) {
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
