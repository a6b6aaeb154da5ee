//! Messages of a channel as what is sent: a head of JSON, and the bytes that it tells of as they are.

use crate::connection::{Connection, Standing};
use crate::json::value::Value;
use crate::json::write::Document;
use crate::source::{
    DeleteOptions, ListRequest, Narrow, ObjectName, Patch, PatchType, Preconditions, WatchRequest, WriteParameters, WriteRequest,
};
use crate::status::{Error, ErrorCode, Status};
use crate::time::WallTime;

use super::message::{Answer, Call, CallId, Request};

/// A message as it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// JSON.
    pub head: String,
    /// The document of a write, or items one behind the other.
    pub body: Vec<u8>,
}

/// Begins a head: what it is about, and the number of its call.
fn head(about: &str, id: CallId) -> Document {
    let mut head = Document::new();
    head.raw(about, &id.to_string());
    head
}

impl From<Request> for Packet {
    fn from(request: Request) -> Self {
        match request {
            Request::Begin(id, call) => {
                let mut head = head("begin", id);
                let body = write_call(&mut head, call);
                Self { head: head.finish(), body }
            }
            Request::Took(id, bytes) => Self { head: head("took", id).raw("bytes", &bytes.to_string()).finish(), body: Vec::new() },
            Request::Drop(id) => Self { head: head("drop", id).finish(), body: Vec::new() },
        }
    }
}

impl From<Answer> for Packet {
    fn from(answer: Answer) -> Self {
        match answer {
            Answer::Stands(standing) => {
                let mut head = Document::new();
                let body = write_standing(&mut head, &standing);
                Self { head: head.finish(), body }
            }
            Answer::Open(id, columns) => Self { head: head("open", id).optional("columns", columns.as_deref()).finish(), body: Vec::new() },
            Answer::Items(id, items) => {
                let mut head = head("items", id);
                let body = write_items(&mut head, &items);
                Self { head: head.finish(), body }
            }
            Answer::End(id, error) => {
                let mut head = head("end", id);
                if let Some(error) = error {
                    write_error(&mut head, &error);
                }
                Self { head: head.finish(), body: Vec::new() }
            }
        }
    }
}

impl TryFrom<Packet> for Request {
    type Error = Error;

    /// Fails for what no other end of this version sends.
    fn try_from(Packet { head, body }: Packet) -> Result<Self, Error> {
        let head = parse(&head)?;
        Ok(match about(&head)? {
            ("begin", id) => Self::Begin(id, read_call(&head, body)?),
            ("took", id) => Self::Took(id, whole(&head, "bytes")?.unwrap_or_default() as usize),
            ("drop", id) => Self::Drop(id),
            _ => return Err(unknown()),
        })
    }
}

impl TryFrom<Packet> for Answer {
    type Error = Error;

    /// Fails for what no other end of this version sends.
    fn try_from(Packet { head, body }: Packet) -> Result<Self, Error> {
        let head = parse(&head)?;
        if let Some(stands) = text(&head, "stands")? {
            return read_standing(&stands, &head, &body).map(Self::Stands);
        }
        Ok(match about(&head)? {
            ("open", id) => Self::Open(id, text(&head, "columns")?.map(Into::into)),
            ("items", id) => Self::Items(id, items(&head, &body)?),
            ("end", id) => Self::End(id, read_error(&head)?),
            _ => return Err(unknown()),
        })
    }
}

fn unknown() -> Error {
    Error::protocol("the other end of the channel says what is not known here: it is of another version, or a stranger")
}

fn parse(head: &str) -> Result<Value, Error> {
    Value::parse(head.as_bytes()).map_err(|_| unknown())
}

/// What a head is about, and the number of its call.
fn about(head: &Value) -> Result<(&str, CallId), Error> {
    let Value::Map(members) = head else { return Err(unknown()) };
    let (name, _) = members.first().ok_or_else(unknown)?;
    Ok((name, whole(head, name)?.ok_or_else(unknown)?))
}

fn whole(of: &Value, name: &str) -> Result<Option<u32>, Error> {
    of.number(name).ok_or_else(unknown)
}

