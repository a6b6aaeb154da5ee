//! An order of numbered rows that knows each one's position: an order-statistics sequence.
//!
//! The rows stand in chunks of some hundred numbers, and every row knows its chunk. To take it out, or to ask where it stands, looks at that
//! chunk alone and compares nothing. Sizes of chunks are summed in a Fenwick tree. Only to put a row in compares rows, a logarithm of them.
//! The caller knows what a row is, and how two compare.

/// How many rows a chunk may have. A chunk is searched from end to end when a row is taken out.
const MAX_CHUNK: usize = 128;

/// Numbers of rows in an order.
pub(super) struct Ranks {
    max_chunk: usize,
    chunks: Vec<Chunk>,
    /// The chunks that are empty and stand nowhere.
    unused: Vec<u32>,
    /// The chunks that have rows, in order.
    order: Vec<u32>,
    /// Fenwick sums over the sizes of `order`.
    sums: Vec<u32>,
    /// The chunk of every row, by its number.
    home: Vec<u32>,
    len: usize,
}

#[derive(Default)]
struct Chunk {
    rows: Vec<u32>,
    /// Its place in the order.
    place: usize,
}

impl Default for Ranks {
    fn default() -> Self {
        Self::with_chunks_of(MAX_CHUNK)
    }
}

#[allow(clippy::cast_possible_truncation)] // rows have numbers of 32 bits, and chunks are no more than rows
impl Ranks {
    /// Bytes for a row: its chunk, and its place there, of which a third is room for more.
    pub(super) const PLACE_BYTES: usize = 10;

    fn with_chunks_of(max_chunk: usize) -> Self {
        Self { max_chunk, chunks: Vec::new(), unused: Vec::new(), order: Vec::new(), sums: Vec::new(), home: Vec::new(), len: 0 }
    }

    /// How many rows there are.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Puts in a row behind all those that are `before` it.
    pub(super) fn insert(&mut self, row: u32, before: impl Fn(u32) -> bool) {
        self.len += 1;
        let first = |place: usize| self.chunks[self.order[place] as usize].rows[0];
        // Many orders grow at an end: the ends are looked at first.
        let place = match self.order.len() {
            0 => 0,
            _ if !before(first(0)) => 0,
            chunks if before(first(chunks - 1)) => chunks - 1,
            _ => self.order.partition_point(|chunk| before(self.chunks[*chunk as usize].rows[0])) - 1,
        };
        let Some(&chunk) = self.order.get(place) else {
            self.add_chunk(0, vec![row]);
            return;
        };
        let rows = &mut self.chunks[chunk as usize].rows;
        let at = match rows[rows.len() - 1] {
            _ if !before(rows[0]) => 0,
            last if before(last) => rows.len(),
            _ => rows.partition_point(|other| before(*other)),
        };
        if rows.len() >= self.max_chunk {
            // Whoever comes in order fills chunk after chunk.
            let middle = if at == rows.len() && place + 1 == self.order.len() { at } else { rows.len() / 2 };
            let mut upper = rows.split_off(middle);
            let above = at >= middle;
            if above {
                upper.insert(at - middle, row);
            }
            self.add_chunk(place + 1, upper);
            if above {
                return;
            }
        }
        self.chunks[chunk as usize].rows.insert(at, row);
        self.set_home(row, chunk);
        self.count(place, 1);
    }

    /// Makes the order one of exactly these rows.
    pub(super) fn fill(&mut self, rows: &[u32]) {
        *self = Self::with_chunks_of(self.max_chunk);
        // Room for more in each of them.
        for rows in rows.chunks(self.max_chunk - self.max_chunk / 4) {
            self.len += rows.len();
            self.chunks.push(Chunk { rows: rows.to_vec(), place: self.order.len() });
            let chunk = self.order.len() as u32;
            self.order.push(chunk);
            rows.iter().for_each(|row| self.set_home(*row, chunk));
        }
        self.sum();
    }

