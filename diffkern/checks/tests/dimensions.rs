//! Kernels over the dimension: the same bits as twins by hand, their gradients, and host code that is generic over it.

use diffkern::prelude::*;

mod by_hand {
    use diffkern::prelude::*;

    #[diff_fn]
    pub fn pull_2d<F: Float>(x: Vec2<F>, l: Mat2<F>, k: F) -> Vec2<F> {
        let gap = (x.dot(x) + 0.5).sqrt() - 1.0;
        (l * x) * (k * gap)
    }

    #[diff_fn]
    pub fn pull_3d<F: Float>(x: Vec3<F>, l: Mat3<F>, k: F) -> Vec3<F> {
        let gap = (x.dot(x) + 0.5).sqrt() - 1.0;
        (l * x) * (k * gap) + Vec3::new(x.y, x.z, x.x) * gap
    }

    #[diff_kernel]
    pub fn scatter_2d<F: Float>(
        x: &Array<Vec2<F>>,
        l: &Array<Mat2<F>>,
        grid: &mut Array<Vec3<F>>,
        moved: &mut Array<Vec2<F>>,
        origin_x: F,
        origin_y: F,
        inv_dx: F,
        nx: u32,
        ny: u32,
    ) {
        let i = ABSOLUTE_POS;
        let xp = x[i];
        let force: Vec2<F> = pull_2d::<F>(xp, l[i], 0.7);
        let gx = (xp.x - origin_x) * inv_dx;
        let gy = (xp.y - origin_y) * inv_dx;
        let fx = gx - gx.floor();
        let fy = gy - gy.floor();
        let ix = u32::cast_from(gx).min(nx - 2);
        let iy = u32::cast_from(gy).min(ny - 2);
        let value = Vec3::new(force.x, force.y, 1.0);
        for a in 0u32..2 {
            for b in 0u32..2 {
                let wx = if a == 1 { fx } else { 1.0 - fx };
                let wy = if b == 1 { fy } else { 1.0 - fy };
                grid[((ix + a) * ny + iy + b) as usize] += value * (wx * wy);
            }
        }
        moved[i] = xp + Mat2::new(l[i][(0, 0)], l[i][(1, 0)], l[i][(0, 1)], l[i][(1, 1)]) * force;
    }

    #[diff_kernel]
    pub fn scatter_3d<F: Float>(
        x: &Array<Vec3<F>>,
        l: &Array<Mat3<F>>,
        grid: &mut Array<Vec4<F>>,
        moved: &mut Array<Vec3<F>>,
        origin_x: F,
        origin_y: F,
        origin_z: F,
        inv_dx: F,
        nx: u32,
        ny: u32,
        nz: u32,
    ) {
        let i = ABSOLUTE_POS;
        let xp = x[i];
        let force: Vec3<F> = pull_3d::<F>(xp, l[i], 0.7);
        let gx = (xp.x - origin_x) * inv_dx;
        let gy = (xp.y - origin_y) * inv_dx;
        let gz = (xp.z - origin_z) * inv_dx;
        let fx = gx - gx.floor();
        let fy = gy - gy.floor();
        let fz = gz - gz.floor();
        let ix = u32::cast_from(gx).min(nx - 2);
        let iy = u32::cast_from(gy).min(ny - 2);
        let iz = u32::cast_from(gz).min(nz - 2);
        let value = Vec4::new(force.x, force.y, force.z, 1.0);
        for a in 0u32..2 {
            for b in 0u32..2 {
                for c in 0u32..2 {
                    let wx = if a == 1 { fx } else { 1.0 - fx };
                    let wy = if b == 1 { fy } else { 1.0 - fy };
                    let wz = if c == 1 { fz } else { 1.0 - fz };
                    grid[(((ix + a) * ny + iy + b) * nz + iz + c) as usize] += value * (wx * wy * wz);
                }
            }
        }
        moved[i] = xp + l[i].transpose() * force;
    }
}

/// In the middle of the field, along each axis.
#[diff_struct]
struct Cells<F> {
    origin: Vec3<F>,
    inv_dx: F,
    nx: u32,
    ny: u32,
    nz: u32,
}

