//! Kernels of the kinds that CubeCL's book and examples show, with the spelling that they have there wherever it works
//! unchanged. Each has an exact gradient; what is refused has its case in `tests/ui/cubecl`.

#![expect(clippy::unwrap_used, reason = "tests")]

use diffkern::prelude::*;

/// Numbers in (lo, hi) that repeat for a seed.
fn numbers(seed: u64, n: usize, lo: f64, hi: f64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    (0..n)
        .map(|_| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            lo + (hi - lo) * (state >> 11) as f64 / (1u64 << 53) as f64
        })
        .collect()
}

fn reals(seed: u64, n: usize) -> Array<f64> {
    Device::cpu().array(&numbers(seed, n, 0.2, 1.6)).unwrap()
}

fn zeros(n: usize) -> Array<f64> {
    Device::cpu().zeros(n).unwrap()
}

fn near(found: &Array<f64>, expected: &[f64]) {
    let found = found.to_vec().unwrap();
    assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-13), "{found:?} {expected:?}");
}

// 1: an activation over an array, by a function of its own

#[diff_fn]
fn gelu_scalar<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
    let scale = F::new(comptime!(0.5f32.sqrt()));
    let half = Vector::new(F::new(0.5));
    half * x * (Vector::erf(x * Vector::new(scale)) + Vector::cast_from(1u32))
}

#[diff_kernel]
fn gelu_array<F: Float, N: Size>(input: &Array<Vector<F, N>>, output: &mut Array<Vector<F, N>>) {
    if ABSOLUTE_POS < input.len() {
        let y = gelu_scalar::<F, N>(input[ABSOLUTE_POS]);
        output[ABSOLUTE_POS] = y;
    }
}

#[test]
fn gelu() {
    let (x, y) = (reals(1, 6), zeros(6));
    gelu_array::gradcheck(9, &x, &y).unwrap();
    gelu_array(9, &x, &y).unwrap();
    let expected: Vec<f64> = x.to_vec().unwrap().iter().map(|x| x * (libm_erf(x / 2f64.sqrt()) + 1.0) / 2.0).collect();
    near(&y, &expected);
}

fn libm_erf(x: f64) -> f64 {
    Float::erf(x)
}

// 2: a sum by one thread, 3: by all threads

#[diff_kernel]
fn sum_basic<F: Float>(input: &Array<F>, output: &mut Array<F>, #[comptime] end: Option<usize>) {
    let known = end.is_some();
    let end = end.unwrap_or(input.len());
    let mut sum = F::new(0.0);
    #[unroll(known)]
    for i in 0..end {
        sum += input[i];
    }
    output[ABSOLUTE_POS] = sum;
}

#[diff_kernel]
fn sum_atomic<F: Float>(input: &Array<F>, output: &mut Array<F>) {
    if ABSOLUTE_POS >= input.len() {
        terminate!();
    }
    output[0] += input[ABSOLUTE_POS];
}

#[test]
fn sums() {
    let (x, y) = (reals(2, 7), zeros(1));
    sum_basic::gradcheck(1, &x, &y, Some(7)).unwrap();
    sum_basic::gradcheck(1, &x, &y, None).unwrap();
    sum_atomic::gradcheck(16, &x, &y).unwrap();
    sum_basic(1, &x, &y, None).unwrap();
    near(&y, &[x.to_vec().unwrap().iter().sum()]);
}

// 4: the rows of a matrix, of one precision, strides as parameters in place of a tensor

#[diff_kernel]
fn reduce_matrix(input: &Array<f32>, output: &mut Array<f32>, stride: u32) {
    let i = ABSOLUTE_POS;
    let mut acc = 0.0f32;
    for j in 0..stride {
        acc += input[i as u32 * stride + j] * 0.5f32;
    }
    output[i] = acc;
}

/// The same in f64, which the gradient check takes.
#[diff_kernel]
fn reduce_matrix_double(input: &Array<f64>, output: &mut Array<f64>, scale: f64) {
    let columns = input.len() / output.len();
    let mut acc = f64::new(0.0);
    for j in 0..columns {
        acc += f64::sin(input[ABSOLUTE_POS * columns + j]) * scale;
    }
    output[ABSOLUTE_POS] = acc;
}

