//! Functions of one and two reals.
//!
//! Where the device has good ones (CUDA) they are used. Graphics APIs promise little (Vulkan: 2^-11 for a sine, 4096
//! ulp for an arc tangent), and software Vulkan errs by 4e-4 in `asin`: there every function is a polynomial of our own,
//! least squares on Chebyshev nodes, reweighted to an even error, good to some 3e-7 in `f32`.

use cubecl::ir::{Arithmetic, Variable};

use super::emit::{Bin, Cmp, Emit, I32, U32, int_constant, real_constant};

/// `(e^r - 1 - r) / r^2` for `|r| < ln(2) / 2`.
const EXP: [f64; 5] =
    [0.5000000095687827, 0.16666518120772644, 0.0416662043519347, 0.008368974433222756, 0.0013950584228803744];

const LN_2: f64 = std::f64::consts::LN_2;

/// Functions of one real, each the device's own or a polynomial of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Exp,
    Ln,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Tanh,
    Sinh,
    Cosh,
    Erf,
    Log1p,
}

impl Emit {
    /// The function as well as the device needs it.
    pub(super) fn function(&mut self, function: Function, x: Variable) -> Variable {
        if self.target.exact_math {
            return self.builtin(function, x);
        }
        match function {
            Function::Exp => self.exp(x),
            Function::Ln => self.ln(x),
            Function::Sin => self.sin_cos(x).0,
            Function::Cos => self.sin_cos(x).1,
            Function::Tan => {
                let (sin, cos) = self.sin_cos(x);
                self.div(sin, cos)
            }
            Function::Asin => self.asin_acos(x).0,
            Function::Acos => self.asin_acos(x).1,
            Function::Atan => {
                let one = self.f(1.0);
                self.atan2(x, one)
            }
            Function::Tanh => self.tanh(x),
            Function::Sinh => self.sinh_cosh(x).0,
            Function::Cosh => self.sinh_cosh(x).1,
            Function::Erf => self.erf(x),
            Function::Log1p => self.log1p(x),
        }
    }

    /// The device's own.
    pub(super) fn builtin(&mut self, function: Function, x: Variable) -> Variable {
        let real = self.real;
        self.unary(
            |a| match function {
                Function::Exp => Arithmetic::Exp(a).into(),
                Function::Ln => Arithmetic::Log(a).into(),
                Function::Sin => Arithmetic::Sin(a).into(),
                Function::Cos => Arithmetic::Cos(a).into(),
                Function::Tan => Arithmetic::Tan(a).into(),
                Function::Asin => Arithmetic::ArcSin(a).into(),
                Function::Acos => Arithmetic::ArcCos(a).into(),
                Function::Atan => Arithmetic::ArcTan(a).into(),
                Function::Tanh => Arithmetic::Tanh(a).into(),
                Function::Sinh => Arithmetic::Sinh(a).into(),
                Function::Cosh => Arithmetic::Cosh(a).into(),
                Function::Erf => Arithmetic::Erf(a).into(),
                Function::Log1p => Arithmetic::Log1p(a).into(),
            },
            x,
            real,
        )
    }

    /// Horner's rule.
    pub(super) fn poly(&mut self, x: Variable, coefficients: &[f64]) -> Variable {
        let mut sum = self.f(coefficients.last().copied().unwrap_or(0.0));
        for &c in coefficients.iter().rev().skip(1) {
            let c = self.f(c);
            let product = self.mul(sum, x);
            sum = self.add(product, c);
        }
        sum
    }

    /// `x + x^3 p(x^2)`
    pub(super) fn odd(&mut self, x: Variable, coefficients: &[f64]) -> Variable {
        let z = self.mul(x, x);
        let p = self.poly(z, coefficients);
        let zp = self.mul(z, p);
        let xzp = self.mul(x, zp);
        self.add(x, xzp)
    }

