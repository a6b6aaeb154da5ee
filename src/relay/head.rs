//! Heads: their members, written and read.

use super::message::{CallId, Described};
use crate::json::value::Value;
use crate::json::write::Document;
use crate::source::{Collection, History};
use crate::status::{Error, ErrorCode, Status};

/// Begins a head: what it is about, and the number of its call.
pub(super) fn head(about: &str, id: CallId) -> Document {
    let mut head = Document::new();
    head.raw(about, &id.to_string());
    head
}

pub(super) fn unknown() -> Error {
    Error::protocol("the other end of the channel says what is not known here: it is of another version, or a stranger")
}

pub(super) fn parse(head: &str) -> Result<Value, Error> {
    Value::parse(head.as_bytes()).map_err(|_| unknown())
}

/// What a head is about, and the number of its call.
pub(super) fn about(head: &Value) -> Result<(&str, CallId), Error> {
    let Value::Map(members) = head else { return Err(unknown()) };
    let (name, _) = members.first().ok_or_else(unknown)?;
    Ok((name, whole(head, name)?.ok_or_else(unknown)?))
}

pub(super) fn whole(of: &Value, name: &str) -> Result<Option<u32>, Error> {
    of.number(name).ok_or_else(unknown)
}

pub(super) fn text(of: &Value, name: &str) -> Result<Option<String>, Error> {
    of.text(name).map(|text| text.map(Into::into)).ok_or_else(unknown)
}

pub(super) fn flag(of: &Value, name: &str) -> Result<Option<bool>, Error> {
    match of.get(name) {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        _ => Err(unknown()),
    }
}

pub(super) fn is_set(of: &Value, name: &str) -> Result<bool, Error> {
    Ok(flag(of, name)?.unwrap_or_default())
}

/// Its numbers are texts: they are larger than other numbers here.
pub(super) fn write_history(document: &mut Document, history: History) {
    document.text("cache", &history.cache.to_string()).text("resets", &history.resets.to_string());
}

/// `None` where there is none.
pub(super) fn read_history(of: &Value) -> Option<History> {
    let number = |name: &str| of.text(name)??.parse().ok();
    Some(History { cache: number("cache")?, resets: number("resets")? })
}

pub(super) fn write_flag(document: &mut Document, name: &str, flag: Option<bool>) {
    if let Some(flag) = flag {
        document.raw(name, if flag { "true" } else { "false" });
    }
}

pub(super) fn set_flag(document: &mut Document, name: &str, flag: bool) {
    write_flag(document, name, flag.then_some(true));
}

pub(super) fn write_number(document: &mut Document, name: &str, number: Option<u32>) {
    if let Some(number) = number {
        document.raw(name, &number.to_string());
    }
}

/// Writes how long they are, and gives them one behind the other.
pub(super) fn write_items(head: &mut Document, items: &[Vec<u8>]) -> Vec<u8> {
    let lengths: Vec<String> = items.iter().map(|item| item.len().to_string()).collect();
    head.raw("lengths", &format!("[{}]", lengths.join(",")));
    items.concat()
}

/// The members of a list, each read.
pub(super) fn each<T>(head: &Value, name: &str, read: impl FnMut(&Value) -> Result<T, Error>) -> Result<Vec<T>, Error> {
    let Value::List(all) = head.get(name) else { return Err(unknown()) };
    all.iter().map(read).collect()
}

pub(super) fn items(head: &Value, mut body: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    each(head, "lengths", |length| {
        let Value::Number(length) = length else { return Err(unknown()) };
        let (item, rest) = length.parse().ok().and_then(|length| body.split_at_checked(length)).ok_or_else(unknown)?;
        body = rest;
        Ok(item.to_vec())
    })
}

pub(super) fn write_described(head: &mut Document, Described { columns, collection }: &Described) {
    head.optional("columns", columns.as_deref());
    if let Some(Collection { namespace, group }) = collection {
        let mut document = Document::new();
        document.optional("namespace", namespace.as_deref()).optional("group", group.as_deref());
        head.raw("collection", &document.finish());
    }
}

pub(super) fn read_described(head: &Value) -> Result<Described, Error> {
    let collection = match head.get("collection") {
        Value::Null => None,
        of @ Value::Map(_) => Some(Collection { namespace: text(of, "namespace")?, group: text(of, "group")? }),
        _ => return Err(unknown()),
    };
    Ok(Described { columns: text(head, "columns")?.map(Into::into), collection })
}

pub(super) fn write_error(head: &mut Document, error: &Error) {
    head.text("code", error.code.as_str()).text("message", &error.message);
    write_number(head, "retryAfterSeconds", error.retry_after_seconds);
    set_flag(head, "unsent", error.unsent);
    if let Some(status) = &error.status {
        head.raw("status", &status.members());
    }
}

/// `None`: it has ended well.
pub(super) fn read_error(head: &Value) -> Result<Option<Error>, Error> {
    let Some(code) = text(head, "code")? else { return Ok(None) };
    let status = match head.get("status") {
        Value::Null => None,
        status => Some(Box::new(Status::read(status).ok_or_else(unknown)?)),
    };
    Ok(Some(Error {
        code: ErrorCode::named(&code).ok_or_else(unknown)?,
        message: text(head, "message")?.unwrap_or_default(),
        status,
        retry_after_seconds: whole(head, "retryAfterSeconds")?,
        unsent: is_set(head, "unsent")?,
    }))
}
