//! What of its objects a server is asked for, and how a Table becomes a list of rows.
//!
//! A row is the object that the Table has for it, its metadata, with the row's `cells` as one more member. So a row has a key and a version as
//! every object has, and whatever reads objects reads rows.

use std::cell::RefCell;
use std::rc::Rc;

use futures::{StreamExt, stream};

use super::headers::JSON;
use crate::json::{JsonError, Row, Table, scan_table, scan_table_frame};
use crate::source::page::{read_all, unreadable};
use crate::source::source::{FrameStream, PageStream};
use crate::status::{Error, ErrorCode};

/// What of each object is asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// All of it.
    #[default]
    Whole,
    /// Its metadata.
    Metadata,
    /// Its metadata, and what the server shows of it in columns.
    Table,
}

impl Form {
    /// By the name of the kind that a server is asked for. Fails with `invalid` for one that it would not know.
    pub fn named(name: Option<&str>) -> Result<Self, Error> {
        match name {
            None => Ok(Self::Whole),
            Some("PartialObjectMetadata") => Ok(Self::Metadata),
            Some("Table") => Ok(Self::Table),
            Some(other) => Err(Error::new(ErrorCode::Invalid, format!("as is PartialObjectMetadata or Table, not {other:?}"))),
        }
    }

    /// The header `Accept` of a request for a list, or for an object or a watch of objects.
    pub fn accept(self, is_list: bool) -> &'static str {
        match (self, is_list) {
            (Self::Whole, _) => JSON,
            (Self::Metadata, true) => "application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io",
            (Self::Metadata, false) => "application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io",
            (Self::Table, _) => "application/json;as=Table;v=v1;g=meta.k8s.io",
        }
    }

    /// The kind of what is held, where the form decides it.
    pub fn kind(self) -> Option<&'static str> {
        (self != Self::Whole).then_some("PartialObjectMetadata")
    }
}

/// The columns of the Tables that a source has brought: the JSON of `columnDefinitions`.
#[derive(Clone, Debug, Default)]
pub struct ColumnsSeen(Rc<RefCell<Option<Rc<str>>>>);

impl ColumnsSeen {
    /// The newest.
    pub fn newest(&self) -> Option<Rc<str>> {
        self.0.borrow().clone()
    }

    /// Takes those of a Table, if it names any.
    fn take(&self, document: &[u8], table: &Table) {
        let Some(text) = table.columns.clone().and_then(|span| std::str::from_utf8(&document[span]).ok()) else { return };
        let mut held = self.0.borrow_mut();
        if held.as_deref() != Some(text) {
            *held = Some(text.into());
        }
    }
}

