//! Chooses the dictionary of a resource: an object against which the others are compressed.

use std::rc::{Rc, Weak};

use lz4_flex::block::{compress_into_with_dict, decompress_into_with_dict, get_maximum_output_size};

use super::repack::{Piece, repack};
use super::text::Lent;
use crate::json::bytes::same;

/// Bytes of a dictionary. LZ4 references reach back 64 KiB, and the text before them takes a part of that.
const MAX_DICTIONARY_BYTES: usize = 32 << 10;
/// Texts that a challenge compares.
const CHALLENGE_TRIALS: u32 = 16;
/// Texts before the first challenge. It comes early, because chance chose the first dictionary.
const FIRST_PAUSE: u32 = 4;
/// Texts between two challenges, at least. Doubled after each challenge that was lost.
const MIN_PAUSE: u32 = 256;
/// No challenge for a text that packs to this many millionths or less: there is little to gain.
const GOOD_RATIO: u64 = 60_000;
/// A block that is made along another may be larger than the mean by this part: a quarter.
const MAX_GROWN_PART: u64 = 4;
/// And by so many millionths of its text, where the mean is next to nothing.
const MAX_GROWN: u64 = 8_000;
/// A byte of LZ4 stands for so many bytes of a text at most.
const MAX_RATIO: usize = 255;
/// Dictionaries in use at once. Each holds up to 32 KiB.
const MAX_DICTIONARIES: usize = 8;
/// Of these so many from a disk. Each start would leave one more, and at last none could be chosen.
const MAX_KEPT: usize = 4;

/// A text that others are compressed against.
#[derive(Debug)]
pub(crate) struct Dictionary(Box<[u8]>);

impl Dictionary {
    /// That of a text, as far as that may be one.
    pub(super) fn of(text: &[u8]) -> Rc<Self> {
        Rc::new(Self(text[..text.len().min(MAX_DICTIONARY_BYTES)].into()))
    }

    /// Whether this may be the text of one.
    pub(super) fn may_be(text: &[u8]) -> bool {
        text.len() <= MAX_DICTIONARY_BYTES
    }

    /// Whether a text of `length` bytes may have been packed to these. LZ4 packs no better, and a length that was made up must take no memory.
    pub(super) fn may_give(packed: &[u8], length: usize) -> bool {
        length <= packed.len().saturating_mul(MAX_RATIO)
    }

    /// The text that others are compressed against.
    pub(super) fn text(&self) -> &[u8] {
        &self.0
    }

    /// Unpacks a text of `length` bytes; `None` if it was not packed with this dictionary.
    pub(super) fn unpack(&self, packed: &[u8], length: usize) -> Option<Box<[u8]>> {
        let mut text = vec![0; length];
        self.unpack_into(packed, &mut text)?;
        Some(text.into_boxed_slice())
    }

    /// As [`unpack`](Self::unpack), into a slice of that length.
    pub(super) fn unpack_into(&self, packed: &[u8], place: &mut [u8]) -> Option<()> {
        let written = decompress_into_with_dict(packed, place, &self.0).ok()?;
        (written == place.len()).then_some(())
    }

    /// Packs into `out` and returns the number of bytes written.
    fn pack(&self, text: &[u8], out: &mut Vec<u8>) -> Option<usize> {
        out.resize(out.len().max(get_maximum_output_size(text.len())), 0);
        compress_into_with_dict(text, out, &self.0).ok()
    }
}

/// Chooses the dictionary. The first object becomes one. Later objects challenge it, and win if the next texts pack a fifth smaller with
/// them. Lost challenges make the next ones rarer. If texts pack clearly worse than before, the next challenge comes at once. Texts that
/// are packed already keep their dictionary.
#[derive(Debug, Default)]
pub(super) struct Dictionaries {
    current: Option<Rc<Dictionary>>,
    used: Vec<Weak<Dictionary>>,
    // The running mean of the packed size, in millionths of the text; and its value at the last challenge.
    ratio: u64,
    settled_ratio: u64,
    challenge: Option<Challenge>,
    pause: u32,
    next_pause: u32,
    out: Vec<u8>,
    other: Vec<u8>,
    along: Vec<u8>,
}

#[derive(Debug)]
struct Challenge {
    dictionary: Rc<Dictionary>,
    trials: u32,
    current: usize,
    challenger: usize,
}

impl Dictionaries {
    /// Packs a text; `None` if it could not be unpacked again. `pattern` is a block of the text before, with its dictionary.
    pub(super) fn pack(&mut self, text: &[u8], pattern: Option<(&Rc<Dictionary>, &[u8], &[Piece])>) -> Option<(Rc<Dictionary>, &[u8])> {
        match pattern.filter(|(dictionary, block, pieces)| self.pack_along(text, dictionary, block, pieces)) {
            Some((dictionary, ..)) => Some((dictionary.clone(), &self.along)),
            None => self.pack_anew(text),
        }
    }

