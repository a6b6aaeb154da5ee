//! Whether a number is within the range of a double. The arithmetic is that of `serde_json`: digits beyond 64 bits are dropped, and the
//! rest is scaled by a power of ten. A float parser with its tables would weigh more than this whole scanner.

/// The powers of ten with which 64 bits of digits can exceed a double. No smaller one can.
const POWERS: [f64; 20] = [
    1e289, 1e290, 1e291, 1e292, 1e293, 1e294, 1e295, 1e296, 1e297, 1e298, 1e299, 1e300, 1e301, 1e302, 1e303, 1e304, 1e305, 1e306, 1e307,
    1e308,
];
const FIRST_POWER: i64 = 289;

/// Whether a number in JSON's grammar is a finite double. A number too small for a double counts as zero, which is finite.
#[allow(clippy::cast_precision_loss)]
pub(super) fn is_finite(number: &[u8]) -> bool {
    let (mut digits, mut exponent) = (0u64, 0i64);
    let (mut full, mut behind_point) = (false, false);
    let mut rest = number;
    while let Some((&byte, behind)) = rest.split_first() {
        rest = behind;
        match byte {
            b'0'..=b'9' => match digits.checked_mul(10).and_then(|digits| digits.checked_add(u64::from(byte - b'0'))).filter(|_| !full) {
                Some(more) => {
                    digits = more;
                    exponent -= i64::from(behind_point);
                }
                None => {
                    full = true;
                    exponent += i64::from(!behind_point);
                }
            },
            b'.' => behind_point = true,
            b'e' | b'E' => {
                exponent = exponent.saturating_add(signed(rest));
                break;
            }
            _ => {} // the sign
        }
    }
    match usize::try_from(exponent - FIRST_POWER) {
        Ok(place) if digits > 0 => POWERS.get(place).is_some_and(|power| (digits as f64 * power).is_finite()),
        _ => true,
    }
}

/// The exponent with its sign. Digits beyond an `i64` saturate.
fn signed(text: &[u8]) -> i64 {
    let digits = text.iter().filter(|byte| byte.is_ascii_digit());
    let magnitude = digits.fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit - b'0'))).min(i64::MAX / 2);
    if text.first() == Some(&b'-') { -magnitude } else { magnitude }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn agrees(number: &str) {
        assert_eq!(is_finite(number.as_bytes()), serde_json::from_str::<f64>(number).is_ok(), "{number}");
    }

    #[test]
    fn the_limit_is_that_of_serde_json() {
        for number in [
            "1e308",
            "1e309",
            "-1e309",
            "0e999",
            "0.0e999",
            "1e-999",
            "1e99999999999999999999",
            "0e99999999999999999999",
            "1e-99999999999999999999",
            "1.7976931348623157e308",
            "1.7976931348623158e308",
            "1.7976931348623159e308",
            "1.797693134862315807e308",
            "17976931348623157e292",
            "179769313486231580e291",
            "18446744073709551615e288",
            "18446744073709551615e289",
            "18446744073709551616e288",
            "0.00000000000000000000017976931348623159e330",
            "123456789012345678901234567890e280",
            "1.23456789012345678901234567890e308",
        ] {
            agrees(number);
        }
        for digits in 300..320 {
            agrees(&"9".repeat(digits));
            agrees(&format!("1{}", "0".repeat(digits)));
            agrees(&format!("0.{}1e{}", "0".repeat(digits), 2 * digits));
        }
    }

    proptest! {
        #[test]
        fn near_the_limit_too(digits in "[1-9][0-9]{0,24}", fraction in "(\\.[0-9]{1,24})?", exponent in 280u32..312) {
            agrees(&format!("{digits}{fraction}e{exponent}"));
            agrees(&format!("1797693134862315{digits}{fraction}e{}", exponent - digits.len() as u32));
        }

        #[test]
        fn and_anywhere(number in "-?(0|[1-9][0-9]{0,30})(\\.[0-9]{1,30})?([eE][+-]?[0-9]{1,4})?") {
            agrees(&number);
        }
    }
}
