//! What the tests of live views share.

use std::rc::Rc;

use futures::FutureExt;
use futures::future::LocalBoxFuture;
use serde_json::Value;
use watchcache::json::fields::FieldSet;
use watchcache::json::path::Path;
use watchcache::object::Object;
use watchcache::source::{FrameStream, ListRequest, PageStream, Source, WatchRequest};
use watchcache::status::Error;
use watchcache::testing::document;
use watchcache::view::{Column, RangeId, View};

/// A source that is never asked: tests apply the changes by hand.
pub struct Still;

impl Source for Still {
    fn list(&self, _: ListRequest) -> LocalBoxFuture<'static, Result<PageStream, Error>> {
        futures::future::pending().boxed_local()
    }

    fn watch(&self, _: WatchRequest) -> LocalBoxFuture<'static, Result<FrameStream, Error>> {
        futures::future::pending().boxed_local()
    }
}

pub fn object(json: &Value, fields: &FieldSet) -> Rc<Object> {
    document(&json.to_string(), fields)
}

pub fn slot(fields: &mut FieldSet, path: &str) -> usize {
    fields.slot(&Path::parse(path).unwrap())
}

pub fn column(fields: &mut FieldSet, path: &str) -> Column {
    Column::Field(slot(fields, path))
}

/// The keys of the rows of a range, in their order.
pub fn keys(view: &View, range: RangeId) -> Vec<String> {
    view.rows(range).map(|row| row.key().to_string()).collect()
}
