//! A parcel: objects as they rest, for the cache of another thread, or for a disk. Who opens it neither scans nor packs them again.
//!
//! A parcel is whole in itself. In it stand, each behind its number: the dictionaries, the sets of labels, the objects. An object names its
//! dictionary and its labels by their places, from one on. 0 is a text that is not packed, or no labels.
//!
//! Numbers have seven bits a byte, the lowest first. Texts and packed bytes stand behind their length.

use std::ptr;
use std::rc::Rc;

use super::arena::Arena;
use super::body::{Body, Compressed};
use super::delta::{put, take};
use super::dictionary::{Dictionaries, Dictionary};
use super::text::Text;
use crate::json::write::Document;
use crate::json::{Labels, no_labels, read_labels};
use crate::object::object::{Facts, Object};
use crate::status::Error;

/// The parcel of these objects.
pub(crate) fn parcel(objects: &[Rc<Object>]) -> Vec<u8> {
    pack(objects, true)
}

/// The same with their texts alone. So nothing is in it that only other objects have said, which may be gone.
pub(crate) fn parcel_of_texts(objects: &[Rc<Object>]) -> Vec<u8> {
    pack(objects, false)
}

fn pack(objects: &[Rc<Object>], as_they_rest: bool) -> Vec<u8> {
    let (mut dictionaries, mut labels): (Vec<Rc<Dictionary>>, Vec<&Labels>) = Default::default();
    let mut packed = Vec::new();
    for object in objects {
        let body = object.body();
        let dictionary = match &*body {
            Body::Packed(Compressed { dictionary, .. }) if as_they_rest => place(&mut dictionaries, dictionary.clone(), Rc::ptr_eq),
            _ => 0,
        };
        let Facts { namespace, name, version, uid, labels: own, comparable } = object.facts();
        let own = if own.is_empty() { 0 } else { place(&mut labels, own, |a, b| ptr::eq(a.as_ptr(), b.as_ptr())) };
        for text in [namespace, name, &version.to_string(), uid.unwrap_or_default()] {
            put_bytes(&mut packed, text.as_bytes());
        }
        put(&mut packed, own);
        put(&mut packed, comparable.map_or(0, |depth| usize::from(depth) + 1));
        put(&mut packed, dictionary);
        match &*body {
            Body::Packed(Compressed { packed: block, .. }) if as_they_rest => {
                put(&mut packed, block.len());
                block.read(|bytes| put_bytes(&mut packed, bytes));
            }
            body => put_bytes(&mut packed, &body.lend()),
        }
    }
    let mut parcel = Vec::with_capacity(packed.len() + dictionaries.iter().map(|dictionary| dictionary.text().len()).sum::<usize>() + 64);
    put(&mut parcel, dictionaries.len());
    dictionaries.iter().for_each(|dictionary| put_bytes(&mut parcel, dictionary.text()));
    put(&mut parcel, labels.len());
    for labels in labels {
        let mut document = Document::new();
        labels.iter().for_each(|(name, value)| _ = document.text(name, value));
        put_bytes(&mut parcel, document.finish().as_bytes());
    }
    put(&mut parcel, objects.len());
    parcel.extend_from_slice(&packed);
    parcel
}

/// The place of a value in a table, from one on; it may be the newest in it.
fn place<T>(table: &mut Vec<T>, value: T, is_same: impl Fn(&T, &T) -> bool) -> usize {
    // Those that came last are most likely to come again.
    table.iter().rposition(|known| is_same(known, &value)).unwrap_or_else(|| {
        table.push(value);
        table.len() - 1
    }) + 1
}

/// Where a parcel comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Origin {
    /// Another thread, which packs on with its dictionaries.
    Thread,
    /// A disk. A dictionary has what some object said, which may be gone for long: nothing new is packed against it.
    Disk,
}

/// For whom a parcel is opened.
pub(crate) struct Recipient<'a> {
    /// Where it comes from.
    pub(crate) origin: Origin,
    /// Finds the object that is held with these facts and a text of this length: it is taken as it is.
    pub(crate) held: &'a dyn Fn(&Facts<'_>, usize) -> Option<Rc<Object>>,
    /// Fields that are read of each object.
    pub(crate) fields: usize,
}

