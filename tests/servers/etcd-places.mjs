/**
 * Which scenarios of the end-to-end suite have a meaning on etcd, and why the others have none. A new scenario has to be placed here.
 * @module
 */

const NO_DISCOVERY = "etcd has keys, and no kinds that it could tell of";
const NO_NAMESPACES = "one source is one prefix: what is joined are paths of the Kubernetes API";
const NO_PARTS = "parts of objects and tables are answers of the Kubernetes API to an Accept header";
const NO_PATCHES = "etcd takes whole values: a patch is invalid, which tests/servers/etcd.refusals holds";
const NO_SUBRESOURCES = "a key has no parts with an address of their own, which tests/servers/etcd.refusals holds";
const NO_FETCH = "a watch of etcd comes over a WebSocket alone";
const NO_TOKENS = "etcd gives tokens for a password, and starts with users or without: tests/servers/etcd.auth does this with users";
const OTHER_WORDS = "etcd says it in its own words and at other moments";

/** @type {import("../e2e/cache/declare.mjs").Places} */
export const PLACES = {
  runs: [
    "a cache that starts: lists in pages, then is live",
    "a cache that starts: pages of any size give the same state",
    "a cache that starts: a watch with initial events: the state, the annotated bookmark, what follows",
    "a cache that starts: answers a read without a version from now, whatever else was written meanwhile",
    "writes of a second client: appear exactly once and in order",
    "writes of a second client: appear exactly once and in order while the connection drops again and again",
    "a stream that ends: in silence is found out by the idle timeout",
    "writes through the cache: are held when they resolve: created, changed, deleted",
    "writes through the cache: lose nothing when several caches change one object at once",
    "writes through the cache: keep what the cache does not hold: managedFields, and every stripped field",
    "writes through the cache: leave an object alone, or fail with what the function throws",
    "writes through the cache: have happened although the stream is silent: what is held follows later",
    "a resource that is polled: tells what differs as events at the server's versions, and opens no watch",
    "a resource that is polled: shows a write at once, however long the period is",
    "a resource that is polled: keeps its rows while the server is away, and goes on without a list that anybody hears of",
    "relations: pods follow their owner and their service, live",
    "relations: events of the core group are found by the object that they are about",
    "history that is gone: leads to a relist that shows only the differences, and no row blinks",
    "history that is gone: after a crash of the server everything is there again, and more can come",
    "a server that says no: for a while, with 503 or 429: it waits and recovers",
    "a server that says no: with an HTML page instead of a list: an error with a code, nothing lost",
    "a proxy between: that drops connections all the time, over websocket: nothing is lost, doubled or out of order",
    "a proxy between: that truncates what it passes on, over websocket: no half of a frame is taken",
    "a proxy between: that delays every piece and cuts what lasts, over websocket: live again and again, and whole",
    "a proxy between: that leads to a page to sign in: needs-auth, and nothing held is lost",
    "a proxy between: whose clock is an hour ahead: what it asks to wait is counted by that clock",
  ],
  none: {
    "a cache that starts: asks the server to select, and selects itself":
      "a source of keys is asked for all of them; views and watches select",
    "a cache that starts: takes all namespaces, and knows them by an index": NO_NAMESPACES,
    "a cache that starts: takes resources of a group and of the cluster": NO_DISCOVERY,
    "a cache that starts: streams its watch over fetch as well": NO_FETCH,
    "a stream that ends: by its timeout is resumed from the last bookmark, without a relist":
      "the end of a watch is told to etcdSource, and to no server: nothing could bring it near",
    "writes through the cache: are refused with the server's own words": OTHER_WORDS,
    "writes through the cache: reach every namespace from a resource that spans them, also where deletions give no object back":
      NO_NAMESPACES,
    "patches through the cache: of every type are held when they resolve": NO_PATCHES,
    "patches through the cache: apply adds what is missing, and says whose the fields are": NO_PATCHES,
    "patches through the cache: that do not fit are refused, and change nothing": NO_PATCHES,
    "subresources through the cache: status is written apart from the rest": NO_SUBRESOURCES,
    "subresources through the cache: a scale is read, updated and patched, and its workload shows it": NO_SUBRESOURCES,
    "subresources through the cache: what is not there is refused in the server's words, whoever answers":
      "etcd has no words for it: its answer is empty, and not-found is the source's, which tests/servers/etcd.source holds",
    "subresources through the cache: an eviction is over when its pod is gone": NO_SUBRESOURCES,
    "dry runs and deletions of many: a dry run answers, and keeps nothing": "etcd has no dry run, which tests/servers/etcd.refusals holds",
    "dry runs and deletions of many: what a selector chooses is deleted together, and shows it": "etcd deletes by range and not by label",
    "several namespaces as one resource: holds the objects of all, by one list and one watch each, and tells their changes in one order":
      NO_NAMESPACES,
    "several namespaces as one resource: reads and writes in each, and shows what was written": NO_NAMESPACES,
    "several namespaces as one resource: goes on where it was when connections are cut and versions forgotten, and ends no watch":
      NO_NAMESPACES,
    "several namespaces as one resource: takes namespaces and gives them up while it runs, and is found by those it has": NO_NAMESPACES,
    "several namespaces as one resource: closes with its cache, also where another has its name": NO_NAMESPACES,
    "several namespaces as one resource: tells handlers of an object's own version, whatever a watch is told": NO_NAMESPACES,
    "several namespaces as one resource: as rows of a Table, and polled": NO_NAMESPACES,
    "several namespaces as one resource: takes new namespaces in a handler, twice in one turn, and not after its end": NO_NAMESPACES,
    "several namespaces as one resource: follows a namespace that is deleted and made anew": NO_NAMESPACES,
    "several namespaces as one resource: two hundred of them, each with a list and a socket": NO_NAMESPACES,
    "several namespaces as one resource: names a namespace that the server refuses, and shows the others": NO_NAMESPACES,
    "a part of each object: as PartialObjectMetadata: it comes, changes, is written and goes": NO_PARTS,
    "a part of each object: as PartialObjectMetadata: what is a part is not written whole": NO_PARTS,
    "a part of each object: as PartialObjectMetadata: a server that answers with whole objects is told from one that makes parts": NO_PARTS,
    "a part of each object: as Table: it comes, changes, is written and goes": NO_PARTS,
    "a part of each object: as Table: what is a part is not written whole": NO_PARTS,
    "a part of each object: as Table: a server that answers with whole objects is told from one that makes parts": NO_PARTS,
    "a part of each object: as Table: cells stand under their columns, and views select and order by them": NO_PARTS,
    "discovery: tells the same in the aggregated and in the classic form": NO_DISCOVERY,
    "discovery: names and kinds open what they mean": NO_DISCOVERY,
    "discovery: says what one may, and what one may not": NO_DISCOVERY,
    "a group whose server is away: is named, in either form, and all others are there": NO_DISCOVERY,
    "a custom resource: is failed while it does not exist, lives when it appears, loses its rows with its definition, and lives again":
      NO_DISCOVERY,
    "a custom resource: that gets another version goes on in the one that is watched, and discovery finds both": NO_DISCOVERY,
    "relations: events of events.k8s.io are found by the object that they are about": NO_DISCOVERY,
    "a server that says no: to a wrong token: needs-auth, and a right one heals it": NO_TOKENS,
    "a server that says no: to a user without the right: forbidden": NO_TOKENS,
    "a server that says no: to a token that is out of date: the next one is asked for, and nobody hears of it": NO_TOKENS,
    "a server that says no: to a wrong path: not-found":
      "each prefix is one, if an empty one; a wrong endpoint is met in tests/servers/etcd.refusals",
    "a proxy between: that drops connections all the time, over fetch: nothing is lost, doubled or out of order": NO_FETCH,
    "a proxy between: that truncates what it passes on, over fetch: no half of a frame is taken": NO_FETCH,
    "a proxy between: that delays every piece and cuts what lasts, over fetch: live again and again, and whole": NO_FETCH,
    "a proxy between: that holds back streams until they end: changes come with the end of short watches, and no list is needed": NO_FETCH,
    "a proxy between: that says 410 to a watch instead of the stream, over websocket: a list follows":
      "etcd opens each watch, and tells a compaction by it: tests/servers/etcd.source",
    "a proxy between: that says 410 to a watch instead of the stream, over fetch: a list follows": NO_FETCH,
    "a proxy between: that forbids the watch and not the list, over websocket: failed, with what it said, and it heals":
      "one right of etcd is for both; tests/servers/etcd.auth takes it while the watch runs",
    "a proxy between: that forbids the watch and not the list, over fetch: failed, with what it said, and it heals": NO_FETCH,
    "a proxy between: that wants other credentials in the midst of it: they are asked for at once, and twice refused it is needs-auth":
      NO_TOKENS,
  },
};