fn text(of: &Value, name: &str) -> Result<Option<String>, Error> {
    of.text(name).map(|text| text.map(Into::into)).ok_or_else(unknown)
}

fn flag(of: &Value, name: &str) -> Result<Option<bool>, Error> {
    match of.get(name) {
        Value::Null => Ok(None),
        Value::Bool(flag) => Ok(Some(*flag)),
        _ => Err(unknown()),
    }
}

fn is_set(of: &Value, name: &str) -> Result<bool, Error> {
    Ok(flag(of, name)?.unwrap_or_default())
}

fn write_flag(document: &mut Document, name: &str, flag: Option<bool>) {
    if let Some(flag) = flag {
        document.raw(name, if flag { "true" } else { "false" });
    }
}

fn set_flag(document: &mut Document, name: &str, flag: bool) {
    write_flag(document, name, flag.then_some(true));
}

fn write_number(document: &mut Document, name: &str, number: Option<u32>) {
    if let Some(number) = number {
        document.raw(name, &number.to_string());
    }
}

/// Writes how long they are, and gives them one behind the other.
fn write_items(head: &mut Document, items: &[Vec<u8>]) -> Vec<u8> {
    let lengths: Vec<String> = items.iter().map(|item| item.len().to_string()).collect();
    head.raw("lengths", &format!("[{}]", lengths.join(",")));
    items.concat()
}

fn items(head: &Value, mut body: &[u8]) -> Result<Vec<Vec<u8>>, Error> {
    let Value::List(lengths) = head.get("lengths") else { return Err(unknown()) };
    let item = |length: &Value| {
        let Value::Number(length) = length else { return Err(unknown()) };
        let (item, rest) = length.parse().ok().and_then(|length| body.split_at_checked(length)).ok_or_else(unknown)?;
        body = rest;
        Ok(item.to_vec())
    };
    lengths.iter().map(item).collect()
}

fn write_error(head: &mut Document, error: &Error) {
    head.text("code", error.code.as_str()).text("message", &error.message);
    write_number(head, "retryAfterSeconds", error.retry_after_seconds);
    if let Some(status) = &error.status {
        head.raw("status", &status.members());
    }
}

/// `None`: it has ended well.
fn read_error(head: &Value) -> Result<Option<Error>, Error> {
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
    }))
}

/// Writes how a stream stands, and gives the objects that it shows.
fn write_standing(head: &mut Document, standing: &Standing) -> Vec<u8> {
    let wait = |head: &mut Document, word: &str, error: &Error, retry_at: Option<WallTime>| {
        head.text("stands", word);
        if let Some(at) = retry_at {
            // As text: it is larger than other numbers here.
            head.text("retryAt", &at.as_unix_millis().to_string());
        }
        write_error(head, error);
    };
    match standing {
        Standing::Listed { loaded, remaining, first, kept_at } => {
            let kept_at = kept_at.map(|at| at.as_unix_millis().to_string());
            let remaining = remaining.map(|remaining| remaining.to_string());
            head.text("stands", "listed").text("loaded", &loaded.to_string()).optional("remaining", remaining.as_deref());
            head.optional("keptAt", kept_at.as_deref());
            return write_items(head, first);
        }
        Standing::Connection(connection) => match connection {
            Connection::Listing { again } => set_flag(head.text("stands", "listing"), "again", *again),
            Connection::Live => _ = head.text("stands", "live"),
            Connection::Waiting { attempt, retry_at, error } => {
                wait(head, "waiting", error, Some(*retry_at));
                write_number(head, "attempt", Some(*attempt));
            }
            Connection::Queued { why, retry_at } => wait(head, "queued", why, Some(*retry_at)),
            Connection::Reconnecting { lost: None } => _ = head.text("stands", "reconnecting"),
            Connection::Reconnecting { lost: Some(error) } => wait(head, "reconnecting", error, None),
            Connection::NeedsAuth { error, retry_at } => wait(head, "needs-auth", error, Some(*retry_at)),
            Connection::Failed { error, retry_at } => wait(head, "failed", error, *retry_at),
            Connection::Paused => _ = head.text("stands", "paused"),
        },
    }
    Vec::new()
}

