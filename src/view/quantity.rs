//! Kubernetes quantities: `100m`, `1Gi`, `0.5`, `1e3`.

/// Digits behind the point that are looked at. Anything finer only rounds up.
const MAX_FRACTION: usize = 18;
/// More digits than this before the point are beyond what a quantity can hold.
const MAX_INTEGER: usize = 19;

/// A quantity in billionths, or none if the text is no quantity. Finer values are rounded away from zero, and values
/// beyond what Kubernetes can hold are capped, as its own arithmetic does.
pub(super) fn parse(text: &str) -> Option<i128> {
    let (negative, rest) = match text.as_bytes().first()? {
        b'-' => (true, &text[1..]),
        b'+' => (false, &text[1..]),
        _ => (false, text),
    };
    let (integer, rest) = digits(rest);
    let (fraction, suffix) = match rest.strip_prefix('.') {
        Some(rest) => digits(rest),
        None => ("", rest),
    };
    if integer.is_empty() && fraction.is_empty() {
        return None;
    }
    let (binary, decimal) = scale(suffix)?;
    let magnitude = magnitude(integer.trim_start_matches('0'), fraction.trim_end_matches('0'), binary, decimal);
    Some(if negative { -magnitude } else { magnitude })
}

fn digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// The powers of two and of ten that a suffix stands for.
fn scale(suffix: &str) -> Option<(u32, i32)> {
    Some(match suffix {
        "" => (0, 0),
        "n" => (0, -9),
        "u" => (0, -6),
        "m" => (0, -3),
        "k" => (0, 3),
        "M" => (0, 6),
        "G" => (0, 9),
        "T" => (0, 12),
        "P" => (0, 15),
        "E" => (0, 18),
        "Ki" => (10, 0),
        "Mi" => (20, 0),
        "Gi" => (30, 0),
        "Ti" => (40, 0),
        "Pi" => (50, 0),
        "Ei" => (60, 0),
        _ => (0, suffix.strip_prefix(['e', 'E'])?.parse().ok()?),
    })
}

fn magnitude(integer: &str, fraction: &str, binary: u32, decimal: i32) -> i128 {
    const MAX_BILLIONTHS: i128 = i64::MAX as i128 * 1_000_000_000;
    if integer.is_empty() && fraction.is_empty() {
        return 0;
    }
    // A long integer part can still be a small quantity, behind a negative exponent: move its point.
    if integer.len() > MAX_INTEGER {
        let surplus = integer.len() - MAX_INTEGER;
        if decimal >= 0 || binary > 0 {
            return MAX_BILLIONTHS;
        }
        let moved = format!("{}{fraction}", &integer[MAX_INTEGER..]);
        return magnitude(&integer[..MAX_INTEGER], &moved, binary, decimal.saturating_add(surplus as i32));
    }
    let kept = &fraction[..fraction.len().min(MAX_FRACTION)];
    let dropped = fraction.len() > kept.len();
    // At most 37 digits, which always fit.
    let number = format!("{integer}{kept}").parse::<i128>().unwrap_or(MAX_BILLIONTHS);
    let Some(scaled) = number.checked_mul(1 << binary) else {
        return MAX_BILLIONTHS;
    };
    let exponent = decimal.saturating_add(9 - kept.len() as i32);
    let billionths = match 10_i128.checked_pow(exponent.unsigned_abs()) {
        Some(power) if exponent >= 0 => scaled.checked_mul(power).unwrap_or(MAX_BILLIONTHS),
        Some(power) => scaled / power + i128::from(scaled % power != 0 || dropped),
        None if exponent >= 0 && scaled > 0 => MAX_BILLIONTHS,
        None => 1,
    };
    billionths.clamp(1, MAX_BILLIONTHS)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const ONE: i128 = 1_000_000_000;

    #[test]
    fn reads_quantities() {
        for (text, value) in [
            ("0", 0),
            ("-0", 0),
            ("1", ONE),
            ("+1", ONE),
            ("-1.5", -ONE * 3 / 2),
            (".5", ONE / 2),
            ("5.", 5 * ONE),
            ("100m", ONE / 10),
            ("1n", 1),
            ("1u", 1000),
            ("0.1n", 1),
            ("-0.1n", -1),
            ("1.5n", 2),
            ("-1.5n", -2),
            ("1k", 1000 * ONE),
            ("1M", 1_000_000 * ONE),
            ("1e3", 1000 * ONE),
            ("1E3", 1000 * ONE),
            ("1E", 1_000_000_000_000_000_000 * ONE),
            ("1e-3", ONE / 1000),
            ("12e-1", ONE * 12 / 10),
            ("1Ki", 1024 * ONE),
            ("1.5Gi", (3 << 29) * ONE),
            ("7Ei", (7 << 60) * ONE),
            ("8Ei", i128::from(i64::MAX) * ONE),
            ("-9E99", -i128::from(i64::MAX) * ONE),
            ("99999999999999999999", i128::from(i64::MAX) * ONE),
            ("10000000000000000000000e-22", ONE),
            ("0.0000000000001e13", ONE),
            ("1e-2000000000", 1),
            ("0e2000000000", 0),
        ] {
            assert_eq!(parse(text), Some(value), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_quantity() {
        for text in ["", "-", ".", "m", "1e", "1ki", "1K", "1 Gi", "1Gi ", "--1", "1.2.3", "0x1", "1e+", "NaN", "1e1.5", "1e99999999999"] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn units_agree(number in 0i128..1_000_000) {
            prop_assert_eq!(parse(&format!("{number}")), Some(number * ONE));
            prop_assert_eq!(parse(&format!("{number}000m")), parse(&format!("{number}")));
            prop_assert_eq!(parse(&format!("{number}Ki")), parse(&format!("{}", number * 1024)));
            prop_assert_eq!(parse(&format!("{number}e6")), parse(&format!("{number}M")));
            prop_assert_eq!(parse(&format!("-{number}u")), Some(-number * 1000));
        }
    }
}