    pub fn abs(&mut self, x: Variable) -> Variable {
        self.unary(|a| Arithmetic::Abs(a).into(), x, x.storage_type())
    }

    pub(super) fn sqrt(&mut self, x: Variable) -> Variable {
        self.unary(|a| Arithmetic::Sqrt(a).into(), x, self.real)
    }

    pub(super) fn floor(&mut self, x: Variable) -> Variable {
        self.unary(|a| Arithmetic::Floor(a).into(), x, self.real)
    }

    pub(super) fn ceil(&mut self, x: Variable) -> Variable {
        self.unary(|a| Arithmetic::Ceil(a).into(), x, self.real)
    }

    /// `sign` of `of`, magnitude of `x`.
    pub(super) fn copy_sign(&mut self, x: Variable, of: Variable) -> Variable {
        let (x, of) = (self.bits(x), self.bits(of));
        let x = self.bin(Bin::And, x, self.u32(0x7fff_ffff));
        let of = self.bin(Bin::And, of, self.u32(0x8000_0000));
        let bits = self.bin(Bin::Or, x, of);
        self.float_of(bits)
    }

    pub(super) fn less(&mut self, x: Variable, bound: f64) -> Variable {
        let bound = self.f(bound);
        self.cmp(Cmp::Lt, x, bound)
    }

    pub(super) fn affine(&mut self, x: Variable, scale: f64, offset: f64) -> Variable {
        let (scale, offset) = (self.f(scale), self.f(offset));
        let product = self.mul(x, scale);
        self.add(product, offset)
    }

    /// Halves go to the even neighbour.
    pub fn round(&mut self, x: Variable) -> Variable {
        let (zero, one, half) = (self.f(0.0), self.f(1.0), self.f(0.5));
        let down = self.floor(x);
        let rest = self.sub(x, down);
        let above = self.cmp(Cmp::Gt, rest, half);
        let tie = self.cmp(Cmp::Eq, rest, half);
        let halved = self.mul(down, half);
        let floored = self.floor(halved);
        let odd = self.cmp(Cmp::Ne, halved, floored);
        let up = self.and(tie, odd);
        let up = self.or(above, up);
        let step = self.select(up, one, zero);
        self.add(down, step)
    }

    /// -1, 0 or 1; a NaN stays.
    pub(super) fn sign(&mut self, x: Variable) -> Variable {
        let (zero, one, minus) = (self.f(0.0), self.f(1.0), self.f(-1.0));
        let positive = self.cmp(Cmp::Gt, x, zero);
        let negative = self.cmp(Cmp::Lt, x, zero);
        let low = self.select(negative, minus, x);
        self.select(positive, one, low)
    }

    /// The greater or the smaller; of a number and a NaN the number.
    pub fn extremum(&mut self, max: bool, a: Variable, b: Variable) -> Variable {
        let takes_b = self.cmp(if max { Cmp::Lt } else { Cmp::Gt }, a, b);
        if a.storage_type() != self.real || real_constant(a).is_some() {
            return self.select(takes_b, b, a);
        }
        let lost = self.is_nan(a);
        let takes_b = self.or(takes_b, lost);
        self.select(takes_b, b, a)
    }

    pub(super) fn exp(&mut self, x: Variable) -> Variable {
        // Beyond these the result is infinite or zero.
        let (low, high) = (self.f(-104.0), self.f(89.0));
        let over = self.cmp(Cmp::Gt, x, high);
        let x = self.select(over, high, x);
        let under = self.cmp(Cmp::Lt, x, low);
        let x = self.select(under, low, x);
        let turns = self.affine(x, 1.0 / LN_2, 0.5);
        let k = self.floor(turns);
        // ln 2 in two parts, the first of few enough bits that its product with k is exact.
        let part = self.affine(k, -0.693359375, 0.0);
        let r = self.add(x, part);
        let part = self.affine(k, 0.693359375 - LN_2, 0.0);
        let r = self.add(r, part);
        let p = self.poly(r, &EXP);
        let rr = self.mul(r, r);
        let p = self.mul(rr, p);
        let p = self.add(p, r);
        let one = self.f(1.0);
        let p = self.add(p, one);
        // 2^k in two factors: one would leave the range of the exponent.
        let k = self.cast(k, I32);
        let half = self.bin(Bin::Shr, k, self.i32(1));
        let rest = self.sub(k, half);
        let (a, b) = (self.exp2_int(half), self.exp2_int(rest));
        let scaled = self.mul(p, a);
        self.mul(scaled, b)
    }

