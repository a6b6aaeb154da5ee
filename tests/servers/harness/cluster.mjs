/**
 * etcd and kube-apiserver as one thing a test can start, break and stop. Everything lives in a temporary folder and on
 * free ports of 127.0.0.1. Nothing is left when it is stopped, or when the process that started it ends.
 * @module
 */
import { generateKeyPairSync, randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { request } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { buildServer } from "./build.mjs";
import { ManagedProcess, freePorts } from "./processes.mjs";
import { Proxy } from "./proxy.mjs";

/**
 * @typedef {object} ClusterOptions
 * @property {readonly string[]} [flags] further flags of kube-apiserver, for instance `--watch-cache=false`
 * @property {readonly string[]} [users] further users, without any right
 */

/** A one-node control plane without controllers: objects are only data. */
export class Cluster {
  /** @type {string} */ dir;
  /** @type {ManagedProcess} */ etcd;
  /** @type {ManagedProcess} */ apiserver;
  /** @type {Proxy} */ proxy;
  /** Bearer tokens: `admin` is in system:masters and may do everything, `nobody` is a known user without any right. */
  tokens = { admin: randomBytes(16).toString("hex"), nobody: randomBytes(16).toString("hex") };
  /** Those of further users. @type {Record<string, string>} */
  others = {};

  /** Origin of etcd's client API, plain HTTP, with the JSON gateway. */
  etcdUrl = "";
  /** Origin of kube-apiserver, HTTPS with a self-signed certificate. */
  secureUrl = "";

  /** The same apiserver through the {@link Proxy}, plain HTTP. */
  get url() {
    return this.proxy.url;
  }

  /** The apiserver's certificate; it is its own authority. */
  get certificate() {
    return readFileSync(join(this.dir, "certs", "apiserver.crt"));
  }

  /**
   * Builds what is missing, starts etcd, kube-apiserver and the proxy, and waits until `/readyz` says ok.
   * @param {ClusterOptions} [options]
   */
  static async start(options = {}) {
    const cluster = new Cluster();
    try {
      await cluster.#start(options);
      return cluster;
    } catch (error) {
      await cluster.stop();
      throw error;
    }
  }

  /** @param {ClusterOptions} options */
  async #start({ flags = [], users = [] }) {
    for (const user of users) this.others[user] = randomBytes(16).toString("hex");
    const [etcdBinary, apiserverBinary] = [await buildServer("etcd"), await buildServer("kube-apiserver")];
    this.dir = mkdtempSync(join(tmpdir(), "watchcache-cluster-"));
    const dir = this.dir;
    process.on("exit", this.#removeDir);
    const [client, peer, secure] = await freePorts(3);
    this.etcdUrl = `http://127.0.0.1:${client}`;
    this.secureUrl = `https://127.0.0.1:${secure}`;

    // Service account tokens are not used, but the apiserver does not start without a key to sign them.
    const { publicKey, privateKey } = generateKeyPairSync("rsa", { modulusLength: 2048 });
    writeFileSync(join(dir, "sa.pub"), publicKey.export({ type: "spki", format: "pem" }));
    writeFileSync(join(dir, "sa.key"), privateKey.export({ type: "pkcs8", format: "pem" }), { mode: 0o600 });
    const known = Object.entries({ nobody: this.tokens.nobody, ...this.others }).map(([user, token]) => `${token},${user},uid-${user}\n`);
    writeFileSync(join(dir, "tokens.csv"), `${this.tokens.admin},admin,uid-admin,"system:masters"\n${known.join("")}`, { mode: 0o600 });

    this.etcd = new ManagedProcess({
      name: "etcd",
      command: etcdBinary,
      cwd: dir,
      logFile: join(dir, "etcd.log"),
      args: [
        `--data-dir=${join(dir, "etcd")}`,
        `--listen-client-urls=${this.etcdUrl}`,
        `--advertise-client-urls=${this.etcdUrl}`,
        `--listen-peer-urls=http://127.0.0.1:${peer}`,
        `--initial-advertise-peer-urls=http://127.0.0.1:${peer}`,
        `--initial-cluster=default=http://127.0.0.1:${peer}`,
        "--log-level=warn",
        "--unsafe-no-fsync", // the data of a test need not survive the machine
      ],
      ready: async () => {
        const answer = await fetch(`${this.etcdUrl}/health`, { signal: AbortSignal.timeout(2000) });
        return (await answer.json()).health === "true";
      },
    });
    this.apiserver = new ManagedProcess({
      name: "kube-apiserver",
      command: apiserverBinary,
      cwd: dir,
      logFile: join(dir, "kube-apiserver.log"),
      args: [
        `--etcd-servers=${this.etcdUrl}`,
        "--service-account-issuer=https://kubernetes.default.svc",
        `--service-account-key-file=${join(dir, "sa.pub")}`,
        `--service-account-signing-key-file=${join(dir, "sa.key")}`,
        `--cert-dir=${join(dir, "certs")}`,
        `--secure-port=${secure}`,
        "--bind-address=127.0.0.1",
        `--token-auth-file=${join(dir, "tokens.csv")}`,
        "--authorization-mode=RBAC",
        "--service-cluster-ip-range=10.0.0.0/24",
        // No controller makes the default service account of a namespace, and pods would wait for it.
        "--disable-admission-plugins=ServiceAccount",
        "--cors-allowed-origins=//127\\.0\\.0\\.1(:|$),//localhost(:|$)",
        ...flags,
      ],
      ready: () => this.#readyz(),
    });

    await this.etcd.start();
    await this.apiserver.start();
    this.proxy = await Proxy.start({ upstream: this.secureUrl, ca: () => this.certificate });
  }

  /** @returns {Promise<boolean>} */
  #readyz() {
    if (!existsSync(join(this.dir, "certs", "apiserver.crt"))) return Promise.resolve(false);
    return new Promise((resolve, reject) => {
      const it = request(`${this.secureUrl}/readyz`, {
        ca: this.certificate,
        timeout: 2000,
        headers: { authorization: `Bearer ${this.tokens.admin}` },
      });
      it.on("response", (answer) => {
        answer.resume();
        resolve(answer.statusCode === 200);
      });
      it.on("timeout", () => it.destroy(new Error("timeout")));
      it.on("error", reject);
      it.end();
    });
  }

  /** The apiserver dies as by a power cut and starts again on the same port; its data are in etcd, its window is empty. */
  async killAndRestartApiServer() {
    await this.apiserver.kill();
    await this.apiserver.start();
  }

  /**
   * A call of etcd's JSON gateway.
   * @param {string} path such as `/v3/kv/range` @param {object} body
   */
  async etcdCall(path, body) {
    const answer = await fetch(`${this.etcdUrl}${path}`, {
      method: "POST",
      body: JSON.stringify(body),
      headers: { "content-type": "application/json" },
    });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`etcd ${path}: ${answer.status} ${text}`);
    return JSON.parse(text);
  }

  /** etcd's current revision: a decimal string, the same counter as resourceVersion. */
  async revision() {
    const { header } = await this.etcdCall("/v3/kv/range", { key: Buffer.from("x").toString("base64"), limit: "1" });
    return /** @type {string} */ (header.revision);
  }

  /** Compacts etcd up to its current revision: older states are gone from storage. Returns that revision. */
  async compact() {
    const revision = await this.revision();
    await this.etcdCall("/v3/kv/compaction", { revision, physical: true });
    return revision;
  }

  /** Ends everything and removes the folder. Safe to call twice, and after a failed start. */
  async stop() {
    await this.proxy?.close();
    await this.apiserver?.stop({ graceMs: 5000 });
    await this.etcd?.stop({ graceMs: 5000 });
    process.off("exit", this.#removeDir);
    this.#removeDir();
  }

  #removeDir = () => {
    if (this.dir) rmSync(this.dir, { recursive: true, force: true });
  };
}
