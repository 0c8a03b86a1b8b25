//! Programs written by hand, on whichever device this build and machine have.

use diffkern_ir::{self as ir, Ty, parse};

use super::*;
use crate::domain::Domain;
use crate::kernel::ScalarKind;

mod arithmetic;
mod control;
#[cfg(feature = "cuda")]
mod cuda;
mod limits;
mod rows;

/// The device under test; `None` where there is none, and the test has nothing to say. One that is named in
/// `DIFFKERN_TEST_DEVICES` has to be there.
pub(super) fn device() -> Option<&'static CubeDevice> {
    use std::sync::OnceLock;
    static DEVICE: OnceLock<Option<CubeDevice>> = OnceLock::new();
    DEVICE
        .get_or_init(|| {
            let wanted = std::env::var("DIFFKERN_TEST_DEVICES").unwrap_or_default();
            let is_wanted = |name: &str| wanted.split(',').any(|w| w == name);
            let open = |name| match CubeDevice::open(name) {
                Err(error) if is_wanted(name) => panic!("{error}"),
                opened => opened.ok(),
            };
            let mut names = ["wgpu", "cuda"];
            names.sort_by_key(|name| !is_wanted(name));
            names.into_iter().find_map(open)
        })
        .as_ref()
}

/// Another handle to the same device, to be given other properties.
fn again(device: &CubeDevice) -> CubeDevice {
    CubeDevice {
        name: device.name,
        opened: device.opened.clone(),
        properties: device.properties.clone(),
        atomic_add: device.atomic_add,
        deterministic: std::sync::atomic::AtomicBool::new(false),
        work: Default::default(),
        stock: Mutex::default(),
        plans: Mutex::default(),
        zeros: device.zeros.clone(),
        recent: Mutex::default(),
        broken: Mutex::default(),
        flagged: Mutex::default(),
    }
}

/// As arrays hold it.
fn elem_ty(ty: Ty) -> ElemTy {
    match ty {
        Ty::Real => ElemTy::Real,
        Ty::U32 => ElemTy::U32,
        Ty::I32 => ElemTy::I32,
        Ty::Vec(2) => ElemTy::Vec2,
        Ty::Vec(3) => ElemTy::Vec3,
        Ty::Vec(_) | Ty::Quat => ElemTy::Vec4,
        Ty::Mat(2) => ElemTy::Mat2,
        Ty::Mat(_) => ElemTy::Mat3,
        Ty::Bool | Ty::Usize => panic!("an array of {ty}"),
    }
}

/// A program from its text; parameters are read off it.
fn program(text: &str) -> &'static Program {
    program_with(text, &[])
}

fn program_with(text: &str, callees: &'static [fn() -> &'static crate::kernel::FnDef]) -> &'static Program {
    let func = parse(text).unwrap();
    let params = func.params.iter().map(|param| {
        let kind = match &param.kind {
            ir::ParamKind::Array { elem, access, owned } => {
                ParamKind::Array { elem: elem_ty(*elem), access: *access, owned: *owned }
            }
            ir::ParamKind::Scalar { id, comptime } => ParamKind::Scalar {
                ty: match func.ty(*id) {
                    Ty::Real => ScalarKind::Real,
                    Ty::I32 => ScalarKind::I32,
                    Ty::Bool => ScalarKind::Bool,
                    Ty::U32 | Ty::Usize => ScalarKind::U32,
                    ty => panic!("a {ty} by value"),
                },
                comptime: *comptime,
            },
        };
        ParamDef { name: Box::leak(param.name.clone().into_boxed_str()), kind }
    });
    let params = Box::leak(params.collect::<Vec<_>>().into_boxed_slice());
    Box::leak(Box::new(Program {
        file: file!(),
        params,
        text: Box::leak(text.to_owned().into_boxed_str()),
        work: 0,
        callees,
        writes: &[],
    }))
}

fn bytes<const N: usize, T: Copy>(values: &[T], to: impl Fn(T) -> [u8; N]) -> Vec<u8> {
    values.iter().flat_map(|&v| to(v)).collect()
}

fn floats(device: &CubeDevice, values: &[f32]) -> CubeBuffer {
    let buffer = device.alloc(values.len() * 4, false).unwrap();
    device.upload(&buffer, 0, &bytes(values, f32::to_ne_bytes)).unwrap();
    buffer
}

fn words(device: &CubeDevice, values: &[u32]) -> CubeBuffer {
    let buffer = device.alloc(values.len() * 4, false).unwrap();
    device.upload(&buffer, 0, &bytes(values, u32::to_ne_bytes)).unwrap();
    buffer
}

pub(super) fn read_words(device: &CubeDevice, buffer: &CubeBuffer) -> Vec<u32> {
    let mut data = vec![0; buffer.bytes];
    device.download(buffer, 0, &mut data).unwrap();
    data.as_chunks::<4>().0.iter().map(|&b| u32::from_ne_bytes(b)).collect()
}

fn read_floats(device: &CubeDevice, buffer: &CubeBuffer) -> Vec<f32> {
    read_words(device, buffer).into_iter().map(f32::from_bits).collect()
}

fn array(buffer: &CubeBuffer, elem: ElemTy) -> LaunchArg<'_, CubeBuffer> {
    LaunchArg::Buffer { buffer, offset: 0, len: (buffer.bytes / 4 / elem.components()) as u32, elem }
}

fn real(buffer: &CubeBuffer) -> LaunchArg<'_, CubeBuffer> {
    array(buffer, ElemTy::Real)
}

fn run(device: &CubeDevice, program: &'static Program, n: usize, args: &[LaunchArg<'_, CubeBuffer>]) -> Result<()> {
    device.launch(program, ScalarTy::F32, Domain::from(n), args)
}