    /// Packs a text along a block. Returns whether that is as good as a search. It is not where the block takes more than others of its length.
    /// A challenge compares texts that are packed anew, and nothing follows a dictionary that goes out of use.
    fn pack_along(&mut self, text: &[u8], dictionary: &Rc<Dictionary>, block: &[u8], pieces: &[Piece]) -> bool {
        if self.challenge.is_some() || !self.current.as_ref().is_some_and(|current| Rc::ptr_eq(current, dictionary)) {
            return false;
        }
        let most = self.ratio + self.ratio / MAX_GROWN_PART + MAX_GROWN;
        let max_bytes = usize::try_from(text.len() as u64 * most / 1_000_000).unwrap_or(usize::MAX);
        let packed = repack(block, &dictionary.0, text, pieces, max_bytes, &mut self.along);
        debug_assert!(packed.is_none() || dictionary.unpack(&self.along, text.len()).is_some_and(|unpacked| *unpacked == *text));
        packed.is_some()
    }

    fn pack_anew(&mut self, text: &[u8]) -> Option<(Rc<Dictionary>, &[u8])> {
        let current = match &self.current {
            Some(current) => current.clone(),
            None => {
                self.pause = FIRST_PAUSE;
                self.renew(Dictionary::of(text))
            }
        };
        let length = current.pack(text, &mut self.out)?;
        let ratio = millionths(length, text.len());
        self.ratio = if self.ratio == 0 { ratio } else { (self.ratio * 31 + ratio) / 32 };
        if let Some(challenge) = &mut self.challenge {
            challenge.current += length;
            challenge.challenger += challenge.dictionary.pack(text, &mut self.other)?;
            challenge.trials += 1;
            if challenge.trials == CHALLENGE_TRIALS {
                self.decide();
            }
        } else if self.pause > 0 {
            self.pause -= 1;
            if self.ratio > self.settled_ratio * 3 / 2 && self.next_pause > 0 {
                (self.pause, self.next_pause, self.settled_ratio) = (0, MIN_PAUSE, self.ratio);
            }
        } else if ratio > GOOD_RATIO && self.in_use() < MAX_DICTIONARIES {
            self.challenge = Some(Challenge { dictionary: Dictionary::of(text), trials: 0, current: 0, challenger: 0 });
        }
        let packed = &self.out[..length];
        // A packed text replaces the original, so it is unpacked once to verify it.
        let unpacked = Lent::unpacked(text.len(), |place| current.unpack_into(packed, place))?;
        same(&unpacked, text).then_some((current, packed))
    }

    fn decide(&mut self) {
        let Some(challenge) = self.challenge.take() else { return };
        let won = challenge.challenger * 5 <= challenge.current * 4;
        self.next_pause = if won { MIN_PAUSE } else { (self.next_pause * 2).clamp(MIN_PAUSE, MIN_PAUSE << 8) };
        self.pause = self.next_pause;
        self.settled_ratio = self.ratio;
        if won {
            self.renew(challenge.dictionary);
        }
    }

    fn renew(&mut self, dictionary: Rc<Dictionary>) -> Rc<Dictionary> {
        self.used.retain(|known| known.strong_count() > 0);
        self.used.push(Rc::downgrade(&dictionary));
        self.current.insert(dictionary).clone()
    }

    /// The dictionary with this text, against which others were packed elsewhere. One of that text that is in use is it; where none is in use,
    /// it is the one from now on, if `goes_on`.
    pub(super) fn adopt(&mut self, text: &[u8], goes_on: bool) -> Rc<Dictionary> {
        if let Some(known) = self.used.iter().filter_map(Weak::upgrade).find(|known| same(&known.0, text)) {
            return known;
        }
        let current = self.current.clone();
        let adopted = self.renew(Rc::new(Dictionary(text.into())));
        if current.is_some() || !goes_on {
            self.current = current;
        } else {
            self.pause = MIN_PAUSE;
        }
        adopted
    }

    /// Whether texts may rest packed as a disk has them, against a dictionary of this text. Others are packed anew.
    pub(super) fn may_keep(&self, text: &[u8]) -> bool {
        self.in_use() < MAX_KEPT || self.used.iter().filter_map(Weak::upgrade).any(|known| same(&known.0, text))
    }

    fn in_use(&self) -> usize {
        self.used.iter().filter(|known| known.strong_count() > 0).count()
    }

    /// Texts that are packed anew before the next challenge.
    #[cfg(test)]
    pub(super) fn pause(&self) -> u32 {
        self.pause
    }

    /// Bytes held by the dictionaries in use and by the buffers.
    pub(super) fn bytes(&self) -> usize {
        let texts: usize = self.used.iter().filter_map(Weak::upgrade).map(|dictionary| dictionary.0.len()).sum();
        let challenger = self.challenge.as_ref().map_or(0, |challenge| challenge.dictionary.0.len());
        texts + challenger + self.out.capacity() + self.other.capacity() + self.along.capacity()
    }

    /// Frees the buffers until there is something to pack again.
    pub(super) fn free_buffers(&mut self) {
        self.out = Vec::new();
        self.other = Vec::new();
        self.along = Vec::new();
    }
}

