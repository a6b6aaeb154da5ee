//! The memory of packed texts: a few large blocks, so that an object at rest needs no allocation of its own.

use std::cell::RefCell;
use std::rc::Rc;

use super::recent::Recent;
use super::text::Text;
use crate::status::Error;

/// Bytes of a block. Small, so that a small resource does not hold a large block.
const MIN_BLOCK_BYTES: usize = 1 << 10;
/// Bytes of a block, unless a single text is larger. Moving as much takes well under a millisecond.
const MAX_BLOCK_BYTES: usize = 256 << 10;
/// The header of each text: the number of its place (4 bytes) and its length (4 bytes).
const HEADER: usize = 8;
/// The block number of a free place. Its offset is then the number of the next free place.
const FREE: u32 = u32::MAX;

/// The blocks and the place of each text in them. A dropped text leaves a hole; [`Arena::tidy`] closes holes.
#[derive(Debug, Default)]
pub(super) struct Arena(RefCell<Inner>);

#[derive(Debug)]
struct Inner {
    blocks: Vec<Block>,
    // The block to which texts are appended.
    current: usize,
    places: Vec<Place>,
    free: u32,
    block_bytes: usize,
    live: usize,
    recent: Recent,
}

#[derive(Debug, Default)]
struct Block {
    bytes: Vec<u8>,
    live: usize,
}

#[derive(Clone, Copy, Debug)]
struct Place {
    block: u32,
    offset: u32,
}

impl Default for Inner {
    fn default() -> Self {
        Self { blocks: Vec::new(), current: 0, places: Vec::new(), free: FREE, block_bytes: 0, live: 0, recent: Recent::default() }
    }
}

impl Arena {
    /// Stores what a text of `length` bytes was packed to. Fails with code `out-of-memory` if there is no room and no memory for a new block.
    pub(super) fn store(self: &Rc<Self>, packed: &[u8], length: usize) -> Result<PackedText, Error> {
        let length = u32::try_from(length).map_err(|_| no_room(length))?;
        let number = self.0.borrow_mut().store(packed)?;
        Ok(PackedText { arena: self.clone(), number, length })
    }

    /// Empties the block with the most holes by moving its texts. Only blocks with a third of holes count. Returns whether there was one.
    pub(super) fn tidy(&self) -> bool {
        self.0.borrow_mut().tidy()
    }

    /// Forgets unpacked texts that were not read for a pass.
    pub(super) fn forget_recent(&self) {
        self.0.borrow_mut().recent.age();
    }

    /// Bytes held: blocks with their holes, places, and unpacked texts.
    pub(super) fn bytes(&self) -> usize {
        let inner = self.0.borrow();
        let tables = inner.blocks.capacity() * size_of::<Block>() + inner.places.capacity() * size_of::<Place>();
        inner.block_bytes + tables + inner.recent.bytes()
    }

    /// Bytes of the texts stored here, see [`PackedText::cost`].
    pub(super) fn live(&self) -> usize {
        self.0.borrow().live
    }
}

impl Inner {
    fn store(&mut self, packed: &[u8]) -> Result<u32, Error> {
        let number = match self.places.get(self.free as usize) {
            Some(place) => {
                let number = self.free;
                self.free = place.offset;
                number
            }
            None => {
                self.places.try_reserve(1).map_err(|_| no_room(size_of::<Place>()))?;
                self.places.push(Place { block: FREE, offset: FREE });
                u32::try_from(self.places.len() - 1).map_err(|_| no_room(packed.len()))?
            }
        };
        match self.append(number, packed) {
            Ok(place) => {
                self.places[number as usize] = place;
                self.live += cost(packed.len());
                Ok(number)
            }
            Err(error) => {
                self.places[number as usize] = Place { block: FREE, offset: self.free };
                self.free = number;
                Err(error)
            }
        }
    }

