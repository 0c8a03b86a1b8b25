//! A kernel at a point of its arrays: its values, its tangent, its adjoint, on any device.

use std::rc::Rc;

use super::random::Random;
use crate::array::AnyArray;
use crate::backend::native::Native;
use crate::device::Device;
use crate::domain::Domain;
use crate::element::bytes_of;
use crate::error::{Error, Result};
use crate::forward::jvp;
use crate::kernel::{KernelDef, ScalarTy};
use crate::launch::Arg;
use crate::launch::{access, launch};
use crate::tape::{Bars, Frame, Kept, Ledger, Overwrite, Recorder, Recording, Shape, context};

/// Scalars of several arrays.
pub(super) type Contents = Vec<Vec<f64>>;

pub(super) struct Point<'a> {
    pub(super) def: &'static KernelDef,
    native: Native,
    domain: Domain,
    args: &'a [Arg<'a>],
    device: Device,
    /// Slot of each real array, and whether it is written.
    real: Vec<(usize, bool)>,
    /// Contents of the real arrays.
    pub(super) at: Contents,
}

impl<'a> Point<'a> {
    /// The point that `args` are, its real arrays as the scalars of `native` on `device`.
    pub(super) fn new(
        def: &'static KernelDef,
        native: Native,
        domain: Domain,
        args: &'a [Arg<'a>],
        device: &Device,
    ) -> Result<Point<'a>> {
        let params = def.primal.params;
        if args.len() != params.len() {
            let reason = format!("{} arguments given, {} needed", args.len(), params.len());
            return Err(Error::Launch { kernel: def.name, reason });
        }
        let (mut real, mut at) = (Vec::new(), Vec::new());
        for (slot, (arg, param)) in args.iter().zip(params).enumerate() {
            if let Arg::Array(array) = arg
                && array.is_real()
            {
                real.push((slot, access(param).writes()));
                at.push(contents(array)?);
            }
        }
        Ok(Point { def, native, domain, args, device: device.clone(), real, at })
    }

    /// The same with every component as an `f32` would have it.
    pub(super) fn rounded(mut self) -> Self {
        self.at.iter_mut().flatten().for_each(|x| *x = f64::from(*x as f32));
        self
    }

    /// A random direction, of the size of each array's largest component, or 1.
    pub(super) fn direction(&self, random: &mut Random) -> Contents {
        let along = |x: &Vec<f64>| {
            let size = x.iter().fold(0.0f64, |m, x| m.max(x.abs()));
            let size = if size > 0.0 { size } else { 1.0 };
            x.iter().map(|_| size * random.component()).collect()
        };
        self.at.iter().map(along).collect()
    }

    /// Names of the real arrays, or of those that are written.
    pub(super) fn names(&self, only_written: bool) -> Vec<&'static str> {
        let wanted = self.real.iter().filter(|(_, written)| *written || !only_written);
        wanted.map(|&(slot, _)| self.def.primal.params[slot].name).collect()
    }

    /// Arrays of their own with the given contents of the real ones, for one launch.
    fn arrays(&self, contents: &[Vec<f64>]) -> Result<Vec<Option<AnyArray>>> {
        let mut contents = contents.iter();
        let array = |arg: &Arg<'_>| match arg {
            Arg::Array(array) if array.is_real() => {
                let scalars = contents.next().map_or(&[][..], Vec::as_slice);
                upload(&self.device, self.native.scalar, array, scalars).map(Some)
            }
            Arg::Array(array) => copy(&self.device, array).map(Some),
            _ => Ok(None),
        };
        self.args.iter().map(array).collect()
    }

    fn launch(&self, arrays: &[Option<AnyArray>]) -> Result<()> {
        let args: Vec<Arg<'_>> =
            self.args.iter().zip(arrays).map(|(arg, array)| array.as_ref().map_or(*arg, Arg::Array)).collect();
        launch(self.def, self.native, self.domain, &args)
    }

    /// The real arrays among those of a launch, in order.
    fn real_of<'b>(&'b self, arrays: &'b [Option<AnyArray>]) -> impl Iterator<Item = (&'b AnyArray, bool)> {
        self.real.iter().filter_map(|&(slot, written)| Some((arrays[slot].as_ref()?, written)))
    }

    fn written_of<'b>(&'b self, arrays: &'b [Option<AnyArray>]) -> impl Iterator<Item = &'b AnyArray> {
        self.real_of(arrays).filter(|(_, written)| *written).map(|(array, _)| array)
    }

    /// Contents of the written real arrays after a launch with the given contents of the real ones.
    pub(super) fn values(&self, from: &[Vec<f64>]) -> Result<Contents> {
        let arrays = self.arrays(from)?;
        self.launch(&arrays)?;
        self.written_of(&arrays).map(contents).collect()
    }

    /// The written arrays of integers after a launch: name and contents.
    pub(super) fn integers(&self) -> Result<Vec<(&'static str, Vec<u32>)>> {
        let arrays = self.arrays(&self.at)?;
        self.launch(&arrays)?;
        let mut all = Vec::new();
        for (param, array) in self.def.primal.params.iter().zip(&arrays) {
            if let Some(array) = array
                && !array.is_real()
                && access(param).writes()
            {
                all.push((param.name, words(&bytes(array)?)));
            }
        }
        Ok(all)
    }

    /// `J v`, for the written arrays.
    pub(super) fn tangent(&self, direction: &[Vec<f64>]) -> Result<Contents> {
        let (arrays, dots) = (self.arrays(&self.at)?, self.arrays(direction)?);
        let seeds: Vec<(&AnyArray, &AnyArray)> =
            self.real_of(&arrays).map(|(a, _)| a).zip(self.real_of(&dots).map(|(d, _)| d)).collect();
        let ((), tangents) = jvp(&[&seeds], || self.launch(&arrays))?;
        self.written_of(&arrays).map(|array| contents(&tangents.get_any(0, array)?)).collect()
    }

    /// `J^T u`, for all real arrays.
    pub(super) fn adjoint(&self, seeds: &[Vec<f64>]) -> Result<Contents> {
        let arrays = self.arrays(&self.at)?;
        let ledger = Rc::new(Ledger::new(Recording::default()));
        let mut recorder = Recorder::new(ledger.clone(), Overwrite::Keep);
        self.real_of(&arrays).for_each(|(array, _)| recorder.add_external(array));
        let (result, frame) =
            context::within(Frame { recorder: Some(recorder), monitor: None }, || self.launch(&arrays));
        result?;
        let (nodes, ..) = frame.recorder.map(Recorder::into_parts).transpose()?.unwrap_or_default();
        let mut bars = Bars::new(&ledger);
        for (array, seed) in self.written_of(&arrays).zip(seeds) {
            let bar = upload(&self.device, self.native.scalar, array, seed)?;
            bars.add_part(&Shape::of(array), &bar.buffer(), 0)?;
        }
        nodes.iter().rev().try_for_each(|node| node.backward(&mut bars))?;
        self.real_of(&arrays)
            .map(|(array, _)| match bars.take(array.id()).as_ref().map(Kept::buffer) {
                Some(bar) => {
                    let over =
                        AnyArray::over(array.device(), array.scalar(), array.elem(), array.base_len(), bar.clone());
                    contents(&over)
                }
                None => Ok(vec![0.0; array.len() * array.elem().components()]),
            })
            .collect()
    }
}