mod functions {
    use diffkern::prelude::*;

    /// A spring, turned in space.
    #[diff_fn(dims(2, 3))]
    pub fn pull<F: Float, const D: usize>(x: Vector<F, D>, l: Matrix<F, D>, k: F) -> Vector<F, D> {
        let gap = (x.dot(x) + 0.5).sqrt() - 1.0;
        let mut force = (l * x) * (k * gap);
        if D == 3 {
            force = force + Vector::<F, D>::from_fn(|a| x[(a + 1) % D]) * gap;
        }
        force
    }
}

use functions::pull;

/// Adds to all `2^D` nodes around each particle.
#[diff_kernel(dims(2, 3))]
fn scatter<F: Float, const D: usize>(
    x: &Array<Vector<F, D>>,
    l: &Array<Matrix<F, D>>,
    grid: &mut Array<Vector<F, { D + 1 }>>,
    moved: &mut Array<Vector<F, D>>,
    cells: Cells<F>,
) {
    let i = ABSOLUTE_POS;
    let xp = x[i];
    let force: Vector<F, D> = pull::<F, D>(xp, l[i], 0.7);
    let counts = [cells.nx, cells.ny, cells.nz];
    let mut f = [F::new(0.0); D];
    let mut node = [0u32; D];
    for a in 0..D {
        let g = (xp[a] - cells.origin[a]) * cells.inv_dx;
        f[a] = g - g.floor();
        node[a] = u32::cast_from(g).min(counts[a] - 2);
    }
    let value = Vector::<F, { D + 1 }>::from_fn(|r| if r < D { force[r] } else { F::new(1.0) });
    for corner in 0..1 << D {
        let mut at = 0u32;
        let mut w = F::new(1.0);
        for a in 0..D {
            const UP: u32 = (corner >> (D - 1 - a)) & 1;
            let along = if UP == 1 { f[a] } else { 1.0 - f[a] };
            if a == 0 {
                at = node[a] + UP;
                w = along;
            } else {
                at = at * counts[a] + node[a] + UP;
                w = w * along;
            }
        }
        grid[at as usize] += value * w;
    }
    moved[i] = xp + Matrix::<F, D>::from_fn(|r, c| l[i][(c, r)]) * force;
}

const CELLS: Cells<f64> = Cells { origin: Vec3::from_array([-0.1, -0.2, -0.3]), inv_dx: 5.0, nx: 8, ny: 9, nz: 10 };
const N: usize = 23;

/// Numbers between 0 and 1 that look random.
fn numbers(n: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 11) as f64 / (1u64 << 53) as f64
    };
    (0..n).map(|_| next()).collect()
}

/// Positions and matrices.
type Particles<D> = (Array<<D as Dimension>::Vector<f64>>, Array<<D as Dimension>::Matrix<f64>>);

fn plane(seed: u64) -> Result<Particles<Dim2>> {
    let (dev, n) = (Device::cpu(), numbers(6 * N, seed));
    let x: Vec<_> = n.chunks(6).map(|n| Vec2::new(n[0], n[1])).collect();
    let l: Vec<_> = n.chunks(6).map(|n| Mat2::new(n[2], n[3], n[4], n[5])).collect();
    Ok((dev.array(&x)?, dev.array(&l)?))
}

fn space(seed: u64) -> Result<Particles<Dim3>> {
    let (dev, n) = (Device::cpu(), numbers(12 * N, seed));
    let x: Vec<_> = n.chunks(12).map(|n| Vec3::new(n[0], n[1], n[2])).collect();
    let l: Vec<_> = n.chunks(12).map(|n| Mat3::new(n[3], n[4], n[5], n[6], n[7], n[8], n[9], n[10], n[11])).collect();
    Ok((dev.array(&x)?, dev.array(&l)?))
}

