//! An entry of the tape, and how it is walked backwards.

use std::any::Any;
use std::rc::Weak;
use std::sync::Arc;
use std::time::Instant;

use super::again::{Rerun, Source};
use super::arises::Launched;
use super::bars::{Bars, Shape};
use super::dots::Dots;
use super::finite::Watch;
use super::hand_over::HandedOver;
use super::ledger::Kept;
use crate::backend::native::Native;
use crate::buffer::{Buffer, LaunchArg};
use crate::device::Device;
use crate::domain::Domain;
use crate::error::Result;
use crate::kernel::{Access, KernelDef, Which};
use crate::launch::access;
use crate::report::{Entry, Use, passes};
use crate::tangent::Elements;
use crate::trace;

/// One recorded operation.
pub(crate) enum Node {
    Launch(LaunchNode),
    /// The elements were overwritten by values without a gradient.
    Overwrite {
        to: Shape,
    },
    /// The elements were overwritten by those of another array; `from` has a gradient if there is one.
    Copy {
        to: Shape,
        from: Option<Shape>,
        retire: bool,
    },
    Rollout(Box<dyn Replay>),
    /// A launch that reads something with a gradient and writes only integers.
    Detour(Detour),
    /// A launch that is run again where its results are needed: only after this place.
    Again(Weak<Rerun>),
}

/// A stretch of the program that is walked backwards by replaying it.
pub(crate) trait Replay {
    /// Moves the adjoints of what it produced to what it started from and to what it read.
    fn backward(&self, bars: &mut Bars) -> Result<()>;

    /// Shows arrays as [`Node::visit`] does.
    fn visit(&self, see: &mut dyn FnMut(&Shape, Option<&Kept>));

    /// Carries tangents, per direction, from what it started from and read to what it produced. With `keep`, returns
    /// what [`Replay::second`] takes.
    fn forward(&self, dots: &mut [Dots], keep: bool) -> Result<Box<dyn Any>>;

    /// As [`Replay::backward`], with the tangents of the adjoints, per direction.
    fn second(&self, trail: Box<dyn Any>, bars: &mut Bars, bar_dots: &mut [Bars]) -> Result<()>;

    /// What it is in a graph.
    fn describe(&self) -> Entry;
}

/// A launch where every derivative ends.
pub(crate) struct Detour {
    pub(crate) def: &'static KernelDef,
    pub(crate) domain: Domain,
    pub(crate) arrays: Vec<(usize, Shape)>,
}

/// A recorded launch.
pub(crate) struct LaunchNode {
    pub(crate) def: &'static KernelDef,
    pub(crate) native: Native,
    pub(crate) domain: Domain,
    pub(crate) device: Device,
    pub(crate) args: Box<[KeptArg]>,
}

