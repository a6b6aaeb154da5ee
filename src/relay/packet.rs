//! Messages of a channel as what is sent: a head of JSON, and the bytes that it tells of as they are.

use super::call::{read_call, write_call};
use super::head::{about, head, items, parse, read_described, read_error, text, unknown, whole, write_described, write_error, write_items};
use super::message::{Answer, Request};
use super::standing::{read_standing, write_standing};
use crate::json::write::Document;
use crate::status::Error;

/// A message as it is sent.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Packet {
    /// JSON.
    pub head: String,
    /// The document of a write, or items one behind the other.
    pub body: Vec<u8>,
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
            Answer::Open(id, described) => {
                let mut head = head("open", id);
                write_described(&mut head, &described);
                Self { head: head.finish(), body: Vec::new() }
            }
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
            ("open", id) => Self::Open(id, read_described(&head)?),
            ("items", id) => Self::Items(id, items(&head, &body)?),
            ("end", id) => Self::End(id, read_error(&head)?),
            _ => return Err(unknown()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::super::message::{Call, Described};
    use super::*;
    use crate::connection::Connection;
    use crate::message::Quarantined;
    use crate::source::{
        Collection, DeleteOptions, History, ListRequest, Narrow, ObjectName, Patch, PatchType, Preconditions, Standing, WatchRequest,
        WriteParameters, WriteRequest,
    };
    use crate::status::{ErrorCode, Status};
    use crate::time::WallTime;
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

    fn history() -> impl Strategy<Value = Option<History>> {
        option::of((any::<u64>(), any::<u64>()).prop_map(|(cache, resets)| History { cache, resets }))
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
            (word(), history(), maybe(), option::of(any::<bool>()), any::<bool>(), any::<u32>()).prop_map(
                |(resource_version, history, resource_version_match, send_initial_events, allow_watch_bookmarks, timeout_seconds)| {
                    Call::Watch(WatchRequest {
                        resource_version,
                        history,
                        resource_version_match,
                        send_initial_events,
                        allow_watch_bookmarks,
                        timeout_seconds,
                    })
                }
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
        (prop::sample::select(ErrorCode::ALL.to_vec()), word(), option::of(status), option::of(any::<u32>()), any::<bool>()).prop_map(
            |(code, message, status, retry_after_seconds, unsent)| Error {
                code,
                message,
                status: status.map(Box::new),
                retry_after_seconds,
                unsent,
            },
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
        let entry = (word(), maybe(), error());
        let entry = entry.prop_map(|(key, uid, error)| Quarantined { key: key.into(), uid: uid.map(Into::into), error });
        let apart = prop::collection::vec(entry, 0..3);
        let listed = (any::<u32>(), option::of(any::<u64>()), prop::collection::vec(bytes(), 0..4), option::of(at()));
        prop_oneof![
            connection.prop_map(Standing::Connection),
            listed.prop_map(|(loaded, remaining, first, kept_at)| Standing::Listed {
                loaded: loaded as usize,
                remaining,
                first: first.into(),
                kept_at
            }),
            apart.prop_map(Standing::SetApart),
            any::<u64>().prop_map(|version| Standing::Compacted(version.into())),
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
            collection in option::of((maybe(), maybe())),
            items in prop::collection::vec(bytes(), 0..4),
            error in error(),
            standing in standing(),
        ) {
            let collection = collection.map(|(namespace, group)| Collection { namespace, group });
            let described = Described { columns: columns.map(Into::into), collection };
            for answer in [Answer::Stands(standing), Answer::Open(id, described), Answer::Items(id, items), Answer::End(id, None), Answer::End(id, Some(error))] {
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
            said(r#"{"open":1,"collection":"web"}"#, b""),
            said(r#"{"open":1,"collection":{"namespace":1}}"#, b""),
            said(r#"{"stands":"odd"}"#, b""),
            said(r#"{"stands":"waiting"}"#, b""),
            said(r#"{"stands":"listed","loaded":"-1"}"#, b""),
            said(r#"{"end":1,"code":"expired","status":{"code":"x"}}"#, b""),
            said(r#"{"stands":"compacted"}"#, b""),
            said(r#"{"stands":"compacted","version":7}"#, b""),
            said(r#"{"stands":"compacted","version":"x"}"#, b""),
            said(r#"{"stands":"set-apart"}"#, b""),
            said(r#"{"stands":"set-apart","objects":{}}"#, b""),
            said(r#"{"stands":"set-apart","objects":["a"]}"#, b""),
            said(r#"{"stands":"set-apart","objects":[{"code":"decode"}]}"#, b""),
            said(r#"{"stands":"set-apart","objects":[{"key":"a"}]}"#, b""),
            said(r#"{"stands":"set-apart","objects":[{"key":"a","uid":1,"code":"decode"}]}"#, b""),
        ] {
            for error in [Request::try_from(packet.clone()).unwrap_err(), Answer::try_from(packet.clone()).unwrap_err()] {
                assert_eq!(error.code, ErrorCode::Protocol, "{packet:?}");
            }
        }
    }
}
