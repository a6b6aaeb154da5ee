//! Reads frames and items of lists by comparing them with what is held of their objects, as long as that pays.

use std::cell::{Cell, OnceCell};
use std::rc::Rc;

use super::kinds::Kinds;
use crate::json::{FieldSet, FrameType, HeldVersion, ITEM_DEPTH, InVain, Update, scan_held_item, scan_update};
use crate::object::{Lent, Object};
use crate::status::Error;

/// Finds the object that is held under a namespace and name.
pub type Predecessors = Box<dyn Fn(&str, &str) -> Option<Rc<Object>>>;

/// The objects around the object of a frame.
const FRAME_DEPTH: usize = 1;

/// Frames that are read without a comparison after several in vain. A comparison in vain costs up to a scan, so many cost a few percent.
const MAX_PASSED_OVER: u32 = 64;

/// A comparison that ended within this part of the held text cost next to nothing: an eighth.
const CHEAP_PART: usize = 8;

/// The held versions of objects, and whether comparing with them has paid lately.
#[derive(Default)]
pub(super) struct Comparisons {
    predecessors: OnceCell<Predecessors>,
    // Comparisons in vain since the last one that paid.
    in_vain: Cell<u32>,
    // Frames that are still to be read without one.
    passed_over: Cell<u32>,
}

impl Comparisons {
    /// Sets who finds the held versions.
    pub(super) fn begin(&self, predecessors: Predecessors) {
        let _second = self.predecessors.set(predecessors);
    }

    /// Reads a frame by comparing it with what is held of its object. `None` says nothing about the frame.
    pub(super) fn read(&self, frame: &[u8], fields: &FieldSet, kinds: &Kinds) -> Option<(FrameType, Rc<Object>)> {
        let (kind, update) = self.note(scan_update(frame, fields, self.held(FRAME_DEPTH, fields)?))?;
        if !kinds.permit(update.kind.as_deref()) {
            return None;
        }
        Some((kind, object(update, FRAME_DEPTH)?))
    }

    /// Reads the item of a list that starts at `start`. Returns its object, which is the held one if that is the same version with the same
    /// content; and the position behind it. Fails where it names another kind. `None` says nothing about the item.
    pub(super) fn read_item(&self, document: &[u8], start: usize, fields: &FieldSet, kinds: &Kinds) -> Option<(ItemRead, usize)> {
        let (mut update, end) = self.note(scan_held_item(document, start, fields, self.held(ITEM_DEPTH, fields)?))?;
        let kind = update.kind.take();
        let object = object(update, ITEM_DEPTH)?;
        Some(((object, kinds.check(kind.as_deref())), end))
    }

    /// Who finds what is held and may be compared, unless it is passed over this time.
    fn held<'a>(&'a self, depth: usize, fields: &'a FieldSet) -> Option<impl Fn(&str, &str) -> Option<Held> + use<'a>> {
        let predecessors = self.predecessors.get().filter(|_| fields.compares())?;
        if let Some(rest) = self.passed_over.get().checked_sub(1) {
            self.passed_over.set(rest);
            return None;
        }
        Some(move |namespace: &str, name: &str| {
            let held = predecessors(namespace, name)?;
            held.is_comparable(depth, fields).then(|| Held { text: held.lend(), object: held })
        })
    }

    /// Notes whether a comparison was in vain. One that ended soon cost nothing, and one of an item that is not whole says nothing.
    fn note<T>(&self, compared: Result<T, InVain>) -> Option<T> {
        match &compared {
            Ok(_) => self.in_vain.set(0),
            Err(InVain { bytes, held, is_cut }) if *is_cut || *bytes <= held / CHEAP_PART => {}
            Err(_) => {
                let in_vain = self.in_vain.get() + 1;
                self.in_vain.set(in_vain);
                self.passed_over.set(1u32.checked_shl(in_vain).map_or(MAX_PASSED_OVER, |rest| rest.min(MAX_PASSED_OVER)));
            }
        }
        compared.ok()
    }
}

/// An item's object, and whether its kind is the right one.
pub(super) type ItemRead = (Rc<Object>, Result<(), Error>);

/// The object that an update makes, which may be the held one.
fn object(update: Update<'_, Held>, depth: usize) -> Option<Rc<Object>> {
    let Held { object, text } = update.held;
    match update.edits {
        None => Some(object),
        Some(edits) => object.updated(&text, edits, depth).ok(),
    }
}

/// An object, and its text to compare with.
struct Held {
    object: Rc<Object>,
    text: Lent,
}

impl HeldVersion for Held {
    fn text(&self) -> &[u8] {
        &self.text
    }

