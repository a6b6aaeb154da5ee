// Calls of a real kube-apiserver, with its administrator's token.
import { Agent, request } from "node:https";

/**
 * Calls with kept connections. `call` gives the text of the answer, and rejects where that is no success.
 * @param {import("../../tests/servers/harness/cluster.mjs").Cluster} cluster
 * @param {number} [maxSockets] at once
 */
export function callsOf(cluster, maxSockets) {
  const agent = new Agent({ keepAlive: true, maxSockets, ca: cluster.certificate });
  const call = (method, path, body) =>
    new Promise((resolve, reject) => {
      const type = method === "PATCH" ? "application/merge-patch+json" : "application/json";
      const headers = { authorization: `Bearer ${cluster.tokens.admin}`, "content-type": type };
      const asked = request(cluster.secureUrl + path, { method, agent, headers }, (answer) => {
        const pieces = [];
        answer.on("data", (piece) => pieces.push(piece));
        answer.on("end", () =>
          answer.statusCode < 300
            ? resolve(Buffer.concat(pieces).toString())
            : reject(new Error(`${method} ${path}: ${answer.statusCode}`)),
        );
      });
      asked.on("error", reject);
      asked.end(body && JSON.stringify(body));
    });
  return { call, end: () => agent.destroy() };
}