    fn append(&mut self, number: u32, packed: &[u8]) -> Result<Place, Error> {
        let length = HEADER + packed.len();
        let room = self.blocks.get(self.current).map_or(0, |block| block.bytes.capacity() - block.bytes.len());
        if room < length {
            let size = self.live.clamp(MIN_BLOCK_BYTES, MAX_BLOCK_BYTES).max(length);
            let mut bytes = Vec::new();
            bytes.try_reserve_exact(size).map_err(|_| no_room(size))?;
            self.block_bytes += bytes.capacity();
            // The unused end of the last block counts as a hole.
            let block = Block { bytes, live: 0 };
            self.current = match self.blocks.iter().position(|block| block.bytes.capacity() == 0) {
                Some(empty) => {
                    self.blocks[empty] = block;
                    empty
                }
                None => {
                    self.blocks.push(block);
                    self.blocks.len() - 1
                }
            };
        }
        let block = &mut self.blocks[self.current];
        let offset = block.bytes.len();
        let too_much = |_| no_room(length);
        let place = Place { block: u32::try_from(self.current).map_err(too_much)?, offset: u32::try_from(offset).map_err(too_much)? };
        block.bytes.extend_from_slice(&number.to_le_bytes());
        block.bytes.extend_from_slice(&u32::try_from(packed.len()).map_err(too_much)?.to_le_bytes());
        block.bytes.extend_from_slice(packed);
        block.live += length;
        Ok(place)
    }

    fn packed(&self, number: u32) -> &[u8] {
        let Place { block, offset } = self.places[number as usize];
        record(&self.blocks[block as usize].bytes, offset as usize).1
    }

    fn free(&mut self, number: u32) {
        let Place { block, offset } = self.places[number as usize];
        let at = block as usize;
        let length = record(&self.blocks[at].bytes, offset as usize).1.len();
        self.live -= cost(length);
        self.blocks[at].live -= HEADER + length;
        self.places[number as usize] = Place { block: FREE, offset: self.free };
        self.free = number;
        self.recent.remove(number);
        if self.blocks[at].live == 0 {
            if at == self.current {
                self.blocks[at].bytes.clear();
            } else {
                self.drop_block(at);
            }
        }
    }

    fn drop_block(&mut self, at: usize) {
        let gone = std::mem::take(&mut self.blocks[at]);
        self.block_bytes -= gone.bytes.capacity();
    }

    fn tidy(&mut self) -> bool {
        let holes = |block: &Block| block.bytes.capacity() - block.live;
        let current = self.current;
        let worst = self.blocks.iter().enumerate().filter(|(at, block)| *at != current && holes(block) * 3 >= block.bytes.capacity());
        let Some(at) = worst.max_by_key(|(_, block)| holes(block)).filter(|(_, block)| holes(block) > 0).map(|(at, _)| at) else {
            return false;
        };
        // The block stays until all its texts were moved, so that a failure halfway loses nothing.
        let bytes = std::mem::take(&mut self.blocks[at].bytes);
        let mut offset = 0;
        let mut moved = true;
        while offset < bytes.len() {
            let (number, packed) = record(&bytes, offset);
            let here = self.places.get(number as usize).is_some_and(|place| place.block as usize == at && place.offset as usize == offset);
            if here {
                // While its bytes are taken out, the block looks empty. A new block must not take its place.
                match self.append_elsewhere(at, number, packed) {
                    Ok(place) => {
                        self.places[number as usize] = place;
                        self.blocks[at].live -= HEADER + packed.len();
                    }
                    Err(_) => {
                        moved = false;
                        break;
                    }
                }
            }
            offset += HEADER + packed.len();
        }
        self.blocks[at].bytes = bytes;
        if moved {
            self.drop_block(at);
        }
        moved
    }

    fn append_elsewhere(&mut self, at: usize, number: u32, packed: &[u8]) -> Result<Place, Error> {
        if self.blocks[at].bytes.capacity() == 0 {
            // One byte of capacity keeps the block from looking empty.
            self.blocks[at].bytes.try_reserve_exact(1).map_err(|_| no_room(1))?;
        }
        self.append(number, packed)
    }
}

/// The place's number and the text of the record at `offset`.
fn record(bytes: &[u8], offset: usize) -> (u32, &[u8]) {
    let word = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
    let start = offset + HEADER;
    (word(offset), &bytes[start..start + word(offset + 4) as usize])
}