/// The size of a block, in millionths of its text.
fn millionths(packed: usize, length: usize) -> u64 {
    packed as u64 * 1_000_000 / length.max(1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn object(kind: &str, number: usize) -> Vec<u8> {
        let fields: Vec<String> = (0..40).map(|at| format!(r#""{kind}-field-{at}":{{"{kind}":"{}"}}"#, (at * 7919) % 1000)).collect();
        format!(r#"{{"kind":"{kind}","metadata":{{"name":"{kind}-{number}"}},{}}}"#, fields.join(",")).into_bytes()
    }

    fn packed(dictionaries: &mut Dictionaries, text: &[u8]) -> usize {
        let (dictionary, packed) = dictionaries.pack(text, None).unwrap();
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
        assert_eq!(dictionaries.in_use(), 1);
    }

    #[test]
    fn a_dictionary_that_no_longer_fits_is_renewed_and_what_it_packed_is_read_still() {
        let mut dictionaries = Dictionaries::default();
        let odd = br#"{"metadata":{"name":"nothing like the others"}}"#;
        let (first, held) = dictionaries.pack(odd, None).map(|(dictionary, packed)| (dictionary, packed.to_vec())).unwrap();
        let lengths: Vec<usize> = (0..200).map(|number| packed(&mut dictionaries, &object("Pod", number))).collect();
        assert!(lengths[199] * 3 < lengths[0], "{} and then {}", lengths[0], lengths[199]);
        assert_eq!(&*first.unpack(&held, odd.len()).unwrap(), odd);
        assert_eq!(dictionaries.in_use(), 2);
        drop(first);
        assert_eq!(dictionaries.in_use(), 1);
    }

    #[test]
    fn kinds_that_alternate_do_not_challenge_for_ever() {
        let mut dictionaries = Dictionaries::default();
        for number in 0..20_000 {
            packed(&mut dictionaries, &object(if number % 2 == 0 { "Pod" } else { "Secret" }, number));
        }
        assert!(dictionaries.next_pause > MIN_PAUSE, "{}", dictionaries.next_pause);
    }

    #[test]
    fn long_texts_and_empty_ones_are_packed_too() {
        let mut dictionaries = Dictionaries::default();
        let long: Vec<u8> = (0..20_000).flat_map(|number| format!(r#"{{"number":{number}}}"#).into_bytes()).collect();
        assert!(packed(&mut dictionaries, &long) < long.len() / 2);
        packed(&mut dictionaries, &long[1000..]);
        packed(&mut dictionaries, b"");
    }

    #[test]
    fn the_mean_that_ends_a_pause_is_that_of_the_texts_which_were_packed() {
        let (mut dictionaries, text) = (Dictionaries::default(), object("Pod", 1));
        packed(&mut dictionaries, br#"{"metadata":{"name":"nothing like the others"}}"#);
        let lengths: Vec<usize> = (0..400).map(|_| packed(&mut dictionaries, &text)).collect();
        let last = millionths(lengths[399], text.len());
        assert!(dictionaries.ratio.abs_diff(last) <= 32, "{} of a million, where the texts have packed to {last}", dictionaries.ratio);
    }

    #[test]
    fn a_pause_ends_early_where_texts_pack_half_as_badly_again_as_when_it_began_and_not_before() {
        let mut dictionaries = Dictionaries::default();
        (0..50).for_each(|number| _ = packed(&mut dictionaries, &object("Pod", number)));
        for (settled, ends) in [(dictionaries.ratio, false), (dictionaries.ratio / 2, true)] {
            (dictionaries.pause, dictionaries.next_pause, dictionaries.settled_ratio) = (9, 4 * MIN_PAUSE, settled);
            packed(&mut dictionaries, &object("Pod", 50));
            let expected = if ends { (0, MIN_PAUSE) } else { (8, 4 * MIN_PAUSE) };
            assert_eq!((dictionaries.pause, dictionaries.next_pause), expected, "settled at {settled}, now {}", dictionaries.ratio);
        }
    }

    #[test]
    fn law_08_bounded_dictionaries_a_challenger_and_buffers_count() {
        let mut dictionaries = Dictionaries::default();
        let odd = br#"{"metadata":{"name":"nothing like the others"}}"#;
        packed(&mut dictionaries, odd);
        while dictionaries.challenge.is_none() {
            packed(&mut dictionaries, &object("Pod", 1));
        }
        packed(&mut dictionaries, &object("Pod", 1));
        dictionaries.along = vec![0; 77];
        let buffers = dictionaries.out.capacity() + dictionaries.other.capacity() + dictionaries.along.capacity();
        assert!(!dictionaries.out.is_empty() && !dictionaries.other.is_empty());
        let texts = odd.len() + object("Pod", 1).len();
        assert_eq!(dictionaries.bytes(), texts + buffers);
        dictionaries.free_buffers();
        assert_eq!(dictionaries.bytes(), texts);
    }
}