#[test]
fn the_bits_are_those_of_twins_by_hand() -> Result<()> {
    let dev = Device::cpu();
    let (x, l) = plane(1)?;
    let (grid, moved) = (dev.zeros(8 * 9)?, dev.zeros(N)?);
    scatter_2d(N, &x, &l, &grid, &moved, CELLS)?;
    let (twin_grid, twin_moved) = (dev.zeros(8 * 9)?, dev.zeros(N)?);
    by_hand::scatter_2d(N, &x, &l, &twin_grid, &twin_moved, -0.1, -0.2, 5.0, 8, 9)?;
    assert_eq!(grid.to_vec()?, twin_grid.to_vec()?);
    assert_eq!(moved.to_vec()?, twin_moved.to_vec()?);
    assert!(grid.to_vec()?.iter().any(|node| node.z > 0.5));

    let (x, l) = space(2)?;
    let (grid, moved) = (dev.zeros(8 * 9 * 10)?, dev.zeros(N)?);
    scatter_3d(N, &x, &l, &grid, &moved, CELLS)?;
    let (twin_grid, twin_moved) = (dev.zeros(8 * 9 * 10)?, dev.zeros(N)?);
    by_hand::scatter_3d(N, &x, &l, &twin_grid, &twin_moved, -0.1, -0.2, -0.3, 5.0, 8, 9, 10)?;
    assert_eq!(grid.to_vec()?, twin_grid.to_vec()?);
    assert_eq!(moved.to_vec()?, twin_moved.to_vec()?);
    Ok(())
}

#[test]
fn gradients_are_right_and_the_same_on_lanes() -> Result<()> {
    let dev = Device::cpu();
    let (x, l) = plane(3)?;
    scatter_2d::gradcheck(N, &x, &l, &dev.zeros(8 * 9)?, &dev.zeros(N)?, CELLS)?;
    scatter_2d::lanecheck(N, &x, &l, &dev.zeros(8 * 9)?, &dev.zeros(N)?, CELLS)?;
    let (x, l) = space(4)?;
    scatter_3d::gradcheck(N, &x, &l, &dev.zeros(8 * 9 * 10)?, &dev.zeros(N)?, CELLS)?;
    scatter_3d::lanecheck(N, &x, &l, &dev.zeros(8 * 9 * 10)?, &dev.zeros(N)?, CELLS)?;
    Ok(())
}

/// A launch of the instance that a dimension has.
fn launched<D: Dimension>(x: &Array<D::Vector<f64>>, l: &Array<D::Matrix<f64>>, nodes: usize) -> Result<Vec<u64>> {
    let dev = Device::cpu();
    let (grid, moved) = (dev.zeros::<D::Homogeneous<f64>>(nodes)?, dev.zeros::<D::Vector<f64>>(N)?);
    scatter::<f64, D>(N, x, l, &grid, &moved, CELLS)?;
    Ok(moved.to_vec()?.into_iter().flat_map(|v| D::coords::<f64>(v).as_ref().to_vec()).map(f64::to_bits).collect())
}

#[test]
fn the_host_launches_by_one_name() -> Result<()> {
    let dev = Device::cpu();
    let ((x, l), moved) = (plane(5)?, dev.zeros(N)?);
    scatter_2d(N, &x, &l, &dev.zeros(8 * 9)?, &moved, CELLS)?;
    let bits = moved.to_vec()?.into_iter().flat_map(Vec2::to_array).map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(launched::<Dim2>(&x, &l, 8 * 9)?, bits);
    let ((x, l), moved) = (space(6)?, dev.zeros(N)?);
    scatter_3d(N, &x, &l, &dev.zeros(8 * 9 * 10)?, &moved, CELLS)?;
    let bits = moved.to_vec()?.into_iter().flat_map(Vec3::to_array).map(f64::to_bits).collect::<Vec<_>>();
    assert_eq!(launched::<Dim3>(&x, &l, 8 * 9 * 10)?, bits);
    Ok(())
}

/// What a material says of both dimensions.
#[diff_trait(dims(2, 3))]
trait Law {
    /// The stress.
    fn stress<F: Float, const D: usize>(f: Matrix<F, D>, k: F) -> Matrix<F, D>;
    /// The energy of a length.
    fn energy<F: Float>(x: F) -> F;
}

struct Linear;
struct Cubic;

#[diff_impl(dims(2, 3))]
impl Law for Linear {
    fn stress<F: Float, const D: usize>(f: Matrix<F, D>, k: F) -> Matrix<F, D> {
        (f + f.transpose()) * k - Matrix::<F, D>::identity()
    }

