import { compare, nameIn, owe, type Session, versionIn } from "./session.js";
import type { SourceUnderTest } from "./types.js";

/** A rule, and what a source has to have for it. */
interface Rule {
  readonly name: string;
  readonly applies?: (subject: SourceUnderTest) => boolean;
  readonly check: (session: Session) => Promise<void>;
}

const names = (events: readonly { type: string; name: string }[]) => events.map(({ type, name }) => `${type} ${name}`).join(", ");
const writable = ({ source, objectOf }: SourceUnderTest) => objectOf !== undefined && source.create !== undefined;
const signal = () => new AbortController().signal;

/** A refusal's code, wherever it stands. */
function codeOf(refusal: any): unknown {
  return refusal?.code ?? refusal?.status?.code;
}

async function refusedWith(session: Session, what: string, answer: Promise<unknown>, code: number, remedy: string): Promise<void> {
  const refusal = await session.within(what, answer).then(
    () => undefined,
    (error: unknown) => error,
  );
  owe(
    codeOf(refusal) === code,
    `${what} ${refusal === undefined ? "was done" : `was refused with ${String(codeOf(refusal) ?? refusal)}`}`,
    remedy,
  );
}

/** All that the cache relies on. Each rule is one that some source has broken. */
export const RULES: readonly Rule[] = [
  {
    name: "a list of nothing is a list, at a version",
    check: async (session) => {
      const { names } = await session.list();
      owe(names.length === 0, `a source that nothing was put into lists ${names.join(", ")}`, "Begin each check with an empty source");
    },
  },
  {
    name: "a list holds what was put and not removed, each once, none newer than the list",
    check: async (session) => {
      for (const name of ["a", "b", "c"]) await session.subject.put(name);
      await session.subject.remove("b");
      const { version, names, items } = await session.list();
      owe(
        names.join() === "a,c",
        `after a, b and c were put and b removed, a list has ${names.join() || "nothing"}`,
        "List what there is now",
      );
      for (const item of items) {
        const own = versionIn(item.metadata, "an item of a list");
        owe(
          compare(own, version) <= 0,
          `an item of version ${own} stands in a list of version ${version}`,
          "A list's version is the newest of all that it shows",
        );
      }
    },
  },
  {
    name: "versions grow with each change",
    check: async (session) => {
      let { version } = await session.list();
      for (const change of [() => session.subject.put("a"), () => session.subject.put("a"), () => session.subject.remove("a")]) {
        await change();
        const next = await session.list();
        owe(
          compare(next.version, version) > 0,
          `a list after a change has version ${next.version}, one before it ${version}`,
          "Count each change, deletions as well",
        );
        ({ version } = next);
      }
    },
  },
  {
    name: "the pages of a list are of one version, and hold each object once",
    check: async (session) => {
      for (const name of ["a", "b", "c", "d", "e"]) await session.subject.put(name);
      const { token } = await session.page({ limit: 2 });
      const { names } = await session.list(2);
      owe(names.join() === "a,b,c,d,e", `five objects by pages of two are ${names.join()}`, "Each page begins where the one before ended");
      if (token === undefined) return;
      // The next page of a snapshot that changes meanwhile: of that snapshot, or none.
      await session.subject.put("c2");
      await session.subject.remove("e");
      const rest = await session.page({ limit: 10, continue: token }).catch((error: unknown) => {
        owe(
          codeOf(error) === 410,
          `a continue token is refused with ${String(codeOf(error) ?? error)}`,
          "Refuse one that cannot be served with code 410",
        );
      });
      const shown = rest?.items.map(nameIn).sort().join();
      owe(
        rest === undefined || shown === "c,d,e",
        `a later page shows ${shown}, its list has c,d,e there`,
        "A continue token reads on in the state of its first page",
      );
    },
  },
  {
    name: "a watch tells what came after its version: in order, each change once, by its type",
    check: async (session) => {
      await session.subject.put("before");
      const { version } = await session.list();
      const watch = session.watch(version);
      await session.subject.put("a");
      await session.subject.put("before");
      await session.subject.put("b");
      await session.subject.remove("a");
      await watch.next(4);
      await session.quiet();
      const told = names(watch.events);
      owe(
        told === "ADDED a, MODIFIED before, ADDED b, DELETED a",
        `the changes ADDED a, MODIFIED before, ADDED b, DELETED a are told as ${told}`,
        "Tell each change once, in the order of the versions, and nothing from before the version",
      );
    },
  },
  {
    name: "events have growing versions, a deletion its own, and it carries the last state",
    check: async (session) => {
      const { version } = await session.list();
      const watch = session.watch(version);
      await session.subject.put("a");
      await session.subject.put("a");
      await session.subject.remove("a");
      const events = await watch.next(3);
      let last = version;
      for (const { type, version: own } of events) {
        owe(
          compare(own, last) > 0,
          `a ${type} event has version ${own}, what came before it ${last}`,
          "The object of an event has the version of its change, that of a deletion too",
        );
        last = own;
      }
      const [, modified, deleted] = events as [unknown, { object: any }, { object: any }];
      const rest = ({ metadata: { resourceVersion: _, deletionTimestamp: __, ...metadata }, ...object }: any) =>
        canonical({ ...object, metadata });
      owe(
        rest(modified.object) === rest(deleted.object),
        "a DELETED event does not carry the object's last state",
        "Send the whole object with it, not only its name",
      );
    },
  },
  {
    name: "nothing is lost between a list and a watch from its version",
    check: async (session) => {
      const { version } = await session.list();
      await session.subject.put("a");
      await session.subject.put("b");
      const watch = session.watch(version);
      await watch.next(2);
      owe(
        names(watch.events) === "ADDED a, ADDED b",
        `what was put after the list is told as ${names(watch.events)}`,
        "Keep a history, and begin with what came after the version",
      );
    },
  },
  {
    name: "a watch resumes exactly from the version of any event",
    check: async (session) => {
      const { version } = await session.list();
      const watch = session.watch(version);
      for (const name of ["a", "b", "c"]) await session.subject.put(name);
      const [, second] = await watch.next(3);
      watch.abort();
      const resumed = session.watch(second!.version);
      await resumed.next(1);
      await session.quiet();
      owe(
        names(resumed.events) === "ADDED c",
        `from the version of ADDED b a watch tells ${names(resumed.events)}`,
        "Begin behind the version, not at it",
      );
    },
  },
  {
    name: "two watches are told the same",
    check: async (session) => {
      const { version } = await session.list();
      const watches = [session.watch(version), session.watch(version)] as const;
      for (const name of ["a", "b", "a"]) await session.subject.put(name);
      const [one, two] = await Promise.all(watches.map((watch) => watch.next(3)));
      owe(
        names(one!) === names(two!),
        `one watch tells ${names(one!)}, another ${names(two!)}`,
        "Each watch has a place of its own in the history",
      );
    },
  },
  {
    name: "a version that is gone is refused with 410, not skipped over",
    applies: ({ compact }) => compact !== undefined,
    check: async (session) => {
      const { version } = await session.list();
      await session.subject.put("a");
      await session.subject.put("b");
      await session.subject.compact!();
      const watch = session.watch(version);
      await watch.until(
        "the refusal of a version that is gone",
        () => watch.over || watch.refusal !== undefined || watch.events.length > 0,
      );
      const { refusal } = watch;
      owe(
        codeOf(refusal) === 410,
        `a watch from a version that is gone ${refusal === undefined ? `tells ${names(watch.events) || "nothing"}` : `is refused with ${String(codeOf(refusal) ?? refusal)}`}`,
        'Reject with { code: 410, reason: "Expired" }, or send an ERROR frame with such a Status: then the cache lists anew',
      );
    },
  },
  {
    name: "a watch that is aborted ends, and tells nothing more",
    check: async (session) => {
      const { version } = await session.list();
      const watch = session.watch(version);
      await session.subject.put("a");
      await watch.next(1);
      watch.abort();
      await watch.until("the end of a watch that was aborted", () => watch.over);
      await session.subject.put("b");
      await session.quiet();
      owe(watch.events.length === 1, "a watch that was aborted tells what came afterwards", "Listen to the signal, and end the iteration");
    },
  },
  {
    name: "bookmarks have a version that the stream has reached",
    applies: ({ source }) => source.requestProgress !== undefined && source.currentResourceVersion !== undefined,
    check: async (session) => {
      const { version } = await session.list();
      const watch = session.watch(version);
      await session.subject.put("a");
      const [event] = await watch.next(1);
      const current = await session.within("the current version", session.source.currentResourceVersion!(signal()));
      owe(
        compare(current, event!.version) >= 0,
        `the current version is ${current}, an event has told ${event!.version}`,
        "Tell the newest version there is",
      );
      await session.within("the answer of requestProgress", session.source.requestProgress!(signal()));
      await watch.until("a bookmark after requestProgress", () =>
        watch.bookmarks.some((bookmark) => compare(bookmark.version, current) >= 0),
      );
      await session.subject.put("b");
      const [, later] = await watch.next(2);
      const past = watch.bookmarks.find((bookmark) => compare(bookmark.version, later!.version) >= 0);
      owe(
        past === undefined,
        `a bookmark of version ${past?.version} came before the event of ${later!.version}`,
        "A bookmark says that everything up to its version was told",
      );
    },
  },
  {
    name: "writes are told by watches, and conflicts are refused with 409",
    applies: writable,
    check: async (session) => {
      const { source, subject } = session;
      const { version } = await session.list();
      const watch = session.watch(version);
      const object: any = subject.objectOf!("a");
      const { namespace } = object.metadata as { namespace?: string };
      const scope = namespace === undefined ? {} : { namespace };
      const body = JSON.stringify(object);
      const made = await session.document("the answer of create", source.create!({ ...scope, body }, signal()));
      owe(nameIn(made) === "a", "create answers with another object", "Answer with the object as it is kept");
      const [added] = await watch.next(1);
      owe(
        added!.version === versionIn(made.metadata, "what create answers"),
        "a watch tells another version than create has answered",
        "Answer with the version of the write",
      );
      await refusedWith(
        session,
        "an object of a name that is taken",
        source.create!({ ...scope, body }, signal()),
        409,
        "Refuse it with code 409",
      );
      if (source.get !== undefined) {
        const got = await session.document("the answer of get", source.get({ ...scope, name: "a" }, signal()));
        owe(
          versionIn(got.metadata, "what get answers") === added!.version,
          "get answers with an older version than a watch has told",
          "Read your own writes",
        );
        await refusedWith(
          session,
          "get of a name that is not there",
          source.get({ ...scope, name: "none" }, signal()),
          404,
          "Refuse it with code 404",
        );
      }
      if (source.update === undefined) return;
      await subject.put("a");
      await watch.next(2);
      const stale = JSON.stringify(made);
      await refusedWith(
        session,
        "an update of an older version",
        source.update({ ...scope, name: "a", body: stale }, signal()),
        409,
        "Compare metadata.resourceVersion, and refuse with code 409",
      );
    },
  },
];

/** The same text for the same document, whatever the order of its members. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value) ?? "";
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return `{${members
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, member]) => `${JSON.stringify(name)}:${canonical(member)}`)
    .join()}}`;
}