#[test]
fn rows_of_a_matrix_in_one_precision() {
    let dev = Device::cpu();
    let (x, y) = (dev.array(&[1.0f32, 2.0, 3.0, 4.0, 5.0, 6.0]).unwrap().requires_grad(), dev.zeros(2).unwrap());
    let tape = Tape::record(|| reduce_matrix(2, &x, &y, 3)).unwrap();
    assert_eq!(y.to_vec().unwrap(), [3.0, 7.5]);
    tape.backward_from(&[(y.as_any(), dev.array(&[1.0f32, -4.0]).unwrap().as_any())]).unwrap();
    assert_eq!(x.grad().unwrap().to_vec().unwrap(), [0.5, 0.5, 0.5, -2.0, -2.0, -2.0]);
    reduce_matrix::gradcheck(2, &reals(3, 6), &zeros(2), 3).unwrap();
    reduce_matrix_double::gradcheck(2, &reals(3, 6), &zeros(2), 0.7).unwrap();
}

// 5: a matrix product, one thread per entry

#[diff_kernel]
fn matmul_naive<F: Float>(lhs: &Array<F>, rhs: &Array<F>, out: &mut Array<F>, m: u32, k: u32, n: u32) {
    let (row, col) = (ABSOLUTE_POS_Y as u32, ABSOLUTE_POS_X as u32);
    if row >= m || col >= n {
        return;
    }
    let mut acc = F::from_int(0);
    for i in 0..k {
        acc += lhs[row * k + i] * rhs[i * n + col];
    }
    out[row * n + col] = acc;
}

#[test]
fn matrix_product() {
    let (a, b, c) = (reals(4, 6), reals(5, 12), zeros(8));
    matmul_naive::gradcheck((4, 2), &a, &b, &c, 2, 3, 4).unwrap();
    matmul_naive((5, 3), &a, &b, &c, 2, 3, 4).unwrap();
    let (a, b) = (a.to_vec().unwrap(), b.to_vec().unwrap());
    let expected: Vec<f64> = (0..8).map(|e| (0..3).map(|i| a[e / 4 * 3 + i] * b[i * 4 + e % 4]).sum::<f64>()).collect();
    near(&c, &expected);
}

// 6: lengths of vectors in three spellings

#[diff_kernel]
fn norm_test<F: Float>(input: &Array<Vec4<F>>, a: &mut Array<Vec4<F>>, b: &mut Array<Vec4<F>>, c: &mut Array<F>) {
    if ABSOLUTE_POS < input.len() {
        let x = input[ABSOLUTE_POS];
        a[ABSOLUTE_POS] = x.normalize();
        b[ABSOLUTE_POS] = x / F::sqrt(x.dot(x));
        c[ABSOLUTE_POS] = x.norm();
    }
}

#[test]
fn norms() {
    let dev = Device::cpu();
    let x = dev.array(&[Vec4::new(1.0, -2.0, 0.5, 0.3), Vec4::new(0.2, 0.4, -0.6, 1.1)]).unwrap();
    let (a, b, c) = (dev.zeros(2).unwrap(), dev.zeros(2).unwrap(), zeros(2));
    norm_test::gradcheck(2, &x, &a, &b, &c).unwrap();
    norm_test(2, &x, &a, &b, &c).unwrap();
    let difference: Vec4<f64> = a.to_vec().unwrap()[1] - b.to_vec().unwrap()[1];
    assert!(difference.norm() < 1e-15);
}

// 7, 8: one source, several programs: a choice known when it is compiled

#[diff_kernel]
fn choose<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] kind: u32, #[comptime] twice: bool) {
    let v = x[ABSOLUTE_POS];
    let mut r = v;
    if comptime!(kind == 0) {
        r = F::tanh(v);
    } else if comptime![kind == 1] {
        r = F::exp(v) + F::ln(v);
    } else {
        r = F::max(v, F::new(0.5)) * v;
    }
    if twice {
        r *= F::new(2.0);
    }
    y[ABSOLUTE_POS] = r;
}

#[diff_kernel]
fn unrolled_powers<F: Float>(x: &Array<F>, y: &mut Array<F>, #[comptime] n: u32) {
    let mut p = F::new(1.0);
    let mut s = F::new(0.0);
    #[unroll(n <= 8)]
    for i in 0..n {
        p *= x[ABSOLUTE_POS];
        s += p / F::cast_from(i + 1);
    }
    #[unroll]
    for i in 0..3 {
        s += p * F::cast_from(i as u32);
    }
    y[ABSOLUTE_POS] = s;
}

