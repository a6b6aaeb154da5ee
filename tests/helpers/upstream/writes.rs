//! The half of the upstream that takes writes, with an API server's rules. An update names the version that it replaces. A deletion may
//! name its preconditions.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use futures::future::LocalBoxFuture;
use serde_json::{Value, json};
use watchcache::source::{DeleteOptions, Narrow, ObjectName, Patch, PatchType, WriteParameters, WriteRequest};
use watchcache::status::{Details, Error, Status};

use super::{Shared, Upstream, Write, key};

/// A request for one object, or a write.
#[derive(Clone, Debug, PartialEq)]
pub enum Asked {
    Get(ObjectName, Option<String>),
    Write(WriteRequest),
}

/// What the next of these requests meets.
#[derive(Clone, Debug)]
pub enum WriteFault {
    /// Nothing: the request is answered as it should be.
    None,
    Refuse(Error),
    /// No answer, ever; nothing is written.
    Hang,
    /// It is written, and the answer is lost.
    Lost,
    /// It is written, and this is the answer.
    Answer(&'static str),
}

/// How it takes writes.
#[derive(Default)]
pub struct Writes {
    pub asked: RefCell<Vec<Asked>>,
    pub faults: RefCell<VecDeque<WriteFault>>,
    /// It gives no single objects, only lists.
    pub only_lists: Cell<bool>,
    /// A deletion is answered with the object rather than with a Status.
    pub gives_deleted: Cell<bool>,
    /// Deletions only mark their objects, which end later.
    pub graceful: Cell<bool>,
}

impl Writes {
    pub fn fail(&self, fault: WriteFault) {
        self.faults.borrow_mut().push_back(fault);
    }

    fn next_fault(&self) -> WriteFault {
        self.faults.borrow_mut().pop_front().unwrap_or(WriteFault::None)
    }

    /// What was asked for, as text, and forgotten.
    pub fn taken(&self) -> Vec<String> {
        let text = |asked: Asked| match asked {
            Asked::Get(object, subresource) => format!("GET {}{}", key(&object.namespace, &object.name), part(subresource.as_ref())),
            Asked::Write(WriteRequest::Create { document, parameters, .. }) => {
                let document: Value = serde_json::from_slice(&document).unwrap();
                format!("POST {}{}", document["metadata"]["name"].as_str().unwrap_or("?"), said(&parameters))
            }
            Asked::Write(WriteRequest::Update { object, document, parameters }) => {
                let document: Value = serde_json::from_slice(&document).unwrap();
                let version = document["metadata"]["resourceVersion"].as_str().unwrap().to_owned();
                format!("PUT {}{}@{version}", key(&object.namespace, &object.name), said(&parameters))
            }
            Asked::Write(WriteRequest::Patch { object, patch, parameters }) => {
                let force = if patch.force { "!" } else { "" };
                format!("PATCH {}{} {:?}{force}", key(&object.namespace, &object.name), said(&parameters), patch.kind)
            }
            Asked::Write(WriteRequest::Delete { object, .. }) => format!("DELETE {}", key(&object.namespace, &object.name)),
            Asked::Write(WriteRequest::DeleteCollection { narrow, .. }) => {
                format!("DELETE {}/* {}", narrow.namespace.unwrap_or_default(), narrow.labels.unwrap_or_default())
            }
        };
        self.asked.take().into_iter().map(text).collect()
    }
}

fn part(subresource: Option<&String>) -> String {
    subresource.map(|subresource| format!("/{subresource}")).unwrap_or_default()
}

fn said(parameters: &WriteParameters) -> String {
    format!("{}{}", part(parameters.subresource.as_ref()), if parameters.dry_run { "?" } else { "" })
}

/// RFC 7386.
fn merge(target: &mut Value, patch: &Value) {
    let Value::Object(members) = patch else { return *target = patch.clone() };
    if !target.is_object() {
        *target = json!({});
    }
    for (name, value) in members {
        if value.is_null() {
            target.as_object_mut().unwrap().remove(name);
        } else {
            merge(&mut target[name], value);
        }
    }
}

fn conflict(name: &str, why: &str) -> Error {
    Status::new(409, "Conflict", format!("Operation cannot be fulfilled on pods {name:?}: {why}")).into()
}

impl Upstream {
    /// The object as it stands.
    pub fn object(&self, key: &str) -> Option<Value> {
        self.current.borrow().get(key).map(|(_, document)| serde_json::from_str(document).unwrap())
    }

