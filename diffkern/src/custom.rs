//! Do adjoint and tangent kernels written by hand fit their kernel? Asked by generated code while it is compiled.

use crate::kernel::{Access, KernelDef, ParamDef, ParamKind};

/// Fails the compilation unless `adjoint` takes the parameters of `kernel`, then a bar for each array of reals: `&mut`
/// and accumulated into for one that the kernel reads, `&` for one that it writes.
#[track_caller]
pub const fn check_adjoint(kernel: &KernelDef, adjoint: &KernelDef) {
    let (params, given) = (kernel.primal.params, adjoint.primal.params);
    assert!(
        given.len() == with_companions(params),
        "the adjoint kernel takes the parameters of the kernel, then one array (the bar) for each of its arrays of reals"
    );
    let mut bar = params.len();
    let mut k = 0;
    while k < params.len() {
        assert!(
            alike(&params[k], &given[k]),
            "the adjoint kernel first takes the parameters of the kernel, of the same types"
        );
        assert!(
            !writes(&given[k]) && (!writes(&params[k]) || unused(&given[k])),
            "the adjoint kernel reads what the kernel reads; what the kernel writes is no longer there: leave it unused"
        );
        if is_real_array(&params[k]) {
            assert!(
                !updates(&params[k]),
                "a kernel that reads and overwrites one array has no adjoint by hand: write to a second array"
            );
            assert!(
                alike(&params[k], &given[bar]),
                "a bar has the type of its array; bars are in the order of the arrays"
            );
            assert!(
                unused(&given[bar]) || if writes(&params[k]) { reads(&given[bar]) } else { adds(&given[bar]) },
                "the bar of an array that the kernel reads is accumulated into with `+=`, that of one it writes is read"
            );
            bar += 1;
        }
        k += 1;
    }
}

/// Fails the compilation unless `tangent` takes the parameters of `kernel`, then a dot for each array of reals: read where
/// the kernel reads, written in the same way where it writes.
#[track_caller]
pub const fn check_tangent(kernel: &KernelDef, tangent: &KernelDef) {
    let (params, given) = (kernel.primal.params, tangent.primal.params);
    assert!(
        given.len() == with_companions(params),
        "the tangent kernel takes the parameters of the kernel, then one array (the dot) for each of its arrays of reals"
    );
    let mut dot = params.len();
    let mut k = 0;
    while k < params.len() {
        assert!(
            alike(&params[k], &given[k]),
            "the tangent kernel first takes the parameters of the kernel, of the same types"
        );
        assert!(
            !writes(&given[k]) && (!writes(&params[k]) || unused(&given[k])),
            "the tangent kernel reads what the kernel reads and writes dots only"
        );
        if is_real_array(&params[k]) {
            assert!(
                !updates(&params[k]),
                "a kernel that reads and overwrites one array has no tangent by hand: write to a second array"
            );
            assert!(
                alike(&params[k], &given[dot]),
                "a dot has the type of its array; dots are in the order of the arrays"
            );
            let same = match (params[k].kind, given[dot].kind) {
                (ParamKind::Array { access, .. }, ParamKind::Array { access: found, .. }) => {
                    access as u8 == found as u8
                }
                _ => false,
            };
            assert!(
                same || (unused(&given[dot]) && !stores(&params[k])),
                "a dot is read, stored to or accumulated into where the kernel does so with its array"
            );
            dot += 1;
        }
        k += 1;
    }
}

/// Parameters of a kernel, and one more for each array of reals.
const fn with_companions(params: &[ParamDef]) -> usize {
    let (mut n, mut k) = (params.len(), 0);
    while k < params.len() {
        if is_real_array(&params[k]) {
            n += 1;
        }
        k += 1;
    }
    n
}

const fn is_real_array(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { elem, .. } if elem.is_real())
}

const fn alike(a: &ParamDef, b: &ParamDef) -> bool {
    match (a.kind, b.kind) {
        (ParamKind::Array { elem: a, .. }, ParamKind::Array { elem: b, .. }) => a as u8 == b as u8,
        (ParamKind::Scalar { ty: a, .. }, ParamKind::Scalar { ty: b, .. }) => a as u8 == b as u8,
        _ => false,
    }
}

const fn unused(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access: Access::Unused, .. })
}

const fn reads(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access: Access::Read, .. })
}

const fn stores(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access: Access::Store, .. })
}

const fn updates(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access: Access::Update, .. })
}

const fn adds(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access: Access::Add, .. })
}

const fn writes(param: &ParamDef) -> bool {
    matches!(param.kind, ParamKind::Array { access, .. } if access.writes())
}
