//! Derived columns: values that a function of the caller makes of some fields of each object.
//!
//! The view never calls that function. It says what is asked: a column, an object's key, and the values of the fields that the column names. It
//! is told a scalar. It asks again only for an object of which one of these fields differs from when it was told.

use std::rc::Rc;

use rustc_hash::FxHashMap;

use crate::allocation::{allocation, shared, shrink};
use crate::json::fields::FieldSet;
use crate::json::value::Value;
use crate::json::write::quoted;
use crate::json::{Columns, Path, Scalar};
use crate::key::Key;
use crate::object::Object;

/// Where a view reads a value that places an object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Column {
    /// A field of the document: its slot.
    Field(usize),
    /// A derived column: its position in [`ViewSpec::derived`](super::ViewSpec::derived).
    Derived(usize),
}

impl Column {
    /// The value for an object. A derived one that nobody has told is missing.
    #[inline]
    pub(super) fn read(self, object: &Object, fields: &FieldSet, derived: Option<&Derived>) -> Scalar {
        match self {
            Self::Field(slot) => object.field(slot, fields),
            Self::Derived(column) => derived.and_then(|derived| derived.value(object.key(), column)).cloned().unwrap_or_default(),
        }
    }
}

/// Stands for the texts of the fields that a column names. In 128 bits no two texts meet by accident. The texts themselves may be long, and
/// there may be as many as objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Fingerprint(u64, u64);

/// Digits of pi, as numbers that nobody chose.
const PI: [u64; 4] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344, 0xa409_3822_299f_31d0, 0x082e_fa98_ec4e_6c89];

impl Fingerprint {
    fn of(values: &[Option<&[u8]>]) -> Self {
        let mut print = Self(PI[0], PI[1]);
        for value in values {
            // The length tells where a text ends, and a missing one from an empty one.
            print.take(value.map_or(0, |value| value.len() as u64 + 1));
            for chunk in value.unwrap_or_default().chunks(8) {
                let mut word = [0; 8];
                word[..chunk.len()].copy_from_slice(chunk);
                print.take(u64::from_le_bytes(word));
            }
        }
        print.take(0);
        print
    }

    fn take(&mut self, word: u64) {
        self.0 = fold(self.0 ^ word, PI[2]);
        // A word that makes nothing of one half leaves the other.
        self.1 = fold(self.1 ^ word.rotate_left(32), PI[3] ^ self.0);
    }
}

/// The halves of a product, in which each bit has moved many.
#[allow(clippy::cast_possible_truncation)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

/// What was told of one column for one object.
#[derive(Clone)]
struct Known {
    fingerprint: Fingerprint,
    value: Scalar,
}

type KnownColumns = Box<[Option<Known>]>;

/// What was told, by the key of the object.
#[derive(Clone, Default)]
struct Told {
    by_key: FxHashMap<Key, KnownColumns>,
    bytes: usize,
}

impl Told {
    fn of(&self, key: &str, column: usize) -> Option<&Known> {
        self.by_key.get(key)?[column].as_ref()
    }

    fn is_told(&self, key: &str, column: usize, fingerprint: Fingerprint) -> bool {
        self.of(key, column).is_some_and(|known| known.fingerprint == fingerprint)
    }

    fn put(&mut self, key: &Key, column: usize, columns: usize, known: Known) {
        let held = self.by_key.entry(key.clone()).or_insert_with(|| {
            let none: KnownColumns = vec![None; columns].into();
            self.bytes += cost(&none);
            none
        });
        self.bytes -= cost(held);
        held[column] = Some(known);
        self.bytes += cost(held);
    }

    fn take(&mut self, key: &str) -> Option<KnownColumns> {
        let taken = self.by_key.remove(key);
        self.bytes -= taken.as_ref().map_or(0, cost);
        shrink(&mut self.by_key);
        taken
    }

