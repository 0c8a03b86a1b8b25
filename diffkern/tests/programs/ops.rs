//! Random programs as data: what they are made of, how they are drawn, how they run.

use diffkern::implicit::{SolveOptions, fixed_point, linear_solve};
use diffkern::prelude::*;
use diffkern::{Rollout, Schedule, recompute, reduce};

use crate::hand;
use crate::kernels::*;

/// Elements of every array.
pub const N: usize = 12;

type Reals = Array<f64>;

/// Operations on a pool of arrays, by their places in it.
#[derive(Clone, Debug)]
pub enum Op {
    New,
    Wave(usize, usize, View),
    Blend([usize; 3], View, f64),
    Mix([usize; 3], View),
    Accumulate(usize, usize, View),
    Turn(usize, View),
    Damp(usize, usize, View),
    Spread([usize; 4], View),
    Scatter(usize, usize, View),
    Pick([usize; 3], View),
    Branch([usize; 3], View, u32),
    Bent([usize; 3], View, u32),
    Product([usize; 3], View),
    Part([usize; 3], View, u32, f64),
    Gather([usize; 3], View),
    Shuffle(u32),
    Fill(usize, f64, View),
    Copy(usize, usize, View),
    Write(usize, f64),
    Swap(usize, usize),
    Replace(usize, usize),
    Square(usize, usize),
    Recompute(Vec<Op>),
    Linear(usize, usize),
    Fixed(usize),
    Steps(Steps),
}

/// A rollout: its body has the pool to read, and behind it the arrays of the state.
#[derive(Clone, Debug)]
pub struct Steps {
    steps: usize,
    schedule: usize,
    open: bool,
    state: Vec<usize>,
    body: Vec<Op>,
    returned: Vec<usize>,
}

/// Parts of up to four arrays, and how many of their elements a launch is for.
#[derive(Clone, Copy, Debug)]
pub struct View {
    from: [usize; 4],
    len: usize,
    domain: usize,
}

pub struct Random(pub u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % n as u64) as usize
    }

    /// In (-1, 1).
    pub fn real(&mut self) -> f64 {
        self.below(1 << 20) as f64 / f64::from(1 << 19) - 1.0 + 1e-7
    }

    fn view(&mut self) -> View {
        let len = [N, N, N, N, 0, 1, 5, 8][self.below(8)];
        let domain = if self.below(4) == 0 { self.below(len + 1) } else { len };
        View { from: [0; 4].map(|_| self.below(N - len + 1)), len, domain }
    }

    /// Parts that have no element in common, whichever arrays they are of.
    fn apart(&mut self) -> View {
        let (shift, len) = (self.below(4), 1 + self.below(N / 4));
        View { from: [0, 1, 2, 3].map(|k| (k + shift) % 4 * (N / 4)), len, domain: len }
    }

    /// `n` operations on `pool` arrays, of which those from `free` on may be written; and how many there are then.
    pub fn ops(&mut self, n: usize, mut pool: usize, free: usize, depth: usize) -> (Vec<Op>, usize) {
        let mut ops = Vec::new();
        while ops.len() < n {
            if pool == free {
                ops.push(Op::New);
                pool += 1;
                continue;
            }
            let (a, b, w, u) =
                (self.below(pool), self.below(pool), free + self.below(pool - free), free + self.below(pool - free));
            let (v, x, apart) = (self.view(), self.real(), self.apart());
            ops.push(match self.below(if depth > 0 { 37 } else { 33 }) {
                0 => Op::New,
                1..=3 => Op::Wave(a, w, v),
                4 => Op::Blend([a, b, w], v, x),
                5 | 6 => Op::Mix([a, b, w], v),
                7 | 8 => Op::Accumulate(a, w, v),
                9 | 10 => Op::Turn(w, v),
                11 => Op::Damp(w, a, v),
                12 => Op::Scatter(a, w, v),
                13 => Op::Pick([a, b, w], v),
                14 => Op::Branch([a, w, u], v, self.below(4) as u32),
                15 => Op::Shuffle(self.below(N) as u32),
                16 => Op::Fill(w, x, v),
                17 => Op::Copy(a, w, v),
                18 => Op::Write(w, x),
                19 => Op::Swap(w, u),
                20 => Op::Replace(w, a),
                21 => Op::Square(a, w),
                22 => Op::Linear(a, b),
                23 => Op::Fixed(a),
                24 => Op::Recompute(vec![Op::Wave(a, w, v), Op::Product([a, w, u], v), Op::Turn(w, v)]),
                25 | 26 => Op::Bent([a, b, w], v, self.below(4) as u32),
                27 => Op::Product([a, b, w], v),
                28 => Op::Part([a, w, u], v, self.below(4) as u32, x),
                29 => Op::Gather([a, b, w], v),
                // Mostly of one array.
                30 => Op::Spread([a, w, w, w], apart),
                31 => Op::Spread([w, u, w, u], apart),
                32 => Op::Branch([a, w, w], apart, self.below(4) as u32),
                _ => Op::Steps(self.steps(pool, depth)),
            });
            pool += match ops.last() {
                Some(Op::New | Op::Linear(..) | Op::Fixed(_)) => 1,
                Some(Op::Steps(steps)) => steps.state.len(),
                _ => 0,
            };
        }
        (ops, pool)
    }

    fn steps(&mut self, pool: usize, depth: usize) -> Steps {
        let count = 1 + self.below(3);
        let state: Vec<usize> = (0..count).map(|_| self.below(pool)).collect();
        let n = 2 + self.below(6);
        let (body, inner) = self.ops(n, pool + count, pool, depth - 1);
        let returned = (0..count).map(|_| pool + self.below(inner - pool)).collect();
        let (steps, schedule) = ([1, 2, 3, 5, 9][self.below(5)], self.below(SCHEDULES));
        Steps { steps, schedule, open: self.below(4) == 0, state, body, returned }
    }
}

