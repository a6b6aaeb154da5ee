//! What objects of one resource have in common: one of them is the dictionary that the others are compressed against.

use std::rc::{Rc, Weak};

use lz4_flex::block::{compress_into_with_dict, decompress_into_with_dict, get_maximum_output_size};

use crate::json::bytes::same;

/// Of a long object so much serves: a reference of the LZ4 block format reaches back 64 KiB, over the text's own bytes as well.
const LONGEST: usize = 32 << 10;
/// Rounds of a challenge.
const ROUNDS: u32 = 16;
/// Texts that are packed before the first challenge: those of a small resource mostly.
const FIRST_PAUSE: u32 = 4;
/// And between two, at first; twice as many after each that was lost.
const PAUSE: u32 = 256;
/// Where a text becomes so few thousandths of it, there is little to win.
const GOOD: usize = 60;
/// So many dictionaries may be in use at once.
const MOST: usize = 8;

/// A text that others are compressed against.
#[derive(Debug)]
pub(crate) struct Dictionary(Box<[u8]>);

impl Dictionary {
    fn of(text: &[u8]) -> Rc<Self> {
        Rc::new(Self(text[..text.len().min(LONGEST)].into()))
    }

    /// The text of `length` bytes that was packed; `None` when it is none of this dictionary.
    pub(super) fn unpack(&self, packed: &[u8], length: usize) -> Option<Box<[u8]>> {
        let mut text = vec![0; length];
        self.unpack_into(packed, &mut text)?;
        Some(text.into_boxed_slice())
    }

    /// The same, into a place of that length.
    pub(super) fn unpack_into(&self, packed: &[u8], place: &mut [u8]) -> Option<()> {
        let written = decompress_into_with_dict(packed, place, &self.0).ok()?;
        (written == place.len()).then_some(())
    }

    /// Packs into `out`, and says how many bytes of it count.
    fn pack(&self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        out.resize(out.len().max(get_maximum_output_size(text.len())), 0);
        compress_into_with_dict(text, out, &self.0).ok()
    }
}

/// Chooses the dictionary. The first object is one; now and then another one challenges it, and takes its place when the next ones would
/// have been smaller by a fifth. Challenges become rare while they are lost, and are due at once when objects have come to pack worse. Who
/// was packed before keeps what it was packed with.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    current: Option<Rc<Dictionary>>,
    used: Vec<Weak<Dictionary>>,
    // How much is left of a text, in the running mean and in 8,000ths of it; and what that was at the last challenge.
    left: usize,
    settled: usize,
    challenge: Option<Challenge>,
    pause: u32,
    next_pause: u32,
    out: Vec<u8>,
    other: Vec<u8>,
}

#[derive(Debug)]
struct Challenge {
    dictionary: Rc<Dictionary>,
    rounds: u32,
    current: usize,
    challenger: usize,
}

impl Dictionaries {
    /// Packs a text; `None` when it could not be had back.
    pub(super) fn pack(&mut self, text: &[u8]) -> Option<(Rc<Dictionary>, &[u8])> {
        let current = match &self.current {
            Some(current) => current.clone(),
            None => {
                self.pause = FIRST_PAUSE;
                self.renew(Dictionary::of(text))
            }
        };
        let length = current.pack(text, &mut self.out)?;
        let permille = length * 1000 / text.len().max(1);
        self.left = if self.left == 0 { permille * 8 } else { (self.left * 31 + permille * 8) / 32 };
        if let Some(challenge) = &mut self.challenge {
            challenge.current += length;
            challenge.challenger += challenge.dictionary.pack(text, &mut self.other)?;
            challenge.rounds += 1;
            if challenge.rounds == ROUNDS {
                self.decide();
            }
        } else if self.pause > 0 {
            self.pause -= 1;
            if self.left > self.settled * 3 / 2 && self.next_pause > 0 {
                (self.pause, self.next_pause, self.settled) = (0, PAUSE, self.left);
            }
        } else if permille > GOOD && self.alive() < MOST {
            self.challenge = Some(Challenge { dictionary: Dictionary::of(text), rounds: 0, current: 0, challenger: 0 });
        }
        let packed = &self.out[..length];
        // What is packed is kept only if it proved to be readable.
        same(&current.unpack(packed, text.len())?, text).then_some((current, packed))
    }