fn read_standing(word: &str, head: &Value, body: &[u8]) -> Result<Standing, Error> {
    let long = |name: &str| text(head, name)?.map(|text| text.parse::<u64>().map_err(|_| unknown())).transpose();
    let error = || read_error(head)?.ok_or_else(unknown);
    let at = || Ok::<_, Error>(long("retryAt")?.map(WallTime::from_unix_millis));
    let retry_at = || at()?.ok_or_else(unknown);
    Ok(Standing::Connection(match word {
        "listed" => {
            let loaded = long("loaded")?.and_then(|loaded| usize::try_from(loaded).ok()).ok_or_else(unknown)?;
            let kept_at = long("keptAt")?.map(WallTime::from_unix_millis);
            return Ok(Standing::Listed { loaded, remaining: long("remaining")?, first: items(head, body)?.into(), kept_at });
        }
        "listing" => Connection::Listing { again: is_set(head, "again")? },
        "live" => Connection::Live,
        "waiting" => {
            let attempt = whole(head, "attempt")?.unwrap_or_default();
            Connection::Waiting { attempt, retry_at: retry_at()?, error: error()? }
        }
        "queued" => Connection::Queued { why: error()?, retry_at: retry_at()? },
        "reconnecting" => Connection::Reconnecting { lost: read_error(head)? },
        "needs-auth" => Connection::NeedsAuth { error: error()?, retry_at: retry_at()? },
        "failed" => Connection::Failed { error: error()?, retry_at: at()? },
        "paused" => Connection::Paused,
        _ => return Err(unknown()),
    }))
}

/// Writes what is asked, and gives its document.
fn write_call(head: &mut Document, call: Call) -> Vec<u8> {
    match call {
        Call::List(request) => {
            head.text("call", "list")
                .optional("resourceVersion", request.resource_version.as_deref())
                .optional("resourceVersionMatch", request.resource_version_match.as_deref())
                .optional("continue", request.continue_token.as_deref());
            write_number(head, "limit", request.limit);
            if let Some(narrow) = request.narrow {
                head.raw("narrow", &narrowed(&narrow));
            }
            Vec::new()
        }
        Call::Held => {
            head.text("call", "held");
            Vec::new()
        }
        Call::Watch(request) => {
            head.text("call", "watch")
                .text("resourceVersion", &request.resource_version)
                .optional("resourceVersionMatch", request.resource_version_match.as_deref());
            write_flag(head, "sendInitialEvents", request.send_initial_events);
            set_flag(head, "allowWatchBookmarks", request.allow_watch_bookmarks);
            write_number(head, "timeoutSeconds", Some(request.timeout_seconds));
            Vec::new()
        }
        Call::Get(object, subresource) => {
            named(head.text("call", "get"), &object).optional("subresource", subresource.as_deref());
            Vec::new()
        }
        Call::Write(request) => write_write(head, request),
    }
}

fn read_call(head: &Value, document: Vec<u8>) -> Result<Call, Error> {
    let call = text(head, "call")?.ok_or_else(unknown)?;
    Ok(match call.as_str() {
        "list" => Call::List(ListRequest {
            resource_version: text(head, "resourceVersion")?,
            resource_version_match: text(head, "resourceVersionMatch")?,
            limit: whole(head, "limit")?,
            continue_token: text(head, "continue")?,
            narrow: match head.get("narrow") {
                Value::Null => None,
                narrow => Some(read_narrow(narrow)?),
            },
        }),
        "held" => Call::Held,
        "watch" => Call::Watch(WatchRequest {
            resource_version: text(head, "resourceVersion")?.unwrap_or_default(),
            resource_version_match: text(head, "resourceVersionMatch")?,
            send_initial_events: flag(head, "sendInitialEvents")?,
            allow_watch_bookmarks: is_set(head, "allowWatchBookmarks")?,
            timeout_seconds: whole(head, "timeoutSeconds")?.unwrap_or_default(),
        }),
        "get" => Call::Get(object(head)?, text(head, "subresource")?),
        write => Call::Write(read_write(write, head, document)?),
    })
}