    /// Takes out a row that is in.
    pub(super) fn remove(&mut self, row: u32) {
        let (place, at) = self.find(row);
        self.len -= 1;
        let rows = &mut self.chunks[self.order[place] as usize].rows;
        rows.remove(at);
        let left = rows.len();
        self.count(place, -1);
        if left == 0 {
            self.drop_chunk(place);
        } else if left < self.max_chunk / 4 {
            self.merge(place);
        }
    }

    /// Where a row stands that is in.
    pub(super) fn rank(&self, row: u32) -> usize {
        let (place, at) = self.find(row);
        let mut rank = at;
        let mut node = place;
        while node > 0 {
            rank += self.sums[node - 1] as usize;
            node &= node - 1;
        }
        rank
    }

    /// The rows from a position on.
    pub(super) fn from(&self, position: usize) -> impl Iterator<Item = u32> {
        let (place, at) = self.locate(position);
        let chunks = self.order[place..].iter().map(|chunk| &self.chunks[*chunk as usize].rows);
        chunks.flatten().skip(at).copied()
    }

    /// The place of the chunk that has a position, and where in it. Behind the last row it is a place that no chunk has.
    fn locate(&self, position: usize) -> (usize, usize) {
        let (mut place, mut rest) = (0, position);
        let mut step = self.order.len().next_power_of_two();
        while step > 0 {
            if let Some(sum) = self.sums.get(place + step - 1)
                && *sum as usize <= rest
            {
                rest -= *sum as usize;
                place += step;
            }
            step /= 2;
        }
        (place, rest)
    }

    /// The place of a row's chunk, and where in it the row stands.
    fn find(&self, row: u32) -> (usize, usize) {
        let chunk = &self.chunks[self.home[row as usize] as usize];
        let at = chunk.rows.iter().position(|other| *other == row);
        debug_assert!(at.is_some(), "row {row} is not in");
        (chunk.place, at.unwrap_or(0))
    }

    fn set_home(&mut self, row: u32, chunk: u32) {
        let row = row as usize;
        if row >= self.home.len() {
            self.home.resize(row + 1, 0);
        }
        self.home[row] = chunk;
    }

    fn add_chunk(&mut self, place: usize, rows: Vec<u32>) {
        let chunk = self.unused.pop().unwrap_or(self.chunks.len() as u32);
        if chunk as usize == self.chunks.len() {
            self.chunks.push(Chunk::default());
        }
        for row in &rows {
            self.set_home(*row, chunk);
        }
        self.chunks[chunk as usize].rows = rows;
        self.order.insert(place, chunk);
        self.sum();
    }

    fn drop_chunk(&mut self, place: usize) {
        let chunk = self.order.remove(place);
        self.chunks[chunk as usize] = Chunk::default();
        self.unused.push(chunk);
        self.sum();
    }

    /// Puts a chunk with few rows together with a neighbour, where both have room in one.
    fn merge(&mut self, place: usize) {
        let size = |place: usize| self.order.get(place).map_or(usize::MAX, |chunk| self.chunks[*chunk as usize].rows.len());
        let lower = if size(place + 1) <= self.max_chunk / 2 {
            place
        } else if place > 0 && size(place - 1) <= self.max_chunk / 2 {
            place - 1
        } else {
            return;
        };
        let (into, from) = (self.order[lower], self.order[lower + 1]);
        let moved = std::mem::take(&mut self.chunks[from as usize].rows);
        for row in &moved {
            self.set_home(*row, into);
        }
        self.chunks[into as usize].rows.extend(moved);
        self.drop_chunk(lower + 1);
    }

    /// A chunk has so many rows more.
    fn count(&mut self, place: usize, more: i32) {
        let mut node = place + 1;
        while let Some(sum) = self.sums.get_mut(node - 1) {
            *sum = sum.wrapping_add_signed(more);
            node += node & node.wrapping_neg();
        }
    }