    fn energy<F: Float>(x: F) -> F {
        0.5 * x * x
    }
}

#[diff_impl(dims(2, 3))]
impl Law for Cubic {
    fn stress<F: Float, const D: usize>(f: Matrix<F, D>, k: F) -> Matrix<F, D> {
        let mut sum = F::new(0.0);
        for a in (0..D).rev() {
            sum += f[(a, a)];
        }
        f * f * f * (k * sum)
    }

    fn energy<F: Float>(x: F) -> F {
        x * x * x
    }
}

/// Work of a law's stress.
#[diff_fn(dims(2, 3))]
fn work<F: Float, L: Law, const D: usize>(f: Matrix<F, D>, k: F) -> F {
    let stress: Matrix<F, D> = L::stress::<F, D>(f, k);
    let energy: F = L::energy(stress.trace());
    energy + stress.ddot(f)
}

/// A function for space only.
#[diff_fn(dims(3))]
fn turned<F: Float, const D: usize>(x: Vector<F, D>) -> Vector<F, D> {
    x.cross(Vector::<F, D>::from_fn(|a| if a == 0 { 1.0 } else { 0.5 }))
}

#[diff_kernel(dims(2, 3))]
fn turn<F: Float, const D: usize>(x: &Array<Vector<F, D>>, y: &mut Array<Vector<F, D>>) {
    let mut v = x[ABSOLUTE_POS] * 2.0;
    if D == 3 {
        let t: Vector<F, D> = turned::<F, D>(v);
        v = t;
    }
    y[ABSOLUTE_POS] = v;
}

#[test]
fn a_function_of_one_dimension_is_called_in_it() -> Result<()> {
    let dev = Device::cpu();
    let y = dev.zeros(1)?;
    turn_2d(1, &dev.array(&[Vec2::new(1.0, 2.0)])?, &y)?;
    assert_eq!(y.to_vec()?, [Vec2::new(2.0, 4.0)]);
    let y = dev.zeros(1)?;
    turn_3d(1, &dev.array(&[Vec3::new(1.0, 2.0, 3.0)])?, &y)?;
    assert_eq!(y.to_vec()?, [Vec3::new(-1.0, 5.0, -3.0)]);
    Ok(())
}

/// Over a law as well.
#[diff_kernel(dims(2, 3))]
fn total<F: Float, L: Law, const D: usize>(f: &Array<Matrix<F, D>>, sum: &mut Array<F>, k: F) {
    let one: F = work::<F, L, D>(f[ABSOLUTE_POS], k);
    sum[0] += one;
}

fn totals<L: Law, D: Dimension>(f: &Array<D::Matrix<f64>>) -> Result<f64> {
    let sum = Device::cpu().zeros(1)?;
    total::<f64, L, D>(N, f, &sum, 0.3)?;
    Ok(sum.to_vec()?[0])
}

#[test]
fn laws_are_over_the_dimension() -> Result<()> {
    let dev = Device::cpu();
    let ((_, plane), (_, space)) = (plane(7)?, space(8)?);
    total_2d::<Linear>::gradcheck(N, &plane, &dev.zeros(1)?, 0.3)?;
    total_2d::<Cubic>::lanecheck(N, &plane, &dev.zeros(1)?, 0.3)?;
    total_3d::<Cubic>::gradcheck(N, &space, &dev.zeros(1)?, 0.3)?;
    total_3d::<Linear>::lanecheck(N, &space, &dev.zeros(1)?, 0.3)?;
    let by_hand = |f: Mat2<f64>| {
        let stress = (f + f.transpose()) * 0.3 - Mat2::identity();
        0.5 * stress.trace() * stress.trace() + stress.ddot(f)
    };
    let expected: f64 = plane.to_vec()?.into_iter().map(by_hand).sum();
    assert!((totals::<Linear, Dim2>(&plane)? - expected).abs() < 1e-12 * expected.abs());
    assert_eq!(Linear::stress_2d(Mat2::identity(), 1.0), Mat2::identity());
    assert_ne!(totals::<Linear, Dim3>(&space)?, totals::<Cubic, Dim3>(&space)?);
    Ok(())
}