/// A page whose body is a Table, as a page of rows.
pub fn rows_of_page(body: PageStream, columns: ColumnsSeen) -> PageStream {
    let read = async move {
        let document = read_all(body).await?;
        let table = scan_table(&document).map_err(|error| unreadable(&error))?;
        check(table.kind.as_deref())?;
        columns.take(&document, &table);
        let metadata = table.metadata.clone().map_or(&b"{}"[..], |span| &document[span]);
        let mut page = [br#"{"metadata":"#, metadata, br#","items":["#].concat();
        for (at, row) in table.rows.iter().enumerate() {
            if at > 0 {
                page.push(b',');
            }
            append_row(&mut page, &document, row)?;
        }
        page.extend_from_slice(b"]}");
        Ok(page)
    };
    stream::once(read).boxed_local()
}

/// The Table that answers a request about one object, as its row. A Status stays as it is.
pub fn row_of_answer(document: Vec<u8>, columns: &ColumnsSeen) -> Result<Vec<u8>, Error> {
    let table = scan_table(&document).map_err(broken)?;
    if table.kind.as_deref() == Some("Status") {
        return Ok(document);
    }
    check(table.kind.as_deref())?;
    columns.take(&document, &table);
    let mut answer = Vec::new();
    append_only_row(&mut answer, &document, &table)?;
    Ok(answer)
}

/// A watch whose frames hold Tables of one row, as one whose frames hold rows.
pub fn rows_of_frames(frames: FrameStream, columns: ColumnsSeen) -> FrameStream {
    frames.map(move |frame| frame.and_then(|frame| row_of_frame(frame, &columns))).boxed_local()
}

/// What is no frame with an object goes on as it is: whoever reads frames says what is wrong with it. So do errors, which hold a Status.
fn row_of_frame(frame: Vec<u8>, columns: &ColumnsSeen) -> Result<Vec<u8>, Error> {
    let Ok(Some((kind, table))) = scan_table_frame(&frame) else { return Ok(frame) };
    if &frame[kind.clone()] == br#""ERROR""# {
        return Ok(frame);
    }
    check(table.kind.as_deref())?;
    columns.take(&frame, &table);
    let mut row = [br#"{"type":"#, &frame[kind], br#","object":"#].concat();
    append_only_row(&mut row, &frame, &table)?;
    row.push(b'}');
    Ok(row)
}

fn append_only_row(to: &mut Vec<u8>, document: &[u8], table: &Table) -> Result<(), Error> {
    let [row] = &table.rows[..] else {
        return Err(Error::protocol(format!("a Table of {} rows came where one object was asked for", table.rows.len())));
    };
    append_row(to, document, row)
}

fn append_row(to: &mut Vec<u8>, document: &[u8], row: &Row) -> Result<(), Error> {
    let Some(object) = row.object.clone() else {
        return Err(Error::protocol("a row of the Table has no object, so nothing says whose row it is"));
    };
    let object = &document[object];
    let inside = object[..object.len() - 1].trim_ascii_end();
    to.extend_from_slice(inside);
    to.extend_from_slice(if inside.ends_with(b"{") { br#""cells":"# } else { br#","cells":"# });
    to.extend_from_slice(row.cells.clone().map_or(&b"[]"[..], |cells| &document[cells]));
    to.push(b'}');
    Ok(())
}

fn check(kind: Option<&str>) -> Result<(), Error> {
    match kind {
        Some("Table") => Ok(()),
        other => {
            let kind: String = other.unwrap_or("document without a kind").chars().take(40).collect();
            Err(Error::protocol(format!(
                "a Table was asked for, and the server answered with a {kind}: it makes no Tables of this resource"
            )))
        }
    }
}

fn broken(error: JsonError) -> Error {
    Error::new(ErrorCode::Decode, error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::runtime::virtual_time::VirtualTime;
    use futures::future;

    const COLUMNS: &str = r#"[{"name":"Name","type":"string"}]"#;

    fn table(rows: &str, columns: &str) -> String {
        format!(r#"{{"kind":"Table","metadata":{{"resourceVersion":"7"}},"columnDefinitions":{columns},"rows":[{rows}]}}"#)
    }

    fn row(name: &str) -> String {
        format!(r#"{{"cells":["{name}",1],"object":{{"kind":"PartialObjectMetadata","metadata":{{"name":"{name}"}} }}}}"#)
    }

    fn shown(name: &str) -> String {
        format!(r#"{{"kind":"PartialObjectMetadata","metadata":{{"name":"{name}"}},"cells":["{name}",1]}}"#)
    }

    fn page(body: &str, columns: &ColumnsSeen) -> Result<String, String> {
        let body = stream::iter(vec![Ok(body.as_bytes()[..9].to_vec()), Ok(body.as_bytes()[9..].to_vec())]).boxed_local();
        let mut pages: Vec<_> = VirtualTime::new(1).run_until(rows_of_page(body, columns.clone()).collect());
        assert_eq!(pages.len(), 1);
        pages.remove(0).map(|page| String::from_utf8(page).unwrap()).map_err(|error| error.message)
    }

    fn frame(text: &str, columns: &ColumnsSeen) -> Result<String, String> {
        let frames = stream::once(future::ready(Ok(text.into()))).boxed_local();
        let mut told: Vec<_> = VirtualTime::new(1).run_until(rows_of_frames(frames, columns.clone()).collect());
        told.remove(0).map(|frame: Vec<u8>| String::from_utf8(frame).unwrap()).map_err(|error| error.message)
    }

    #[test]
    fn a_table_is_a_list_of_rows() {
        let columns = ColumnsSeen::default();
        let list = page(&table(&[row("a"), row("b")].join(","), COLUMNS), &columns).unwrap();
        assert_eq!(list, format!(r#"{{"metadata":{{"resourceVersion":"7"}},"items":[{},{}]}}"#, shown("a"), shown("b")));
        assert_eq!(columns.newest().as_deref(), Some(COLUMNS));
        assert_eq!(page(&table("", "null"), &columns).unwrap(), r#"{"metadata":{"resourceVersion":"7"},"items":[]}"#);
        assert_eq!(columns.newest().as_deref(), Some(COLUMNS), "what says none keeps those before it");
    }

    #[test]
    fn a_frame_holds_one_row() {
        let columns = ColumnsSeen::default();
        let of = |table: &str| format!(r#"{{"type":"MODIFIED","object":{table}}}"#);
        assert_eq!(frame(&of(&table(&row("a"), COLUMNS)), &columns), Ok(of(&shown("a"))));
        assert_eq!(columns.newest().as_deref(), Some(COLUMNS));
        let status = r#"{"type":"ERROR","object":{"kind":"Status","code":410}}"#;
        for same in [status, "", "nonsense", r#"{"type":"MODIFIED"}"#] {
            assert_eq!(frame(same, &columns), Ok(same.to_string()));
        }
        assert!(frame(&of(&table("", "null")), &columns).unwrap_err().contains("a Table of 0 rows"));
        assert!(frame(&of(&shown("a")), &columns).unwrap_err().contains("answered with a PartialObjectMetadata"));
        assert_eq!(
            frame(&of(&table(r#"{"object":{}}"#, "null")), &columns),
            Ok(of(r#"{"cells":[]}"#)),
            "without a name it is refused by who reads it"
        );
    }

    #[test]
    fn what_a_server_answers_instead_is_named() {
        let columns = ColumnsSeen::default();
        for (body, why) in [
            (r#"{"kind":"PodList","items":[]}"#.to_string(), "answered with a PodList"),
            (r#"{"items":[]}            "#.to_string(), "answered with a document without a kind"),
            (table(r#"{"cells":[1]}"#, "null"), "has no object"),
            (table("", "null") + "x", "unable to decode the list"),
        ] {
            let error = page(&body, &columns).unwrap_err();
            assert!(error.contains(why), "{error}");
        }
        let answer = |body: &str| row_of_answer(body.into(), &columns).map(|row| String::from_utf8(row).unwrap());
        assert_eq!(answer(&table(&row("a"), "null")).unwrap(), shown("a"));
        assert_eq!(answer(r#"{"kind":"Status"}"#).unwrap(), r#"{"kind":"Status"}"#);
        assert!(answer(&shown("a")).is_err() && answer("x").is_err());
    }

    #[test]
    fn forms_are_asked_for_by_the_header_accept() {
        assert_eq!(Form::named(None), Ok(Form::Whole));
        assert_eq!(Form::named(Some("Table")).unwrap().accept(true), "application/json;as=Table;v=v1;g=meta.k8s.io");
        let metadata = Form::named(Some("PartialObjectMetadata")).unwrap();
        assert_ne!(metadata.accept(true), metadata.accept(false));
        assert_eq!(Form::named(Some("table")).unwrap_err().code, ErrorCode::Invalid);
        assert_eq!((Form::Whole.kind(), metadata.kind()), (None, Some("PartialObjectMetadata")));
    }
}
