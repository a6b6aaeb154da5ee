// Frames in: from the text of a socket's message to the state that answers reads.
import { Checksum, interleave, timed, until } from "./measure.js";
import { keyOf } from "./peers/object.js";
import { events } from "./shapes.js";
import { chunks, LISTED, openCache, play, pour, reached, record } from "./upstream.js";

/** What everybody writes by hand: parse, and keep the newest by name. */
class ParsingPeer {
  objects = new Map();
  version = "";

  /** Takes a socket's message. */
  onmessage = ({ data }) => this.take(data);

  take(text) {
    const { type, object } = JSON.parse(text);
    const key = keyOf(object);
    if (type === "DELETED") this.objects.delete(key);
    else this.objects.set(key, object);
    this.version = object.metadata.resourceVersion;
    this.onobject?.(object);
  }

  /** Reads a watch's stream to its end: decodes, cuts at the line ends, and takes each line. */
  async read(body) {
    const reader = body.pipeThrough(new TextDecoderStream()).getReader();
    let rest = "";
    for (let next = await reader.read(); !next.done; next = await reader.read()) {
      const lines = (rest + next.value).split("\n");
      rest = lines.pop();
      for (const line of lines) this.take(line);
    }
  }
}

/** Reads of an event what a table's row would. */
function reader() {
  let sum = 0;
  return {
    take(object) {
      sum = (Math.imul(sum, 31) + Number(object.metadata.resourceVersion) + object.metadata.name.length) | 0;
    },
    sum: () => sum,
  };
}

/** The state at the end of the objects of a list, without what the package does not keep by default. */
function stateChecksum(list, get) {
  const checksum = new Checksum();
  for (const text of list) {
    const object = get(keyOf(JSON.parse(text)));
    const { managedFields, ...metadata } = object.metadata;
    checksum.add(JSON.stringify({ ...object, metadata }));
  }
  return checksum;
}

/** What a stream costs whoever reads it. That all of it came is proven afterwards: then the peer takes it. */
async function streamAlone(list, ...parts) {
  const pieces = [];
  let stream;
  const body = new ReadableStream({ start: (controller) => void (stream = controller) });
  void (async () => {
    const reader = body.getReader();
    for (let next = await reader.read(); !next.done; next = await reader.read()) pieces.push(next.value);
  })();
  const take = async (part, due) => {
    await pour(stream, part);
    await until(() => pieces.length === due, "not every piece was read");
  };
  const [first, rest] = parts;
  await take(first, first.length);
  const times = await timed(() => take(rest, first.length + rest.length));
  const peer = new ParsingPeer();
  const lines = (await new Blob(pieces).text()).split("\n");
  for (const line of lines.slice(0, -1)) peer.take(line);
  return { ...times, checksum: `${stateChecksum(list, (key) => peer.objects.get(key))}/0` };
}

/**
 * @param {{ rounds: number, count: number, objects: number, shape: string, read?: boolean, transport?: "websocket" | "fetch" }} options `count` frames a
 * round, about `objects` pods, of a `shape`; `read`: one subscriber reads every object
 */
export async function ingest({ rounds, count, objects, shape, read = false, transport = "websocket" }) {
  const warmUp = LISTED + objects;
  const last = warmUp + count;
  const streams = transport === "fetch";
  const input = () => {
    const { items, frames } = events({ shape, objects });
    const list = items(LISTED);
    const texts = [frames(LISTED + 1, objects), frames(warmUp + 1, count)];
    return [list, ...texts.map(streams ? chunks : record)];
  };
  // A stream is cut where the network cuts it, and so read as a whole; a socket's frames are timed without what made them.
  const time = async (play, reached) => {
    if (streams) return timed(async () => (await play(), await reached()));
    const ms = await play();
    const began = performance.now();
    await reached();
    return { ms: ms + performance.now() - began };
  };

  const harnesses = {
    async watchcache() {
      const [list, first, rest] = input();
      const { cache, resource, socket, stream } = await openCache(list, LISTED, { transport });
      const row = reader();
      if (read) void resource.watch({ resourceVersion: String(LISTED) }).forEach((event) => row.take(event.object));
      const hand = (part) => (streams ? pour(stream, part) : play(socket, part));
      await hand(first);
      await reached(resource, warmUp);
      const times = await time(
        () => hand(rest),
        () => reached(resource, last),
      );
      const checksum = `${stateChecksum(list, (key) => resource.peek(key))}/${row.sum()}`;
      await cache.close();
      return { ...times, checksum };
    },
    async "JSON.parse"() {
      const [list, first, rest] = input();
      const peer = new ParsingPeer();
      const row = reader();
      if (read) peer.onobject = row.take;
      let stream;
      if (streams) void peer.read(new ReadableStream({ start: (controller) => void (stream = controller) }));
      const hand = (part) => (streams ? pour(stream, part) : play(peer, part));
      const arrived = (version) => until(() => peer.version === String(version), "not every frame was parsed");
      await hand(first);
      await arrived(warmUp);
      const times = await time(
        () => hand(rest),
        () => arrived(last),
      );
      return { ...times, checksum: `${stateChecksum(list, (key) => peer.objects.get(key))}/${row.sum()}` };
    },
  };
  if (streams) harnesses["the stream alone"] = () => streamAlone(...input());
  return { unit: "frame", units: count, harnesses: await interleave(rounds, harnesses) };
}
