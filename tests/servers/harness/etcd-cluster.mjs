/**
 * etcd alone, of one member or several, that a test can start, break and stop. Everything lives in a temporary folder and on free ports of
 * 127.0.0.1.
 * @module
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildServer } from "./build.mjs";
import { ManagedProcess, freePorts } from "./processes.mjs";

const base64 = (/** @type {string | Uint8Array} */ given) => Buffer.from(given).toString("base64");

/** A cluster of etcd. */
export class EtcdCluster {
  /** @type {ManagedProcess[]} */ members = [];
  /** Origins of the members' client API. @type {string[]} */ urls = [];
  /** The administrator's, where etcd wants to know who asks. @type {string | undefined} */ #password;
  /** @type {string | undefined} */ #token;
  /** @type {string} */ dir;

  /**
   * Builds etcd where it is missing, starts all members, and waits until they have a leader.
   * @param {{ members?: number, flags?: readonly string[] }} [options]
   */
  static async start({ members = 1, flags = [] } = {}) {
    const cluster = new EtcdCluster();
    try {
      await cluster.#start(members, flags);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** @param {number} count @param {readonly string[]} flags */
  async #start(count, flags) {
    const command = await buildServer("etcd");
    this.dir = mkdtempSync(join(tmpdir(), "watchcache-etcd-"));
    process.on("exit", this.#removeDir);
    const ports = await freePorts(2 * count);
    this.urls = ports.slice(0, count).map((port) => `http://127.0.0.1:${port}`);
    const peers = ports.slice(count).map((port) => `http://127.0.0.1:${port}`);
    this.members = this.urls.map(
      (url, i) =>
        new ManagedProcess({
          name: `etcd-${i}`,
          command,
          cwd: this.dir,
          logFile: join(this.dir, `etcd-${i}.log`),
          args: [
            `--name=m${i}`,
            `--data-dir=${join(this.dir, `m${i}`)}`,
            `--listen-client-urls=${url}`,
            `--advertise-client-urls=${url}`,
            `--listen-peer-urls=${peers[i]}`,
            `--initial-advertise-peer-urls=${peers[i]}`,
            `--initial-cluster=${peers.map((peer, j) => `m${j}=${peer}`).join()}`,
            "--log-level=warn",
            "--unsafe-no-fsync", // the data of a test need not survive the machine
            ...flags,
          ],
          ready: async () => {
            const answer = await fetch(`${url}/health`, { signal: AbortSignal.timeout(2000) });
            return (await answer.json()).health === "true";
          },
        }),
    );
    await Promise.all(this.members.map((member) => member.start()));
  }

  /** Of its only member, or of the first. */
  get url() {
    return this.urls[0];
  }

  /**
   * A call of the JSON gateway, at one member, as the administrator where one is needed.
   * @param {string} path @param {object} body @param {number} [member] @param {AbortSignal} [signal]
   */
  async call(path, body, member = 0, signal = AbortSignal.timeout(10_000)) {
    let answer = await this.#post(path, body, member, signal);
    if (answer.status === 401 && this.#password !== undefined) {
      const known = await this.#post("/v3/auth/authenticate", { name: "root", password: this.#password }, member, signal);
      this.#token = (await known.json()).token;
      answer = await this.#post(path, body, member, signal);
    }
    const text = await answer.text();
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** @param {string} path @param {object} body @param {number} member @param {AbortSignal} signal */
  #post(path, body, member, signal) {
    const headers = { ...(this.#token !== undefined && !path.endsWith("/authenticate") && { authorization: this.#token }) };
    return fetch(this.urls[member] + path, { method: "POST", body: JSON.stringify(body), headers, signal });
  }

  /** Puts a value; anything but bytes as JSON. Returns the revision. @param {string} key @param {unknown} value @param {number} [member] */
  async put(key, value, member) {
    const bytes = value instanceof Uint8Array ? value : JSON.stringify(value);
    return (await this.call("/v3/kv/put", { key: base64(key), value: base64(bytes) }, member)).header.revision;
  }

  /** Deletes a key, or all that begin so. @param {string} key @param {{ prefix?: boolean }} [options] */
  async remove(key, { prefix = false } = {}) {
    const range = prefix ? { range_end: base64(key.slice(0, -1) + String.fromCharCode(key.charCodeAt(key.length - 1) + 1)) } : {};
    return (await this.call("/v3/kv/deleterange", { key: base64(key), ...range })).header.revision;
  }

  /** Several puts (a value) and deletions (undefined) at one revision. @param {Record<string, unknown>} changes @param {number} [member] @param {AbortSignal} [signal] */
  async txn(changes, member, signal) {
    const success = Object.entries(changes).map(([key, value]) =>
      value === undefined
        ? { request_delete_range: { key: base64(key) } }
        : { request_put: { key: base64(key), value: base64(JSON.stringify(value)) } },
    );
    return (await this.call("/v3/kv/txn", { success }, member, signal)).header.revision;
  }

  /** All keys that begin so. @param {string} prefix @param {number} [member] @returns {Promise<{ revision: string, keys: Map<string, any> }>} */
  async range(prefix, member) {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    const { header, kvs = [] } = await this.call("/v3/kv/range", { key: base64(prefix), range_end: base64(end) }, member);
    return { revision: header.revision, keys: new Map(kvs.map((kv) => [Buffer.from(kv.key, "base64").toString(), kv])) };
  }

  /** The newest revision. */
  async revision() {
    return (await this.call("/v3/kv/range", { key: base64("x"), count_only: true })).header.revision;
  }

  /** Compacts all before the newest revision. */
  async compact() {
    const revision = await this.revision();
    await this.call("/v3/kv/compaction", { revision, physical: true });
    return revision;
  }

  /** The member that leads, as this one sees it; undefined where none does. @param {number} [member] */
  async leader(member = 0) {
    const { members } = await this.call("/v3/cluster/member/list", {}, member);
    const { leader } = await this.call("/v3/maintenance/status", {}, member);
    const name = members.find(({ ID }) => ID === leader)?.name;
    return name === undefined ? undefined : Number(name.slice(1));
  }

  /**
   * Wants a name and a password from now on. `root` may do everything; `bob` reads and writes below `prefix` alone.
   * @param {Record<"root" | "bob", string>} passwords @param {string} prefix
   */
  async enableAuth(passwords, prefix) {
    const end = prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
    for (const [name, password] of Object.entries(passwords)) {
      await this.call("/v3/auth/user/add", { name, password });
      await this.call("/v3/auth/role/add", { name });
      await this.call("/v3/auth/user/grant", { user: name, role: name });
    }
    const perm = { permType: "READWRITE", key: base64(prefix), range_end: base64(end) };
    await this.call("/v3/auth/role/grant", { name: "bob", perm });
    await this.call("/v3/auth/enable", {});
    this.#password = passwords.root;
    this.#token = "none yet";
  }

  /** Ends everything and removes the folder. */
  async stop() {
    await Promise.all(this.members.map((member) => member.stop({ graceMs: 2000 })));
    process.off("exit", this.#removeDir);
    this.#removeDir();
  }

  #removeDir = () => {
    if (this.dir) rmSync(this.dir, { recursive: true, force: true });
  };
}