/// A ball that falls, in either dimension.
#[diff_struct(dims(2, 3))]
struct Ball<F, const D: usize> {
    x: Vector<F, D>,
    v: Vector<F, D>,
    mass: F,
}

/// Two of them.
#[diff_struct(dims(2, 3))]
struct Pair<F, const D: usize> {
    first: Ball<F, D>,
    second: Ball<F, D>,
    stiffness: F,
}

#[diff_fn(dims(2, 3))]
fn pushed<F: Float, const D: usize>(ball: Ball<F, D>, force: Vector<F, D>, dt: F) -> Ball<F, D> {
    let v = ball.v + force * (dt / ball.mass);
    Ball { x: ball.x + v * dt, v, ..ball }
}

#[diff_kernel(dims(2, 3))]
fn fall<F: Float, const D: usize>(balls: &Array<Ball<F, D>>, next: &mut Array<Ball<F, D>>, pair: Pair<F, D>, dt: F) {
    let ball = balls[ABSOLUTE_POS];
    let apart = pair.first.x - pair.second.x;
    let force = (apart - ball.x * ball.x.dot(pair.second.v)) * pair.stiffness;
    let b: Ball<F, D> = pushed::<F, D>(ball, force, dt);
    next[ABSOLUTE_POS] = b;
}

/// Of one dimension only.
#[diff_kernel]
fn heights<F: Float>(balls: &Array<Ball<F, Dim3>>, z: &mut Array<F>) {
    z[ABSOLUTE_POS] = balls[ABSOLUTE_POS].x.z * balls[ABSOLUTE_POS].mass;
}

fn ball<D: Dimension>(shift: f64) -> Ball<f64, D> {
    let [mut x, mut v] = [D::Coords::default(); 2];
    for (k, (x, v)) in x.as_mut().iter_mut().zip(v.as_mut()).enumerate() {
        (*x, *v) = (0.3 + k as f64 * 0.2 + shift, 0.7 - k as f64 * 0.4 - shift);
    }
    Ball { x: D::vector(&x), v: D::vector(&v), mass: 1.5 + shift }
}

fn fallen<D: Dimension>(balls: &[Ball<f64, D>]) -> Result<Vec<Ball<f64, D>>> {
    let dev = Device::cpu();
    let next = dev.uninit(balls.len())?;
    let pair = Pair { first: ball(0.1), second: ball(0.4), stiffness: 3.0 };
    fall::<f64, D>(balls.len(), &dev.array(balls)?, &next, pair, 0.1)?;
    next.to_vec()
}

#[test]
fn structs_are_over_the_dimension() -> Result<()> {
    let dev = Device::cpu();
    let (balls, next) = (dev.array(&[ball::<Dim2>(0.0), ball(0.3)])?, dev.zeros(2)?);
    let pair = Pair { first: ball::<Dim2>(0.1), second: ball(0.4), stiffness: 3.0 };
    fall_2d::gradcheck(2, &balls, &next, pair, 0.1)?;
    fall_2d::lanecheck(2, &balls, &next, pair, 0.1)?;
    fall_2d(2, &balls, &next, pair, 0.1)?;
    assert_eq!(next.to_vec()?, fallen::<Dim2>(&balls.to_vec()?)?);
    let b = balls.to_vec()?[1];
    let force = (pair.first.x - pair.second.x - b.x * b.x.dot(pair.second.v)) * 3.0;
    let v = b.v + force * (0.1 / b.mass);
    assert_eq!(next.to_vec()?[1], Ball { x: b.x + v * 0.1, v, mass: b.mass });

    let (balls, next) = (dev.array(&[ball::<Dim3>(0.0), ball(0.3)])?, dev.zeros(2)?);
    let pair = Pair { first: ball::<Dim3>(0.1), second: ball(0.4), stiffness: 3.0 };
    fall_3d::gradcheck(2, &balls, &next, pair, 0.1)?;
    heights::gradcheck(2, &balls, &dev.zeros(2)?)?;
    let z = dev.zeros(2)?;
    heights(2, &balls, &z)?;
    assert_eq!(z.to_vec()?[0], 0.7 * 1.5);
    Ok(())
}
