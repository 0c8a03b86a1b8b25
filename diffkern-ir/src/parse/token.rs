//! Single tokens.

use super::Res;
use crate::{Id, Lit, Ty};

pub(super) fn id(token: &str) -> Res<Id> {
    let wrong = || format!("expected a value, found `{token}`");
    let value = token.strip_prefix('%').ok_or_else(wrong)?;
    // A name before it says nothing.
    let number = value.rsplit('.').next().unwrap_or(value);
    match number.parse::<u32>() {
        // A bound on the tables that are indexed by it.
        Ok(id) if id < 1 << 24 => Ok(Id(id)),
        Ok(_) | Err(_) => Err(wrong()),
    }
}

pub(super) fn ids(tokens: &[&str]) -> Res<Vec<Id>> {
    tokens.iter().map(|token| id(token)).collect()
}

pub(super) fn ty(name: &str) -> Res<Ty> {
    Ty::parse(name).ok_or_else(|| format!("unknown type `{name}`"))
}

pub(super) fn number<N: std::str::FromStr>(token: &str) -> Res<N> {
    token.parse().map_err(|_| format!("expected a number, found `{token}`"))
}

pub(super) fn literal(token: &str, ty: Ty) -> Res<Lit> {
    let lit = match ty {
        Ty::Real => token.parse().ok().map(Lit::Real),
        Ty::Bool => token.parse().ok().map(Lit::Bool),
        Ty::U32 | Ty::I32 | Ty::Usize => token.parse().ok().map(Lit::Int),
        Ty::Vec(_) | Ty::Mat(_) | Ty::Quat => None,
    };
    lit.ok_or_else(|| format!("`{token}` is not a {ty}"))
}