    /// The document of an object, as a request gets it.
    pub fn answer_get(&self, object: &ObjectName, subresource: Option<&str>) -> Result<Vec<u8>, Error> {
        let found = self.existing(object)?;
        let answer = if subresource == Some("scale") { scale_of(&found) } else { found };
        Ok(answer.to_string().into_bytes())
    }

    fn existing(&self, object: &ObjectName) -> Result<Value, Error> {
        let found = self.object(&key(&object.namespace, &object.name));
        found.ok_or_else(|| Status::not_found("pods", &object.name).into())
    }

    /// Does a write, and gives its answer.
    pub fn answer_write(&self, request: &WriteRequest) -> Result<Vec<u8>, Error> {
        match request {
            WriteRequest::Create { namespace, of: Some(name), .. } if namespace.is_empty() => {
                self.evict(&ObjectName { namespace: self.namespace.borrow().clone().unwrap(), name: name.clone() })
            }
            WriteRequest::Create { namespace, of: Some(name), .. } => {
                self.evict(&ObjectName { namespace: namespace.clone(), name: name.clone() })
            }
            WriteRequest::Create { namespace, document, parameters, .. } => self.create_object(namespace, document, parameters.dry_run),
            WriteRequest::Update { object, document, parameters } => self.update_object(object, document, parameters),
            WriteRequest::Patch { object, patch, parameters } => self.patch_object(object, patch, parameters),
            WriteRequest::DeleteCollection { narrow, options } => Ok(self.delete_all(narrow, options)),
            WriteRequest::Delete { object, options } => {
                let found = self.existing(object)?;
                let given = &options.preconditions;
                let checks = [("UID", &given.uid, "uid"), ("ResourceVersion", &given.resource_version, "resourceVersion")];
                for (what, wanted, field) in checks {
                    let real = found["metadata"][field].as_str().unwrap();
                    if let Some(wanted) = wanted.as_deref().filter(|wanted| *wanted != real) {
                        let why = format!("the {what} in the precondition ({wanted}) does not match the {what} in record ({real})");
                        return Err(conflict(&object.name, &why));
                    }
                }
                Ok(if options.dry_run { found.to_string().into_bytes() } else { self.delete_object(object, found) })
            }
        }
    }

    fn create_object(&self, namespace: &str, document: &[u8], dry_run: bool) -> Result<Vec<u8>, Error> {
        let mut object: Value = serde_json::from_slice(document).unwrap();
        if object["metadata"]["name"].is_null() {
            let prefix = object["metadata"]["generateName"].as_str().unwrap();
            object["metadata"]["name"] = format!("{prefix}{}", self.version()).into();
        }
        let name = object["metadata"]["name"].as_str().unwrap().to_string();
        if self.holds(&key(namespace, &name)) {
            return Err(Status::new(409, "AlreadyExists", format!("pods {name:?} already exists")).into());
        }
        object["metadata"]["uid"] = format!("{name}-{}", self.version()).into();
        if dry_run {
            // As the apiserver answers it: without a version.
            return Ok(object.to_string().into_bytes());
        }
        Ok(self.store("ADDED", &key(namespace, &name), object))
    }

    fn patch_object(&self, target: &ObjectName, patch: &Patch, parameters: &WriteParameters) -> Result<Vec<u8>, Error> {
        assert_ne!(patch.kind, PatchType::Json, "this upstream merges");
        let mut object = self.existing(target)?;
        merge(&mut object, &serde_json::from_slice(&patch.document).unwrap());
        self.update_object(target, object.to_string().as_bytes(), &WriteParameters { subresource: None, ..parameters.clone() })
    }

    /// Ends an object, as an eviction does: answered with a Status that says no version.
    fn evict(&self, target: &ObjectName) -> Result<Vec<u8>, Error> {
        let found = self.existing(target)?;
        self.delete_object(target, found);
        Ok(Status::default().to_json().into_bytes())
    }

    /// Answers with those that it deletes, as they were.
    fn delete_all(&self, narrow: &Narrow, options: &DeleteOptions) -> Vec<u8> {
        let label = narrow.labels.as_deref().and_then(|labels| labels.split_once('='));
        let all: Vec<Value> = self.current.borrow().values().map(|(_, document)| serde_json::from_str(document).unwrap()).collect();
        let chosen = all.into_iter().filter(|object| {
            let metadata = &object["metadata"];
            narrow.namespace.as_deref().is_none_or(|namespace| metadata["namespace"] == namespace)
                && label.is_none_or(|(name, value)| metadata["labels"][name] == value)
        });
        let chosen: Vec<Value> = chosen.collect();
        for object in chosen.iter().filter(|object| !options.dry_run && object["metadata"].get("deletionTimestamp").is_none()) {
            let text = |name: &str| object["metadata"][name].as_str().unwrap_or("").to_owned();
            self.delete_object(&ObjectName { namespace: text("namespace"), name: text("name") }, object.clone());
        }
        let version = self.version().to_string();
        json!({"kind": "PodList", "metadata": {"resourceVersion": version}, "items": chosen}).to_string().into_bytes()
    }

