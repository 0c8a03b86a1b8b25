//! Do the arguments fit the kernel?

use super::{Arg, access};
use crate::array::AnyArray;
use crate::backend::native::Native;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::{ElemTy, KernelDef, ParamDef, ParamKind, ScalarKind, ScalarTy};

/// Checks counts, types, devices and aliasing. `None` when there is no array, so nothing to do.
pub(super) fn check<'a>(def: &'static KernelDef, native: &Native, args: &[Arg<'a>]) -> Result<Option<&'a Device>> {
    let params = def.primal.params;
    if args.len() != params.len() {
        let reason = format!("{} arguments given, {} needed", args.len(), params.len());
        return Err(Error::Launch { kernel: def.name, reason });
    }
    let mut device: Option<&Device> = None;
    for (slot, (arg, param)) in args.iter().zip(params).enumerate() {
        let wrong = |reason| Error::Argument { kernel: def.name, param: param.name, reason };
        if let Some(reason) = mismatch(arg, param, native.scalar) {
            return Err(wrong(reason));
        }
        let Arg::Array(array) = *arg else { continue };
        match device {
            Some(first) if first != array.device() => {
                let (a, b) = (first.name().to_owned(), array.device().name().to_owned());
                return Err(Error::DeviceMismatch { what: def.name, a, b });
            }
            _ => device = Some(array.device()),
        }
        if access(param).writes()
            && let Some(other) = aliased(args, slot, array)
        {
            return Err(wrong(format!(
                "it is written, but shares elements with parameter `{}`; pass two different arrays",
                params[other].name
            )));
        }
    }
    Ok(device)
}

/// Another argument that has elements of `array`.
fn aliased(args: &[Arg<'_>], slot: usize, array: &AnyArray) -> Option<usize> {
    args.iter().enumerate().position(|(k, arg)| match arg {
        Arg::Array(other) => k != slot && other.overlaps(array),
        _ => false,
    })
}

/// Why the argument does not fit the parameter.
fn mismatch(arg: &Arg<'_>, param: &ParamDef, real: ScalarTy) -> Option<String> {
    match (param.kind, arg) {
        (ParamKind::Array { elem, .. }, Arg::Array(array)) => {
            let scalar = match elem {
                ElemTy::U32 => ScalarTy::U32,
                ElemTy::I32 => ScalarTy::I32,
                _ => real,
            };
            (array.elem() != elem || array.scalar() != scalar).then(|| {
                let (found, needed) = (array.elem().name(array.scalar()), elem.name(scalar));
                format!("elements are {found}, needed are {needed}")
            })
        }
        (ParamKind::Scalar { ty: ScalarKind::Real, .. }, Arg::Real(_))
        | (ParamKind::Scalar { ty: ScalarKind::U32, .. }, Arg::U32(_))
        | (ParamKind::Scalar { ty: ScalarKind::I32, .. }, Arg::I32(_))
        | (ParamKind::Scalar { ty: ScalarKind::Usize, .. }, Arg::Usize(_))
        | (ParamKind::Scalar { ty: ScalarKind::Bool, .. }, Arg::Bool(_)) => None,
        (ParamKind::Array { elem, .. }, _) => Some(format!("an array of {} is needed", elem.name(real))),
        (ParamKind::Scalar { ty, .. }, _) => Some(format!("a scalar of type {ty:?} is needed")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::Access;

    #[test]
    fn arguments_have_the_type_of_their_parameter() -> Result<()> {
        let device = Device::cpu();
        let (singles, doubles, words) = (device.zeros::<f32>(1)?, device.zeros::<f64>(1)?, device.zeros::<u32>(1)?);
        let vectors = device.zeros::<crate::math::Vec2<f32>>(1)?;
        let ints = device.zeros::<i32>(1)?;
        let arrays =
            [singles.as_any(), doubles.as_any(), words.as_any(), ints.as_any(), vectors.as_any()].map(Arg::Array);
        let scalars = [Arg::Real(0.0), Arg::U32(0), Arg::I32(0), Arg::Usize(0), Arg::Bool(true)];
        let all = [&arrays[..], &scalars[..]].concat();
        let fitting = |kind: ParamKind| -> Vec<usize> {
            let param = ParamDef { name: "p", kind };
            (0..all.len()).filter(|k| mismatch(&all[*k], &param, ScalarTy::F32).is_none()).collect()
        };
        let array = |elem| ParamKind::Array { elem, access: Access::Read, owned: false };
        let scalar = |ty| ParamKind::Scalar { ty, comptime: false };
        assert_eq!(fitting(array(ElemTy::Real)), [0]);
        assert_eq!(fitting(array(ElemTy::U32)), [2]);
        assert_eq!(fitting(array(ElemTy::I32)), [3]);
        assert_eq!(fitting(array(ElemTy::Vec2)), [4]);
        let kinds = [ScalarKind::Real, ScalarKind::U32, ScalarKind::I32, ScalarKind::Usize, ScalarKind::Bool];
        for (k, kind) in kinds.into_iter().enumerate() {
            assert_eq!(fitting(scalar(kind)), [5 + k], "{kind:?}");
        }
        Ok(())
    }
}
