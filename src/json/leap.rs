//! Skips an object or array of a document that was checked before. Only brackets and strings are distinguished, 64 bytes at a time.

use super::masks::{BLOCK, Masks, masks};

/// The position behind the object or array that starts at `at`; `None` if it does not end.
pub(super) fn leap(document: &[u8], at: usize) -> Option<usize> {
    let mut depth = 0u32;
    let mut block = at;
    // Whether the block starts inside a string (all bits), and whether its first byte is escaped.
    let (mut in_string, mut escaped) = (0, 0);
    let mut last = [0; BLOCK];
    while block < document.len() {
        let bytes = match document[block..].first_chunk::<BLOCK>() {
            Some(bytes) => bytes,
            None => {
                let rest = &document[block..];
                last[..rest.len()].copy_from_slice(rest);
                &last
            }
        };
        let Masks { mut quotes, backslashes, mut opening, mut closing } = masks(bytes);
        if backslashes | escaped != 0 {
            quotes &= !escaped_bytes(backslashes, &mut escaped);
        }
        // One bit for each byte inside a string: from the opening quote up to the closing one.
        let strings = up_to_each(quotes) ^ in_string;
        in_string = ((strings as i64) >> 63) as u64;
        opening &= !strings;
        closing &= !strings;
        if closing.count_ones() < depth {
            depth += opening.count_ones();
            depth -= closing.count_ones();
        } else {
            while closing != 0 {
                let end = closing.trailing_zeros();
                let before = opening & ((1 << end) - 1);
                opening ^= before;
                depth += before.count_ones();
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(block + end as usize + 1);
                }
                closing &= closing - 1;
            }
            depth += opening.count_ones();
        }
        block += BLOCK;
    }
    None
}

/// The bytes that an unescaped backslash escapes. `escaped` is the state of the first byte, in and out: 1 if the block before ended with
/// such a backslash.
fn escaped_bytes(backslashes: u64, escaped: &mut u64) -> u64 {
    let mut found = *escaped;
    let mut rest = backslashes & !found;
    *escaped = 0;
    while rest != 0 {
        let at = rest.trailing_zeros();
        if at == 63 {
            *escaped = 1;
            break;
        }
        found |= 2 << at;
        rest &= !(3 << at);
    }
    found
}

/// Sets each bit that has an odd number of set bits at or below it.
fn up_to_each(bits: u64) -> u64 {
    (0..6).fold(bits, |bits, step| bits ^ (bits << (1 << step)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A value of a few hundred bytes, with everything that could mislead a scanner of brackets.
    fn value() -> impl Strategy<Value = String> {
        let text = prop_oneof![r#"[a-z{}\[\],: ]{0,70}"#, r#"(\\\\|\\"|\\n|[{}"&&[^"]]|x){0,40}"#, r#"ü{0,40}"#]
            .prop_map(|text| format!("\"{text}\""));
        let leaf = prop_oneof![text, Just("1.5e3".into()), Just("true".into()), Just("{}".into()), Just("[]".into())];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(|values| format!("[{}]", values.join(", "))),
                prop::collection::vec((r#"[a-z\]}]{0,12}"#, inner), 0..6).prop_map(|members| {
                    let members: Vec<String> = members.iter().map(|(name, value)| format!("\"{name}\" :{value}")).collect();
                    format!("{{{}}}", members.join(","))
                }),
            ]
        })
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(if cfg!(miri) { 8 } else { 2_000 }))]

        #[test]
        fn a_leap_ends_where_the_strict_reader_does(value in value(), front in 0usize..70, behind in "[\\]} ,\"]{0,70}") {
            let document = format!("{}[{value}]{behind}", " ".repeat(front));
            prop_assert_eq!(leap(document.as_bytes(), front), Some(front + value.len() + 2));
        }
    }

    #[test]
    fn backslashes_in_a_row_are_told_apart_at_the_edge_of_a_block() {
        for backslashes in 0..10 {
            for front in 50..75 {
                // With an even number the quote is not escaped, so the string ends and the bracket counts.
                let text = format!("[\"{}{}\"]", "x".repeat(front), "\\".repeat(backslashes));
                let expected = (backslashes % 2 == 0).then_some(text.len());
                assert_eq!(leap(text.as_bytes(), 0), expected, "{backslashes} behind {front}");
            }
        }
    }

    #[test]
    fn what_does_not_end_has_no_end() {
        for text in ["[", "{\"a\":[]", "[\"]", "[\"\\\"]", "]", "", "[[[[]]]"] {
            assert_eq!(leap(text.as_bytes(), 0), None, "{text}");
        }
    }
}