    fn exp2_int(&mut self, k: Variable) -> Variable {
        let biased = self.add(k, self.i32(127));
        let biased = self.cast(biased, U32);
        let bits = self.bin(Bin::Shl, biased, self.u32(23));
        self.float_of(bits)
    }

    fn ln(&mut self, x: Variable) -> Variable {
        let tiny = self.less(x, f64::from(f32::MIN_POSITIVE));
        let scaled = self.affine(x, 8388608.0, 0.0);
        let y = self.select(tiny, scaled, x);
        let bits = self.bits(y);
        let exponent = self.bin(Bin::Shr, bits, self.u32(23));
        let exponent = self.cast(exponent, I32);
        let bias = self.select(tiny, self.i32(127 + 23), self.i32(127));
        let exponent = self.sub(exponent, bias);
        let mantissa = self.bin(Bin::And, bits, self.u32(0x007f_ffff));
        let mantissa = self.bin(Bin::Or, mantissa, self.u32(0x3f80_0000));
        let m = self.float_of(mantissa);
        // m in [sqrt(1/2), sqrt(2)]
        let bound = self.f(std::f64::consts::SQRT_2);
        let big = self.cmp(Cmp::Gt, m, bound);
        let halved = self.affine(m, 0.5, 0.0);
        let m = self.select(big, halved, m);
        let more = self.add(exponent, self.i32(1));
        let exponent = self.select(big, more, exponent);
        let e = self.cast(exponent, self.real);
        let one = self.f(1.0);
        let f = self.sub(m, one);
        let l = self.log1p_small(f);
        let high = self.affine(e, 0.693359375, 0.0);
        let low = self.affine(e, LN_2 - 0.693359375, 0.0);
        let l = self.add(l, low);
        let l = self.add(l, high);
        // inf stays, zero gives -inf, what is negative or NaN gives NaN.
        let original = self.bits(x);
        let top = self.cmp(Cmp::Eq, original, self.u32(0x7f80_0000));
        let l = self.select(top, x, l);
        let wrong = self.cmp(Cmp::Gt, original, self.u32(0x7f80_0000));
        let nan = self.f(f64::NAN);
        let l = self.select(wrong, nan, l);
        let magnitude = self.bin(Bin::And, original, self.u32(0x7fff_ffff));
        let zero = self.cmp(Cmp::Eq, magnitude, self.u32(0));
        let minus = self.f(f64::NEG_INFINITY);
        self.select(zero, minus, l)
    }

    /// `ln(1 + f) = 2 atanh(f / (2 + f))` for `-0.3 < f < 0.45`.
    fn log1p_small(&mut self, f: Variable) -> Variable {
        let two = self.affine(f, 1.0, 2.0);
        let s = self.div(f, two);
        let z = self.mul(s, s);
        let p = self.poly(z, &[2.0, 2.0 / 3.0, 2.0 / 5.0, 2.0 / 7.0, 2.0 / 9.0, 2.0 / 11.0]);
        self.mul(s, p)
    }

    fn log1p(&mut self, x: Variable) -> Variable {
        let one = self.f(1.0);
        let sum = self.add(one, x);
        let far = self.ln(sum);
        let near = self.log1p_small(x);
        let shifted = self.affine(x, 1.0, -0.075);
        let distance = self.abs(shifted);
        let small = self.less(distance, 0.37);
        self.select(small, near, far)
    }

