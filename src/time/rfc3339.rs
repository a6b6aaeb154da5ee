//! RFC 3339 times, as Kubernetes writes them: `2026-01-31T23:59:59Z`, `2026-01-31T23:59:59.000001+01:00`.

/// Seconds since 1970 and nanoseconds; `None` if the text is not a time. Digits beyond nanoseconds are dropped.
pub(crate) fn parse(text: &str) -> Option<(i64, u32)> {
    let bytes = text.as_bytes();
    if bytes.len() < 20
        || bytes[4] != b'-'
        || bytes[7] != b'-'
        || !matches!(bytes[10], b'T' | b't')
        || bytes[13] != b':'
        || bytes[16] != b':'
    {
        return None;
    }
    let (year, month, day) = (number(&bytes[0..4])?, number(&bytes[5..7])?, number(&bytes[8..10])?);
    let (hour, minute, second) = (number(&bytes[11..13])?, number(&bytes[14..16])?, number(&bytes[17..19])?);
    // Second 60 is a leap second.
    if !(1..=12).contains(&month) || !(1..=days_in(year, month)).contains(&day) || hour > 23 || minute > 59 || second > 60 {
        return None;
    }
    let mut rest = &bytes[19..];
    let mut nanos = 0;
    if rest[0] == b'.' {
        let length = rest[1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        if length == 0 {
            return None;
        }
        let kept = length.min(9);
        nanos = number(&rest[1..=kept])? as u32 * 10_u32.pow(9 - kept as u32);
        rest = &rest[length + 1..];
    }
    let seconds = days_since_1970(year, month, day) * 86_400 + hour * 3600 + minute * 60 + second;
    Some((seconds - zone(rest)?, nanos))
}

/// The zone's offset from UTC in seconds.
fn zone(text: &[u8]) -> Option<i64> {
    match text {
        b"Z" | b"z" => Some(0),
        [sign @ (b'+' | b'-'), hour @ .., b':', m1, m2] if hour.len() == 2 => {
            let (hour, minute) = (number(hour)?, number(&[*m1, *m2])?);
            let distance = hour * 3600 + minute * 60;
            (hour <= 23 && minute <= 59).then_some(if *sign == b'-' { -distance } else { distance })
        }
        _ => None,
    }
}

fn number(digits: &[u8]) -> Option<i64> {
    digits.iter().try_fold(0, |number, digit| digit.is_ascii_digit().then(|| number * 10 + i64::from(digit - b'0')))
}

fn is_leap(year: i64) -> bool {
    (year % 4 == 0 && year % 100 != 0) || year % 400 == 0
}

fn days_in(year: i64, month: i64) -> i64 {
    match month {
        2 => 28 + i64::from(is_leap(year)),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

fn days_since_1970(year: i64, month: i64, day: i64) -> i64 {
    const DAYS_TO_1970: i64 = 719_162;
    let before = year - 1;
    let whole_years = before * 365 + before.div_euclid(4) - before.div_euclid(100) + before.div_euclid(400);
    let whole_months: i64 = (1..month).map(|month| days_in(year, month)).sum();
    whole_years + whole_months + day - 1 - DAYS_TO_1970
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn reads_times() {
        for (text, seconds, nanos) in [
            ("1970-01-01T00:00:00Z", 0, 0),
            ("1969-12-31T23:59:59Z", -1, 0),
            ("2001-09-09T01:46:40Z", 1_000_000_000, 0),
            ("2000-02-29T00:00:00Z", 951_782_400, 0),
            ("2038-01-19T03:14:08Z", 1 << 31, 0),
            ("0001-01-01T00:00:00Z", -62_135_596_800, 0),
            ("9999-12-31T23:59:59Z", 253_402_300_799, 0),
            ("1970-01-01t00:00:00.5z", 0, 500_000_000),
            ("1970-01-01T00:00:00.000000001Z", 0, 1),
            ("1970-01-01T00:00:00.1234567899Z", 0, 123_456_789),
            ("1970-01-01T01:30:00+01:30", 0, 0),
            ("1969-12-31T19:00:00-05:00", 0, 0),
            ("1972-06-30T23:59:60Z", 78_796_800, 0),
        ] {
            assert_eq!(parse(text), Some((seconds, nanos)), "{text}");
        }
    }

    #[test]
    fn refuses_what_is_no_time() {
        for text in [
            "",
            "1970-01-01",
            "1970-01-01T00:00:00",
            "1970-01-01 00:00:00Z",
            "1970-13-01T00:00:00Z",
            "1970-00-01T00:00:00Z",
            "1970-02-29T00:00:00Z",
            "1900-02-29T00:00:00Z",
            "1970-01-32T00:00:00Z",
            "1970-01-01T24:00:00Z",
            "1970-01-01T00:60:00Z",
            "1970-01-01T00:00:61Z",
            "1970-01-01T00:00:00.Z",
            "1970-01-01T00:00:00+24:00",
            "1970-01-01T00:00:00+0100",
            "1970-01-01T00:00:00ZZ",
            "197x-01-01T00:00:00Z",
            "1970-01-01T00:00:00.5",
            "äää0-01-01T00:00:00Z",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_day_later_is_a_day_more(year in 1i64..9999, month in 1i64..=12, day in 1i64..=31) {
            let text = |day: i64, month: i64, year: i64| format!("{year:04}-{month:02}-{day:02}T12:00:00Z");
            let last = days_in(year, month);
            let day = day.min(last);
            let next = match (day == last, month) {
                (false, _) => text(day + 1, month, year),
                (true, 12) => text(1, 1, year + 1),
                (true, _) => text(1, month + 1, year),
            };
            prop_assert_eq!(parse(&next).unwrap().0 - parse(&text(day, month, year)).unwrap().0, 86_400);
        }
    }
}
