//! Named indexes of a store: which objects have a value, without looking at the others.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::ops::Bound;
use std::rc::Rc;

use crate::json::fields::FieldSet;
use crate::json::path::Path;
use crate::key::Key;
use crate::object::Object;
use crate::selector::{check_index_name, parse_path};
use crate::status::{Error, ErrorCode};

/// What gives an object's values in an index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum IndexBy {
    /// The text at a path, as a field selector reads it. Each object has one value, which is empty if nothing stands there.
    Path(Path),
    /// The values at this position of [`Object::index_values`], which came with the object. An object may have none or several.
    Computed(usize),
}

/// The wanted paths. Each index by a path has a slot among them.
pub type Fields = Rc<RefCell<FieldSet>>;

/// One index that a user asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IndexSpec {
    /// Its name.
    pub name: String,
    /// What gives an object's values.
    pub by: IndexBy,
}

impl IndexSpec {
    /// Reads indexes from their names and paths. Those without a path are computed, and take the positions 0, 1, … in this order. Fails if a
    /// path cannot be read.
    pub fn read(given: Vec<(String, Option<String>)>) -> Result<Vec<Self>, Error> {
        let mut computed = 0..;
        let spec = |(name, path): (String, Option<Path>)| {
            let by = path.map_or_else(|| IndexBy::Computed(computed.next().unwrap_or_default()), IndexBy::Path);
            Self { name, by }
        };
        Ok(Self::paths(given)?.into_iter().map(spec).collect())
    }

    /// Reads the paths of indexes. Fails if one cannot be read.
    pub fn paths(given: Vec<(String, Option<String>)>) -> Result<Vec<(String, Option<Path>)>, Error> {
        let read = |(name, path): (String, Option<String>)| {
            let path = path.map(|text| parse_path(&format!("indexes.{name}"), &text)).transpose()?;
            Ok((name, path))
        };
        given.into_iter().map(read).collect()
    }
}

#[derive(Debug)]
struct Index {
    name: String,
    by: By,
    // A row for each value of each object. So the objects of a value stand together, in key order.
    rows: BTreeSet<(Rc<str>, Key)>,
}

#[derive(Debug)]
enum By {
    Path { path: Path, slot: usize },
    Computed(usize),
}

/// The indexes of one store.
#[derive(Debug, Default)]
pub struct Indexes {
    indexes: Vec<Index>,
    fields: Option<Fields>,
}

impl Indexes {
    /// Empty indexes. Their paths get slots among the fields. Fails when a name is empty, stands twice, or is "namespace".
    pub fn new(specs: &[IndexSpec], fields: &Fields) -> Result<Self, Error> {
        let mut indexes: Vec<Index> = Vec::with_capacity(specs.len());
        for spec in specs {
            let name = &spec.name;
            check_index_name("indexes", name)?;
            if indexes.iter().any(|index| index.name == *name) {
                return Err(Error::new(ErrorCode::Invalid, format!("indexes: the index {name:?} stands twice")));
            }
            let by = match &spec.by {
                IndexBy::Path(path) => By::Path { path: path.clone(), slot: fields.borrow_mut().slot(path) },
                IndexBy::Computed(position) => By::Computed(*position),
            };
            indexes.push(Index { name: name.clone(), by, rows: BTreeSet::new() });
        }
        Ok(Self { indexes, fields: Some(fields.clone()) })
    }

    /// Follows one change of the store. It costs nothing without indexes, and little if no value changed.
    pub(crate) fn change(&mut self, before: Option<&Rc<Object>>, after: Option<&Rc<Object>>) {
        let Some(fields) = &self.fields else { return };
        let fields = fields.borrow();
        for index in &mut self.indexes {
            let old = before.map(|object| index.by.values(object, &fields)).unwrap_or_default();
            let new = after.map(|object| index.by.values(object, &fields)).unwrap_or_default();
            if old == new {
                continue;
            }
            for value in old {
                index.rows.remove(&(value, before.map_or_else(|| "".into(), |object| object.key().clone())));
            }
            for value in new {
                index.rows.insert((value, after.map_or_else(|| "".into(), |object| object.key().clone())));
            }
        }
    }