fn narrowed(narrow: &Narrow) -> String {
    let mut document = Document::new();
    document
        .optional("labels", narrow.labels.as_deref())
        .optional("fields", narrow.fields.as_deref())
        .optional("namespace", narrow.namespace.as_deref())
        .optional("name", narrow.name.as_deref())
        .finish()
}

fn read_narrow(of: &Value) -> Result<Narrow, Error> {
    Ok(Narrow { labels: text(of, "labels")?, fields: text(of, "fields")?, namespace: text(of, "namespace")?, name: text(of, "name")? })
}

fn named<'a>(head: &'a mut Document, object: &ObjectName) -> &'a mut Document {
    head.text("namespace", &object.namespace).text("name", &object.name)
}

fn object(of: &Value) -> Result<ObjectName, Error> {
    Ok(ObjectName { namespace: text(of, "namespace")?.unwrap_or_default(), name: text(of, "name")?.ok_or_else(unknown)? })
}

fn write_write(head: &mut Document, request: WriteRequest) -> Vec<u8> {
    match request {
        WriteRequest::Create { namespace, of, document, parameters } => {
            head.text("call", "create").text("namespace", &namespace).optional("name", of.as_deref());
            write_parameters(head, &parameters);
            document
        }
        WriteRequest::Update { object, document, parameters } => {
            named(head.text("call", "update"), &object);
            write_parameters(head, &parameters);
            document
        }
        WriteRequest::Patch { object, patch, parameters } => {
            named(head.text("call", "patch"), &object).text("type", patch.kind.name());
            set_flag(head, "force", patch.force);
            write_parameters(head, &parameters);
            patch.document
        }
        WriteRequest::Delete { object, options } => {
            named(head.text("call", "delete"), &object);
            write_deletion(head, &options);
            Vec::new()
        }
        WriteRequest::DeleteCollection { narrow, options } => {
            head.text("call", "deleteCollection").raw("narrow", &narrowed(&narrow));
            write_deletion(head, &options);
            Vec::new()
        }
    }
}

fn read_write(call: &str, head: &Value, document: Vec<u8>) -> Result<WriteRequest, Error> {
    let parameters = read_parameters(head)?;
    Ok(match call {
        "create" => {
            let namespace = text(head, "namespace")?.unwrap_or_default();
            WriteRequest::Create { namespace, of: text(head, "name")?, document, parameters }
        }
        "update" => WriteRequest::Update { object: object(head)?, document, parameters },
        "patch" => {
            let kind = PatchType::parse(&text(head, "type")?.unwrap_or_default()).map_err(|_| unknown())?;
            let patch = Patch { kind, document, force: is_set(head, "force")? };
            WriteRequest::Patch { object: object(head)?, patch, parameters }
        }
        "delete" => WriteRequest::Delete { object: object(head)?, options: read_deletion(head)? },
        "deleteCollection" => WriteRequest::DeleteCollection { narrow: read_narrow(head.get("narrow"))?, options: read_deletion(head)? },
        _ => return Err(unknown()),
    })
}

fn write_parameters(head: &mut Document, parameters: &WriteParameters) {
    head.optional("subresource", parameters.subresource.as_deref())
        .optional("fieldManager", parameters.field_manager.as_deref())
        .optional("fieldValidation", parameters.field_validation.as_deref());
    set_flag(head, "dryRun", parameters.dry_run);
}

fn read_parameters(of: &Value) -> Result<WriteParameters, Error> {
    Ok(WriteParameters {
        subresource: text(of, "subresource")?,
        dry_run: is_set(of, "dryRun")?,
        field_manager: text(of, "fieldManager")?,
        field_validation: text(of, "fieldValidation")?,
    })
}

fn write_deletion(head: &mut Document, options: &DeleteOptions) {
    head.optional("uid", options.preconditions.uid.as_deref())
        .optional("resourceVersion", options.preconditions.resource_version.as_deref())
        .optional("propagationPolicy", options.propagation_policy.as_deref());
    write_number(head, "gracePeriodSeconds", options.grace_period_seconds);
    set_flag(head, "dryRun", options.dry_run);
}

