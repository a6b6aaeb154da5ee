//! Times in HTTP headers.

/// Reads an HTTP date in the form that servers must send (RFC 9110, 5.6.7): `Sun, 06 Nov 1994 08:49:37 GMT`. Returns seconds since 1970.
/// The two obsolete forms are refused: no current server sends them.
pub(crate) fn parse(text: &str) -> Option<i64> {
    let (weekday, rest) = text.trim_ascii().split_once(',')?;
    let rest = rest.strip_prefix(' ')?;
    let known = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"].contains(&weekday);
    let mut parts = rest.split(' ');
    let (day, month, year, time, zone) = (parts.next()?, parts.next()?, parts.next()?, parts.next()?, parts.next()?);
    if !known || zone != "GMT" || parts.next().is_some() || day.len() != 2 || year.len() != 4 || time.len() != 8 {
        return None;
    }
    let month =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"].iter().position(|name| *name == month)?;
    // The RFC 3339 parser checks the ranges of days, hours and so on.
    super::rfc3339::parse(&format!("{year}-{:02}-{day}T{time}Z", month + 1)).map(|(seconds, _)| seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_form_that_is_sent_and_no_other() {
        assert_eq!(parse("Sun, 06 Nov 1994 08:49:37 GMT"), Some(784_111_777));
        assert_eq!(parse(" Thu, 29 Feb 2024 23:59:59 GMT "), Some(1_709_251_199));
        for text in [
            "",
            "120",
            "Sunday, 06-Nov-94 08:49:37 GMT",
            "Sun Nov  6 08:49:37 1994",
            "Sun, 6 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 CET",
            "Sun, 06 Nov 1994 08:49:37",
            "Sun, 31 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:49:37 GMT",
            "Xyz, 06 Nov 1994 08:49:37 GMT",
            "Sun, 06 Nov 1994 08:49:37 GMT GMT",
            "Sun, \u{e9}6 Nov 1994 08:49:37 GMT",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
    }
}