/// An argument of a recorded launch.
pub(crate) enum KeptArg {
    Array(KeptArray),
    /// Passed to the adjoint as it is.
    Scalar(LaunchArg<'static, Buffer>),
}

impl KeptArg {
    pub(super) fn array(&self) -> Option<&KeptArray> {
        match self {
            KeptArg::Array(array) => Some(array),
            KeptArg::Scalar(_) => None,
        }
    }
}

pub(crate) struct KeptArray {
    pub(crate) shape: Shape,
    pub(crate) access: Access,
    /// It has a gradient.
    pub(crate) tracked: bool,
    /// Before this launch it had none: its adjoint ends here.
    pub(crate) retire: bool,
    /// Its contents, if a derivative reads them.
    pub(crate) kept: Option<Source>,
}

impl Node {
    pub(crate) fn backward(&self, bars: &mut Bars) -> Result<()> {
        match self {
            Node::Launch(launch) => launch.backward(bars),
            Node::Overwrite { to } => bars.clear(to),
            Node::Copy { to, from, retire } => {
                if let (Some(from), Some(bar)) = (from, bars.get(to.id).cloned()) {
                    bars.add_part(from, &bar, to.byte_range().0)?;
                }
                bars.clear(to)?;
                if *retire {
                    bars.take(to.id);
                }
                Ok(())
            }
            Node::Rollout(replay) => replay.backward(bars),
            Node::Detour(_) => Ok(()),
            Node::Again(launch) => {
                if let Some(launch) = launch.upgrade() {
                    launch.forget();
                }
                Ok(())
            }
        }
    }
}

impl Node {
    /// Shows every array that has a gradient, with its contents where they are kept, and every other that is kept.
    pub(crate) fn visit(&self, see: &mut dyn FnMut(&Shape, Option<&Kept>)) {
        match self {
            Node::Launch(launch) => launch
                .arrays()
                .filter(|array| array.tracked || array.kept.is_some())
                .for_each(|array| see(&array.shape, array.kept.as_ref().and_then(Source::kept))),
            Node::Detour(_) => {}
            Node::Overwrite { to } => see(to, None),
            Node::Copy { to, from, .. } => from.iter().chain([to]).for_each(|shape| see(shape, None)),
            Node::Rollout(replay) => replay.visit(see),
            Node::Again(launch) => {
                if let Some(launch) = launch.upgrade() {
                    launch.inputs().for_each(|(shape, kept)| see(shape, Some(kept)));
                }
            }
        }
    }
}

impl Node {
    /// What it is in a graph; nothing, when it is only there for another one.
    pub(crate) fn describe(&self) -> Option<Entry> {
        Some(match self {
            Node::Launch(launch) => {
                let arrays = launch.args.iter().enumerate().filter_map(|(slot, arg)| match arg {
                    KeptArg::Array(array) => Some((slot, &array.shape)),
                    KeptArg::Scalar(_) => None,
                });
                describe(launch.def, launch.domain, arrays)
            }
            Node::Detour(Detour { def, domain, arrays }) => {
                describe(def, *domain, arrays.iter().map(|(slot, shape)| (*slot, shape)))
            }
            Node::Overwrite { to } => Entry::Write { to: to.part() },
            Node::Copy { to, from, .. } => Entry::Copy { to: to.part(), from: from.as_ref().map(Shape::part) },
            Node::Rollout(replay) => replay.describe(),
            Node::Again(_) => return None,
        })
    }
}

fn describe<'a>(def: &'static KernelDef, domain: Domain, arrays: impl Iterator<Item = (usize, &'a Shape)>) -> Entry {
    let passes = passes(def);
    let arrays = arrays.filter_map(|(slot, shape)| {
        let param = def.primal.params.get(slot)?;
        let access = access(param);
        Some(Use {
            param: param.name,
            part: shape.part(),
            read: matches!(access, Access::Read | Access::Update),
            written: access.writes(),
            passes: passes.get(slot).copied().unwrap_or(false),
        })
    });
    Entry::Launch { kernel: def.name, file: def.file, line: def.line, domain: domain.dims(), arrays: arrays.collect() }
}

impl LaunchNode {
    pub(super) fn arrays(&self) -> impl Iterator<Item = &KeptArray> {
        self.args.iter().filter_map(KeptArg::array)
    }

    fn backward(&self, bars: &mut Bars) -> Result<()> {
        if self.arrays().any(|a| a.access.writes() && a.tracked && bars.has(a.shape.id)) {
            self.run_adjoint(bars)?;
        }
        for array in self.arrays().filter(|a| a.retire) {
            bars.take(array.shape.id);
        }
        Ok(())
    }

    pub(super) fn run_adjoint(&self, bars: &mut Bars) -> Result<()> {
        let contents = self.contents()?;
        let handed_over = self.hand_over(bars);
        let targets = self.targets(bars, &handed_over)?;
        let ends = |t: &&Target<'_>| t.array.retire && !t.in_place;
        // What ends here is dropped after the launch, so what is taken out of it need not be cleared.
        targets.iter().filter(ends).filter_map(|t| t.buffer.as_ref()).for_each(|b| b.set_last_use());
        let mut args = self.bound(&contents);
        args.extend(targets.iter().map(Target::bound));
        let options = bars.ledger.options;
        let watch = if options.check_finite { Some(self.watch(&contents, &targets)?) } else { None };
        if options.timed {
            self.device.wait()?;
        }
        let _span = trace::launch(self.def.name, "adjoint", self.domain);
        let start = Instant::now();
        let program = (self.def, Which::Adjoint, self.native.adjoint);
        self.device.run(program, self.native.scalar, self.domain, &args)?;
        if let Some(clear) = self.native.clear {
            self.device.run((self.def, Which::Clear, clear), self.native.scalar, self.domain, &args)?;
        }
        if options.timed {
            self.device.wait()?;
        }
        let [_, lack] = self.native.lacks_on(&self.device);
        bars.ledger.backward(self.def, lack, start.elapsed().as_secs_f64());
        if let Some(watch) = watch {
            let written: Vec<_> = targets.iter().filter_map(|t| t.buffer.clone()).collect();
            let launched =
                Launched { device: &self.device, scalar: self.native.scalar, domain: self.domain, args: &args };
            watch.check(&|place| written.get(place).cloned(), None, launched)?;
        }
        self.add_apart(&targets, bars)
    }

