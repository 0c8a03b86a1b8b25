//! A kernel as CubeCL wants it: an identity, and a definition made on demand.

use std::sync::Arc;

use cubecl::ir::StorageType;
use cubecl::prelude::{
    AddressType, CubeDim, CubeKernel, KernelBuilder, KernelDefinition, KernelId, KernelMetadata, KernelSettings,
};

use super::build::{Layout, Special, build};
use crate::linked::{Fnv, Linked};

/// A program specialised for a launch: what is compiled once and launched often.
#[derive(Clone)]
pub(crate) struct Kernel {
    program: Arc<Linked>,
    special: Arc<Special>,
    /// Threads per cube.
    pub width: u32,
    /// Of everything that the compiled code depends on; the same in every run, for caches on disk.
    identity: u128,
}

impl Kernel {
    /// The kernel and what to pass to it.
    pub fn new(program: Arc<Linked>, special: Special, width: u32) -> Result<(Self, Layout), String> {
        let mut hash = Fnv::new();
        hash.write(env!("CARGO_PKG_VERSION").as_bytes());
        hash.write(&program.hash.to_le_bytes());
        let target = special.target;
        hash.write(&[target.double, target.atomic_add, target.exact_math].map(u8::from));
        special.bound.iter().for_each(|b| hash.write(&b.map_or(0, |slot| slot as u32 + 1).to_le_bytes()));
        special.copied.iter().for_each(|&copied| hash.write(&[u8::from(copied)]));
        for value in &special.comptime {
            hash.write(&[u8::from(value.is_some())]);
            hash.write(&value.unwrap_or(0).to_le_bytes());
        }
        let kernel = Self { program, special: Arc::new(special), width, identity: hash.0 };
        let (_, layout) = kernel.build()?;
        Ok((kernel, layout))
    }

    pub fn special(&self) -> &Special {
        &self.special
    }

    pub fn target(&self) -> super::build::Target {
        self.special.target
    }

    /// Name of the kernel in the source.
    pub fn source_name(&self) -> &str {
        &self.program.func.name
    }

    /// What profilers and texts call the form of the kernel, by the parameters that only this form has.
    fn form(&self) -> &'static str {
        let has = |suffix| self.program.func.params.iter().any(|param| param.name.ends_with(suffix));
        match (has("_bar"), has("_dot")) {
            (false, false) => "",
            (true, false) => "_adjoint",
            (false, true) => "_tangent",
            (true, true) => "_second",
        }
    }

    fn build(&self) -> Result<(KernelBuilder, Layout), String> {
        let mut builder = KernelBuilder::default();
        AddressType::U32.register(&mut builder.scope);
        build(builder, &self.program, &self.special)
    }
}

impl KernelMetadata for Kernel {
    fn id(&self) -> KernelId {
        KernelId::new::<Self>().address_type(AddressType::U32).cube_dim(CubeDim::new_1d(self.width)).info(self.identity)
    }

    fn address_type(&self) -> StorageType {
        AddressType::U32.unsigned_type()
    }
}

impl CubeKernel for Kernel {
    fn define(&self) -> KernelDefinition {
        // A name of its own, so that none is a word of a shading language.
        let name: String = self.source_name().chars().filter(|c| c.is_ascii_alphanumeric() || *c == '_').collect();
        let form = self.form();
        let settings = KernelSettings::default()
            .cube_dim(CubeDim::new_1d(self.width))
            .address_type(AddressType::U32)
            .kernel_name(format!("kernel_{name}{form}"));
        // It was built once in `new`, so it can be built: the other case is an empty kernel that is never reached.
        let builder = self.build().map(|(builder, _)| builder).unwrap_or_default();
        builder.build(settings)
    }
}
