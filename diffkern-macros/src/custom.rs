//! Derivatives written by hand: a form of a device function that only calls another device function.
//!
//! | form | parameters | results |
//! |---|---|---|
//! | vjp | those of the function, the adjoint of each real result | the adjoint of each real parameter |
//! | jvp | those of the function, the tangent of each real parameter | the results, the tangent of each real one |
//! | replay | those of the function | the results |

use diffkern_ir::{Block, CallArg, CallMode, Callee, Func, Id, Param, ParamKind, Stmt, StmtKind, Ty};
use syn::Path;

use crate::diagnostics::Diagnostics;
use crate::source::Source;

/// Which form is written by hand.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Vjp,
    Jvp,
    Replay,
}

/// The form of `primal` that calls `path`; `None`, with an error, when the function cannot have one.
pub fn form(primal: &Func, form: Form, path: &Path, source: &mut Source, errors: &Diagnostics) -> Option<Func> {
    if form != Form::Replay && (0..primal.params.len()).any(|slot| crate::activity::is_real_array(primal, slot)) {
        errors.at(
            path,
            "a function with a derivative written by hand takes no arrays of reals; read the elements in the kernel \
             and pass them, or write the adjoint of the kernel by hand",
        );
        return None;
    }
    let mut func = Func::new(primal.name.clone(), primal.kind);
    let mut args = Vec::new();
    let mut real = Vec::new();
    for (slot, param) in primal.params.iter().enumerate() {
        let kind = match param.kind {
            ParamKind::Scalar { id, comptime } => {
                let ty = primal.ty(id);
                let id = func.fresh(ty);
                func.names.insert(id, param.name.clone());
                args.push(CallArg::Value(id));
                real.extend(ty.is_real().then_some((ty, &param.name)));
                ParamKind::Scalar { id, comptime }
            }
            ref array @ ParamKind::Array { .. } => {
                args.push(CallArg::Array(slot));
                array.clone()
            }
        };
        func.params.push(Param { kind, ..param.clone() });
    }
    let results: Vec<Ty> = primal.body.yields.iter().map(|id| primal.ty(*id)).collect();
    let real_results = || results.iter().copied().filter(|ty| ty.is_real());
    let outcomes: Vec<Ty> = match form {
        Form::Vjp => {
            for (k, ty) in results.iter().enumerate().filter(|(_, ty)| ty.is_real()) {
                args.push(extra(&mut func, *ty, format!("result{k}_bar")));
            }
            real.iter().map(|(ty, _)| *ty).collect()
        }
        Form::Jvp => {
            for (ty, name) in &real {
                args.push(extra(&mut func, *ty, format!("{name}_dot")));
            }
            results.iter().copied().chain(real_results()).collect()
        }
        Form::Replay => results,
    };
    let results: Vec<Id> = outcomes.into_iter().map(|ty| func.fresh(ty)).collect();
    let call = StmtKind::Call { callee: 0, mode: CallMode::Primal, args, results: results.clone() };
    let node = source.callee(path.clone());
    func.body = Block { stmts: vec![Stmt { kind: call, node }], yields: results };
    let name = path.segments.last().map(|last| last.ident.to_string()).unwrap_or_default();
    // By this rustc compares what is written by hand with what is needed, on the path in the attribute.
    func.callees.push(Callee { name, node, call: func.call_types() });
    Some(func)
}

fn extra(func: &mut Func, ty: Ty, name: String) -> CallArg {
    let id = func.fresh(ty);
    func.names.insert(id, name.clone());
    func.params.push(Param { name, kind: ParamKind::Scalar { id, comptime: false } });
    CallArg::Value(id)
}

/// The function as adjoints and tangents run it again: every call in it likewise.
pub fn replayed(primal: &Func) -> Func {
    let mut func = primal.clone();
    func.body.each_mut(&mut |stmt| {
        if let StmtKind::Call { mode, .. } = &mut stmt.kind {
            *mode = CallMode::Replay;
        }
    });
    func
}
