//! What a view asks for, in the caller's text.

use crate::json::fields::{FieldSet, Slot};
use crate::json::path::Path;
use crate::selector::{invalid_selector, parse_selectors};
use crate::status::{Error, ErrorCode};

use super::derived::Column;
use super::id::ViewId;
use super::order::{OrderAs, OrderBy};
use super::search::Search;
use super::spec::{Selected, ViewSpec};
use super::view::View;

/// What a view asks for, in text.
#[derive(Clone, Debug, Default)]
pub struct ViewOptions {
    /// Only these namespaces; `None` means all.
    pub namespaces: Option<Vec<String>>,
    /// A label selector.
    pub label_selector: Option<String>,
    /// A field selector over any scalar path.
    pub field_selector: Option<String>,
    /// What a filter box says.
    pub search: Option<SearchOptions>,
    /// Path, whether descending, and how values compare (`text`, `natural`, `number`, `quantity`, `time`).
    pub order: Vec<(String, bool, Option<String>)>,
    /// The path whose values are counted.
    pub group_by: Option<String>,
    /// The paths of the fields that rows show, or derived columns by their names; `None` where they show whole objects.
    pub select: Option<Vec<String>>,
    /// The derived columns, by name: the paths of what each is derived of. Where `order`, `group_by` or `select` say such a name, they mean the column.
    pub derive: Vec<(String, Vec<String>)>,
    /// Whether the caller has a condition of its own.
    pub needs_verdict: bool,
    /// Views of the same derived columns. What the one of them was told that was told most is known here, too.
    pub alike: Vec<ViewId>,
}

/// What a filter box says, and where to look for it.
#[derive(Clone, Debug, Default)]
pub struct SearchOptions {
    /// Words, all of which are looked for; see [`Search`].
    pub text: String,
    /// The paths whose values are searched; `None` means keys.
    pub paths: Option<Vec<String>>,
}

impl SearchOptions {
    fn parse(&self, fields: &mut FieldSet) -> Result<Search, Error> {
        let paths = self.paths.as_ref().map(|paths| paths.iter().map(|path| parse_path("search.paths", path)).collect());
        let paths: Option<Vec<Path>> = paths.transpose()?;
        Ok(Search::new(&self.text, paths.as_deref(), fields))
    }
}

impl ViewOptions {
    /// Reads the text. The paths that the view orders and groups by are wanted as long as the slots are held.
    ///
    /// Fails on a selector or path with a mistake, and on an order that does not exist.
    fn parse(&self, fields: &mut FieldSet) -> Result<(ViewSpec, Vec<Slot>), Error> {
        let selectors = parse_selectors(self.label_selector.as_deref(), self.field_selector.as_deref())?;
        for term in selectors.field.terms() {
            self.check_no_column("fieldSelector", &term.path, None)?;
        }
        for path in self.search.iter().flat_map(|search| search.paths.iter().flatten()) {
            self.check_no_column("search.paths", path, None)?;
        }
        for (own, paths) in &self.derive {
            paths.iter().try_for_each(|path| self.check_no_column(&format!("derive.{own}.paths"), path, Some(own)))?;
        }
        let mut slots = Vec::new();
        let derived = |text: &str| self.derive.iter().position(|(name, _)| name == text);
        let mut column = |what: &str, path: &str, fields: &mut FieldSet| {
            if let Some(column) = derived(path) {
                return Ok(Column::Derived(column));
            }
            let slot = fields.hold(&parse_path(what, path)?);
            let number = slot.number();
            slots.push(slot);
            Ok::<_, Error>(Column::Field(number))
        };
        let mut order = Vec::with_capacity(self.order.len());
        for (path, descending, kind) in &self.order {
            let column = column("orderBy.path", path, fields)?;
            let kind = match (column, kind) {
                (Column::Derived(_), None) => OrderAs::Typed,
                (_, kind) => OrderAs::read(kind.as_deref())?,
            };
            order.push(OrderBy { column, descending: *descending, kind });
        }
        let group_by = self.group_by.as_ref().map(|path| column("groupBy", path, fields)).transpose()?;
        let search = self.search.as_ref().map(|search| search.parse(fields)).transpose()?;
        let selected = |text: &String| match derived(text) {
            Some(column) => Ok(Selected::Derived(column)),
            None => parse_path("select", text).map(Selected::Path),
        };
        let select = self.select.as_ref().map(|select| select.iter().map(selected).collect::<Result<Vec<_>, _>>()).transpose()?;
        let paths = |(name, paths): &(String, Vec<String>)| {
            let what = format!("derive.{name}.paths");
            paths.iter().map(|path| parse_path(&what, path)).collect::<Result<Vec<_>, _>>()
        };
        let derived = self.derive.iter().map(paths).collect::<Result<Vec<_>, _>>()?;
        let spec = ViewSpec {
            select,
            derived,
            namespaces: self.namespaces.clone(),
            search,
            label: selectors.label,
            field: selectors.field,
            order,
            group_by,
            needs_verdict: self.needs_verdict,
        };
        Ok((spec, slots))
    }

