//! The live views of a cacher: every change of the store goes through them.

use std::rc::Rc;

use slab::Slab;

use crate::cache::store::Store;
use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::object::Object;
use crate::status::{Error, ErrorCode};
use crate::view::{OrderAs, OrderBy, View, ViewSpec, Window};
use crate::watch::filter::{invalid_selector, parse_selectors};

/// What a view asks for, in text.
#[derive(Clone, Debug, Default)]
pub struct ViewOptions {
    /// Only these namespaces; none = all.
    pub namespaces: Option<Vec<String>>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// Path, whether descending, and how values compare (`text`, `natural`, `number`, `quantity`, `time`).
    pub order: Vec<(String, bool, Option<String>)>,
    /// Offset and limit of the rows that are wanted.
    pub window: Option<(usize, usize)>,
    /// The path whose values are counted.
    pub group_by: Option<String>,
    /// Whether a condition outside decides too.
    pub predicate: bool,
}

struct Open {
    view: View,
    // Of the fields that it orders and groups by.
    _slots: Vec<Slot>,
    // Something was told to the view since it was last looked at.
    touched: bool,
    // It was said to have changed, and has not been read since: it need not be said again.
    told: bool,
}

/// The open views by id.
#[derive(Default)]
pub struct Views {
    views: Slab<Open>,
    touched: Vec<u32>,
}

impl Views {
    /// Opens a view on a store. Fails on a selector or path with a mistake.
    pub fn open(&mut self, options: &ViewOptions, store: &Store, fields: &mut FieldSet) -> Result<u32, Error> {
        let predicate = parse_selectors(options.label_selector.as_deref(), options.field_selector.as_deref())?;
        let mut slots = Vec::new();
        let mut slot = |what: &str, path: &str, fields: &mut FieldSet| {
            let slot = fields.hold(&parse_path(what, path)?);
            let number = slot.number();
            slots.push(slot);
            Ok::<_, Error>(number)
        };
        let mut order = Vec::with_capacity(options.order.len());
        for (path, descending, kind) in &options.order {
            let slot = slot("orderBy.path", path, fields)?;
            order.push(OrderBy { slot, descending: *descending, kind: order_as(kind.as_deref())? });
        }
        let group_by = options.group_by.as_ref().map(|path| slot("groupBy", path, fields)).transpose()?;
        let spec = ViewSpec {
            namespaces: options.namespaces.clone(),
            label: predicate.label,
            field: predicate.field,
            order,
            window: options.window.map(|(offset, limit)| Window { offset, limit }),
            group_by,
            predicate: options.predicate,
        };
        let mut view = View::new(spec, fields).map_err(|error| invalid_selector("fieldSelector", &error))?;
        view.reset(store.iter(), fields);
        view.take_changes();
        let id = u32::try_from(self.views.insert(Open { view, _slots: slots, touched: false, told: false })).unwrap_or(u32::MAX);
        Ok(id)
    }

    /// Closes a view.
    pub fn close(&mut self, id: u32) {
        self.views.try_remove(id as usize);
        // Its id may stay among the touched ones: it then names nothing, or a view that says that nothing has changed.
        if self.views.is_empty() {
            self.touched.clear();
        }
    }

    /// Tells every view of a change of the store.
    pub fn change(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>, fields: &FieldSet) {
        for (id, open) in &mut self.views {
            open.view.change(before, after, fields);
            if !std::mem::replace(&mut open.touched, true) && !open.told {
                self.touched.extend(u32::try_from(id));
            }
        }
    }

    /// A view, to ask for what is always of the present. Its rows are as they were last read.
    pub fn get(&self, id: u32) -> Option<&View> {
        self.views.get(id as usize).map(|open| &open.view)
    }

    /// A view with its rows up to date. From now on its changes are told again.
    pub fn read(&mut self, id: u32) -> Option<&View> {
        let open = self.views.get_mut(id as usize)?;
        open.told = false;
        if std::mem::take(&mut open.touched) {
            open.view.take_changes();
        }
        Some(&open.view)
    }

    /// A view to move or decide.
    pub fn get_mut(&mut self, id: u32) -> Option<&mut View> {
        let open = self.views.get_mut(id as usize)?;
        if !std::mem::replace(&mut open.touched, true) && !open.told {
            self.touched.push(id);
        }
        Some(&mut open.view)
    }

