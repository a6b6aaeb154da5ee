//! Messages of a watch as frames.
//!
//! A message holds whole revisions, but for one that is a fragment: then what is of its last revision waits for the rest. A cache has a
//! version for each change. Where revisions are versions, one that changes several keys cannot be told so, nor can two changes of one version.
//! Then the watch ends with 410, and a list tells all of it at once.

use super::list::bookmark;
use super::numbers::number;
use super::object::{Dialect, KeyValue};
use crate::json::value::Value;
use crate::source::buffers::MAX_FRAME_BYTES;
use crate::status::{Error, Status};
use crate::version::Version;

/// A change that was read.
struct Change {
    revision: u64,
    version: Version,
    frame: Vec<u8>,
}

/// Turns the messages of one watch into frames.
pub struct WatchReader {
    dialect: Dialect,
    /// What is told already.
    after: Version,
    bookmarks: bool,
    waiting: Vec<Change>,
    /// Of the frames that wait.
    waiting_bytes: usize,
}

impl WatchReader {
    /// A reader of a watch that tells what came after this version.
    pub fn new(dialect: Dialect, after: Version, bookmarks: bool) -> Self {
        Self { dialect, after, bookmarks, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// The frames of a message. None: it is a sign of life. An `Err` is the end of the watch; what stands before it counts.
    pub fn read(&mut self, message: &[u8]) -> Vec<Result<Vec<u8>, Error>> {
        let mut frames = Vec::new();
        if let Err(error) = self.take(message, &mut frames) {
            frames.push(Err(error));
        }
        frames
    }

    fn take(&mut self, message: &[u8], frames: &mut Vec<Result<Vec<u8>, Error>>) -> Result<(), Error> {
        let odd = |why: &str| Error::protocol(format!("this is no watch of etcd's JSON gateway: {why}"));
        let read = Value::parse(message).map_err(|error| odd(&error.to_string()))?;
        let result = read.get("result");
        let is = |name: &str| matches!(result.get(name), Value::Bool(true));
        if !matches!(result, Value::Map(_)) || is("canceled") {
            return Err(odd("it holds no result"));
        }
        if let Value::List(events) = result.get("events") {
            for event in events {
                let Some(change) = self.change(event)? else { continue };
                self.waiting_bytes += change.frame.len();
                self.waiting.push(change);
            }
            if self.waiting_bytes > MAX_FRAME_BYTES {
                return Err(Error::protocol(format!("a revision changes more than {MAX_FRAME_BYTES} bytes")));
            }
            let open = if is("fragment") { self.waiting.last().map(|change| change.revision) } else { None };
            return self.tell(open, frames);
        }
        // Whoever made the watch hears of that alone. What waits is older than any progress.
        if self.bookmarks && !is("created") && self.waiting.is_empty() {
            let revision = number(result.get("header"), "revision").filter(|revision| *revision > 0);
            frames.push(Ok(bookmark(&self.dialect, revision.ok_or_else(|| odd("it tells no revision"))?)));
        }
        Ok(())
    }

    /// Tells what waits, but for what is of a revision of which there is more to come.
    fn tell(&mut self, open: Option<u64>, frames: &mut Vec<Result<Vec<u8>, Error>>) -> Result<(), Error> {
        let whole = self.waiting.iter().position(|change| open == Some(change.revision)).unwrap_or(self.waiting.len());
        let mut changes: Vec<Change> = self.waiting.drain(..whole).collect();
        self.waiting_bytes -= changes.iter().map(|change| change.frame.len()).sum::<usize>();
        // Those of one revision have no order of their own.
        changes.sort_by(|one, two| one.version.cmp(&two.version));
        for index in 0..changes.len() {
            let (change, next) = (&changes[index], changes.get(index + 1));
            if let Some(next) = next.filter(|next| next.revision == change.revision) {
                let revision = change.revision;
                if !self.dialect.numbers.transactions {
                    return Err(anew(format!(
                        "revision {revision} has changed several keys at once, which is listed anew; \
                         where that happens often, give etcdSource {{ transactions: true }}"
                    )));
                }
                // Rare: keys whose hashes are equal have the same place.
                if next.version == change.version {
                    return Err(anew(format!("two changes of revision {revision} have the same version, so it is listed anew")));
                }
            }
            if change.version > self.after {
                self.after = change.version.clone();
                frames.push(Ok(std::mem::take(&mut changes[index].frame)));
            }
        }
        Ok(())
    }

    /// `None` for what is told already.
    fn change(&self, event: &Value) -> Result<Option<Change>, Error> {
        let at = KeyValue::read(event.get("kv"))?;
        let deleted = match event.get("type") {
            Value::Null => false,
            Value::Text(kind) if kind == "PUT" => false,
            Value::Text(kind) if kind == "DELETE" => true,
            other => return Err(Error::protocol(format!("the watch sent an event of a type that etcd does not have: {other:?}"))),
        };
        let version = Version::parse(&self.dialect.version(&at)?).map_err(|error| Error::protocol(error.to_string()))?;
        if version <= self.after {
            return Ok(None);
        }
        let kind = match deleted {
            true => "DELETED",
            false if at.created == at.modified => "ADDED",
            false => "MODIFIED",
        };
        let mut frame = format!("{{\"type\":\"{kind}\",\"object\":").into_bytes();
        match event.get("prev_kv") {
            before @ Value::Map(_) if deleted => self.dialect.write(&KeyValue::read(before)?, &at, &mut frame)?,
            _ => self.dialect.write(&at, &at, &mut frame)?,
        }
        frame.push(b'}');
        Ok(Some(Change { revision: at.modified, version, frame }))
    }
}

/// The end of a watch that a list follows.
fn anew(message: String) -> Error {
    Status::new(410, "Expired", message).into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::etcd::Numbers;
    use crate::status::ErrorCode;

    fn reader(transactions: bool, after: &str) -> WatchReader {
        let dialect = Dialect { prefix: b"p/".to_vec(), numbers: Numbers { transactions } };
        WatchReader::new(dialect, Version::parse(after).unwrap(), true)
    }

    /// Type, name and version of each frame; the code of an error.
    fn told(frames: Vec<Result<Vec<u8>, Error>>) -> Vec<String> {
        frames
            .into_iter()
            .map(|frame| match frame {
                Err(error) => format!("{} {}", error.code.as_str(), error.status.map_or(0, |status| status.code)),
                Ok(frame) => {
                    let frame: serde_json::Value = serde_json::from_slice(&frame).unwrap();
                    let metadata = &frame["object"]["metadata"];
                    let name = metadata["name"].as_str().unwrap_or("-");
                    format!("{} {name} {}", frame["type"].as_str().unwrap(), metadata["resourceVersion"].as_str().unwrap())
                }
            })
            .collect()
    }

    fn message(events: &str, more: &str) -> String {
        format!(r#"{{"result":{{"header":{{"revision":"9"}},{more}"events":[{events}]}}}}"#)
    }

    fn put(key: impl std::fmt::Display, created: u64, modified: u64) -> String {
        let key = base64::Engine::encode(&base64::engine::general_purpose::STANDARD, format!("p/{key}"));
        format!(r#"{{"kv":{{"key":"{key}","create_revision":"{created}","mod_revision":"{modified}","value":"MQ=="}}}}"#)
    }

    const DELETE: &str = concat!(
        r#"{"type":"DELETE","kv":{"key":"cC9h","mod_revision":"8"},"#,
        r#""prev_kv":{"key":"cC9h","create_revision":"5","mod_revision":"6","version":"2","value":"MQ=="}}"#
    );

    #[test]
    fn puts_and_deletions_are_changes_and_a_deletion_carries_what_was() {
        let mut reader = reader(false, "4");
        let frames = reader.read(message(&[put('a', 5, 5), put('a', 5, 6), put('b', 3, 7), DELETE.to_string()].join(","), "").as_bytes());
        assert_eq!(
            String::from_utf8(frames[3].clone().unwrap()).unwrap(),
            r#"{"type":"DELETED","object":{"metadata":{"name":"a","resourceVersion":"8","uid":"5"},"value":1}}"#
        );
        assert_eq!(told(frames), ["ADDED a 5", "MODIFIED a 6", "MODIFIED b 7", "DELETED a 8"]);
        let without = DELETE.split(",\"prev_kv").next().unwrap().to_string() + "}";
        let mut reader = super::tests::reader(false, "4");
        assert_eq!(told(reader.read(message(&without, "").as_bytes())), ["DELETED a 8"], "also where what was is compacted");
    }

    #[test]
    fn progress_is_a_bookmark_and_a_new_watch_none() {
        let mut reader = reader(false, "4");
        assert!(reader.read(br#"{"result":{"header":{"revision":"9"},"created":true}}"#).is_empty());
        assert_eq!(told(reader.read(br#"{"result":{"header":{"revision":"9"},"watch_id":"-1"}}"#)), ["BOOKMARK - 9"]);
        let mut placed = super::tests::reader(true, "4999999999");
        assert_eq!(told(placed.read(br#"{"result":{"header":{"revision":"9"}}}"#)), ["BOOKMARK - 9999999999"]);
        reader.bookmarks = false;
        assert!(reader.read(br#"{"result":{"header":{"revision":"9"}}}"#).is_empty());
    }

    #[test]
    fn law_02_order_all_of_a_transaction_is_told_once_and_in_order_wherever_a_watch_resumes() {
        let events = [put('a', 5, 5), put('b', 3, 6), put('c', 2, 6), put('d', 6, 6), put('a', 5, 7)].join(",");
        let all = told(reader(true, "4999999999").read(message(&events, "").as_bytes()));
        assert_eq!(all.len(), 5);
        let versions: Vec<Version> = all.iter().map(|one| Version::parse(one.rsplit(' ').next().unwrap()).unwrap()).collect();
        assert!(versions.is_sorted() && versions.windows(2).all(|pair| pair[0] != pair[1]), "{all:?}");
        for (place, version) in versions.iter().enumerate() {
            let rest = told(reader(true, &version.to_string()).read(message(&events, "").as_bytes()));
            assert_eq!(rest, all[place + 1..], "after {version}");
        }
    }

    #[test]
    fn a_transaction_is_listed_anew_where_versions_are_revisions() {
        let events = [put('a', 5, 5), put('b', 3, 6), put('c', 2, 6), put('a', 5, 7)].join(",");
        assert_eq!(told(reader(false, "4").read(message(&events, "").as_bytes())), ["ADDED a 5", "expired 410"]);
        assert_eq!(told(reader(false, "6").read(message(&events, "").as_bytes())), ["MODIFIED a 7"], "unless it is told already");
    }

    #[test]
    fn law_06_loud_loss_of_two_keys_with_one_version_neither_is_dropped() {
        let numbers = Numbers { transactions: true };
        let mut seen = std::collections::HashMap::new();
        let pair = (0..1_000_000).find_map(|key| {
            let key = format!("key-{key}");
            seen.insert(numbers.of(6, key.as_bytes()), key.clone()).map(|other| (other, key))
        });
        let (one, two) = pair.expect("so many hashes meet");
        let events = [put('a', 5, 5), put(one, 3, 6), put(two, 2, 6)].join(",");
        assert_eq!(told(reader(true, "4999999999").read(message(&events, "").as_bytes())).last().unwrap(), "expired 410");
    }

    #[test]
    fn law_04_split_fragments_of_a_revision_are_told_together() {
        let events = [put('a', 5, 5), put('b', 3, 6), put('c', 2, 6), put('d', 6, 6), put('a', 5, 7)];
        for transactions in [false, true] {
            let after = if transactions { "4999999999" } else { "4" };
            let whole = told(reader(transactions, after).read(message(&events.join(","), "").as_bytes()));
            for cut in 1..events.len() {
                let mut reader = reader(transactions, after);
                let mut frames = told(reader.read(message(&events[..cut].join(","), r#""fragment":true,"#).as_bytes()));
                assert!(
                    !frames.iter().any(|frame| frame.ends_with("410"))
                        && reader.read(br#"{"result":{"header":{"revision":"9"}}}"#).is_empty()
                );
                frames.extend(told(reader.read(message(&events[cut..].join(","), "").as_bytes())));
                assert_eq!(frames, whole, "cut at {cut}");
            }
        }
    }

    #[test]
    fn what_was_told_counts_no_more_and_what_waits_is_bounded() {
        let mut reader = reader(true, "4999999999");
        assert!(reader.read(message(&put('a', 1, 6), r#""fragment":true,"#).as_bytes()).is_empty());
        assert!(reader.waiting_bytes > 0);
        assert_eq!(told(reader.read(message(&put('b', 1, 6), "").as_bytes())).len(), 2);
        assert_eq!(reader.waiting_bytes, 0);
        reader.waiting_bytes = MAX_FRAME_BYTES;
        assert_eq!(told(reader.read(message(&put('a', 1, 7), r#""fragment":true,"#).as_bytes())), ["protocol 0"]);
    }

    #[test]
    fn law_11_whole_a_message_that_breaks_off_tells_nothing() {
        let whole = message(&[put('a', 5, 5), DELETE.to_string()].join(","), "");
        for end in 0..whole.len() {
            let frames = reader(false, "4").read(&whole.as_bytes()[..end]);
            assert!(matches!(frames.as_slice(), [Err(error)] if error.code == ErrorCode::Protocol), "{end}: {:?}", told(frames));
        }
    }

    #[test]
    fn what_no_etcd_sends_ends_the_watch() {
        for odd in [
            "",
            "<html>",
            "{}",
            r#"{"error":{"code":14}}"#,
            r#"{"result":{"header":{}}}"#,
            r#"{"result":{"canceled":true,"header":{"revision":"5"}}}"#,
            r#"{"result":{"events":[{"type":"MERGE","kv":{"key":"cC9h","mod_revision":"8"}}]}}"#,
            r#"{"result":{"events":[{"kv":{"key":"cS9h","mod_revision":"8"}}]}}"#,
            r#"{"result":{"events":[{}]}}"#,
        ] {
            let frames = reader(false, "4").read(odd.as_bytes());
            assert!(matches!(frames.as_slice(), [Err(error)] if error.code == ErrorCode::Protocol), "{odd}: {:?}", told(frames));
        }
    }
}