#[test]
fn compile_time_choices_and_unrolling() {
    for kind in 0..3 {
        choose::gradcheck(5, &reals(6, 5), &zeros(5), kind, kind == 1).unwrap();
    }
    for n in [0, 1, 5, 20] {
        unrolled_powers::gradcheck(4, &reals(7, 4), &zeros(4), n).unwrap();
    }
}

// 9: fused element-wise operations by small functions, 10: a list of values

#[diff_fn]
fn add_scaled<F: Float>(a: F, b: F, scale: F) -> F {
    a + b * scale
}

#[diff_kernel]
fn fused<F: Float>(a: &Array<F>, b: &Array<F>, bias: &Array<F>, out: &mut Array<F>) {
    let i = ABSOLUTE_POS;
    if i < out.len() {
        let sum = add_scaled::<F>(a[i], b[i], F::new(0.3));
        let shifted = add_scaled::<F>(sum, bias[i % bias.len()], F::new(1.0));
        out[i] = F::max(shifted, F::new(0.0)) * F::recip(F::new(1.0) + F::exp(-shifted));
    }
}

#[diff_kernel]
fn sequence<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let v = x[ABSOLUTE_POS];
    let values = [v, v * v, v.sin()];
    let mut total = F::new(0.0);
    #[unroll]
    for i in 0..3 {
        total += values[i] * values[2 - i] * F::cast_from(i + 1);
    }
    y[ABSOLUTE_POS] = total;
}

#[test]
fn fusing_and_sequences() {
    fused::gradcheck(6, &reals(8, 6), &reals(9, 6), &reals(10, 2), &zeros(6)).unwrap();
    sequence::gradcheck(5, &reals(11, 5), &zeros(5)).unwrap();
}

// 11: softmax of rows, 12: layer norm, 13: a convolution, 14: a table of embeddings

#[diff_kernel]
fn softmax_row<F: Float>(x: &Array<F>, y: &mut Array<F>, columns: usize) {
    let start = ABSOLUTE_POS * columns;
    let mut most = x[start];
    for j in 1..columns {
        most = F::max(most, x[start + j]);
    }
    let mut sum = F::new(0.0);
    for j in 0..columns {
        sum += F::exp(x[start + j] - most);
    }
    for j in 0..columns {
        y[start + j] = F::exp(x[start + j] - most) / sum;
    }
}

#[diff_kernel]
fn layer_norm<F: Float>(x: &Array<F>, gamma: &Array<F>, beta: &Array<F>, y: &mut Array<F>, epsilon: F) {
    let columns = gamma.len();
    let start = ABSOLUTE_POS * columns;
    let mut mean = F::new(0.0);
    for j in 0..columns {
        mean += x[start + j];
    }
    mean /= F::cast_from(columns);
    let mut variance = F::new(0.0);
    for j in 0..columns {
        let d = x[start + j] - mean;
        variance += d * d;
    }
    let scale = F::recip(F::sqrt(variance / F::cast_from(columns) + epsilon));
    for j in 0..columns {
        y[start + j] = (x[start + j] - mean) * scale * gamma[j] + beta[j];
    }
}

#[diff_kernel]
fn conv1d<F: Float>(input: &Array<F>, weight: &Array<F>, output: &mut Array<F>, #[comptime] padding: u32) {
    let mut sum = F::new(0.0);
    for k in 0..weight.len() {
        let at = ABSOLUTE_POS + k;
        if at >= padding as usize && at < input.len() + padding as usize {
            sum += input[at - padding as usize] * weight[k];
        }
    }
    output[ABSOLUTE_POS] = sum;
}

#[diff_kernel]
fn embedding<F: Float>(table: &Array<F>, index: &Array<u32>, out: &mut Array<F>, width: u32) {
    let (row, col) = (ABSOLUTE_POS as u32 / width, ABSOLUTE_POS as u32 % width);
    out[ABSOLUTE_POS] = table[index[row] * width + col];
}

