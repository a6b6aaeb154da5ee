//! Runs a watcher of kube-rs on the configmaps of a namespace. It writes what the watcher sees, a line an event, and on a line of its
//! standard input the state of its store.
use std::{collections::BTreeMap, error::Error};

use futures::StreamExt;
use k8s_openapi::api::core::v1::ConfigMap;
use kube::{
    Api, Client, Config, ResourceExt,
    runtime::{
        WatchStreamExt, reflector,
        watcher::{self, Event},
    },
};
use tokio::io::{AsyncBufReadExt, BufReader, stdin};

fn text(map: &ConfigMap) -> String {
    let n = map.data.as_ref().and_then(|data| data.get("n")).map_or("", String::as_str);
    format!("{}={n}", map.name_any())
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let mut args = std::env::args().skip(1);
    let server = args.next().ok_or("the server is missing")?;
    let namespace = args.next().ok_or("the namespace is missing")?;
    let client = Client::try_from(Config::new(server.parse()?))?;
    let (reader, writer) = reflector::store();
    let maps = Api::<ConfigMap>::namespaced(client, &namespace);
    let stream = watcher::watcher(maps, watcher::Config::default()).default_backoff().reflect(writer);
    let mut stream = std::pin::pin!(stream);
    let mut lines = BufReader::new(stdin()).lines();
    // What is known, by name: the watcher tells that an object is there, and not whether it was before.
    let mut known: BTreeMap<String, (Option<String>, String)> = BTreeMap::new();
    let mut listed: BTreeMap<String, (Option<String>, String)> = BTreeMap::new();
    loop {
        tokio::select! {
            line = lines.next_line() => {
                if line?.is_none() {
                    return Ok(());
                }
                let mut state: Vec<String> = reader.state().iter().map(|map| text(map)).collect();
                state.sort();
                println!("STATE {}", state.join(","));
            }
            event = stream.next() => match event {
                None => return Ok(()),
                Some(Err(error)) => println!("ERROR {}", error.to_string().lines().next().unwrap_or("")),
                Some(Ok(Event::Init)) => listed.clear(),
                Some(Ok(Event::InitApply(map))) => {
                    listed.insert(map.name_any(), (map.resource_version(), text(&map)));
                }
                Some(Ok(Event::InitDone)) => {
                    for (name, (_, was)) in &known {
                        if !listed.contains_key(name) {
                            println!("DELETED {was}");
                        }
                    }
                    for (name, now) in &listed {
                        match known.get(name) {
                            None => println!("ADDED {}", now.1),
                            Some(was) if was.0 != now.0 => println!("MODIFIED {}", now.1),
                            Some(_) => {}
                        }
                    }
                    known = std::mem::take(&mut listed);
                    println!("SYNCED");
                }
                Some(Ok(Event::Apply(map))) => {
                    let was = known.insert(map.name_any(), (map.resource_version(), text(&map)));
                    println!("{} {}", if was.is_some() { "MODIFIED" } else { "ADDED" }, text(&map));
                }
                Some(Ok(Event::Delete(map))) => {
                    known.remove(&map.name_any());
                    println!("DELETED {}", text(&map));
                }
            }
        }
    }
}