    fn decide(&mut self) {
        let Some(challenge) = self.challenge.take() else { return };
        let won = challenge.challenger * 5 <= challenge.current * 4;
        self.next_pause = if won { PAUSE } else { (self.next_pause * 2).clamp(PAUSE, PAUSE << 8) };
        self.pause = self.next_pause;
        self.settled = self.left;
        if won {
            self.renew(challenge.dictionary);
        }
    }

    fn renew(&mut self, dictionary: Rc<Dictionary>) -> Rc<Dictionary> {
        self.used.retain(|known| known.strong_count() > 0);
        self.used.push(Rc::downgrade(&dictionary));
        self.current.insert(dictionary).clone()
    }

    fn alive(&self) -> usize {
        self.used.iter().filter(|known| known.strong_count() > 0).count()
    }

    /// Bytes taken by the dictionaries in use, and by what packing needs.
    pub(super) fn held(&self) -> usize {
        let texts: usize = self.used.iter().filter_map(Weak::upgrade).map(|dictionary| dictionary.0.len()).sum();
        let challenger = self.challenge.as_ref().map_or(0, |challenge| challenge.dictionary.0.len());
        texts + challenger + self.out.capacity() + self.other.capacity()
    }

    /// Gives back what packing needs while there is nothing to pack.
    pub(super) fn rest(&mut self) {
        self.out = Vec::new();
        self.other = Vec::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, number: usize) -> Vec<u8> {
        let fields: Vec<String> = (0..40).map(|at| format!(r#""{kind}-field-{at}":{{"{kind}":"{}"}}"#, (at * 7919) % 1000)).collect();
        format!(r#"{{"kind":"{kind}","metadata":{{"name":"{kind}-{number}"}},{}}}"#, fields.join(",")).into_bytes()
    }

    fn packed(dictionaries: &mut Dictionaries, text: &[u8]) -> usize {
        let (dictionary, packed) = dictionaries.pack(text).unwrap();
        assert_eq!(&*dictionary.unpack(packed, text.len()).unwrap(), text);
        packed.len()
    }

    #[test]
    fn objects_of_a_kind_are_small_and_come_back() {
        let mut dictionaries = Dictionaries::default();
        for number in 0..100 {
            let text = object("Pod", number);
            let length = packed(&mut dictionaries, &text);
            assert!(length * 10 < text.len(), "{length} of {}", text.len());
        }
        assert_eq!(dictionaries.alive(), 1);
    }

    #[test]
    fn a_dictionary_that_no_longer_fits_is_renewed_and_what_it_packed_is_read_still() {
        let mut dictionaries = Dictionaries::default();
        let odd = br#"{"metadata":{"name":"nothing like the others"}}"#;
        let (first, held) = dictionaries.pack(odd).map(|(dictionary, packed)| (dictionary, packed.to_vec())).unwrap();
        let lengths: Vec<usize> = (0..200).map(|number| packed(&mut dictionaries, &object("Pod", number))).collect();
        assert!(lengths[199] * 3 < lengths[0], "{} and then {}", lengths[0], lengths[199]);
        assert_eq!(&*first.unpack(&held, odd.len()).unwrap(), odd);
        assert_eq!(dictionaries.alive(), 2);
        drop(first);
        assert_eq!(dictionaries.alive(), 1);
    }

    #[test]
    fn kinds_that_alternate_do_not_challenge_for_ever() {
        let mut dictionaries = Dictionaries::default();
        for number in 0..20_000 {
            packed(&mut dictionaries, &object(if number % 2 == 0 { "Pod" } else { "Secret" }, number));
        }
        assert!(dictionaries.next_pause > PAUSE, "{}", dictionaries.next_pause);
    }

    #[test]
    fn long_texts_and_empty_ones_are_packed_too() {
        let mut dictionaries = Dictionaries::default();
        let long: Vec<u8> = (0..20_000).flat_map(|number| format!(r#"{{"number":{number}}}"#).into_bytes()).collect();
        assert!(packed(&mut dictionaries, &long) < long.len() / 2);
        packed(&mut dictionaries, &long[1000..]);
        packed(&mut dictionaries, b"");
    }
}
