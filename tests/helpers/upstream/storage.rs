//! Lists of the upstream in memory, as etcd's storage behind an API server answers them.

use std::rc::Rc;

use watchcache::cache::Token;
use watchcache::json::FieldSet;
use watchcache::selector::{Filter, FilterText};
use watchcache::source::ListRequest;
use watchcache::status::{Error, Status};
use watchcache::testing::document;
use watchcache::version::Version;

use super::Upstream;

/// The fields that pods can be selected by, as far as tests need them.
const SELECTABLE: [&str; 3] = ["metadata.name", "metadata.namespace", "spec.nodeName"];

/// Where a list is read.
struct Place {
    version: u64,
    from: String,
}

impl Upstream {
    /// The page that was asked for, or the Status that refuses it.
    pub(super) fn page(&self, request: &ListRequest) -> Result<String, Error> {
        let narrow = request.narrow.clone().unwrap_or_default();
        let prefix = narrow.namespace.as_ref().map(|namespace| format!("{namespace}/")).unwrap_or_default();
        let mut fields = FieldSet::new(Vec::new());
        let filter = Filter::new(
            FilterText {
                namespace: narrow.namespace.as_deref(),
                name: narrow.name.as_deref(),
                labels: narrow.labels.as_deref(),
                fields: narrow.fields.as_deref(),
            },
            &mut fields,
        )?;
        if let Some(term) = filter.predicate().field.terms().iter().find(|term| !SELECTABLE.contains(&term.path.as_str())) {
            return Err(Status::bad_request(format!("field label not supported: {}", term.path)).into());
        }
        let place = self.place(request, &prefix)?;
        let state = self.state_at(place.version);
        let unselective = narrow.name.is_none() && filter.predicate().is_empty();
        let limit = request.limit.map_or(usize::MAX, |limit| limit as usize);
        let (mut items, mut rest): (Vec<(String, Rc<str>)>, usize) = (Vec::new(), 0);
        for (key, (_, text)) in state.iter().filter(|(key, _)| key.starts_with(&prefix) && **key >= place.from) {
            if items.len() >= limit {
                rest += 1;
            } else if filter.passes(&document(text, &fields), &fields) {
                items.push((key.clone(), self.spoiled.borrow().document(key, text)));
            }
        }
        let mut metadata = serde_json::json!({"resourceVersion": place.version.to_string()});
        if let Some((last, _)) = items.last().filter(|_| rest > 0) {
            metadata["continue"] = Token::encode(last, &prefix, &Version::from(place.version))?.into();
            if unselective {
                metadata["remainingItemCount"] = rest.into();
            }
        }
        let items: Vec<&str> = items.iter().map(|(_, text)| &**text).collect();
        Ok(format!("{{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{metadata},\"items\":[{}]}}", items.join(",")))
    }

    fn place(&self, request: &ListRequest, prefix: &str) -> Result<Place, Error> {
        let (current, compacted) = (self.version(), self.compacted.get());
        let replica = current.saturating_sub(self.behind.get());
        if let Some(text) = &request.continue_token {
            let token = Token::decode(text, prefix)?;
            let version = token.version.map_or(current, |version| version.as_u64().expect("a version of etcd"));
            if version < compacted {
                let mut status =
                    Status::new(410, "Expired", "The provided continue parameter is too old to display a consistent list result.");
                status.metadata.continue_token = Some(newest_from(&token.start, prefix));
                return Err(status.into());
            }
            return Ok(Place { version, from: token.start });
        }
        let Some(asked) = &request.resource_version else { return Ok(Place { version: replica, from: String::new() }) };
        let asked: u64 = asked.parse().map_err(|_| Status::bad_request("invalid resource version"))?;
        if asked > current {
            return Err(Status::new(504, "Timeout", format!("Timeout: Too large resource version: {asked}, current: {current}")).into());
        }
        let exact = match request.resource_version_match.as_deref() {
            Some("Exact") => true,
            Some(_) => false,
            None => request.limit.is_some() && asked > 0,
        };
        if exact && asked < compacted {
            return Err(Status::new(410, "Expired", "The resourceVersion for the provided list is too old.").into());
        }
        if !exact && asked > replica {
            // A replica that is behind waits as the cache does, and gives up.
            return Err(Status::too_large(asked, replica).into());
        }
        Ok(Place { version: if exact { asked } else { replica }, from: String::new() })
    }
}

/// A token that goes on at the newest version, as a server gives with 410.
fn newest_from(start: &str, prefix: &str) -> String {
    use base64::Engine;
    let start = serde_json::Value::from(start.strip_prefix(prefix).expect("a start below the prefix"));
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(format!("{{\"v\":\"meta.k8s.io/v1\",\"rv\":-1,\"start\":{start}}}"))
}