    fn bytes(&self) -> usize {
        self.bytes + 2 * self.by_key.len() * size_of::<(Key, KnownColumns)>()
    }
}

/// What was asked and is not told yet.
struct Asked {
    key: Key,
    column: usize,
    fingerprint: Fingerprint,
    which: Which,
}

/// The derived columns of a view, and what was told of them.
pub(super) struct Derived {
    // Of all columns, one behind the other.
    paths: Columns,
    // Where the paths of each column end.
    ends: Box<[usize]>,
    /// The columns without which an object has no place.
    placing: Box<[usize]>,
    /// The columns that rows show.
    shown: Box<[usize]>,
    // Of rows, and of objects that were rows or may be: it outlives searches. The view that is searched next takes it over, and it is copied only
    // where this one goes on as well.
    known: Rc<Told>,
    // Of objects that wait for their place. Rows of their predecessors show what these have.
    next: Told,
    asked: Vec<Asked>,
}

/// Which columns are meant.
#[derive(Clone, Copy)]
pub(super) enum Which {
    /// Those that place objects.
    Placing,
    /// Those that rows show.
    Shown,
}

impl Derived {
    /// Of the paths of each column. `placing` and `shown` are the positions of the columns that are used so.
    pub(super) fn new(columns: &[Vec<Path>], placing: Box<[usize]>, shown: Box<[usize]>) -> Self {
        let mut end = 0;
        let ends = columns.iter().map(|paths| {
            end += paths.len();
            end
        });
        let ends = ends.collect();
        Self {
            paths: Columns::new(&columns.concat()),
            ends,
            placing,
            shown,
            known: Rc::default(),
            next: Told::default(),
            asked: Vec::new(),
        }
    }