fn read_deletion(of: &Value) -> Result<DeleteOptions, Error> {
    Ok(DeleteOptions {
        preconditions: Preconditions { uid: text(of, "uid")?, resource_version: text(of, "resourceVersion")? },
        grace_period_seconds: whole(of, "gracePeriodSeconds")?,
        propagation_policy: text(of, "propagationPolicy")?,
        dry_run: is_set(of, "dryRun")?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::option;
    use proptest::prelude::*;

    fn word() -> impl Strategy<Value = String> {
        "[a-z\"\\\\é]{0,4}"
    }

    fn maybe() -> impl Strategy<Value = Option<String>> {
        option::of(word())
    }

    fn bytes() -> impl Strategy<Value = Vec<u8>> {
        prop::collection::vec(any::<u8>(), 0..6)
    }

    fn narrow() -> impl Strategy<Value = Narrow> {
        (maybe(), maybe(), maybe(), maybe()).prop_map(|(labels, fields, namespace, name)| Narrow { labels, fields, namespace, name })
    }

    fn named() -> impl Strategy<Value = ObjectName> {
        (word(), word()).prop_map(|(namespace, name)| ObjectName { namespace, name })
    }

    fn parameters() -> impl Strategy<Value = WriteParameters> {
        (maybe(), any::<bool>(), maybe(), maybe()).prop_map(|(subresource, dry_run, field_manager, field_validation)| WriteParameters {
            subresource,
            dry_run,
            field_manager,
            field_validation,
        })
    }

    fn deletion() -> impl Strategy<Value = DeleteOptions> {
        (maybe(), maybe(), option::of(any::<u32>()), maybe(), any::<bool>()).prop_map(
            |(uid, resource_version, grace_period_seconds, propagation_policy, dry_run)| DeleteOptions {
                preconditions: Preconditions { uid, resource_version },
                grace_period_seconds,
                propagation_policy,
                dry_run,
            },
        )
    }

    fn call() -> impl Strategy<Value = Call> {
        let kinds = [PatchType::Merge, PatchType::Strategic, PatchType::Json, PatchType::Apply];
        let patch = (prop::sample::select(kinds.to_vec()), bytes(), any::<bool>());
        let patch = patch.prop_map(|(kind, document, force)| Patch { kind, document, force });
        prop_oneof![
            (maybe(), maybe(), option::of(any::<u32>()), maybe(), option::of(narrow())).prop_map(
                |(resource_version, resource_version_match, limit, continue_token, narrow)| Call::List(ListRequest {
                    resource_version,
                    resource_version_match,
                    limit,
                    continue_token,
                    narrow
                })
            ),
            Just(Call::Held),
            (word(), maybe(), option::of(any::<bool>()), any::<bool>(), any::<u32>()).prop_map(
                |(resource_version, resource_version_match, send_initial_events, allow_watch_bookmarks, timeout_seconds)| Call::Watch(
                    WatchRequest { resource_version, resource_version_match, send_initial_events, allow_watch_bookmarks, timeout_seconds }
                )
            ),
            (named(), maybe()).prop_map(|(object, subresource)| Call::Get(object, subresource)),
            (word(), maybe(), bytes(), parameters()).prop_map(|(namespace, of, document, parameters)| Call::Write(WriteRequest::Create {
                namespace,
                of,
                document,
                parameters
            })),
            (named(), bytes(), parameters()).prop_map(|(object, document, parameters)| Call::Write(WriteRequest::Update {
                object,
                document,
                parameters
            })),
            (named(), patch, parameters()).prop_map(|(object, patch, parameters)| Call::Write(WriteRequest::Patch {
                object,
                patch,
                parameters
            })),
            (named(), deletion()).prop_map(|(object, options)| Call::Write(WriteRequest::Delete { object, options })),
            (narrow(), deletion()).prop_map(|(narrow, options)| Call::Write(WriteRequest::DeleteCollection { narrow, options })),
        ]
    }

    fn error() -> impl Strategy<Value = Error> {
        let status = (any::<u16>(), word(), word()).prop_map(|(code, reason, message)| Status::new(code, &reason, message));
        (prop::sample::select(ErrorCode::ALL.to_vec()), word(), option::of(status), option::of(any::<u32>())).prop_map(
            |(code, message, status, retry_after_seconds)| Error { code, message, status: status.map(Box::new), retry_after_seconds },
        )
    }

    fn standing() -> impl Strategy<Value = Standing> {
        let at = || any::<u64>().prop_map(WallTime::from_unix_millis);
        let connection = prop_oneof![
            any::<bool>().prop_map(|again| Connection::Listing { again }),
            Just(Connection::Live),
            (any::<u32>(), at(), error()).prop_map(|(attempt, retry_at, error)| Connection::Waiting { attempt, retry_at, error }),
            (error(), at()).prop_map(|(why, retry_at)| Connection::Queued { why, retry_at }),
            option::of(error()).prop_map(|lost| Connection::Reconnecting { lost }),
            (error(), at()).prop_map(|(error, retry_at)| Connection::NeedsAuth { error, retry_at }),
            (error(), option::of(at())).prop_map(|(error, retry_at)| Connection::Failed { error, retry_at }),
            Just(Connection::Paused),
        ];
        let listed = (any::<u32>(), option::of(any::<u64>()), prop::collection::vec(bytes(), 0..4), option::of(at()));
        prop_oneof![
            connection.prop_map(Standing::Connection),
            listed.prop_map(|(loaded, remaining, first, kept_at)| Standing::Listed {
                loaded: loaded as usize,
                remaining,
                first: first.into(),
                kept_at
            }),
        ]
    }

    proptest! {
        #[test]
        fn what_is_asked_arrives_as_it_was_sent(id in any::<u32>(), call in call(), bytes in any::<u32>()) {
            for request in [Request::Begin(id, call), Request::Took(id, bytes as usize), Request::Drop(id)] {
                prop_assert_eq!(Request::try_from(Packet::from(request.clone())), Ok(request));
            }
        }

        #[test]
        fn what_is_answered_arrives_as_it_was_sent(
            id in any::<u32>(),
            columns in maybe(),
            items in prop::collection::vec(bytes(), 0..4),
            error in error(),
            standing in standing(),
        ) {
            let columns = columns.map(Into::into);
            for answer in [Answer::Stands(standing), Answer::Open(id, columns), Answer::Items(id, items), Answer::End(id, None), Answer::End(id, Some(error))] {
                prop_assert_eq!(Answer::try_from(Packet::from(answer.clone())), Ok(answer));
            }
        }
    }

    #[test]
    fn what_a_stranger_says_is_refused() {
        let said = |head: &str, body: &[u8]| Packet { head: head.into(), body: body.into() };
        for packet in [
            said("", b""),
            said("[]", b""),
            said("{}", b""),
            said(r#"{"hello":1}"#, b""),
            said(r#"{"begin":1}"#, b""),
            said(r#"{"begin":1,"call":"steal"}"#, b""),
            said(r#"{"begin":1,"call":"get"}"#, b""),
            said(r#"{"begin":-1,"call":"list"}"#, b""),
            said(r#"{"begin":1,"call":"list","limit":"x"}"#, b""),
            said(r#"{"begin":1,"call":"patch","name":"x","type":"odd"}"#, b""),
            said(r#"{"items":1}"#, b"ab"),
            said(r#"{"items":1,"lengths":[3]}"#, b"ab"),
            said(r#"{"stands":"listed","loaded":"1"}"#, b""),
            said(r#"{"stands":"listed","loaded":"1","lengths":[3]}"#, b"ab"),
            said(r#"{"end":1,"code":"odd"}"#, b""),
            said(r#"{"stands":"odd"}"#, b""),
            said(r#"{"stands":"waiting"}"#, b""),
            said(r#"{"stands":"listed","loaded":"-1"}"#, b""),
            said(r#"{"end":1,"code":"expired","status":{"code":"x"}}"#, b""),
        ] {
            for error in [Request::try_from(packet.clone()).unwrap_err(), Answer::try_from(packet.clone()).unwrap_err()] {
                assert_eq!(error.code, ErrorCode::Protocol, "{packet:?}");
            }
        }
    }
}