/// The objects of a parcel. Their packed texts go into this arena. Fails with code `out-of-memory` where there is no room for them, and with `decode` where
/// it is no parcel.
pub(super) fn open(
    parcel: &[u8],
    recipient: &Recipient<'_>,
    arena: &Rc<Arena>,
    known: &mut Dictionaries,
) -> Result<Vec<Rc<Object>>, Error> {
    let mut rest = Rest(parcel);
    let dictionaries = rest.table(|rest| {
        let text = Some(rest.bytes()?).filter(|text| Dictionary::may_be(text)).ok_or_else(broken)?;
        Ok(match recipient.origin {
            Origin::Disk if !known.may_keep(text) => Opener::Passing(Dictionary::of(text)),
            origin => Opener::Kept(known.adopt(text, origin == Origin::Thread)),
        })
    })?;
    let labels = rest.table(|rest| rest.bytes().map(read_labels))?;
    let objects = rest.table(|rest| rest.object(&dictionaries, &labels, recipient, arena))?;
    if rest.0.is_empty() { Ok(objects) } else { Err(broken()) }
}

/// What unpacks the texts of a parcel.
enum Opener {
    /// When they are read.
    Kept(Rc<Dictionary>),
    /// Now. They are packed anew, against another one.
    Passing(Rc<Dictionary>),
}

/// What of a parcel was not read yet.
struct Rest<'p>(&'p [u8]);

impl<'p> Rest<'p> {
    fn number(&mut self) -> Result<usize, Error> {
        take(&mut self.0).ok_or_else(broken)
    }

    fn bytes(&mut self) -> Result<&'p [u8], Error> {
        let length = self.number()?;
        let (bytes, rest) = self.0.split_at_checked(length).ok_or_else(broken)?;
        self.0 = rest;
        Ok(bytes)
    }

    fn text(&mut self) -> Result<&'p str, Error> {
        str::from_utf8(self.bytes()?).map_err(|_| broken())
    }

    /// As many as the number in front says. Each takes a byte at least, so a wrong number takes no memory.
    fn table<T>(&mut self, mut read: impl FnMut(&mut Self) -> Result<T, Error>) -> Result<Vec<T>, Error> {
        let count = self.number()?;
        if count > self.0.len() {
            return Err(broken());
        }
        (0..count).map(|_| read(self)).collect()
    }

    fn object(
        &mut self,
        dictionaries: &[Opener],
        labels: &[Labels],
        recipient: &Recipient<'_>,
        arena: &Rc<Arena>,
    ) -> Result<Rc<Object>, Error> {
        let none = no_labels();
        let facts = Facts {
            namespace: self.text()?,
            name: self.text()?,
            version: &self.text()?.parse().map_err(|_| broken())?,
            uid: Some(self.text()?).filter(|uid| !uid.is_empty()),
            labels: match self.number()?.checked_sub(1) {
                Some(at) => labels.get(at).ok_or_else(broken)?,
                None => &none,
            },
            comparable: self.number()?.checked_sub(1).map(u8::try_from).transpose().map_err(|_| broken())?,
        };
        let dictionary = match self.number()?.checked_sub(1) {
            Some(at) => Some((dictionaries.get(at).ok_or_else(broken)?, self.number()?)),
            None => None,
        };
        let bytes = self.bytes()?;
        let length = dictionary.as_ref().map_or(bytes.len(), |(_, length)| *length);
        if let Some(held) = (recipient.held)(&facts, length) {
            return Ok(held);
        }
        let body = match dictionary {
            Some((_, length)) if !Dictionary::may_give(bytes, length) => return Err(broken()),
            Some((Opener::Kept(dictionary), length)) => {
                Body::Packed(Compressed { packed: arena.store(bytes, length)?, dictionary: dictionary.clone() })
            }
            Some((Opener::Passing(dictionary), length)) => raw(dictionary.unpack(bytes, length).ok_or_else(broken)?),
            None => raw(bytes.into()),
        };
        Object::at_rest(&facts, body, recipient.fields)
    }
}