#[test]
fn layers_of_networks() {
    softmax_row::gradcheck(2, &reals(12, 8), &zeros(8), 4).unwrap();
    layer_norm::gradcheck(2, &reals(13, 8), &reals(14, 4), &reals(15, 4), &zeros(8), 1e-3).unwrap();
    conv1d::gradcheck(6, &reals(16, 6), &reals(17, 3), &zeros(6), 1).unwrap();
    let index = Device::cpu().array(&[2u32, 0, 2]).unwrap();
    embedding::gradcheck(6, &reals(18, 6), &index, &zeros(6), 2).unwrap();
}

// 15: a histogram with weights, 16: a transposed copy, 17: a mask, 18: integers and reals mixed

#[diff_kernel]
fn histogram<F: Float>(x: &Array<F>, w: &Array<F>, bins: &mut Array<F>, count: &mut Array<u32>) {
    let bin = u32::cast_from(x[ABSOLUTE_POS] * F::cast_from(bins.len())).min(bins.len() as u32 - 1);
    bins[bin] += w[ABSOLUTE_POS] * x[ABSOLUTE_POS];
    count[bin] += 1;
}

#[diff_kernel]
fn transpose<F: Float>(x: &Array<F>, y: &mut Array<F>, rows: u32, columns: u32) {
    if ABSOLUTE_POS_X as u32 >= columns || ABSOLUTE_POS_Y as u32 >= rows {
        terminate!();
    }
    y[ABSOLUTE_POS_X as u32 * rows + ABSOLUTE_POS_Y as u32] =
        x[ABSOLUTE_POS_Y as u32 * columns + ABSOLUTE_POS_X as u32];
}

#[diff_kernel]
fn mask_fill<F: Float>(x: &Array<F>, mask: &Array<u32>, y: &mut Array<F>, value: F) {
    let keep = mask[ABSOLUTE_POS] != 0;
    y[ABSOLUTE_POS] = select(keep, x[ABSOLUTE_POS] * x[ABSOLUTE_POS], value);
}

#[diff_kernel]
fn positional<F: Float>(x: &Array<F>, y: &mut Array<F>, width: u32) {
    let i = ABSOLUTE_POS as u32;
    let channel = i % width;
    let phase = F::cast_from(i / width) / F::powf(F::new(100.0), F::cast_from(channel / 2) / F::cast_from(width));
    let wave = if channel % 2 == 0 { F::sin(phase) } else { F::cos(phase) };
    y[ABSOLUTE_POS] = x[ABSOLUTE_POS] * wave + wave;
}

#[test]
fn indices_and_masks() {
    let dev = Device::cpu();
    let (x, w, bins) = (dev.array(&[0.05, 0.3, 0.31, 0.95]).unwrap(), reals(20, 4), zeros(4));
    histogram::gradcheck(4, &x, &w, &bins, &dev.zeros(4).unwrap()).unwrap();
    transpose::gradcheck((3, 2), &reals(21, 6), &zeros(6), 2, 3).unwrap();
    mask_fill::gradcheck(4, &reals(22, 4), &dev.array(&[1u32, 0, 7, 0]).unwrap(), &zeros(4), -1e9).unwrap();
    positional::gradcheck(6, &reals(23, 6), &zeros(6), 2).unwrap();
}

// 19: several results in place of a struct of outputs, 20: a scan by one thread, 21: an update in place

#[diff_fn]
fn sin_cos<F: Float>(x: F) -> (F, F) {
    (F::sin(x), F::cos(x))
}

#[diff_kernel]
fn rotate_pairs<F: Float>(x: &Array<Vec2<F>>, angle: &Array<F>, y: &mut Array<Vec2<F>>) {
    let (s, c) = sin_cos::<F>(angle[ABSOLUTE_POS]);
    let v = x[ABSOLUTE_POS];
    y[ABSOLUTE_POS] = Vec2::new(c * v.x - s * v.y, s * v.x + c * v.y);
}

#[diff_kernel]
fn scan<F: Float>(x: &Array<F>, y: &mut Array<F>) {
    let mut product = F::new(1.0);
    let mut i = 0usize;
    #[bound(100)]
    while i < x.len() {
        product *= x[i];
        y[i] = product;
        i += 1;
    }
}

#[diff_kernel]
fn decay<F: Float>(x: &mut Array<F>, rate: &Array<F>) {
    x[ABSOLUTE_POS] *= F::exp(-rate[0] * x[ABSOLUTE_POS]);
}

