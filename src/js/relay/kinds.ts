// A list leaves out of its items what is the same for all: their kind. A watch tells it with each. Held is what a list has, so that lists and watches both
// go out as the server sends them, and no text is held twice.
import type { Collection } from "./discovery.js";

const TYPES = ["ADDED", "MODIFIED", "DELETED"] as const;
const LINE_FEED = 0x0a;

export const apiVersionOf = ({ group, version }: Pick<Collection, "group" | "version">): string =>
  group === "" ? version : `${group}/${version}`;

/** How an object begins in an event, where its list leaves that out. Custom resources have other names in front, also in lists. */
export function kindPrefix(collection: Collection): string {
  return `{"kind":${JSON.stringify(collection.kind)},"apiVersion":${JSON.stringify(apiVersionOf(collection))},`;
}

/** Takes the kind out of the events of a watch, wherever they are cut. */
export class KindRemover {
  readonly #starts: readonly { readonly from: Buffer; readonly to: Buffer }[];
  readonly #longest: number;
  /** The beginning of an event that cannot be told yet. */
  #begun = Buffer.alloc(0);
  #isWithin = false;

  constructor(collection: Collection) {
    const prefix = kindPrefix(collection);
    this.#starts = TYPES.map((type) => {
      const to = Buffer.from(`{"type":"${type}","object":{`);
      return { from: Buffer.from(`${to.toString().slice(0, -1)}${prefix}`), to };
    });
    this.#longest = Math.max(...this.#starts.map(({ from }) => from.length));
  }

  /** @returns the same with less in it, in pieces */
  take(chunk: Uint8Array): Buffer[] {
    const bytes = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength);
    let left = this.#begun.length > 0 ? Buffer.concat([this.#begun, bytes]) : bytes;
    this.#begun = Buffer.alloc(0);
    const pieces: Buffer[] = [];
    while (left.length > 0) {
      if (!this.#isWithin) {
        const start = this.#starts.find(
          ({ from }) => left.length >= from.length && left.compare(from, 0, from.length, 0, from.length) === 0,
        );
        if (start === undefined && left.length < this.#longest && !left.includes(LINE_FEED)) {
          this.#begun = Buffer.from(left);
          break;
        }
        if (start !== undefined) {
          pieces.push(start.to);
          left = left.subarray(start.from.length);
        }
        this.#isWithin = true;
      }
      const end = left.indexOf(LINE_FEED);
      if (end < 0) {
        if (left.length > 0) pieces.push(left);
        break;
      }
      pieces.push(left.subarray(0, end + 1));
      left = left.subarray(end + 1);
      this.#isWithin = false;
    }
    return pieces;
  }

  /** What has come of an event that will not come whole. */
  rest(): Buffer {
    return this.#begun;
  }
}

/** A watch's answer without the kinds. */
export function withoutKinds(answer: Response, collection: Collection): Response {
  if (answer.status !== 200 || answer.body === null || answer.redirected) return answer;
  const remover = new KindRemover(collection);
  const removing = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      const pieces = remover.take(chunk);
      if (pieces.length > 0) controller.enqueue(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces));
    },
    flush(controller) {
      if (remover.rest().length > 0) controller.enqueue(remover.rest());
    },
  });
  const headers = ["content-type", "date"].flatMap((name): [string, string][] => {
    const value = answer.headers.get(name);
    return value === null ? [] : [[name, value]];
  });
  return new Response(answer.body.pipeThrough(removing), { status: 200, headers });
}