fn cost(length: usize) -> usize {
    HEADER + length + size_of::<Place>()
}

fn no_room(bytes: usize) -> Error {
    Error::out_of_memory(bytes)
}

/// A text in an arena. Dropping it frees the text.
pub(crate) struct PackedText {
    arena: Rc<Arena>,
    number: u32,
    // Of the text in bytes.
    length: u32,
}

impl PackedText {
    /// The length of the text in bytes.
    pub(super) fn len(&self) -> usize {
        self.length as usize
    }

    /// The unpacked text, if it was read a moment ago.
    pub(super) fn recent(&self) -> Option<Text> {
        self.arena.0.borrow().recent.get(self.number)
    }

    /// Keeps the unpacked text for a moment.
    pub(super) fn remember(&self, text: &Text) {
        let mut inner = self.arena.0.borrow_mut();
        let max_bytes = inner.live / 4;
        inner.recent.put(self.number, text, max_bytes);
    }

    /// Reads the packed bytes.
    pub(super) fn read<R>(&self, read: impl FnOnce(&[u8]) -> R) -> R {
        read(self.arena.0.borrow().packed(self.number))
    }

    /// Bytes of the text, its header and its place.
    pub(super) fn cost(&self) -> usize {
        self.read(|packed| cost(packed.len()))
    }
}

impl Drop for PackedText {
    fn drop(&mut self) {
        self.arena.0.borrow_mut().free(self.number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(packed_text: &PackedText) -> Vec<u8> {
        packed_text.read(<[u8]>::to_vec)
    }

    proptest! {
        #[test]
        fn what_is_stored_is_read_whatever_is_dropped_and_moved(
            steps in prop::collection::vec((0..6u8, any::<u16>(), 0..3000usize), 0..400)
        ) {
            let arena = Rc::new(Arena::default());
            let mut held: Vec<(PackedText, Vec<u8>)> = Vec::new();
            for (step, seed, length) in steps {
                match step {
                    0..=2 => {
                        let bytes: Vec<u8> = (0..length).map(|at| (at as u16 ^ seed) as u8).collect();
                        held.push((arena.store(&bytes, length).unwrap(), bytes));
                    }
                    3 | 4 if !held.is_empty() => drop(held.swap_remove(seed as usize % held.len())),
                    _ => { arena.tidy(); }
                }
                for (packed_text, bytes) in &held {
                    prop_assert_eq!(&read(packed_text), bytes);
                }
                prop_assert_eq!(arena.live(), held.iter().map(|(packed_text, _)| packed_text.cost()).sum::<usize>());
                prop_assert!(arena.bytes() >= arena.live());
            }
            while arena.tidy() {}
            held.clear();
            prop_assert_eq!(arena.live(), 0);
            prop_assert!(arena.0.borrow().block_bytes <= MAX_BLOCK_BYTES, "the block that grows is all that stays");
        }
    }

    #[test]
    fn holes_are_closed() {
        let arena = Rc::new(Arena::default());
        let mut texts: Vec<PackedText> = (0..10_000).map(|_| arena.store(&[7; 500], 9_000).unwrap()).collect();
        let full = arena.bytes();
        let mut at = 0;
        texts.retain(|_| {
            at += 1;
            at % 4 == 0
        });
        assert!(arena.bytes() * 10 > full * 9, "holes are no room yet");
        while arena.tidy() {}
        assert!(arena.bytes() * 3 < full, "{} of {full}", arena.bytes());
        assert!(texts.iter().all(|packed_text| read(packed_text) == [7; 500]));
    }

    #[test]
    fn a_long_text_gets_a_block_of_its_own() {
        let arena = Rc::new(Arena::default());
        let small = arena.store(b"small", 20).unwrap();
        let long = arena.store(&vec![1; 3 * MAX_BLOCK_BYTES], 4 * MAX_BLOCK_BYTES).unwrap();
        assert_eq!((read(&small).len(), read(&long).len()), (5, 3 * MAX_BLOCK_BYTES));
        drop(long);
        let again = arena.store(b"again", 20).unwrap();
        assert_eq!(read(&again), b"again");
    }
}
