//! Dual numbers: a value and its derivative along one direction.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// `v + d eps` with `eps^2 = 0`.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Dual {
    /// The value.
    pub v: f64,
    /// Its derivative.
    pub d: f64,
}

impl Dual {
    /// A value with a derivative.
    pub fn new(v: f64, d: f64) -> Dual {
        Dual { v, d }
    }

    /// A value without derivative.
    pub fn constant(v: f64) -> Dual {
        Dual { v, d: 0.0 }
    }

    /// A function of one number from its value and its slope here. A number without derivative stays one where the
    /// slope is infinite.
    pub fn map(self, value: f64, slope: f64) -> Dual {
        Dual { v: value, d: if self.d == 0.0 { 0.0 } else { slope * self.d } }
    }
}

impl Add for Dual {
    type Output = Dual;
    fn add(self, o: Dual) -> Dual {
        Dual::new(self.v + o.v, self.d + o.d)
    }
}

impl Sub for Dual {
    type Output = Dual;
    fn sub(self, o: Dual) -> Dual {
        Dual::new(self.v - o.v, self.d - o.d)
    }
}

impl Mul for Dual {
    type Output = Dual;
    fn mul(self, o: Dual) -> Dual {
        Dual::new(self.v * o.v, self.d * o.v + self.v * o.d)
    }
}

impl Div for Dual {
    type Output = Dual;
    fn div(self, o: Dual) -> Dual {
        Dual::new(self.v / o.v, (self.d - self.v / o.v * o.d) / o.v)
    }
}

impl Neg for Dual {
    type Output = Dual;
    fn neg(self) -> Dual {
        Dual::new(-self.v, -self.d)
    }
}
