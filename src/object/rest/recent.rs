//! Texts that were unpacked a moment ago: who reads one often, or one version after the other, does not unpack it each time.

use super::text::Text;

/// So many texts are kept.
const KEPT: usize = 16;
/// And so many bytes of them.
const BYTES: usize = 256 << 10;

/// The last few texts, the latest at the end.
#[derive(Debug, Default)]
pub(super) struct Recent {
    texts: Vec<(u32, Text)>,
    bytes: usize,
    // How many were there at the last round already.
    aged: usize,
}

impl Recent {
    pub(super) fn get(&self, number: u32) -> Option<Text> {
        self.texts.iter().find(|(known, _)| *known == number).map(|(_, text)| text.clone())
    }

    /// Keeps a text, and no more than `most` bytes of all.
    pub(super) fn put(&mut self, number: u32, text: &Text, most: usize) {
        let most = most.min(BYTES);
        if text.len() > most / 4 {
            return;
        }
        self.bytes += text.len();
        self.texts.push((number, text.clone()));
        while self.texts.len() > KEPT || self.bytes > most {
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

    /// A round is over: what was there at the last one goes.
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
        for number in 0..2 * KEPT {
            recent.put(u32::try_from(number).unwrap(), &text(10), BYTES);
        }
        assert!(recent.get(0).is_none() && recent.get(31).is_some());
        assert_eq!(recent.bytes(), KEPT * 10);
        recent.put(100, &text(BYTES), BYTES);
        assert!(recent.get(100).is_none(), "one text may not push out all others");
        for number in 200..210 {
            recent.put(number, &text(BYTES / 5), BYTES);
        }
        assert!(recent.bytes() <= BYTES);
    }

    #[test]
    fn what_nobody_read_for_a_round_goes() {
        let mut recent = Recent::default();
        recent.put(1, &text(10), BYTES);
        recent.put(2, &text(10), BYTES);
        recent.age();
        recent.put(3, &text(10), BYTES);
        recent.remove(1);
        recent.age();
        assert!(recent.get(2).is_none() && recent.get(3).is_some());
        recent.age();
        assert_eq!(recent.bytes(), 0);
    }
}
