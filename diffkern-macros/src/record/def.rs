//! What is known of a struct.

use diffkern_ir::Ty;
use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use syn::parse::{Parse, ParseStream};
use syn::{Ident, Token, Type};

use super::enums::Choice;
use crate::parse::named_shape;

/// A struct: its name and its fields; nested ones are written out.
#[derive(Clone)]
pub struct Record {
    pub name: Ident,
    /// Its real type parameter.
    pub real: Option<Ident>,
    pub fields: Vec<Field>,
    /// Of a struct over the dimension, the fields in three dimensions; `fields` are those in two.
    pub in_space: Option<Vec<Field>>,
}

#[derive(Clone)]
pub struct Field {
    pub name: Ident,
    pub kind: Kind,
}

#[derive(Clone)]
pub enum Kind {
    Plain(Ty),
    Record(Record),
}

/// A field of plain type, at any depth.
pub struct Leaf {
    /// Names from the outermost field to this one.
    pub path: Vec<Ident>,
    pub ty: Ty,
}

impl Record {
    pub fn leaves(&self) -> Vec<Leaf> {
        let mut all = Vec::new();
        for field in &self.fields {
            match &field.kind {
                Kind::Plain(ty) => all.push(Leaf { path: vec![field.name.clone()], ty: *ty }),
                Kind::Record(inner) => all.extend(inner.leaves().into_iter().map(|mut leaf| {
                    leaf.path.insert(0, field.name.clone());
                    leaf
                })),
            }
        }
        all
    }

    pub fn field(&self, name: &Ident) -> Option<&Field> {
        self.fields.iter().find(|f| f.name == *name)
    }

    /// Scalars of one element in an array.
    pub fn scalars(&self) -> usize {
        self.leaves().iter().map(|leaf| leaf.ty.components()).sum()
    }

    /// Scalars before the field, and the leaves in it.
    pub fn offset(&self, path: &[Ident]) -> Option<usize> {
        let (first, rest) = path.split_first()?;
        let mut before = 0;
        for field in &self.fields {
            if field.name == *first {
                return match (&field.kind, rest) {
                    (_, []) => Some(before),
                    (Kind::Record(inner), rest) => Some(before + inner.offset(rest)?),
                    (Kind::Plain(_), _) => None,
                };
            }
            before += field.kind.scalars();
        }
        None
    }

    pub fn is_real(&self) -> bool {
        self.leaves().iter().all(|leaf| leaf.ty.is_real())
    }

    /// As `__resume!` reads it.
    pub fn tokens(&self) -> TokenStream {
        let name = &self.name;
        let real = self.real.iter();
        let fields = field_tokens(&self.fields);
        let in_space = self.in_space.iter().map(|fields| field_tokens(fields));
        quote!(#name #([#real])* #fields #(#in_space)*)
    }
}

fn field_tokens(fields: &[Field]) -> TokenStream {
    let fields = fields.iter().map(|field| {
        let name = &field.name;
        match &field.kind {
            Kind::Plain(ty) => {
                let ty = plain_name(*ty);
                quote!(#name: #ty)
            }
            Kind::Record(inner) => {
                let inner = inner.tokens();
                quote!(#name: struct #inner)
            }
        }
    });
    quote!({ #(#fields),* })
}

impl Kind {
    /// Fields of plain type.
    pub fn leaves(&self) -> usize {
        match self {
            Kind::Plain(_) => 1,
            Kind::Record(inner) => inner.leaves().len(),
        }
    }

    pub fn scalars(&self) -> usize {
        match self {
            Kind::Plain(ty) => ty.components(),
            Kind::Record(inner) => inner.scalars(),
        }
    }
}

/// The name of a plain type, without its parameter.
fn plain_name(ty: Ty) -> Ident {
    match ty {
        Ty::Real => format_ident!("real"),
        Ty::U32 => format_ident!("u32"),
        Ty::I32 => format_ident!("i32"),
        Ty::Usize => format_ident!("usize"),
        Ty::Bool => format_ident!("bool"),
        Ty::Vec(n) => format_ident!("Vec{n}"),
        Ty::Mat(n) => format_ident!("Mat{n}"),
        Ty::Quat => format_ident!("Quat"),
    }
}

fn plain_type(name: &str) -> Option<Ty> {
    Some(match name {
        "real" => Ty::Real,
        "u32" => Ty::U32,
        "i32" => Ty::I32,
        "usize" => Ty::Usize,
        "bool" => Ty::Bool,
        name => return named_shape(name),
    })
}

impl Parse for Record {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        let real = if input.peek(syn::token::Bracket) {
            let inner;
            syn::bracketed!(inner in input);
            Some(inner.parse()?)
        } else {
            None
        };
        let fields = parse_fields(input)?;
        let in_space = if input.peek(syn::token::Brace) { Some(parse_fields(input)?) } else { None };
        Ok(Self { name, real, fields, in_space })
    }
}

fn parse_fields(input: ParseStream<'_>) -> syn::Result<Vec<Field>> {
    let inner;
    syn::braced!(inner in input);
    Ok(inner.parse_terminated(Field::parse, Token![,])?.into_iter().collect())
}

impl Parse for Field {
    fn parse(input: ParseStream<'_>) -> syn::Result<Self> {
        let name = input.parse()?;
        input.parse::<Token![:]>()?;
        if input.peek(Token![struct]) {
            input.parse::<Token![struct]>()?;
            return Ok(Self { name, kind: Kind::Record(input.parse()?) });
        }
        let ty: Ident = input.parse()?;
        let kind = plain_type(&ty.to_string()).map(Kind::Plain);
        kind.map(|kind| Self { name, kind })
            .ok_or_else(|| syn::Error::new(ty.span(), "not a type of the kernel language"))
    }
}

/// The structs and enums that are known.
#[derive(Clone, Default)]
pub struct Records {
    pub all: Vec<Record>,
    pub choices: Vec<Choice>,
}

impl Records {
    /// The same with the structs over the dimension as they are for `d`.
    pub fn at(&self, d: u8) -> Records {
        let mut records = self.clone();
        for record in &mut records.all {
            if let (Some(fields), 3) = (record.in_space.take(), d) {
                record.fields = fields;
            }
        }
        records
    }

    pub fn named(&self, name: &Ident) -> Option<&Record> {
        self.all.iter().find(|r| r.name == *name)
    }

    /// Whether a type is an enum.
    pub fn choice_of(&self, ty: &Type) -> bool {
        match ty {
            Type::Path(p) => p.path.segments.last().is_some_and(|s| self.choices.iter().any(|c| c.name == s.ident)),
            _ => false,
        }
    }

    /// The struct that a type is.
    pub fn of(&self, ty: &Type) -> Option<&Record> {
        match ty {
            Type::Path(p) if p.qself.is_none() => self.named(&p.path.segments.last()?.ident),
            Type::Paren(p) => self.of(&p.elem),
            Type::Group(g) => self.of(&g.elem),
            _ => None,
        }
    }
}