    fn update_object(&self, target: &ObjectName, document: &[u8], parameters: &WriteParameters) -> Result<Vec<u8>, Error> {
        let mut object: Value = serde_json::from_slice(document).unwrap();
        let key = key(&target.namespace, &target.name);
        let found = self.existing(target)?;
        assert!(object["metadata"]["resourceVersion"].is_string(), "an update without a version would overwrite what nobody has seen");
        if object["metadata"]["resourceVersion"] != found["metadata"]["resourceVersion"] {
            let why = "the object has been modified; please apply your changes to the latest version and try again";
            return Err(conflict(&target.name, why));
        }
        if object["metadata"].get("uid").is_some_and(|uid| *uid != found["metadata"]["uid"]) {
            return Err(conflict(&target.name, "Precondition failed: UID in precondition"));
        }
        // A client that does not know this field cannot remove it.
        if object["metadata"].get("managedFields").is_none() && found["metadata"].get("managedFields").is_some() {
            object["metadata"]["managedFields"] = found["metadata"]["managedFields"].clone();
        }
        let scale = parameters.subresource.as_deref() == Some("scale");
        if scale {
            let mut scaled = found.clone();
            scaled["spec"]["count"] = object["spec"]["replicas"].clone();
            object = scaled;
        }
        if object == found || parameters.dry_run {
            return Ok(if scale { scale_of(&object) } else { object }.to_string().into_bytes());
        }
        let stored = self.store("MODIFIED", &key, object);
        Ok(if scale { scale_of(&serde_json::from_slice(&stored).unwrap()).to_string().into_bytes() } else { stored })
    }

    fn delete_object(&self, target: &ObjectName, mut found: Value) -> Vec<u8> {
        let key = key(&target.namespace, &target.name);
        if self.writes.graceful.get() {
            found["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z".into();
            return self.store("MODIFIED", &key, found);
        }
        let uid = found["metadata"]["uid"].as_str().unwrap().to_string();
        let last = self.store("DELETED", &key, found);
        if self.writes.gives_deleted.get() {
            return last;
        }
        // As a success is told: no code, no reason, no version.
        let details = Details { name: Some(target.name.clone()), kind: Some("pods".into()), uid: Some(uid), ..Details::default() };
        Status { details: Some(details), ..Status::default() }.to_json().into_bytes()
    }

    fn store(&self, kind: &'static str, key: &str, mut object: Value) -> Vec<u8> {
        let version = self.version() + 1;
        object["metadata"]["resourceVersion"] = version.to_string().into();
        let document: Rc<str> = object.to_string().into();
        self.write(Write { version, kind, key: key.into(), document: document.clone() });
        document.as_bytes().to_vec()
    }
}

/// What the subresource `scale` shows of an object.
fn scale_of(object: &Value) -> Value {
    let metadata = &object["metadata"];
    json!({
        "kind": "Scale",
        "metadata": {"namespace": metadata["namespace"], "name": metadata["name"], "resourceVersion": metadata["resourceVersion"]},
        "spec": {"replicas": object["spec"]["count"]},
    })
}

impl Shared {
    /// Answers one request, with its fault.
    pub fn ask(
        &self,
        asked: Asked,
        answer: impl FnOnce(&Upstream) -> Result<Vec<u8>, Error> + 'static,
    ) -> LocalBoxFuture<'static, Result<Vec<u8>, Error>> {
        let upstream = self.0.clone();
        upstream.writes.asked.borrow_mut().push(asked);
        let fault = upstream.writes.next_fault();
        Box::pin(async move {
            upstream.wait().await;
            match fault {
                WriteFault::None => answer(&upstream),
                WriteFault::Refuse(error) => Err(error),
                WriteFault::Hang => std::future::pending().await,
                WriteFault::Lost => answer(&upstream).and(Err(Error::network("connection reset by peer"))),
                WriteFault::Answer(text) => answer(&upstream).map(|_| text.as_bytes().to_vec()),
            }
        })
    }
}