    /// Adds up what was accumulated into memory of its own.
    pub(super) fn add_apart(&self, targets: &[Target<'_>], bars: &mut Bars) -> Result<()> {
        for target in targets.iter().filter(|t| t.apart) {
            if let Some(buffer) = &target.buffer {
                bars.add_part(&target.array.shape, buffer, target.array.shape.byte_range().0)?;
            }
        }
        Ok(())
    }

    fn watch(&self, contents: &[Option<Arc<Buffer>>], targets: &[Target<'_>]) -> Result<Watch> {
        let read = self.args.iter().zip(contents).enumerate().filter_map(|(slot, pair)| match pair {
            (KeptArg::Array(array), Some(buffer)) => Some((slot, &array.shape, buffer)),
            _ => None,
        });
        let bars = targets
            .iter()
            .enumerate()
            .filter_map(|(k, target)| Some((self.args.len() + k, &target.array.shape, target.buffer.as_ref()?)));
        Watch::adjoint(self.def, read, bars)
    }

    /// The arguments of a derivative that are those of the launch.
    pub(super) fn bound<'a>(&'a self, contents: &'a [Option<Arc<Buffer>>]) -> Vec<LaunchArg<'a, Buffer>> {
        let one = |(arg, contents): (&'a KeptArg, &'a Option<Arc<Buffer>>)| match arg {
            KeptArg::Scalar(scalar) => *scalar,
            KeptArg::Array(array) => array.shape.within(contents.as_deref()),
        };
        self.args.iter().zip(contents).map(one).collect()
    }

    /// By slot, what the derivatives read.
    pub(super) fn contents(&self) -> Result<Vec<Option<Arc<Buffer>>>> {
        let kept = |arg: &KeptArg| match arg {
            KeptArg::Array(KeptArray { kept: Some(source), .. }) => source.buffer().map(Some),
            _ => Ok(None),
        };
        self.args.iter().map(kept).collect()
    }

    /// The adjoint of each real array, in order; of arrays that have handed it over, where it is now.
    pub(super) fn targets<'a>(&'a self, bars: &mut Bars, handed_over: &[HandedOver]) -> Result<Vec<Target<'a>>> {
        let mut targets: Vec<Target<'a>> = Vec::new();
        for array in self.arrays().filter(|a| a.shape.elem.is_real()) {
            // Two arguments with a common element: the second adds into memory of its own, added up afterwards.
            let apart = array.tracked && targets.iter().any(|t| t.array.shape.overlaps(&array.shape));
            let id = array.shape.id;
            let place = handed_over.iter().find(|(from, to)| *from == id || *to == id);
            let buffer = match (array.tracked, apart) {
                (false, _) => None,
                _ if place.is_some() => place.and_then(|(_, to)| bars.get(*to)).cloned(),
                (true, false) => Some(bars.ensure(&array.shape)?.clone()),
                (true, true) => Some(self.device.alloc_zeroed(array.shape.base_bytes())?),
            };
            targets.push(Target { array, buffer, apart, in_place: place.is_some() });
        }
        Ok(targets)
    }
}

/// Where a derivative adds the adjoint of an array, or takes it from.
pub(super) struct Target<'a> {
    pub(super) array: &'a KeptArray,
    pub(super) buffer: Option<Arc<Buffer>>,
    apart: bool,
    /// Whether two have this memory, see [`LaunchArg::Place`].
    in_place: bool,
}

impl Target<'_> {
    pub(super) fn bound(&self) -> LaunchArg<'_, Buffer> {
        let shape = &self.array.shape;
        match self.buffer.as_deref() {
            Some(buffer) if self.in_place => LaunchArg::Place { buffer, len: shape.len, elem: shape.elem },
            buffer => shape.within(buffer),
        }
    }
}
