//! Pods that differ as pods of a cluster do: fifty workloads, each pod with its own name, uid, node, addresses, containers and times.

use std::fmt::Write as _;

/// Workloads of the cluster.
const WORKLOADS: u32 = 50;

/// Writes pods after one that is given.
pub(crate) struct Pods {
    // The pieces between what differs, and what that is.
    pieces: Vec<(String, Option<Differs>)>,
}

#[derive(Clone, Copy)]
enum Differs {
    Name,
    Namespace,
    Workload,
    Hash,
    Uid,
    Owner,
    Node,
    HostIp,
    PodIp,
    Token,
    Container(u32),
    Created,
    Changed,
    Version,
    Count,
}

impl Pods {
    /// After this pod, without its managedFields.
    pub(crate) fn new(pod: &[u8]) -> Self {
        let mut pod: serde_json::Value = serde_json::from_slice(pod).expect("a pod");
        pod["metadata"].as_object_mut().expect("metadata").remove("managedFields");
        let text = |pointer: &str| pod.pointer(pointer).and_then(|value| value.as_str()).unwrap_or_else(|| panic!("{pointer}")).to_owned();
        let container = |at: usize| text(&format!("/status/initContainerStatuses/{at}/containerID"));
        let volumes = pod["spec"]["volumes"].as_array().expect("volumes");
        let token =
            volumes.iter().filter_map(|it| it["name"].as_str()).find(|it| it.starts_with("kube-api-access-")).expect("a token").to_owned();
        let mut wanted = [
            (text("/metadata/name"), Differs::Name),
            (format!("\"namespace\":\"{}\"", text("/metadata/namespace")), Differs::Namespace),
            (text("/metadata/labels/pod-template-hash"), Differs::Hash),
            (text("/metadata/labels/name"), Differs::Workload),
            (text("/metadata/uid"), Differs::Uid),
            (text("/metadata/ownerReferences/0/uid"), Differs::Owner),
            (text("/spec/nodeName"), Differs::Node),
            (text("/status/hostIP"), Differs::HostIp),
            (text("/status/podIP"), Differs::PodIp),
            (token, Differs::Token),
            (container(0), Differs::Container(0)),
            (container(1), Differs::Container(1)),
            (text("/metadata/creationTimestamp"), Differs::Created),
            (text("/status/conditions/1/lastTransitionTime"), Differs::Changed),
            (format!("\"resourceVersion\":\"{}\"", text("/metadata/resourceVersion")), Differs::Version),
            ("\"restartCount\":0".to_owned(), Differs::Count),
        ];
        // The longest first: a name holds its workload's, and its hash.
        wanted.sort_by_key(|(text, _)| std::cmp::Reverse(text.len()));
        let mut rest = pod.to_string();
        let mut pieces = Vec::new();
        while let Some((at, length, differs)) = wanted
            .iter()
            .filter_map(|(text, differs)| Some((rest.find(text.as_str())?, text.len(), *differs)))
            .min_by_key(|(at, length, _)| (*at, usize::MAX - length))
        {
            pieces.push((rest[..at].to_owned(), Some(differs)));
            rest = rest.split_off(at + length);
        }
        pieces.push((rest, None));
        Self { pieces }
    }

    /// The pod of this number after so many changes, at a version.
    pub(crate) fn write(&self, number: u32, changes: u32, version: u64) -> String {
        let workload = number % WORKLOADS;
        let mut out = String::with_capacity(10_000);
        for (piece, differs) in &self.pieces {
            out.push_str(piece);
            let Some(differs) = differs else { continue };
            let _written = match differs {
                Differs::Name => write!(out, "workload-{workload}-{:09x}-{:05x}", noise(workload, 1) >> 28, noise(number, 2) >> 44),
                Differs::Namespace => write!(out, "\"namespace\":\"team-{}\"", workload % 10),
                Differs::Workload => write!(out, "workload-{workload}"),
                Differs::Hash => write!(out, "{:09x}", noise(workload, 1) >> 28),
                Differs::Uid => uid(&mut out, noise(number, 3)),
                Differs::Owner => uid(&mut out, noise(workload, 4)),
                Differs::Node => write!(out, "node-{}", number % 500),
                Differs::HostIp => write!(out, "192.168.{}.{}", number % 500 / 250, number % 250),
                Differs::PodIp => write!(out, "10.{}.{}.{}", number >> 16, number >> 8 & 255, number & 255),
                Differs::Token => write!(out, "kube-api-access-{:05x}", noise(number, 5) >> 44),
                Differs::Container(at) => {
                    let part = |part: u32| noise(number, 10 + at * 4 + part);
                    write!(out, "containerd://{:016x}{:016x}{:016x}{:016x}", part(0), part(1), part(2), part(3))
                }
                Differs::Created => time(&mut out, number),
                Differs::Changed => time(&mut out, number + 1000 * changes),
                Differs::Version => write!(out, "\"resourceVersion\":\"{version}\""),
                Differs::Count => write!(out, "\"restartCount\":{changes}"),
            };
        }
        out
    }
}

fn noise(number: u32, kind: u32) -> u64 {
    fastrand::Rng::with_seed(u64::from(number) << 8 | u64::from(kind)).u64(..)
}

fn uid(out: &mut String, noise: u64) -> std::fmt::Result {
    let text = format!("{noise:016x}{:016x}", noise.wrapping_mul(0x9e37_79b9_7f4a_7c15));
    write!(out, "{}-{}-4{}-8{}-{}", &text[..8], &text[8..12], &text[13..16], &text[17..20], &text[20..])
}

fn time(out: &mut String, seconds: u32) -> std::fmt::Result {
    write!(out, "2026-04-{:02}T{:02}:{:02}:{:02}Z", seconds / 86_400 % 28 + 1, seconds / 3600 % 24, seconds / 60 % 60, seconds % 60)
}