    /// A view of it without rows, with the slots of its paths. Fails as [`ViewOptions::parse`] does, and on a field of a selector that is no path.
    pub(super) fn view(&self, fields: &mut FieldSet) -> Result<(View, Vec<Slot>), Error> {
        let (spec, slots) = self.parse(fields)?;
        let view = View::new(spec, fields).map_err(|error| invalid_selector("fieldSelector", &error))?;
        Ok((view, slots))
    }

    /// Fails where no view can be made of it.
    pub fn check(&self) -> Result<(), Error> {
        self.view(&mut FieldSet::new(Vec::new())).map(drop)
    }

    /// Fails where a path that reads the document names a column: it would find nothing. In its `own` paths a column's name is the field, because no
    /// column is made of itself.
    fn check_no_column(&self, option: &str, path: &str, own: Option<&str>) -> Result<(), Error> {
        if own == Some(path) || self.derive.iter().all(|(name, _)| name != path) {
            return Ok(());
        }
        let place = "a column has its place in select, orderBy and groupBy";
        let remedy = format!("name the paths that derive.{path} reads, or write $.{path} for the field of that name");
        Err(Error::new(ErrorCode::Invalid, format!("{option} names the column {path}: {place}; {remedy}")))
    }
}

impl OrderAs {
    /// The order of a word; the usual one without a word. Fails with code `invalid`.
    pub fn read(word: Option<&str>) -> Result<Self, Error> {
        Ok(match word {
            None | Some("text") => Self::Text,
            Some("natural") => Self::Natural,
            Some("number") => Self::Number,
            Some("quantity") => Self::Quantity,
            Some("time") => Self::Time,
            Some(other) => {
                let message = format!("orderBy.as: {other:?} is none of text, natural, number, quantity, time");
                return Err(Error::new(ErrorCode::Invalid, message));
            }
        })
    }
}

fn parse_path(what: &str, text: &str) -> Result<Path, Error> {
    Path::parse(text).map_err(|error| Error::new(ErrorCode::Invalid, format!("{what}: {error}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_order_or_a_broken_path_is_invalid() {
        for options in [
            ViewOptions { order: vec![("a.b".into(), false, Some("size".into()))], ..ViewOptions::default() },
            ViewOptions { order: vec![("a[".into(), false, None)], ..ViewOptions::default() },
            ViewOptions { group_by: Some("a[".into()), ..ViewOptions::default() },
            ViewOptions { select: Some(vec!["a".into(), "b[".into()]), ..ViewOptions::default() },
            ViewOptions { derive: vec![("ready".into(), vec!["a[".into()])], ..ViewOptions::default() },
            ViewOptions { field_selector: Some("a".into()), ..ViewOptions::default() },
            ViewOptions { search: Some(SearchOptions { text: "x".into(), paths: Some(vec!["a[".into()]) }), ..ViewOptions::default() },
        ] {
            let error = options.parse(&mut FieldSet::new(Vec::new())).unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid, "{options:?}");
        }
    }

    #[test]
    fn what_opening_would_refuse_the_check_refuses_in_the_same_words() {
        let store = crate::store::Store::new();
        for options in [
            ViewOptions { label_selector: Some("a in".into()), ..ViewOptions::default() },
            ViewOptions { field_selector: Some("a".into()), ..ViewOptions::default() },
            // Only who registers the field reads it as a path.
            ViewOptions { field_selector: Some("a..b=1".into()), ..ViewOptions::default() },
        ] {
            let opened = crate::view::Views::default().open(&options, &store, true, &mut FieldSet::new(Vec::new()));
            assert_eq!(options.check().unwrap_err().message, opened.unwrap_err().message, "{options:?}");
        }
    }

    #[test]
    fn vd_09_a_column_has_no_place_where_the_document_is_read() {
        let searched = |path: &str| Some(SearchOptions { text: "x".into(), paths: Some(vec!["a".into(), path.into()]) });
        let columns = |paths: &[&str]| {
            let paths = paths.iter().map(|path| (*path).to_owned()).collect();
            vec![("ready".to_owned(), vec!["ready".to_owned()]), ("state".to_owned(), paths)]
        };
        let options = |field: &str, search: &str, paths: &[&str]| ViewOptions {
            field_selector: Some(field.into()),
            search: searched(search),
            derive: columns(paths),
            ..ViewOptions::default()
        };
        for (option, options) in [
            ("fieldSelector", options("a=1,ready!=x", "a", &["a"])),
            ("search.paths", options("a=1", "ready", &["a"])),
            ("derive.state.paths", options("a=1", "a", &["a", "ready"])),
        ] {
            let error = options.check().unwrap_err();
            assert_eq!(error.code, ErrorCode::Invalid);
            let message = "names the column ready: a column has its place in select, orderBy and groupBy; name the paths that derive.ready reads, or \
                           write $.ready for the field of that name";
            assert_eq!(error.message, format!("{option} {message}"));
        }
        options("$.ready=1,ready.a=1", "$.ready", &["$.ready", "state", "ready.a"]).check().expect("fields, and its own name");
    }
}