    /// Takes over what another view was told of the same columns, but for the keys that are `gone`. For a view without rows.
    pub(super) fn inherit<'k>(&mut self, from: &Self, gone: impl Iterator<Item = &'k Key>) {
        if self.ends != from.ends {
            return;
        }
        self.known = from.known.clone();
        for (key, next) in &from.next.by_key {
            for (column, known) in next.iter().enumerate() {
                if let Some(known) = known {
                    Rc::make_mut(&mut self.known).put(key, column, self.ends.len(), known.clone());
                }
            }
        }
        gone.for_each(|key| self.forget(key));
    }

    /// Of how many objects it was told.
    pub(super) fn told(&self) -> usize {
        self.known.by_key.len() + self.next.by_key.len()
    }

    /// The value of a column for the object of this key, as it was told last.
    pub(super) fn value(&self, key: &str, column: usize) -> Option<&Scalar> {
        self.known.of(key, column).map(|known| &known.value)
    }

    /// The same as JSON. `None` where there is none.
    pub(super) fn json(&self, key: &str, column: usize) -> Option<String> {
        match self.value(key, column)? {
            Scalar::Text(text) => Some(quoted(text)),
            value @ (Scalar::Number(_) | Scalar::Bool(_)) => Some(value.text().to_owned()),
            Scalar::Missing | Scalar::Null | Scalar::Composite => None,
        }
    }

    /// Whether objects have no place before they are told.
    pub(super) fn places(&self) -> bool {
        !self.placing.is_empty()
    }

    /// Whether these columns are known for an object: nothing that they name differs from when they were told.
    pub(super) fn knows(&self, object: &Object, which: Which) -> bool {
        let columns = self.columns(which);
        if columns.is_empty() {
            return true;
        }
        let key = object.key();
        if columns.iter().any(|column| self.known.of(key, *column).is_none() && self.next.of(key, *column).is_none()) {
            return false;
        }
        let document = object.lend();
        let values = self.paths.values(&document);
        columns.iter().all(|column| self.is_told(key, *column, Fingerprint::of(&values[self.span(*column)]), which))
    }

    /// An object takes its place: what was told of it while it waited is its row's now.
    pub(super) fn settle(&mut self, object: &Object) {
        let Some(next) = self.next.take(object.key()) else { return };
        let document = object.lend();
        let values = self.paths.values(&document);
        for (column, known) in next.into_iter().enumerate() {
            if let Some(known) = known
                && known.fingerprint == Fingerprint::of(&values[self.span(column)])
            {
                Rc::make_mut(&mut self.known).put(object.key(), column, self.ends.len(), known);
            }
        }
    }

    /// Asks for those of these columns that are not known for an object: `[column,"key",[value…],[missing…]]` for each, behind a comma where
    /// something stands before it. A missing value stands there as 0, and the last member has the positions of those. Returns whether any is asked for.
    pub(super) fn ask(&mut self, object: &Object, which: Which, text: &mut Vec<u8>) -> bool {
        let before = self.asked.len();
        let mut asked = std::mem::take(&mut self.asked);
        let document = object.lend();
        let values = self.paths.values(&document);
        for &column in self.columns(which) {
            let values = &values[self.span(column)];
            let fingerprint = Fingerprint::of(values);
            if self.is_told(object.key(), column, fingerprint, which) {
                continue;
            }
            asked.push(Asked { key: object.key().clone(), column, fingerprint, which });
            if text.len() > 1 {
                text.push(b',');
            }
            text.extend_from_slice(format!("[{column},{},[", quoted(object.key())).as_bytes());
            for (at, value) in values.iter().enumerate() {
                text.extend_from_slice(if at > 0 { b"," } else { b"" });
                text.extend_from_slice(value.unwrap_or(b"0"));
            }
            let missing = values.iter().enumerate().filter(|(_, value)| value.is_none()).map(|(at, _)| at.to_string());
            text.extend_from_slice(format!("],[{}]]", missing.collect::<Vec<_>>().join(",")).as_bytes());
        }
        self.asked = asked;
        self.asked.len() > before
    }

    /// Nothing that was asked before is told any more.
    pub(super) fn begin(&mut self) {
        self.asked.clear();
    }

    /// How much was asked.
    pub(super) fn asked(&self) -> usize {
        self.asked.len()
    }

    /// Is told the values of the first columns that were asked, in that order: an array of scalars in JSON. What is no scalar counts as none. `wanted`
    /// says whether a key still matters. Returns the keys, and which columns were asked for.
    pub(super) fn tell(&mut self, values: &str, wanted: impl Fn(&Key) -> bool) -> Vec<(Key, Which)> {
        let Ok(Value::List(values)) = Value::parse(values.as_bytes()) else { return Vec::new() };
        let asked = std::mem::take(&mut self.asked);
        let mut told: Vec<(Key, Which)> = Vec::new();
        for (Asked { key, column, fingerprint, which }, value) in asked.into_iter().zip(values) {
            if !wanted(&key) {
                continue;
            }
            let value = match value {
                Value::Text(text) => Scalar::Text(text.into()),
                Value::Number(digits) => Scalar::Number(Rc::from(digits)),
                Value::Bool(flag) => Scalar::Bool(flag),
                Value::Null | Value::List(_) | Value::Map(_) => Scalar::Missing,
            };
            let place = match which {
                Which::Placing => &mut self.next,
                Which::Shown => Rc::make_mut(&mut self.known),
            };
            place.put(&key, column, self.ends.len(), Known { fingerprint, value });
            if told.last().is_none_or(|(last, _)| *last != key) {
                told.push((key, which));
            }
        }
        told
    }

    /// The object of this key has gone.
    pub(super) fn forget(&mut self, key: &str) {
        if self.known.by_key.contains_key(key) {
            Rc::make_mut(&mut self.known).take(key);
        }
        self.next.take(key);
    }

    /// Forgets what was told.
    pub(super) fn clear(&mut self) {
        self.known = Rc::default();
        self.next = Told::default();
        self.asked = Vec::new();
    }

    /// Bytes that the values take, with their table. Where two views have the same, they count for each: one of them is about to end, or to differ.
    pub(super) fn bytes(&self) -> usize {
        self.known.bytes() + self.next.bytes() + self.asked.capacity() * size_of::<Asked>()
    }

    fn columns(&self, which: Which) -> &[usize] {
        match which {
            Which::Placing => &self.placing,
            Which::Shown => &self.shown,
        }
    }

    fn span(&self, column: usize) -> std::ops::Range<usize> {
        column.checked_sub(1).map_or(0, |before| self.ends[before])..self.ends[column]
    }

    /// Whether a column was told for these fields. Rows show only what was told of rows.
    fn is_told(&self, key: &str, column: usize, fingerprint: Fingerprint, which: Which) -> bool {
        self.known.is_told(key, column, fingerprint) || matches!(which, Which::Placing) && self.next.is_told(key, column, fingerprint)
    }
}