    /// Bytes of the rows; nodes are about half full. The values are shared with the objects.
    pub(crate) fn bytes(&self) -> usize {
        self.indexes.iter().map(|index| 2 * index.rows.len() * size_of::<(Rc<str>, Key)>()).sum()
    }

    /// Removes all rows. The indexes stay.
    pub(crate) fn clear(&mut self) {
        for index in &mut self.indexes {
            index.rows.clear();
        }
    }

    /// The keys of the objects with a value, in order. `None` if there is no such index.
    pub(crate) fn keys<'s>(&'s self, index: &str, value: &str) -> Option<impl Iterator<Item = &'s Key> + use<'s>> {
        let value: Rc<str> = value.into();
        let rows = self.get(index)?.rows.range((value.clone(), "".into())..);
        Some(rows.take_while(move |(held, _)| *held == value).map(|(_, key)| key))
    }

    /// The values that some object has, in order. `None` if there is no such index.
    pub(crate) fn values(&self, index: &str) -> Option<Vec<Rc<str>>> {
        let rows = &self.get(index)?.rows;
        let mut values: Vec<Rc<str>> = Vec::new();
        let mut next = rows.first();
        while let Some((value, _)) = next {
            values.push(value.clone());
            // The least text above a value is that value and a zero byte.
            let above: Rc<str> = format!("{value}\0").into();
            next = rows.range((Bound::Included((above, "".into())), Bound::Unbounded)).next();
        }
        Some(values)
    }

    /// The values of an object in an index, whether or not it is held.
    pub(crate) fn values_of(&self, index: &str, object: &Object) -> Vec<Rc<str>> {
        let fields = self.fields.as_ref().map(|fields| fields.borrow());
        let values = self.get(index).zip(fields).map(|(index, fields)| index.by.values(object, &fields));
        values.unwrap_or_default()
    }

    /// Whether there is an index of this name, or for a field (`f:` and a path) or a label (`l:` and its key).
    pub(super) fn has(&self, index: &str) -> bool {
        self.get(index).is_some()
    }

    fn get(&self, name: &str) -> Option<&Index> {
        if let Some(index) = self.indexes.iter().find(|index| index.name == name) {
            return Some(index);
        }
        if self.indexes.is_empty() {
            return None;
        }
        let path = match name.split_at_checked(2)? {
            ("f:", path) => Path::parse(path).ok()?,
            ("l:", label) => Path::member(&["metadata", "labels", label]),
            _ => return None,
        };
        self.indexes.iter().find(|index| matches!(&index.by, By::Path { path: held, .. } if *held == path))
    }
}

impl By {
    fn values(&self, object: &Object, fields: &FieldSet) -> Vec<Rc<str>> {
        match self {
            Self::Path { slot, .. } => vec![object.field(*slot, fields).into_text()],
            Self::Computed(position) => object.index_values(*position).to_vec(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indexes_without_a_path_are_numbered_among_themselves() {
        let given = |name: &str, path: Option<&str>| (name.to_string(), path.map(Into::into));
        let read = IndexSpec::read(vec![given("a", None), given("b", Some("spec.nodeName")), given("c", None)]).unwrap();
        let path = Path::parse("spec.nodeName").unwrap();
        let by: Vec<IndexBy> = read.into_iter().map(|index| index.by).collect();
        assert_eq!(by, [IndexBy::Computed(0), IndexBy::Path(path), IndexBy::Computed(1)]);
        let mistake = IndexSpec::read(vec![given("a", Some("status["))]).unwrap_err();
        assert_eq!(mistake.code, ErrorCode::Invalid);
        assert!(mistake.message.starts_with("indexes.a: "), "{}", mistake.message);
    }
}