pub const SCHEDULES: usize = 7;

fn schedule(k: usize) -> Rollout {
    let files = std::env::temp_dir();
    match k {
        0 => Rollout::new(Schedule::StoreAll),
        1 => Rollout::new(Schedule::Checkpoints(1)),
        2 => Rollout::new(Schedule::Checkpoints(2)).recompute_all(),
        3 => Rollout::new(Schedule::Checkpoints(1)).files(files),
        4 => Rollout::new(Schedule::Budget(20_000)),
        5 => Rollout::new(Schedule::Budget(40_000)).recompute_all().files(files).file_cost_steps(0.3),
        _ => Rollout::new(Schedule::StoreAll).recompute(&["wave", "mix", "product", "part", "bent"]),
    }
}

/// Where a program stands.
#[derive(Clone)]
pub struct Place {
    pub pool: Vec<Reals>,
    pub at: Array<u32>,
    /// Number of the step.
    pub step: usize,
    /// A schedule for all rollouts, in place of their own.
    pub schedule: Option<usize>,
}

impl Place {
    /// The parts of the arrays, of which the last `written` are written; none if one of these has an element of another,
    /// which is refused.
    fn parts<const K: usize>(&self, arrays: [usize; K], v: View, written: usize) -> Result<Option<[Reals; K]>> {
        let part = |k: usize| self.pool[arrays[k]].slice(v.from[k]..v.from[k] + v.len);
        let apart = |j: usize, k: usize| {
            let (a, b) = (v.from[j], v.from[k]);
            self.pool[arrays[j]].id() != self.pool[arrays[k]].id() || a + v.len <= b || b + v.len <= a
        };
        let parts: Vec<Reals> = (0..K).map(part).collect::<Result<_>>()?;
        let allowed = (K - written..K).all(|k| (0..k).all(|j| apart(j, k)));
        Ok(if allowed { parts.try_into().ok() } else { None })
    }

    pub fn run(&mut self, ops: &[Op]) -> Result<()> {
        ops.iter().try_for_each(|op| self.one(op))
    }