fn bytes(array: &AnyArray) -> Result<Vec<u8>> {
    let (at, size) = array.byte_range();
    let mut bytes = vec![0u8; size];
    array.device().download(&array.buffer(), at, &mut bytes)?;
    Ok(bytes)
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|&word| u32::from_ne_bytes(word)).collect()
}

/// The scalars of a real array.
fn contents(array: &AnyArray) -> Result<Vec<f64>> {
    let bytes = bytes(array)?;
    Ok(match array.scalar() {
        ScalarTy::F64 => bytes.as_chunks::<8>().0.iter().map(|&word| f64::from_ne_bytes(word)).collect(),
        _ => words(&bytes).into_iter().map(|word| f64::from(f32::from_bits(word))).collect(),
    })
}

/// A whole array of the shape of `array`, of the given scalars.
fn upload(device: &Device, scalar: ScalarTy, array: &AnyArray, scalars: &[f64]) -> Result<AnyArray> {
    let narrow: Vec<f32>;
    let data = match scalar {
        ScalarTy::F64 => bytes_of(scalars),
        _ => {
            narrow = scalars.iter().map(|&x| x as f32).collect();
            bytes_of(&narrow)
        }
    };
    let buffer = device.alloc(data.len())?;
    device.upload(&buffer, 0, data)?;
    Ok(AnyArray::over(device, scalar, array.elem(), array.len() as u32, buffer))
}

/// A whole array with the elements of `array`.
fn copy(device: &Device, array: &AnyArray) -> Result<AnyArray> {
    let data = bytes(array)?;
    let buffer = device.alloc(data.len())?;
    device.upload(&buffer, 0, &data)?;
    Ok(AnyArray::over(device, array.scalar(), array.elem(), array.len() as u32, buffer))
}
