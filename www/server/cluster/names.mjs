// The words a synthetic cluster is made of.

/** Namespaces with their share of the workloads: real clusters have a few crowded ones and many small ones. */
export const NAMESPACES = /** @type {readonly (readonly [string, number])[]} */ ([
  ["shop", 24],
  ["payments", 16],
  ["search", 12],
  ["media", 9],
  ["ml-serving", 7],
  ["analytics", 6],
  ["identity", 5],
  ["logistics", 4],
  ["kube-system", 4],
  ["monitoring", 3],
  ["messaging", 3],
  ["default", 2],
  ["batch", 2],
  ["staging", 2],
  ["preview-1042", 1],
  ["preview-1057", 1],
  ["preview-1063", 0.5],
  ["istio-system", 0.5],
  ["cert-manager", 0.3],
  ["sandbox", 0.2],
]);

export const APPS = [
  "api",
  "auth",
  "billing",
  "cart",
  "catalog",
  "checkout",
  "consumer",
  "dispatch",
  "exporter",
  "feed",
  "frontend",
  "gateway",
  "geo",
  "images",
  "indexer",
  "ingest",
  "inventory",
  "ledger",
  "mailer",
  "matcher",
  "notifier",
  "orders",
  "pricing",
  "profile",
  "proxy",
  "ranking",
  "recommend",
  "reports",
  "router",
  "scheduler",
  "sessions",
  "shipping",
  "stream",
  "tax",
  "thumbs",
  "tokens",
  "tracker",
  "wallet",
  "webhooks",
  "worker",
];

export const TIERS = ["frontend", "backend", "data", "edge"];
export const TRACKS = /** @type {readonly (readonly [string, number])[]} */ ([
  ["stable", 8],
  ["canary", 1],
  ["beta", 1],
]);
export const ZONES = ["eu-central-1a", "eu-central-1b", "eu-central-1c"];
export const MACHINES = ["m7i.2xlarge", "m7i.4xlarge", "c7g.4xlarge", "r7i.2xlarge"];
export const REGISTRY = "registry.example.com";