    fn one(&mut self, op: &Op) -> Result<()> {
        let dev = Device::cpu();
        let step = self.step;
        match op {
            Op::New => self.pool.push(dev.zeros(N)?),
            Op::Wave(a, w, v) => return self.parts([*a, *w], *v, 1)?.map_or(Ok(()), |[x, y]| wave(v.domain, &x, &y)),
            Op::Blend(all, v, s) => {
                let s = s + 0.01 * step as f64;
                return self.parts(*all, *v, 1)?.map_or(Ok(()), |[x, y, z]| blend(v.domain, &x, &y, &z, s));
            }
            Op::Mix(all, v) => return self.parts(*all, *v, 1)?.map_or(Ok(()), |[x, y, z]| mix(v.domain, &x, &y, &z)),
            Op::Accumulate(a, w, v) => {
                return self.parts([*a, *w], *v, 1)?.map_or(Ok(()), |[x, y]| accumulate(v.domain, &x, &y));
            }
            Op::Turn(w, v) => return self.parts([*w], *v, 1)?.map_or(Ok(()), |[x]| turn(v.domain, &x)),
            Op::Damp(w, a, v) => return self.parts([*a, *w], *v, 1)?.map_or(Ok(()), |[x, y]| damp(v.domain, &y, &x)),
            Op::Spread(all, v) => {
                return self.parts(*all, *v, 3)?.map_or(Ok(()), |[x, y, z, w]| spread(v.domain, &x, &y, &z, &w));
            }
            Op::Scatter(a, w, v) => {
                return self.parts([*a, *w], *v, 1)?.map_or(Ok(()), |[x, y]| scatter(v.domain, &x, &self.at, &y));
            }
            Op::Pick(all, v) => {
                return self.parts(*all, *v, 1)?.map_or(Ok(()), |[x, w, y]| pick(v.domain, &x, &self.at, &w, &y));
            }
            Op::Branch(all, v, n) => {
                let n = (n + step as u32) % 5;
                return self.parts(*all, *v, 2)?.map_or(Ok(()), |[x, y, z]| branch(v.domain, &x, &y, &z, n, 0.2));
            }
            Op::Bent(all, v, n) => {
                let n = (n + step as u32) % 5;
                return self.parts(*all, *v, 1)?.map_or(Ok(()), |[x, w, y]| hand::bent(v.domain, &x, &w, &y, n));
            }
            Op::Product(all, v) => {
                return self.parts(*all, *v, 1)?.map_or(Ok(()), |[x, y, z]| hand::product(v.domain, &x, &y, &z));
            }
            Op::Part(all, v, n, limit) => {
                let n = (n + step as u32) % 5;
                let parts = self.parts(*all, *v, 2)?;
                return parts.map_or(Ok(()), |[x, y, z]| hand::part(v.domain, &x, &self.at, &y, &z, n, *limit));
            }
            Op::Gather(all, v) => {
                return self
                    .parts(*all, *v, 1)?
                    .map_or(Ok(()), |[x, w, y]| hand::gather(v.domain, &x, &self.at, &w, &y));
            }
            Op::Shuffle(by) => {
                let next = dev.uninit(N)?;
                shuffle(N, &self.at, &next, by + step as u32)?;
                self.at = next;
            }
            Op::Fill(w, x, v) => return self.parts([*w], *v, 1)?.map_or(Ok(()), |[y]| y.fill(*x)),
            Op::Copy(a, w, v) => return self.parts([*a, *w], *v, 1)?.map_or(Ok(()), |[x, y]| y.copy_from(&x)),
            Op::Write(w, x) => return self.pool[*w].write(&[*x; N]),
            Op::Swap(w, u) => self.pool.swap(*w, *u),
            Op::Replace(w, a) => {
                let copy = dev.uninit(N)?;
                copy.copy_from(&self.pool[*a])?;
                self.pool[*w] = copy;
            }
            Op::Square(a, w) => {
                let square = reduce::dot(&self.pool[*a], &self.pool[*a])?;
                return self.pool[*w].slice(3..4)?.copy_from(&square);
            }
            Op::Recompute(ops) => return recompute(|| self.run(ops)),
            Op::Linear(b, p) => {
                let (b, p) = (self.pool[*b].slice(2..9)?, self.pool[*p].slice(1..8)?);
                let x = linear_solve(b, exactly(), move |x: &Reals| {
                    let y = x.device().uninit(x.len())?;
                    system(x.len(), x, &p, &y)?;
                    Ok(y)
                })?;
                let y = dev.zeros(N)?;
                wave(x.len(), &x, &y)?;
                self.pool.push(y);
            }
            Op::Fixed(p) => {
                let p = self.pool[*p].clone();
                self.pool.push(fixed_point(dev.zeros::<f64>(N)?, exactly(), move |x: &Reals| {
                    let y = x.device().uninit(N)?;
                    contract(N, x, &p, &y)?;
                    Ok(y)
                })?);
            }
            Op::Steps(steps) => return self.roll(steps.clone()),
        }
        Ok(())
    }

    fn roll(&mut self, Steps { steps, schedule: own, open, state, body, returned }: Steps) -> Result<()> {
        let rollout = schedule(self.schedule.unwrap_or(own));
        let start: Vec<Reals> = state.iter().map(|k| self.pool[*k].clone()).collect();
        let around = self.clone();
        let step = move |(arrays, at): &(Vec<Reals>, Array<u32>), k: usize| {
            let mut place = Place { at: at.clone(), step: around.step + k, ..around.clone() };
            place.pool.extend(arrays.iter().cloned());
            place.run(&body)?;
            Ok((returned.iter().map(|k| place.pool[*k].clone()).collect(), place.at))
        };
        let start = (start, self.at.clone());
        let (end, at) = match open {
            false => rollout.run(steps, start, step)?,
            true => rollout.run_while(move |_, k| Ok(k < steps), start, step)?.0,
        };
        self.pool.extend(end);
        self.at = at;
        Ok(())
    }
}

fn exactly() -> SolveOptions {
    SolveOptions { tolerance: 1e-13, iterations: 500, ..SolveOptions::default() }
}
