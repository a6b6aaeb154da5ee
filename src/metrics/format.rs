//! Names, labels and numbers as Prometheus writes them.

/// Label names and values.
pub type Labels<'a> = &'a [(&'a str, &'a str)];

/// The full name of a series: `name_suffix{label="value"}`.
pub fn series_name(name: &str, suffix: &str, labels: Labels<'_>) -> String {
    let mut series = format!("{name}{suffix}");
    for (index, (label, value)) in labels.iter().enumerate() {
        series.push(if index == 0 { '{' } else { ',' });
        series.push_str(label);
        series.push_str("=\"");
        for character in value.chars() {
            match character {
                '\\' => series.push_str("\\\\"),
                '"' => series.push_str("\\\""),
                '\n' => series.push_str("\\n"),
                other => series.push(other),
            }
        }
        series.push('"');
    }
    if !labels.is_empty() {
        series.push('}');
    }
    series
}

/// A number as Go writes it. All values are counts, or seconds with whole milliseconds. A printer for any float would be twenty times as
/// large.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub(super) fn number(value: f64) -> String {
    if value == f64::INFINITY {
        return "+Inf".to_owned();
    }
    if value.fract() == 0.0 {
        return (value as u64).to_string();
    }
    let millis = (value * 1000.0).round() as u64;
    let text = format!("{}.{:03}", millis / 1000, millis % 1000);
    text.trim_end_matches('0').trim_end_matches('.').to_owned()
}
