//! Numbers and units as people read them.

/// A number with five digits that count, without zeros at its end.
pub(super) fn short(value: f64) -> String {
    let size = value.abs();
    if !value.is_finite() {
        return "–".into();
    }
    if size != 0.0 && !(1e-3..1e7).contains(&size) {
        let exponent = size.log10().floor() as i32;
        let mantissa = format!("{:.4}", value / 10f64.powi(exponent));
        return format!("{} · 10{}", plain(&mantissa), raised(exponent));
    }
    let digits = 4 - size.max(1e-3).log10().floor() as i32;
    plain(&format!("{value:.*}", digits.max(0) as usize))
}

/// A text of a number without zeros after the point, with the sign of minus that typesetters use.
fn plain(number: &str) -> String {
    let text = if number.contains('.') { number.trim_end_matches('0').trim_end_matches('.') } else { number };
    signed(text)
}

/// The sign of minus that typesetters use, in place of a hyphen; none before zero.
pub(super) fn signed(number: &str) -> String {
    match number.strip_prefix('-') {
        Some(size) if size.chars().all(|c| matches!(c, '0' | '.')) => size.to_owned(),
        Some(size) => format!("−{size}"),
        None => number.to_owned(),
    }
}

/// An exponent, raised.
pub(super) fn raised(exponent: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digit = |c: char| c.to_digit(10).and_then(|digit| DIGITS.get(digit as usize)).copied().unwrap_or('⁻');
    exponent.to_string().chars().map(digit).collect()
}

/// A unit as it is set; none for pure numbers.
pub(super) fn unit(name: &str) -> String {
    if name == "1" { String::new() } else { name.replace("^2", "²").replace("^3", "³") }
}

/// The unit with a prefix where one makes numbers up to `largest` short, and how much of the unit without that is.
pub(super) fn prefixed(name: &str, largest: f64) -> (f64, String) {
    /// The prefixes with what they stand for, and the least number that takes them.
    const PREFIXES: [(&str, f64, f64); 6] =
        [("G", 1e9, 1e9), ("M", 1e6, 1e6), ("k", 1e3, 1e3), ("", 1.0, 0.1), ("m", 1e-3, 1e-3), ("µ", 1e-6, 1e-6)];
    let takes = matches!(name, "Pa" | "Pa s" | "m" | "m/s");
    let fits = PREFIXES.iter().find(|(_, _, least)| takes && largest.is_finite() && largest >= *least);
    let (prefix, scale, _) = fits.unwrap_or(&("", 1.0, 0.0));
    (*scale, format!("{prefix}{}", unit(name)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_short() {
        let numbers = [8086.6, 14_007.9, 0.25, -0.5, -0.0, 1.5e-5, -3e9, 0.999_999_9, f64::NAN];
        let texts = ["8086.6", "14008", "0.25", "−0.5", "0", "1.5 · 10⁻⁵", "−3 · 10⁹", "1", "–"];
        assert_eq!(numbers.map(short), texts);
    }

    #[test]
    fn units_have_prefixes_where_people_use_them() {
        let cases = [("Pa", 8000.0), ("Pa", 950.0), ("Pa s", 0.05), ("m/s", 0.3), ("kg/m^3", 1200.0), ("1", 5e3)];
        let texts = cases.map(|(name, largest)| prefixed(name, largest).1);
        assert_eq!(texts, ["kPa", "Pa", "mPa s", "m/s", "kg/m³", ""]);
        assert_eq!(prefixed("Pa", 2.5e6).0, 1e6);
        assert_eq!([0.0, f64::NAN].map(|largest| prefixed("Pa", largest).0), [1.0, 1.0]);
    }
}
