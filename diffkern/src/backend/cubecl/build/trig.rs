//! Trigonometric and hyperbolic functions and the error function, where the device's own are not good enough.

use cubecl::ir::{Arithmetic, Variable};

use super::emit::{Bin, Cmp, Emit, I32, U32};
use super::math::Function;

/// `(sin(x) / x - 1) / x^2` in `x^2`, for `|x| < pi / 4`.
const SIN: [f64; 4] = [-0.16666666641101097, 0.008333329324363094, -0.00019839314874518256, 2.7181198251953644e-6];
/// `(cos(x) - 1 + x^2 / 2) / x^4` in `x^2`, for `|x| < pi / 4`.
const COS: [f64; 3] = [0.04166664655247146, -0.00138873515906428, 2.4436568235995798e-5];
/// `(asin(x) / x - 1) / x^2` in `x^2`, for `|x| < 1 / 2`.
const ASIN: [f64; 6] = [
    0.16666659871855347,
    0.07500510880683989,
    0.04451573097881287,
    0.031817505975339576,
    0.014403039479998594,
    0.03756456564622621,
];
/// `(atan(x) / x - 1) / x^2` in `x^2`, for `|x| < tan(pi / 8)`.
const ATAN: [f64; 5] =
    [-0.3333331543106101, 0.1999848470885714, -0.142437556674605, 0.10595285743563923, -0.06081571523084364];
/// `(tanh(x) / x - 1) / x^2` in `x^2`, for `|x| < 0.62`.
const TANH: [f64; 6] = [
    -0.33333330925862287,
    0.13333210584959437,
    -0.053947315360036156,
    0.02170361125609117,
    -0.00818434674447081,
    0.0021491361637839177,
];
/// `erf(x) / x` in `x^2`, for `|x| < 1`.
const ERF: [f64; 8] = [
    1.1283791670631091,
    -0.3761263848357169,
    0.1128378274415841,
    -0.02686544565814478,
    0.005221074442031548,
    -0.0008484705335268033,
    0.00011270501436327088,
    -9.680016325678116e-6,
];
/// `e^(x^2) erfc(x)` in `1 / (1 + x / 2)`, for `1 < x < 4.2`.
const ERFCX: [f64; 10] = [
    7.733751404675604e-6,
    0.2818803575129722,
    0.2846926497512393,
    0.22862996335092634,
    0.2581226203548455,
    -0.16194807132647618,
    0.4891834206773815,
    -0.6908285801632572,
    0.39513850010861323,
    -0.08490651022959006,
];

const PI: f64 = std::f64::consts::PI;
const LN_2: f64 = std::f64::consts::LN_2;

impl Emit {
    pub(super) fn sin_cos(&mut self, x: Variable) -> (Variable, Variable) {
        let turns = self.affine(x, 2.0 / PI, 0.5);
        let k = self.floor(turns);
        // pi/2 in three parts; the first two have few enough bits that their products with k are exact.
        let (a, b) = (1.5703125, 4.837512969970703e-4);
        let mut r = x;
        for part in [a, b, PI / 2.0 - a - b] {
            let product = self.affine(k, -part, 0.0);
            r = self.add(r, product);
        }
        let sin = self.odd(r, &SIN);
        let z = self.mul(r, r);
        let p = self.poly(z, &COS);
        let zz = self.mul(z, z);
        let p = self.mul(p, zz);
        let half = self.affine(z, -0.5, 1.0);
        let cos = self.add(p, half);
        let quadrant = self.cast(k, I32);
        let quadrant = self.cast(quadrant, U32);
        let odd = self.bin(Bin::And, quadrant, self.u32(1));
        let odd = self.cmp(Cmp::Eq, odd, self.u32(1));
        let (s, c) = (self.select(odd, cos, sin), self.select(odd, sin, cos));
        let upper = self.bin(Bin::And, quadrant, self.u32(2));
        let flips = self.cmp(Cmp::Eq, upper, self.u32(2));
        let minus = self.neg(s);
        let own_sin = self.select(flips, minus, s);
        let next = self.add(quadrant, self.u32(1));
        let upper = self.bin(Bin::And, next, self.u32(2));
        let flips = self.cmp(Cmp::Eq, upper, self.u32(2));
        let minus = self.neg(c);
        let own_cos = self.select(flips, minus, c);
        // Too many turns for the reduction: only the device's own is left.
        let magnitude = self.abs(x);
        let bound = self.f(20000.0);
        let far = self.cmp(Cmp::Gt, magnitude, bound);
        let (far_sin, far_cos) = (self.builtin(Function::Sin, x), self.builtin(Function::Cos, x));
        (self.select(far, far_sin, own_sin), self.select(far, far_cos, own_cos))
    }

