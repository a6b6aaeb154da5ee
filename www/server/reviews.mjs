// Questions that a client asks about itself: who am I, and may I. Whoever is let in may do everything here.
import { decodeJson } from "./decode.mjs";
import { jsonType } from "./json.mjs";
import { badRequest, methodNotAllowed, StatusError } from "./status.mjs";
import { timestamp } from "./time.mjs";

/** Who everybody is. */
const USER = { username: "admin", groups: ["system:masters", "system:authenticated"] };

const AUTHORIZATION = "authorization.k8s.io";
const AUTHENTICATION = "authentication.k8s.io";

/**
 * @typedef {object} Review
 * @property {string} group
 * @property {string} version
 * @property {string} resource
 * @property {string} singular
 * @property {string} kind
 */

/** @param {string} group @param {string} kind @returns {Review} */
const review = (group, kind) => ({ group, version: "v1", resource: `${kind.toLowerCase()}s`, singular: kind.toLowerCase(), kind });

export const REVIEWS = [
  review(AUTHENTICATION, "SelfSubjectReview"),
  review(AUTHORIZATION, "SelfSubjectAccessReview"),
  review(AUTHORIZATION, "SelfSubjectRulesReview"),
];

/** @param {string} pathname */
export function findReview(pathname) {
  return REVIEWS.find(({ group, version, resource }) => pathname === `/apis/${group}/${version}/${resource}`);
}

/** Answers by kind. @type {Record<string, (spec: any, now: number) => { metadata?: object, spec?: object, status: object }>} */
const ANSWERS = {
  SelfSubjectReview: (_spec, now) => ({ metadata: { creationTimestamp: timestamp(now) }, status: { userInfo: USER } }),
  SelfSubjectAccessReview: (spec) => {
    if ((spec.resourceAttributes === undefined) === (spec.nonResourceAttributes === undefined)) throw notOneOfTwo(spec);
    return { spec, status: { allowed: true } };
  },
  SelfSubjectRulesReview: () => ({
    spec: {},
    status: {
      resourceRules: [{ verbs: ["*"], apiGroups: ["*"], resources: ["*"] }],
      nonResourceRules: [{ verbs: ["*"], nonResourceURLs: ["*"] }],
      incomplete: false,
    },
  }),
};

/** @param {any} spec */
function notOneOfTwo(spec) {
  const field = "spec.resourceAttributes";
  const isBoth = spec.resourceAttributes !== undefined;
  const message = isBoth
    ? "cannot be specified in combination with resourceAttributes"
    : "exactly one of nonResourceAttributes or resourceAttributes must be specified";
  const [where, value] = isBoth ? ["spec.nonResourceAttributes", JSON.stringify(spec.nonResourceAttributes)] : [field, "null"];
  const body = `Invalid value: ${value}: ${message}`;
  // The original names no kind here.
  return new StatusError(422, "Invalid", `.${AUTHORIZATION} "" is invalid: ${where}: ${body}`, {
    group: AUTHORIZATION,
    causes: [{ reason: "FieldValueInvalid", message: body, field: where }],
  });
}

/**
 * @param {Review} review @param {string | undefined} method @param {Buffer} body @param {number} now in milliseconds
 * @returns {unknown} the review, answered
 * @throws {StatusError} 405 for what is no question, 400 and 422 for one that cannot be read
 */
export function answerReview({ group, version, kind }, method, body, now) {
  if (method !== "POST") throw methodNotAllowed();
  const asked = decodeJson(body);
  if (asked.kind && asked.kind !== kind) throw badRequest(`a ${kind} is wanted, not ${asked.kind}`);
  const spec = asked.spec ?? {};
  if (jsonType(spec) !== "object") throw badRequest(`json: cannot unmarshal ${jsonType(spec)} into Go struct field ${kind}.spec`);
  return { kind, apiVersion: `${group}/${version}`, metadata: {}, ...ANSWERS[kind](spec, now) };
}