    /// The views whose rows, total or counts have changed, or that wait for verdicts. One that was named costs nothing more until somebody
    /// has [`read`](Views::read) it: in a burst of events the first alone is told, and what the others changed is read along.
    pub fn take_changed(&mut self) -> Vec<u32> {
        let touched = std::mem::take(&mut self.touched);
        let changed = |id: &u32| {
            self.views.get_mut(*id as usize).is_some_and(|open| {
                if !std::mem::take(&mut open.touched) {
                    return false; // read meanwhile
                }
                open.told = open.view.take_changes().any() || open.view.undecided().len() > 0;
                open.told
            })
        };
        touched.into_iter().filter(changed).collect()
    }

    /// Whether some view may have changed.
    pub fn has_changes(&self) -> bool {
        !self.touched.is_empty()
    }

    /// How many views are open.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Whether none is open.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }
}

fn order_as(kind: Option<&str>) -> Result<OrderAs, Error> {
    Ok(match kind {
        None | Some("text") => OrderAs::Text,
        Some("natural") => OrderAs::Natural,
        Some("number") => OrderAs::Number,
        Some("quantity") => OrderAs::Quantity,
        Some("time") => OrderAs::Time,
        Some(other) => {
            let message = format!("orderBy.as: {other:?} is none of text, natural, number, quantity, time");
            return Err(Error::new(ErrorCode::Invalid, message));
        }
    })
}

fn parse_path(what: &str, text: &str) -> Result<Path, Error> {
    Path::parse(text).map_err(|error| Error::new(ErrorCode::Invalid, format!("{what}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::labelled;

    #[test]
    fn a_view_hears_of_changes_once_a_flush_and_only_while_open() {
        let mut fields = FieldSet::new(Vec::new());
        let mut views = Views::default();
        let mut store = Store::new();
        store.upsert(labelled("a/x", 1, &[("app", "web")]));
        let options = ViewOptions { label_selector: Some("app=web".into()), ..ViewOptions::default() };
        let id = views.open(&options, &store, &mut fields).unwrap();
        assert_eq!(views.get(id).unwrap().total(), 1);
        assert!(views.take_changed().is_empty(), "what was there at the start is no change");

        for (version, app) in [(2, "web"), (3, "web"), (4, "db")] {
            views.change(None, Some(&labelled("a/y", version, &[("app", app)])), &fields);
        }
        assert!(views.take_changed().is_empty(), "y came and went within one flush");
        views.change(None, Some(&labelled("a/z", 5, &[("app", "web")])), &fields);
        assert_eq!(views.take_changed(), [id]);
        let rows = |view: &View| view.rows().iter().map(|row| row.key().to_string()).collect::<Vec<_>>();
        assert_eq!(views.read(id).map(rows), Some(vec!["a/x".into(), "a/z".into()]));
        views.close(id);
        views.change(None, Some(&labelled("a/q", 6, &[("app", "web")])), &fields);
        assert!(!views.has_changes());
    }

    #[test]
    fn a_view_that_nobody_has_read_is_not_told_again() {
        let mut fields = FieldSet::new(Vec::new());
        let mut views = Views::default();
        let id = views.open(&ViewOptions::default(), &Store::new(), &mut fields).unwrap();
        let count = |view: &View| view.rows().len();
        views.change(None, Some(&labelled("a/x", 1, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);
        views.change(None, Some(&labelled("a/y", 2, &[])), &fields);
        assert!(!views.has_changes(), "it is known already");
        assert_eq!(views.get(id).map(count), Some(1), "rows stay as they were read");
        assert_eq!(views.read(id).map(count), Some(2), "whoever reads it reads all");
        assert!(views.take_changed().is_empty());
        views.change(None, Some(&labelled("a/z", 3, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);

        // One that is read between its change and the flush is not told of what was read.
        assert_eq!(views.read(id).map(count), Some(3));
        views.change(None, Some(&labelled("a/q", 4, &[])), &fields);
        assert_eq!(views.read(id).map(count), Some(4));
        assert!(views.has_changes() && views.take_changed().is_empty());
        views.change(None, Some(&labelled("a/r", 5, &[])), &fields);
        assert_eq!(views.take_changed(), [id]);
    }

    #[test]
    fn an_unknown_order_or_a_broken_path_is_invalid() {
        let mut fields = FieldSet::new(Vec::new());
        let store = Store::new();
        for options in [
            ViewOptions { order: vec![("a.b".into(), false, Some("size".into()))], ..ViewOptions::default() },
            ViewOptions { order: vec![("a[".into(), false, None)], ..ViewOptions::default() },
            ViewOptions { group_by: Some("a[".into()), ..ViewOptions::default() },
            ViewOptions { field_selector: Some("a".into()), ..ViewOptions::default() },
        ] {
            let error = Views::default().open(&options, &store, &mut fields).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid);
        }
    }
}
