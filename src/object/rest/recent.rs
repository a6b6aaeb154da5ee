//! Texts that were unpacked a moment ago. An object that is read repeatedly, or whose versions are read in turn, is not unpacked each time.

use super::text::Text;

/// Number of texts: enough for a chain of versions, few enough to search one by one.
const MAX_TEXTS: usize = 16;
/// Bytes of all texts.
const MAX_BYTES: usize = 256 << 10;

/// The latest texts, the newest at the end.
#[derive(Debug, Default)]
pub(super) struct Recent {
    texts: Vec<(u32, Text)>,
    bytes: usize,
    // How many of them were there at the last pass.
    aged: usize,
}

impl Recent {
    pub(super) fn get(&self, number: u32) -> Option<Text> {
        self.texts.iter().find(|(known, _)| *known == number).map(|(_, text)| text.clone())
    }

    /// Keeps a text, and at most `max_bytes` bytes of all texts.
    pub(super) fn put(&mut self, number: u32, text: &Text, max_bytes: usize) {
        let max_bytes = max_bytes.min(MAX_BYTES);
        if text.len() > max_bytes / 4 {
            return;
        }
        self.bytes += text.len();
        self.texts.push((number, text.clone()));
        while self.texts.len() > MAX_TEXTS || self.bytes > max_bytes {
            self.take(0);
        }
    }

    pub(super) fn remove(&mut self, number: u32) {
        if let Some(at) = self.texts.iter().position(|(known, _)| *known == number) {
            self.take(at);
        }
    }

    fn take(&mut self, at: usize) {
        let (_, text) = self.texts.remove(at);
        self.bytes -= text.len();
        if at < self.aged {
            self.aged -= 1;
        }
    }

    /// Ends a pass. Texts that were there at the last one are dropped.
    pub(super) fn age(&mut self) {
        for _ in 0..self.aged {
            self.take(0);
        }
        self.aged = self.texts.len();
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Text {
        Text::new(vec![b'x'; length].into())
    }

    #[test]
    fn the_latest_are_kept_within_bounds() {
        let mut recent = Recent::default();
        for number in 0..2 * MAX_TEXTS {
            recent.put(u32::try_from(number).unwrap(), &text(10), MAX_BYTES);
        }
        assert!(recent.get(0).is_none() && recent.get(31).is_some());
        assert_eq!(recent.bytes(), MAX_TEXTS * 10);
        recent.put(100, &text(MAX_BYTES), MAX_BYTES);
        assert!(recent.get(100).is_none(), "one text may not push out all others");
        for number in 200..210 {
            recent.put(number, &text(MAX_BYTES / 5), MAX_BYTES);
        }
        assert!(recent.bytes() <= MAX_BYTES);
    }

    #[test]
    fn what_nobody_read_for_a_pass_goes() {
        let mut recent = Recent::default();
        recent.put(1, &text(10), MAX_BYTES);
        recent.put(2, &text(10), MAX_BYTES);
        recent.age();
        recent.put(3, &text(10), MAX_BYTES);
        recent.remove(1);
        recent.age();
        assert!(recent.get(2).is_none() && recent.get(3).is_some());
        recent.age();
        assert_eq!(recent.bytes(), 0);
    }
}
