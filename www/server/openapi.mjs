// Requests for OpenAPI documents.
import { parseAccept } from "./accept.mjs";
import { notAcceptable } from "./status.mjs";
import { openApiDocument, openApiV2 } from "./types/openapi.mjs";
import { openApiV2Protobuf } from "./types/openapi-protobuf.mjs";

/** As clients write it, and as servers do. */
const PROTOBUF = /^application\/com\.github\.proto-openapi\.spec\.v2[@.]v1\.0\+protobuf$/;
const PROTOBUF_TYPE = "application/com.github.proto-openapi.spec.v2.v1.0+protobuf";
const JSON_TYPES = new Set(["application/json", "application/*", "*/*"]);

/**
 * @param {string} pathname @param {import("node:http").IncomingMessage} request
 * @returns {{ document: unknown } | { bytes: Buffer, type: string } | undefined} undefined when there is no such document
 * @throws {import("./status.mjs").StatusError} 406
 */
export function openApiAnswer(pathname, request) {
  const wanted = parseAccept(request.headers.accept).map(({ type }) => type);
  if (pathname !== "/openapi/v2") {
    const document = openApiDocument(pathname.replace(/(.)\/$/, "$1"));
    if (document === undefined) return undefined;
    if (!wanted.some((type) => JSON_TYPES.has(type))) throw notAcceptable(["application/json"]);
    return { document };
  }
  for (const type of wanted) {
    if (PROTOBUF.test(type)) return { bytes: openApiV2Protobuf(), type: PROTOBUF_TYPE };
    if (JSON_TYPES.has(type)) return { document: openApiV2() };
  }
  throw notAcceptable(["application/json", PROTOBUF_TYPE]);
}
