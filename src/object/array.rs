//! The texts of several objects as one document.

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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::named;

    #[test]
    fn an_array_holds_the_texts_in_their_order() {
        assert_eq!(array_of(&[]), b"[]");
        let (a, b) = (named("a", 1), named("b", 2));
        let expected = format!("[{},{}]", String::from_utf8_lossy(&a.lend()), String::from_utf8_lossy(&b.lend()));
        assert_eq!(array_of(&[a, b]), expected.as_bytes());
    }
}