#[test]
fn results_scans_and_updates() {
    let dev = Device::cpu();
    let x = dev.array(&[Vec2::new(0.3, 0.8), Vec2::new(-0.4, 1.2)]).unwrap();
    rotate_pairs::gradcheck(2, &x, &reals(24, 2), &dev.zeros(2).unwrap()).unwrap();
    scan::gradcheck(1, &reals(25, 6), &zeros(6)).unwrap();
    decay::gradcheck(4, &reals(26, 4), &reals(27, 1)).unwrap();
}

// 22: a choice by an enum, 23: by a trait, 24: a loop in steps of all threads

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[diff_enum]
enum Pooling {
    Largest,
    Mean,
}

#[diff_kernel]
fn pooled<F: Float>(
    input: &Array<F>,
    output: &mut Array<F>,
    stride: u32,
    #[comptime] size: u32,
    #[comptime] pooling: Pooling,
) {
    let start = ABSOLUTE_POS as u32 * stride;
    let mut found = match pooling {
        Pooling::Largest => F::min_value(),
        Pooling::Mean => F::new(0.0),
    };
    #[unroll]
    for i in 0..size {
        let value = input[start + i];
        found = match pooling {
            Pooling::Largest => max(found, value),
            Pooling::Mean => found + value / F::cast_from(size),
        };
    }
    output[ABSOLUTE_POS] = found;
}

#[diff_trait]
trait Unary: 'static + Send + Sync {
    fn execute<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N>;
}

struct Softplus;
struct Sigmoid;

#[diff_impl]
impl Unary for Softplus {
    fn execute<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
        Vector::ln(Vector::exp(x) + Vector::new(F::new(1.0)))
    }
}

#[diff_impl]
impl Unary for Sigmoid {
    fn execute<F: Float, N: Size>(x: Vector<F, N>) -> Vector<F, N> {
        Vector::recip(Vector::exp(-x) + Vector::new(F::new(1.0)))
    }
}

#[diff_kernel]
fn unary<F: Float, N: Size, K: Unary>(input: &Array<Vector<F, N>>, output: &mut Array<Vector<F, N>>) {
    if ABSOLUTE_POS >= output.len() {
        terminate!();
    }
    output[ABSOLUTE_POS] = K::execute::<F, N>(input[ABSOLUTE_POS]);
}

#[diff_kernel]
fn strided<F: Float>(input: &Array<F>, output: &mut Array<F>, units: usize) {
    for i in range_stepped(ABSOLUTE_POS, input.len(), units) {
        output[i] = F::exp(input[i]) * input[i];
    }
}

#[test]
fn choices_and_strides() {
    for pooling in [Pooling::Largest, Pooling::Mean] {
        pooled::gradcheck(3, &reals(28, 7), &zeros(3), 2, 3, pooling).unwrap();
    }
    unary::<Softplus>::gradcheck(4, &reals(29, 4), &zeros(4)).unwrap();
    unary::<Sigmoid>::gradcheck(4, &reals(29, 4), &zeros(4)).unwrap();
    let (x, y) = (reals(30, 7), zeros(7));
    strided::gradcheck(3, &x, &y, 3).unwrap();
    strided(3, &x, &y, 3).unwrap();
    near(&y, &x.to_vec().unwrap().iter().map(|x| x.exp() * x).collect::<Vec<_>>());
}

#[test]
fn devices_agree() {
    for device in diffkern::gradcheck::devices().unwrap() {
        gelu_array::devicecheck(&device, 6, &reals(1, 6), &zeros(6)).unwrap();
        reduce_matrix::devicecheck(&device, 2, &reals(3, 6), &zeros(2), 3).unwrap();
        choose::devicecheck(&device, 5, &reals(6, 5), &zeros(5), 1, true).unwrap();
        unrolled_powers::devicecheck(&device, 4, &reals(7, 4), &zeros(4), 5).unwrap();
        layer_norm::devicecheck(&device, 2, &reals(13, 8), &reals(14, 4), &reals(15, 4), &zeros(8), 1e-3).unwrap();
        sequence::devicecheck(&device, 5, &reals(11, 5), &zeros(5)).unwrap();
        pooled::devicecheck(&device, 3, &reals(28, 7), &zeros(3), 2, 3, Pooling::Mean).unwrap();
        strided::devicecheck(&device, 3, &reals(30, 7), &zeros(7), 3).unwrap();
    }
}
