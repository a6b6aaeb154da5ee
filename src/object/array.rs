//! The texts of several objects as one.

use std::rc::Rc;

use super::object::Object;

/// A JSON array of the objects' texts.
pub fn array_of(objects: &[Rc<Object>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(2 + objects.iter().map(|object| object.form().0 + 1).sum::<usize>());
    bytes.push(b'[');
    for (at, object) in objects.iter().enumerate() {
        if at > 0 {
            bytes.push(b',');
        }
        bytes.extend_from_slice(&object.lend());
    }
    bytes.push(b']');
    bytes
}

/// Bytes after which no more texts are taken together. Engines make longer strings at twice the price a letter.
const MAX_TOGETHER_BYTES: usize = 512 << 10;

/// The texts of the first of these objects, at least one, with a NUL between them. JSON has none.
pub fn texts_of(objects: &[Rc<Object>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(objects.iter().map(|object| object.form().0 + 1).sum::<usize>().min(MAX_TOGETHER_BYTES));
    for (at, object) in objects.iter().enumerate() {
        if at > 0 {
            if bytes.len() + object.form().0 >= MAX_TOGETHER_BYTES {
                break;
            }
            bytes.push(0);
        }
        bytes.extend_from_slice(&object.lend());
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn shr_11_texts_are_taken_together_up_to_a_bound_and_one_in_any_case() {
        let (a, b) = (named("a", 1), named("b", 2));
        let expected = format!("{}\0{}", String::from_utf8_lossy(&a.lend()), String::from_utf8_lossy(&b.lend()));
        assert_eq!(texts_of(&[a.clone(), b.clone()]), expected.as_bytes());
        let large = named(&"x".repeat(MAX_TOGETHER_BYTES), 3);
        assert_eq!(*texts_of(&[large.clone(), a.clone()]), *large.lend());
        assert_eq!(*texts_of(&[a.clone(), large, b]), *a.lend());
    }

    #[test]
    fn an_array_holds_the_texts_in_their_order() {
        assert_eq!(array_of(&[]), b"[]");
        let (a, b) = (named("a", 1), named("b", 2));
        let expected = format!("[{},{}]", String::from_utf8_lossy(&a.lend()), String::from_utf8_lossy(&b.lend()));
        assert_eq!(array_of(&[a, b]), expected.as_bytes());
    }
}