    pub(super) fn asin_acos(&mut self, x: Variable) -> (Variable, Variable) {
        let a = self.abs(x);
        let half = self.f(0.5);
        let outer = self.cmp(Cmp::Gt, a, half);
        // asin(a) = pi/2 - 2 asin(sqrt((1 - a) / 2))
        let t = self.affine(a, -0.5, 0.5);
        let root = self.sqrt(t);
        let t = self.select(outer, root, a);
        let p = self.odd(t, &ASIN);
        let twice = self.affine(p, 2.0, 0.0);
        let complement = self.affine(twice, -1.0, PI / 2.0);
        let asin_a = self.select(outer, complement, p);
        let asin = self.copy_sign(asin_a, x);
        let direct = self.affine(asin, -1.0, PI / 2.0);
        let mirrored = self.affine(twice, -1.0, PI);
        let negative = self.less(x, 0.0);
        let far = self.select(negative, mirrored, twice);
        let acos = self.select(outer, far, direct);
        let one = self.f(1.0);
        let inside = self.cmp(Cmp::Le, a, one);
        let nan = self.f(f64::NAN);
        (self.select(inside, asin, nan), self.select(inside, acos, nan))
    }

    /// Angle of `(x, y)` in `(-pi, pi]`.
    pub fn atan2(&mut self, y: Variable, x: Variable) -> Variable {
        if self.target.exact_math {
            return self.binary(|a| Arithmetic::ArcTan2(a).into(), y, x, self.real);
        }
        let (ay, ax) = (self.abs(y), self.abs(x));
        let steep = self.cmp(Cmp::Gt, ay, ax);
        let (num, den) = (self.select(steep, ax, ay), self.select(steep, ay, ax));
        let (zero, one) = (self.f(0.0), self.f(1.0));
        let origin = self.cmp(Cmp::Eq, den, zero);
        let den = self.select(origin, one, den);
        let t = self.div(num, den);
        // Two infinities meet at 45 degrees.
        let same = self.cmp(Cmp::Eq, num, den);
        let t = self.select(same, one, t);
        let bound = self.f(0.41421356237309503);
        let upper = self.cmp(Cmp::Gt, t, bound);
        let (top, bottom) = (self.affine(t, 1.0, -1.0), self.affine(t, 1.0, 1.0));
        let reduced = self.div(top, bottom);
        let r = self.select(upper, reduced, t);
        let p = self.odd(r, &ATAN);
        let shifted = self.affine(p, 1.0, PI / 4.0);
        let p = self.select(upper, shifted, p);
        let complement = self.affine(p, -1.0, PI / 2.0);
        let p = self.select(steep, complement, p);
        let bits = self.bits(x);
        let left = self.cmp(Cmp::Ge, bits, self.u32(0x8000_0000));
        let mirrored = self.affine(p, -1.0, PI);
        let p = self.select(left, mirrored, p);
        let angle = self.copy_sign(p, y);
        let sum = self.add(x, y);
        let (nan_x, nan_y) = (self.is_nan(x), self.is_nan(y));
        let lost = self.or(nan_x, nan_y);
        self.select(lost, sum, angle)
    }

    pub(super) fn tanh(&mut self, x: Variable) -> Variable {
        let a = self.abs(x);
        let near = self.odd(x, &TANH);
        let twice = self.affine(a, 2.0, 0.0);
        let e = self.exp(twice);
        let e = self.affine(e, 1.0, 1.0);
        let two = self.f(2.0);
        let part = self.div(two, e);
        let far = self.affine(part, -1.0, 1.0);
        let far = self.copy_sign(far, x);
        let small = self.less(a, 0.62);
        let value = self.select(small, near, far);
        let lost = self.is_nan(x);
        self.select(lost, x, value)
    }

    pub(super) fn sinh_cosh(&mut self, x: Variable) -> (Variable, Variable) {
        let a = self.abs(x);
        let near = self.odd(x, &[1.0 / 6.0, 1.0 / 120.0, 1.0 / 5040.0, 1.0 / 362880.0]);
        // e^a / 2, so that the largest finite result does not overflow on the way.
        let shifted = self.affine(a, 1.0, -LN_2);
        let h = self.exp(shifted);
        let quarter = self.f(0.25);
        let rest = self.div(quarter, h);
        let far = self.sub(h, rest);
        let far = self.copy_sign(far, x);
        let small = self.less(a, 1.0);
        let sinh = self.select(small, near, far);
        let cosh = self.add(h, rest);
        let lost = self.is_nan(x);
        (self.select(lost, x, sinh), self.select(lost, x, cosh))
    }

    pub(super) fn erf(&mut self, x: Variable) -> Variable {
        let a = self.abs(x);
        let z = self.mul(x, x);
        let p = self.poly(z, &ERF);
        let near = self.mul(x, p);
        let half = self.affine(a, 0.5, 1.0);
        let one = self.f(1.0);
        let t = self.div(one, half);
        let q = self.poly(t, &ERFCX);
        let minus = self.neg(z);
        let e = self.exp(minus);
        let eq = self.mul(e, q);
        let far = self.affine(eq, -1.0, 1.0);
        let far = self.copy_sign(far, x);
        let small = self.less(a, 1.0);
        let value = self.select(small, near, far);
        let lost = self.is_nan(x);
        self.select(lost, x, value)
    }
}
