//! How a stream stands, as a head.

use super::head::{each, is_set, items, read_error, set_flag, text, unknown, whole, write_error, write_items, write_number};
use crate::connection::Connection;
use crate::json::value::Value;
use crate::json::write::Document;
use crate::message::Quarantined;
use crate::source::Standing;
use crate::status::Error;
use crate::time::WallTime;
use crate::version::Version;

/// Writes how a stream stands, and gives the objects that it shows.
pub(super) fn write_standing(head: &mut Document, standing: &Standing) -> Vec<u8> {
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
        Standing::SetApart(all) => {
            let all: Vec<String> = all.iter().map(write_quarantined).collect();
            head.text("stands", "set-apart").raw("objects", &format!("[{}]", all.join(",")));
        }
        Standing::Compacted(version) => _ = head.text("stands", "compacted").text("version", &version.to_string()),
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

pub(super) fn read_standing(word: &str, head: &Value, body: &[u8]) -> Result<Standing, Error> {
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
        "set-apart" => return each(head, "objects", read_quarantined).map(Standing::SetApart),
        "compacted" => {
            let version = text(head, "version")?.and_then(|version| Version::parse(&version).ok());
            return version.map(Standing::Compacted).ok_or_else(unknown);
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

fn write_quarantined(entry: &Quarantined) -> String {
    let mut document = Document::new();
    document.text("key", &entry.key).optional("uid", entry.uid.as_deref());
    write_error(&mut document, &entry.error);
    document.finish()
}

fn read_quarantined(of: &Value) -> Result<Quarantined, Error> {
    let key = text(of, "key")?.ok_or_else(unknown)?.into();
    Ok(Quarantined { key, uid: text(of, "uid")?.map(Into::into), error: read_error(of)?.ok_or_else(unknown)? })
}