    /// `sqrt(x^2 + y^2)` without overflow on the way.
    pub fn hypot(&mut self, x: Variable, y: Variable) -> Variable {
        let (x, y) = (self.abs(x), self.abs(y));
        let flat = self.cmp(Cmp::Lt, x, y);
        let (large, small) = (self.select(flat, y, x), self.select(flat, x, y));
        let (zero, one) = (self.f(0.0), self.f(1.0));
        let origin = self.cmp(Cmp::Eq, large, zero);
        let den = self.select(origin, one, large);
        let t = self.div(small, den);
        let tt = self.mul(t, t);
        let s = self.add(tt, one);
        let root = self.sqrt(s);
        let value = self.mul(large, root);
        let infinity = self.f(f64::INFINITY);
        let top = self.cmp(Cmp::Eq, large, infinity);
        self.select(top, large, value)
    }

    pub fn powf(&mut self, x: Variable, y: Variable) -> Variable {
        if self.target.exact_math {
            return self.binary(|a| Arithmetic::Powf(a).into(), x, y, self.real);
        }
        let (zero, one) = (self.f(0.0), self.f(1.0));
        let a = self.abs(x);
        let l = self.ln(a);
        let yl = self.mul(y, l);
        let p = self.exp(yl);
        let floored = self.floor(y);
        let whole = self.cmp(Cmp::Eq, floored, y);
        let halved = self.affine(y, 0.5, 0.0);
        let floored = self.floor(halved);
        let odd = self.cmp(Cmp::Ne, floored, halved);
        let minus = self.neg(p);
        let signed = self.select(odd, minus, p);
        let nan = self.f(f64::NAN);
        let of_negative = self.select(whole, signed, nan);
        let negative = self.cmp(Cmp::Lt, x, zero);
        let p = self.select(negative, of_negative, p);
        let flat = self.cmp(Cmp::Eq, y, zero);
        let unit = self.cmp(Cmp::Eq, x, one);
        let one_result = self.or(flat, unit);
        self.select(one_result, one, p)
    }

    /// `x` to an integer power, by squaring.
    pub fn powi(&mut self, x: Variable, n: Variable) -> Variable {
        let one = self.f(1.0);
        if let Some(n) = int_constant(n) {
            let mut rest = (n as i32).unsigned_abs();
            let (mut base, mut power) = (x, None);
            while rest > 0 {
                if rest & 1 == 1 {
                    power = Some(match power {
                        Some(p) => self.mul(p, base),
                        None => base,
                    });
                }
                rest >>= 1;
                if rest > 0 {
                    base = self.mul(base, base);
                }
            }
            let power = power.unwrap_or(one);
            return if n < 0 { self.div(one, power) } else { power };
        }
        let (base, power) = (self.mutable(self.real), self.mutable(self.real));
        self.assign(base, x);
        self.assign(power, one);
        let negative = self.cmp(Cmp::Lt, n, self.i32(0));
        let minus = self.bin(Bin::Sub, self.i32(0), n);
        let size = self.select(negative, minus, n);
        let size = self.cast(size, U32);
        let (start, end) = (self.u32(0), self.u32(32));
        let (parent, i, k) = self.begin_loop(start.ty);
        let (b, p) = (self.read(base), self.read(power));
        let bit = self.bin(Bin::Shr, size, k);
        let bit = self.bin(Bin::And, bit, self.u32(1));
        let used = self.cmp(Cmp::Eq, bit, self.u32(1));
        let bp = self.mul(b, p);
        let p = self.select(used, bp, p);
        self.assign(power, p);
        let bb = self.mul(b, b);
        self.assign(base, bb);
        self.end_loop(parent, i, (start, end));
        let power = self.read(power);
        let inverse = self.div(one, power);
        self.select(negative, inverse, power)
    }
}
