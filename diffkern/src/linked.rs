//! A program with the device functions it calls, parsed, and the identity of the whole.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock};

use crate::kernel::Program;
use diffkern_ir::interpret::Functions;
use diffkern_ir::{CallMode, FORMAT_VERSION, Func, StmtKind, Ty, parse};

/// Device functions may call each other this deep; more is a recursion.
const DEPTH: usize = 64;

/// A parsed program and those of the functions that it calls.
pub(crate) struct Linked {
    pub func: Func,
    /// Source file.
    pub file: &'static str,
    /// Types of the slots of its stacks.
    #[cfg_attr(not(feature = "cubecl"), expect(dead_code, reason = "kernels for GPUs are built from it"))]
    pub stacks: Vec<Option<Ty>>,
    pub callees: HashMap<(usize, CallMode), Arc<Linked>>,
    /// Of the texts and the format's version.
    pub hash: u128,
}

impl Linked {
    /// The program, parsed once per process.
    pub fn of(program: &'static Program) -> Result<Arc<Self>, String> {
        type Cache = Mutex<HashMap<usize, Arc<Linked>>>;
        static CACHE: OnceLock<Cache> = OnceLock::new();
        let cache = CACHE.get_or_init(Cache::default);
        let key = std::ptr::from_ref(program) as usize;
        if let Some(found) = crate::sync::lock(cache).get(&key) {
            return Ok(found.clone());
        }
        let linked = Arc::new(Self::link(program, DEPTH)?);
        crate::sync::lock(cache).insert(key, linked.clone());
        Ok(linked)
    }

    fn link(program: &Program, depth: usize) -> Result<Self, String> {
        let func = parse(program.text).map_err(|e| e.to_string())?;
        let depth = depth.checked_sub(1).ok_or_else(|| format!("`{}` calls itself, which a GPU cannot", func.name))?;
        let mut hash = Fnv::new();
        hash.write(&FORMAT_VERSION.to_le_bytes());
        hash.write(program.text.as_bytes());
        let mut callees = HashMap::new();
        for (callee, mode) in calls(&func) {
            let def = program.callees.get(callee).ok_or_else(|| format!("`{}` has no callee {callee}", func.name))?();
            let called = match mode {
                CallMode::Primal => &def.primal,
                CallMode::Replay => &def.replay,
                CallMode::Vjp => &def.vjp,
                CallMode::Jvp => &def.jvp,
                CallMode::Second => def.second.as_ref().ok_or_else(|| {
                    format!("`{}` was compiled without the feature `second-order` of diffkern", def.name)
                })?,
            };
            let linked = Self::link(called, depth)?;
            hash.write(&[mode as u8]);
            hash.write(&linked.hash.to_le_bytes());
            callees.insert((callee, mode), Arc::new(linked));
        }
        let mut stacks = vec![None; func.stacks as usize];
        for (stack, ty) in func.stack_types() {
            stacks[stack as usize] = Some(ty);
        }
        Ok(Self { func, file: program.file, stacks, callees, hash: hash.0 })
    }
}

impl Functions for Linked {
    fn callee(&self, _: &Func, callee: usize, mode: CallMode) -> Option<(&Func, &dyn Functions)> {
        let linked = self.callees.get(&(callee, mode))?;
        Some((&linked.func, &**linked))
    }
}

/// Each call once, in order.
fn calls(func: &Func) -> Vec<(usize, CallMode)> {
    let mut calls = vec![];
    func.body.each(&mut |stmt| {
        if let StmtKind::Call { callee, mode, .. } = stmt.kind
            && !calls.contains(&(callee, mode))
        {
            calls.push((callee, mode));
        }
    });
    calls
}

/// FNV-1a of 128 bits: the same on every machine and in every version, unlike the standard library's hash.
pub(crate) struct Fnv(pub u128);

impl Fnv {
    pub fn new() -> Self {
        Self(0x6c62_272e_07bb_0142_62b8_2175_6295_c58d)
    }

    pub fn write(&mut self, bytes: &[u8]) {
        for &b in bytes {
            self.0 = (self.0 ^ u128::from(b)).wrapping_mul(0x0000_0000_0100_0000_0000_0000_0000_013b);
        }
    }
}