/// Bytes that what is known of one object takes.
fn cost(known: &KnownColumns) -> usize {
    let text = |known: &Known| match &known.value {
        // Groups share it: the sum must not depend on that.
        Scalar::Text(text) | Scalar::Number(text) => shared(text.len()),
        _ => 0,
    };
    allocation(size_of_val(&**known)) + known.iter().flatten().map(text).sum::<usize>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vd_02_a_fingerprint_tells_texts_from_each_other_and_where_each_ends() {
        let long = [b'x'; 64];
        let texts: [&[Option<&[u8]>]; 10] = [
            &[],
            &[None],
            &[Some(b"")],
            &[None, None],
            &[Some(b"ab"), Some(b"c")],
            &[Some(b"a"), Some(b"bc")],
            &[Some(b"abc")],
            &[Some(b"abc\0")],
            &[Some(&long[..63])],
            &[Some(&long)],
        ];
        for (at, one) in texts.iter().enumerate() {
            for (place, other) in texts.iter().enumerate() {
                assert_eq!(Fingerprint::of(one) == Fingerprint::of(other), at == place, "{one:?} {other:?}");
            }
        }
        // Each bit of a text moves about half of the bits of both numbers.
        let before = Fingerprint::of(&[Some(&long)]);
        for bit in 0..512 {
            let mut text = long;
            text[bit / 8] ^= 1 << (bit % 8);
            let Fingerprint(first, second) = Fingerprint::of(&[Some(&text)]);
            for moved in [first ^ before.0, second ^ before.1].map(u64::count_ones) {
                assert!((12..=52).contains(&moved), "bit {bit} moves {moved}");
            }
        }
    }

    #[test]
    fn vd_07_law_08_bounded_values_count_as_many_bytes_as_they_take_until_their_object_goes() {
        let mut derived = Derived::new(&[vec![Path::parse("metadata.name").unwrap()]], Box::new([0]), Box::default());
        let pods: Vec<_> = (0..2048).map(|number| crate::testing::named(&format!("{number:020}"), 1)).collect();
        let mut text = Vec::new();
        pods.iter().for_each(|pod| _ = derived.ask(pod, Which::Placing, &mut text));
        let values = format!("[{}]", vec![quoted(&"v".repeat(100)); 2048].join(","));
        assert_eq!(derived.tell(&values, |_| true).len(), 2048);
        pods.iter().for_each(|pod| derived.settle(pod));
        assert!(derived.next.by_key.capacity() <= 1_024, "none waits any more");
        let each = allocation(size_of::<Option<Known>>()) + shared(100);
        let taken = 2048 * each + crate::allocation::table(&derived.known.by_key);
        assert!(derived.bytes().abs_diff(taken) * 20 < taken, "{} bytes are counted, {taken} are taken", derived.bytes());
        pods.iter().for_each(|pod| derived.forget(pod.key()));
        assert_eq!(derived.bytes(), 0);
        assert!(derived.known.by_key.capacity() <= 1_024);
    }
}