    /// The places and sums anew: chunks have come or gone, which is once in hundreds of changes.
    fn sum(&mut self) {
        self.sums.clear();
        for (place, chunk) in self.order.iter().enumerate() {
            let chunk = &mut self.chunks[*chunk as usize];
            chunk.place = place;
            self.sums.push(chunk.rows.len() as u32);
        }
        for node in 1..=self.sums.len() {
            let parent = node + (node & node.wrapping_neg());
            if parent <= self.sums.len() {
                self.sums[parent - 1] += self.sums[node - 1];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Rows that order by what stands under their number.
    fn insert(ranks: &mut Ranks, values: &[u16], row: u32) {
        let of = |row: u32| (values[row as usize], row);
        ranks.insert(row, |other| of(other) < of(row));
    }

    fn assert_is(ranks: &Ranks, expected: &[u32]) {
        assert_eq!(ranks.from(0).collect::<Vec<_>>(), expected);
        assert_eq!(ranks.len(), expected.len());
        for (position, row) in expected.iter().enumerate() {
            assert_eq!(ranks.rank(*row), position);
            assert_eq!(ranks.from(position).next(), Some(*row));
        }
        assert_eq!(ranks.from(expected.len()).next(), None);
        let crowded = ranks.order.iter().map(|chunk| ranks.chunks[*chunk as usize].rows.len()).filter(|rows| *rows > ranks.max_chunk);
        assert_eq!(crowded.count(), 0, "no chunk has more than its share");
    }

    proptest! {
        #[test]
        fn rows_stand_where_a_sorted_list_has_them(
            values in prop::collection::vec(0u16..200, 60),
            steps in prop::collection::vec(0u32..60, 0..300),
            filled in any::<bool>(),
        ) {
            let mut ranks = Ranks::with_chunks_of(8);
            let mut model: Vec<u32> = if filled { (0..40).collect() } else { Vec::new() };
            let of = |row: u32| (values[row as usize], row);
            model.sort_by_key(|row| of(*row));
            ranks.fill(&model);
            assert_is(&ranks, &model);
            // A row that is in goes, one that is not comes.
            for row in steps {
                match model.binary_search_by_key(&of(row), |row| of(*row)) {
                    Ok(at) => {
                        model.remove(at);
                        ranks.remove(row);
                    }
                    Err(at) => {
                        model.insert(at, row);
                        insert(&mut ranks, &values, row);
                    }
                }
            }
            assert_is(&ranks, &model);
        }
    }

    #[test]
    fn a_chunk_that_was_filled_at_once_has_room_for_a_third_more() {
        let mut ranks = Ranks::with_chunks_of(16);
        ranks.fill(&(0..120).collect::<Vec<_>>());
        let chunks = ranks.order.len();
        let values: Vec<u16> = (0..120).chain((0..120).step_by(3)).collect();
        (120..160).for_each(|row| insert(&mut ranks, &values, row));
        assert_eq!((chunks, ranks.order.len()), (10, 10), "no chunk was split");
    }

    #[test]
    fn chunks_are_full_where_rows_come_in_order_and_merge_where_they_go() {
        let mut ranks = Ranks::with_chunks_of(8);
        let values: Vec<u16> = (0..800).collect();
        (0..800).for_each(|row| insert(&mut ranks, &values, row));
        assert_eq!(ranks.order.len(), 100);
        (0..800).filter(|row| row % 8 != 0).for_each(|row| ranks.remove(row));
        assert!(ranks.order.len() <= 50, "{} chunks for 100 rows", ranks.order.len());
        assert_is(&ranks, &(0..800).filter(|row| row % 8 == 0).collect::<Vec<_>>());
        ranks.from(0).collect::<Vec<_>>().into_iter().for_each(|row| ranks.remove(row));
        assert_is(&ranks, &[]);
        assert!(ranks.order.is_empty());
    }
}