fn raw(text: Box<[u8]>) -> Body<Object> {
    Body::Raw { text: Text::new(text), before: None }
}

fn put_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    put(out, bytes.len());
    out.extend_from_slice(bytes);
}

fn broken() -> Error {
    Error::decode("what was packed elsewhere cannot be read: it is cut, or of another version")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{FieldSet, Path, Scalar, scan_object};
    use crate::object::Holder;
    use crate::object::rest::Packer;
    use crate::status::ErrorCode;
    use crate::testing::named;
    use proptest::prelude::*;

    fn object(number: usize, labels: &str, letters: usize) -> Rc<Object> {
        let text = format!(
            r#"{{"metadata":{{"namespace":"web","name":"pod-{number}","resourceVersion":"{}","uid":"u-{number}","labels":{labels}}},"spec":{{"text":"{}"}}}}"#,
            number + 1,
            "x".repeat(letters)
        );
        Object::new(scan_object(text.as_bytes(), &FieldSet::new(Vec::new())).unwrap()).unwrap()
    }

    fn packed(objects: &[Rc<Object>]) -> Packer {
        let mut packer = Packer::default();
        objects.iter().for_each(|object| packer.stored(object));
        while packer.pack_next(&mut |_, _, _| {}) {}
        packer
    }

    type Shown = (String, String, Option<String>, Labels, Vec<u8>, (usize, bool), bool);

    fn shown(object: &Rc<Object>) -> Shown {
        let uid = object.uid().map(ToString::to_string);
        let comparable = object.is_comparable(2, &FieldSet::new(Vec::new()));
        let labels = object.facts().labels.clone();
        (object.key().to_string(), object.version().to_string(), uid, labels, object.text().to_vec(), object.form(), comparable)
    }

    #[test]
    fn objects_arrive_as_they_were_packed_or_not() {
        let sets = [r#"{"app":"a","tier":"\"b\""}"#, "{}", r#"{"app":"c"}"#];
        let objects: Vec<_> = (0..200).map(|number| object(number, sets[number % 3], 20 * (number % 40))).collect();
        let _sender = packed(&objects[..150]);
        assert!(objects.iter().any(|object| object.form().1) && objects.iter().any(|object| !object.form().1));
        let mut receiver = Packer::default();
        let opened = receiver.open_alone(&parcel(&objects)).unwrap();
        assert!(opened.iter().map(shown).eq(objects.iter().map(shown)));
        assert!(Rc::ptr_eq(opened[0].facts().labels, opened[3].facts().labels), "equal labels are held once");
        let mut fields = FieldSet::new(Vec::new());
        let app = fields.slot(&Path::parse("metadata.labels.app").unwrap());
        assert_eq!(opened[3].field(app, &fields), Scalar::Text("a".into()), "what is wanted is read at its first use");
        // Those that were not packed wait for it here.
        opened.iter().for_each(|object| receiver.listed(object, None));
        while receiver.pack_next(&mut |_, _, _| {}) {}
        assert!(opened.iter().filter(|object| object.form().0 > 96).all(|object| !object.form().1));
        assert!(opened.iter().zip(&objects).all(|(opened, object)| opened.text() == object.text()));
    }

    #[test]
    fn one_dictionary_serves_all_parcels_that_came_with_it() {
        let objects: Vec<_> = (0..64).map(|number| object(number, "{}", 5_000)).collect();
        let _sender = packed(&objects);
        let mut receiver = Packer::default();
        let held: Vec<_> = (0..20).map(|_| receiver.open_alone(&parcel(&objects)).unwrap()).collect();
        let texts: usize = held.iter().flatten().map(|object| object.form().0).sum();
        assert!(receiver.overhead() < texts / 100, "{} beside {texts}", receiver.overhead());
    }

    #[test]
    fn the_next_texts_are_packed_with_the_dictionary_that_came() {
        let objects: Vec<_> = (0..64).map(|number| object(number, "{}", 5_000)).collect();
        let _sender = packed(&objects);
        let mut receiver = Packer::default();
        let (held, next) = (receiver.open_alone(&parcel(&objects)).unwrap(), object(99, "{}", 5_000));
        receiver.stored(&next);
        while receiver.pack_next(&mut |_, _, _| {}) {}
        let (Body::Packed(one), Body::Packed(other)) = (&*held[0].body(), &*next.body()) else { panic!("both rest") };
        assert!(Rc::ptr_eq(&one.dictionary, &other.dictionary));
    }

    #[test]
    fn one_that_is_cut_is_no_parcel() {
        let objects = [object(1, r#"{"app":"a"}"#, 500), named("b", 2), object(3, "{}", 700)];
        let _sender = packed(&objects);
        let whole = parcel(&objects);
        for length in 0..whole.len() {
            assert_eq!(Packer::default().open_alone(&whole[..length]).unwrap_err().code, ErrorCode::Decode, "{length} bytes");
        }
        assert!(Packer::default().open_alone(&[whole, vec![0]].concat()).is_err());
        assert!(Packer::default().open_alone(&parcel(&[])).unwrap().is_empty());
    }

    #[test]
    fn what_is_held_already_is_taken_as_it_is_and_takes_no_room() {
        let objects: Vec<_> = (0..64).map(|number| object(number, "{}", 5_000)).collect();
        let _sender = packed(&objects);
        let whole = parcel(&objects);
        let mut receiver = Packer::default();
        let held = receiver.open_alone(&whole).unwrap();
        let bytes = receiver.overhead();
        let found = |facts: &Facts<'_>, length: usize| {
            held.iter().find(|held| (held.name(), held.version(), held.form().0) == (facts.name, facts.version, length)).cloned()
        };
        let again = receiver.open(&whole, &Recipient { origin: Origin::Thread, held: &found, fields: 0 }).unwrap();
        assert!(again.iter().zip(&held).all(|(again, held)| Rc::ptr_eq(again, held)));
        assert_eq!(receiver.overhead(), bytes);
    }

    #[test]
    fn nothing_new_is_packed_against_what_came_from_a_disk() {
        let said = |number: usize, word: &str| {
            let text = format!(
                r#"{{"metadata":{{"name":"map-{number}","resourceVersion":"{}"}},"data":{{"word":"{word}","text":"{}"}}}}"#,
                number + 1,
                "x".repeat(500)
            );
            Object::new(scan_object(text.as_bytes(), &FieldSet::new(Vec::new())).unwrap()).unwrap()
        };
        let has = |parcel: &[u8], word: &str| parcel.windows(word.len()).any(|bytes| bytes == word.as_bytes());
        let word = "of-the-one-that-is-gone";
        let mut objects: Vec<_> = (0..100).map(|number| said(number, if number == 0 { word } else { "nothing" })).collect();
        let _first = packed(&objects);
        objects.remove(0);
        assert!(has(&parcel(&objects), word), "as a dictionary");
        assert!(!has(&parcel_of_texts(&objects), word));
        let mut second = Packer::default();
        let disk = Recipient { origin: Origin::Disk, held: &|_, _| None, fields: 0 };
        let restored = second.open(&parcel(&objects), &disk).unwrap();
        let next: Vec<_> = (1..100).map(|number| said(number, "new")).collect();
        for (old, new) in restored.iter().zip(&next) {
            second.stored(new);
            second.replaced(old, new);
        }
        while second.pack_next(&mut |_, _, _| {}) {}
        assert!(next.iter().all(|object| !object.form().1) && !has(&parcel(&next), word));
    }

    /// Each start leaves objects that nobody has changed since, with the dictionary of their day.
    #[test]
    fn law_08_bounded_dictionaries_of_many_starts_are_few_and_a_new_one_can_be_chosen() {
        let said = |number: usize, day: usize| {
            let words: Vec<_> = (0..60).map(|at| format!(r#""{}":"{}""#, at * 31 + day, (at * 7919 * (day + 1)) % 1_000)).collect();
            let head = format!(r#""name":"map-{number}","resourceVersion":"{}""#, day + 1);
            let text = format!(r#"{{"metadata":{{{head}}},"data":{{{}}}}}"#, words.join(","));
            Object::new(scan_object(text.as_bytes(), &FieldSet::new(Vec::new())).unwrap()).unwrap()
        };
        let mut objects: Vec<_> = (0..400).map(|number| said(number, 0)).collect();
        let _first = packed(&objects);
        let mut kept = parcel(&objects);
        for day in 1..12 {
            let mut packer = Packer::default();
            objects = packer.open(&kept, &Recipient { origin: Origin::Disk, held: &|_, _| None, fields: 0 }).unwrap();
            objects.iter().for_each(|object| packer.listed(object, None));
            for (number, object) in objects.iter_mut().enumerate().skip((day - 1) * 30).take(30) {
                let new = said(number, day);
                packer.stored(&new);
                packer.replaced(object, &new);
                *object = new;
            }
            while packer.pack_next(&mut |_, _, _| {}) {}
            kept = parcel(&objects);
            let dictionaries = Rest(&kept).number().unwrap();
            assert!(dictionaries <= 8, "{dictionaries} dictionaries on day {day}");
            let waiting = objects.iter().filter(|object| object.form().1).count();
            assert!(waiting <= 40, "{waiting} texts wait on day {day}");
        }
        let day = |number: usize| if number < 330 { number / 30 + 1 } else { 0 };
        assert!(objects.iter().enumerate().all(|(number, object)| *object.lend() == *said(number, day(number)).lend()));
    }

    #[test]
    fn fields_count_before_they_are_read() {
        let mut fields = FieldSet::new(Vec::new());
        let slots: Vec<_> = (0..8).map(|number| fields.slot(&Path::parse(&format!("spec.f{number}")).unwrap())).collect();
        let made = |number: usize, fields: &FieldSet| {
            let members: Vec<_> = (0..8).map(|field| format!(r#""f{field}":"a value of object {number} and field {field}""#)).collect();
            let text = format!(r#"{{"metadata":{{"name":"a-{number}","resourceVersion":"7"}},"spec":{{{}}}}}"#, members.join(","));
            Object::new(scan_object(text.as_bytes(), fields).unwrap()).unwrap()
        };
        let scanned: Vec<_> = (0..100).map(|number| made(number, &fields)).collect();
        let _sender = packed(&scanned);
        let mut receiver = Packer::default();
        let recipient = Recipient { origin: Origin::Thread, held: &|_, _| None, fields: fields.len() };
        let opened = receiver.open(&parcel(&scanned), &recipient).unwrap();
        let size = |objects: &[Rc<Object>]| objects.iter().map(|object| object.size()).sum::<usize>();
        // As the store measures them.
        opened.iter().chain(&scanned).for_each(|object| object.set_holder(Holder::Store));
        assert!(size(&opened).abs_diff(size(&scanned)) < size(&scanned) / 10, "{} and {}", size(&opened), size(&scanned));
        assert!(opened.iter().all(|object| matches!(object.field(slots[7], &fields), Scalar::Text(_))));
    }

    #[test]
    fn a_length_that_no_text_has_takes_no_memory() {
        for (dictionary, packed, length) in [(0, 8, 8 * 256), (33 << 10, 8, 8)] {
            let mut parcel = Vec::new();
            put(&mut parcel, 1);
            put_bytes(&mut parcel, &vec![b'x'; dictionary]);
            [0, 1].iter().for_each(|number| put(&mut parcel, *number));
            ["", "a", "7", ""].iter().for_each(|text| put_bytes(&mut parcel, text.as_bytes()));
            [0, 0, 1, length].iter().for_each(|number| put(&mut parcel, *number));
            put_bytes(&mut parcel, &vec![0; packed]);
            assert_eq!(Packer::default().open_alone(&parcel).unwrap_err().code, ErrorCode::Decode, "{length} bytes, {dictionary} in front");
        }
    }

    proptest! {
        #[test]
        fn whatever_stands_in_it_ends_in_objects_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            match Packer::default().open_alone(&bytes) {
                Ok(objects) => prop_assert!(objects.len() <= bytes.len()),
                Err(error) => prop_assert!([ErrorCode::Decode, ErrorCode::Protocol].contains(&error.code), "{error}"),
            }
        }
    }
}
