//! What is asked of a source, as a head and its document.

use super::head::{flag, is_set, read_history, set_flag, text, unknown, whole, write_flag, write_history, write_number};
use super::message::Call;
use crate::json::value::Value;
use crate::json::write::Document;
use crate::source::{
    DeleteOptions, ListRequest, Narrow, ObjectName, Patch, PatchType, Preconditions, WatchRequest, WriteParameters, WriteRequest,
};
use crate::status::Error;

/// Writes what is asked, and gives its document.
pub(super) fn write_call(head: &mut Document, call: Call) -> Vec<u8> {
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
            if let Some(history) = request.history {
                write_history(head, history);
            }
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

pub(super) fn read_call(head: &Value, document: Vec<u8>) -> Result<Call, Error> {
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
            history: read_history(head),
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
