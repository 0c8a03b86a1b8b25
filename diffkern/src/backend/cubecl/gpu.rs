//! A GPU as a backend.

use std::sync::atomic::Ordering::Relaxed;

use super::{CubeBuffer, CubeDevice};
use crate::backend::writes;
use crate::buffer::{Backend, Block, Buffer, LaunchArg, Part, Pool, Run, Storage};
use crate::error::{Error, Result};
use crate::kernel::{Access, ElemTy, ParamDef, ParamKind, Program, ScalarTy};

/// A device of CubeCL, with the account of its memory.
pub(crate) struct Gpu {
    pub(super) device: CubeDevice,
    pool: Pool,
}

impl Gpu {
    /// The one called `wgpu` or `cuda`.
    pub(crate) fn open(name: &'static str) -> Result<Gpu> {
        Ok(Gpu { device: CubeDevice::open(name)?, pool: Pool::default() })
    }
}

impl Backend for Gpu {
    fn name(&self) -> &str {
        self.device.name
    }

    fn description(&self) -> String {
        self.device.description()
    }

    fn is_cpu(&self) -> bool {
        false
    }

    fn is_hardware(&self) -> bool {
        self.device.is_hardware()
    }

    fn supports_f64(&self) -> bool {
        self.device.supports_f64()
    }

    fn is_deterministic(&self) -> bool {
        self.device.is_deterministic()
    }

    fn set_deterministic(&self, on: bool) {
        self.device.set_deterministic(on);
    }

    fn queued(&self) -> (u64, u64) {
        (self.device.work.launches.load(Relaxed), self.device.work.waits.load(Relaxed))
    }

    fn transferred(&self) -> (u64, u64) {
        (self.device.work.uploaded.load(Relaxed), self.device.work.downloaded.load(Relaxed))
    }

    fn pool(&self) -> &Pool {
        &self.pool
    }

    fn wait(&self) -> Result<()> {
        self.device.wait()
    }

    fn alloc(&self, bytes: usize, zero: bool) -> Result<Block> {
        let memory = self.device.alloc(bytes, zero)?;
        self.pool.account(bytes);
        Ok(Block { storage: Storage::Device(Box::new(memory)), dirty: false })
    }

    fn reclaim(&self, _: Storage, bytes: usize) {
        self.pool.unaccount(bytes);
    }

    fn copy(&self, (from, at): Part<'_>, (to, to_at): Part<'_>, bytes: usize) -> Result<()> {
        self.device.copy(memory(from)?, at, memory(to)?, to_at, bytes)
    }

    fn fill(&self, (to, at): Part<'_>, bytes: usize, pattern: &[u8]) -> Result<()> {
        self.device.fill(memory(to)?, at, bytes, pattern)
    }

    fn upload(&self, (to, at): Part<'_>, data: &[u8]) -> Result<()> {
        self.device.upload(memory(to)?, at, data)
    }

    fn download(&self, (from, at): Part<'_>, data: &mut [u8]) -> Result<()> {
        self.device.download(memory(from)?, at, data)
    }

    fn accumulate(&self, ty: ScalarTy, from: Part<'_>, to: Part<'_>, bytes: usize) -> Result<()> {
        let size = ty.bytes();
        let len = (bytes / size) as u32;
        let part = |(_, at): Part<'_>| (at / size) as u32;
        let args = [
            LaunchArg::Buffer { buffer: memory(from.0)?, offset: part(from), len, elem: ElemTy::Real },
            LaunchArg::Buffer { buffer: memory(to.0)?, offset: part(to), len, elem: ElemTy::Real },
        ];
        self.device.launch(&ACCUMULATE, ty, (len as usize).into(), &args)
    }

    fn run(&self, launch: &Run<'_>) -> Result<()> {
        if let Some(&slot) = launch.unproven.first() {
            return Err(writes::refused(launch.def, launch.program, slot));
        }
        let args: Vec<_> = launch.args.iter().map(on_cube).collect();
        self.device.launch(launch.program, launch.scalar, launch.domain, &args)
    }
}

/// The memory of a buffer, if it is of CubeCL.
pub(super) fn of(buffer: &Buffer) -> Option<&CubeBuffer> {
    buffer.device()?.downcast_ref()
}

fn memory(buffer: &Buffer) -> Result<&CubeBuffer> {
    of(buffer).ok_or_else(|| Error::Invalid("a buffer belongs to another device than the operation".to_owned()))
}

fn on_cube<'a>(arg: &LaunchArg<'a, Buffer>) -> LaunchArg<'a, CubeBuffer> {
    match *arg {
        LaunchArg::Buffer { buffer, offset, len, elem } => match of(buffer) {
            Some(buffer) => LaunchArg::Buffer { buffer, offset, len, elem },
            None => LaunchArg::Absent { len },
        },
        // A GPU binds one buffer once.
        LaunchArg::Place { len, .. } | LaunchArg::Absent { len } => LaunchArg::Absent { len },
        LaunchArg::Real(x) => LaunchArg::Real(x),
        LaunchArg::U32(x) => LaunchArg::U32(x),
        LaunchArg::I32(x) => LaunchArg::I32(x),
        LaunchArg::Usize(x) => LaunchArg::Usize(x),
        LaunchArg::Bool(x) => LaunchArg::Bool(x),
    }
}

/// `to[i] += from[i]`, for devices that are programmed.
static ACCUMULATE: Program = {
    use ElemTy::Real;
    use ParamKind::Array;
    Program {
        file: file!(),
        params: &[
            ParamDef { name: "from", kind: Array { elem: Real, access: Access::Read, owned: true } },
            ParamDef { name: "to", kind: Array { elem: Real, access: Access::Add, owned: true } },
        ],
        text: "fn accumulate\narray 0 read real from owned\narray 1 add real to owned\nbody\n%1 : usize = pos\n\
               %2 : real = load 0 %1 @1\nadd 1 %1 %2 @1\n",
        work: 0,
        callees: &[],
        writes: &[],
    }
};