    fn is_decoded(&self) -> bool {
        self.object.is_decoded()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{Path, scan_object};
    use crate::version::Version;

    fn fields() -> FieldSet {
        let mut fields = FieldSet::new(vec![Path::parse("metadata.managedFields").unwrap()]);
        fields.slot(&Path::parse("spec.a").unwrap());
        fields
    }

    fn document(kind: &str, version: u32, spec: &str) -> String {
        let filler = "x".repeat(400);
        format!(
            r#"{{{kind}"metadata":{{"name":"a","namespace":"n","resourceVersion":"{version}"}},"filler":"{filler}","spec":{{"a":{spec}}}}}"#
        )
    }

    fn frame(document: &str) -> Vec<u8> {
        format!("{{\"type\":\"MODIFIED\",\"object\":{document}}}\n").into_bytes()
    }

    /// An object that arrived in a frame.
    fn held(document: &str, fields: &FieldSet) -> Rc<Object> {
        let Ok(crate::json::Frame::Event { object, .. }) = crate::json::scan_frame(&frame(document), fields) else { panic!("no event") };
        Object::new(object).unwrap()
    }

    fn comparisons(held: &Rc<Object>) -> Comparisons {
        let (comparisons, held) = (Comparisons::default(), held.clone());
        comparisons.begin(Box::new(move |namespace, name| (namespace == "n" && name == "a").then(|| held.clone())));
        comparisons
    }

    #[test]
    fn law_14_differences_an_update_has_what_a_full_scan_would_read() {
        let fields = fields();
        let held = held(&document("", 1, "1"), &fields);
        let comparisons = comparisons(&held);
        let text = document("", 2, "\"two\"");
        let (kind, object) = comparisons.read(&frame(&text), &fields, &Kinds::default()).unwrap();
        assert_eq!((kind, object.version(), &**object.key()), (FrameType::Modified, &Version::from(2), "n/a"));
        assert_eq!((&*object.text(), object.field(0, &fields)), (text.as_bytes(), crate::json::Scalar::Text("two".into())));
        assert!(!object.shares_facts(&held), "a field differs");
        let (_, other) = comparisons.read(&frame(&document("", 3, "1")), &fields, &Kinds::default()).unwrap();
        assert!(other.shares_facts(&held), "nothing that is wanted differs");
        assert_ne!(other.id(), held.id());
    }

    #[test]
    fn law_15_sharing_an_update_of_a_decoded_version_has_what_leads_from_that_to_it() {
        let fields = fields();
        let (first, pins) = (held(&document("", 1, "1"), &fields), crate::object::Pins::default());
        let next = |held: &Rc<Object>, version: u32, spec: &str| {
            comparisons(held).read(&frame(&document("", version, spec)), &fields, &Kinds::default()).unwrap().1
        };
        assert_eq!(next(&first, 2, "2").patch_of(first.id()), None, "nobody decoded it");
        pins.decode(&pins.get(pins.pin(&first)).unwrap());
        let second = next(&first, 2, "2");
        let patch = second.patch_of(first.id()).expect("a patch");
        assert_eq!(std::str::from_utf8(&patch), Ok(r#"[["metadata","resourceVersion"],"2",["spec","a"],2]"#));
        assert_eq!(next(&second, 3, "3").patch_of(second.id()), None, "that one is not decoded");
        pins.release(first.id());
        assert_eq!(next(&first, 2, "2").patch_of(first.id()), None, "it was given back");
    }

    #[test]
    fn law_14_differences_an_item_of_a_list_is_compared_with_what_the_watch_sends_of_it() {
        let fields = fields();
        let page = format!(r#"{{"items":[{}]}}"#, document("", 1, "1"));
        let mut items = Vec::new();
        crate::json::ListScanner::new().push(page.as_bytes(), &fields, &mut |item| items.push(Object::new(item).unwrap())).unwrap();
        let kinds = Kinds::checked();
        kinds.check(Some("Pod")).unwrap();
        let sent = document("\"kind\":\"Pod\",\"apiVersion\":\"v1\",", 2, "1");
        let (_, object) = comparisons(&items[0]).read(&frame(&sent), &fields, &kinds).unwrap();
        assert_eq!((object.version(), &*object.text()), (&Version::from(2), sent.as_bytes()));
        assert!(object.shares_facts(&items[0]), "nothing asks for the kind");
        let foreign = sent.replace("Pod", "Node");
        assert!(comparisons(&items[0]).read(&frame(&foreign), &fields, &kinds).is_none());
    }

    #[test]
    fn what_was_read_otherwise_is_not_compared() {
        let mut fields = fields();
        // Inside of a frame it would be nested too deep. The document and `spec` are around it.
        let deep = format!("{}{}", "[".repeat(125), "]".repeat(125));
        let alone = Object::new(scan_object(document("", 1, &deep).as_bytes(), &fields).unwrap()).unwrap();
        assert!(comparisons(&alone).read(&frame(&document("", 2, &deep)), &fields, &Kinds::default()).is_none());
        let held = held(&document("", 1, "1"), &fields);
        fields.slot(&Path::parse("spec.b").unwrap());
        assert!(comparisons(&held).read(&frame(&document("", 2, "1")), &fields, &Kinds::default()).is_none());
    }

    #[test]
    fn where_kinds_are_checked_a_kind_must_be_known_to_be_right() {
        let fields = fields();
        let kinds = Kinds::checked();
        let read = |kind: &str| {
            let held = held(&document(kind, 1, "1"), &fields);
            comparisons(&held).read(&frame(&document(kind, 2, "1")), &fields, &kinds).is_some()
        };
        let pod = "\"kind\":\"Pod\",";
        assert!(!read(pod), "none has been named");
        kinds.check(Some("Pod")).unwrap();
        assert!(read(pod) && !read("\"kind\":\"Node\",") && !read(""));
        kinds.begin();
        assert!(!read(pod), "the next list decides");
    }

    #[test]
    fn comparisons_in_vain_grow_rare_until_one_pays() {
        let fields = fields();
        let held = held(&document("", 1, "1"), &fields);
        let comparisons = comparisons(&held);
        let read = |document: &str| comparisons.read(&frame(document), &fields, &Kinds::default()).is_some();
        // Broken behind nearly all of it.
        let broken = document("", 2, "1").replace("}}", "}");
        let sound = document("", 2, "2");
        let mut passed_over = Vec::new();
        for _ in 0..8 {
            assert!(!read(&broken));
            passed_over.push(comparisons.passed_over.get());
            (0..comparisons.passed_over.get()).for_each(|_| assert!(!read(&sound), "it is passed over"));
        }
        assert_eq!(passed_over, [2, 4, 8, 16, 32, 64, 64, 64]);
        assert!(read(&sound) && comparisons.in_vain.get() == 0);
        // What differs at its beginning costs nothing.
        assert!(!read(&document("\"new\":{},", 2, "1")) && read(&sound));
    }
}
