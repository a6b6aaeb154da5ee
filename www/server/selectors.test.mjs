import assert from "node:assert/strict";
import { test } from "node:test";
import { parseFieldSelector } from "./field-selector.mjs";
import { parseLabelSelector } from "./label-selector.mjs";
import { findResourceByName } from "./resources.mjs";
import { serverFor } from "./testing.mjs";

const pods = /** @type {import("./resources.mjs").ResourceDefinition} */ (findResourceByName("pods"));
const replicaSets = /** @type {import("./resources.mjs").ResourceDefinition} */ (findResourceByName("replicasets"));
const configMaps = /** @type {import("./resources.mjs").ResourceDefinition} */ (findResourceByName("configmaps"));

test("sel_01_labels_match_by_every_operator", () => {
  const labels = { app: "web", tier: "a", weight: "10", "example.com/name": "x", empty: "" };
  for (const [selector, expected] of /** @type {[string, boolean][]} */ ([
    ["", true],
    ["app=web", true],
    ["app==web", true],
    ["app!=web", false],
    ["missing!=web", true],
    ["app in (api, web)", true],
    ["app in (api)", false],
    ["app notin (api)", true],
    ["missing notin (api)", true],
    ["app", true],
    ["!app", false],
    ["!missing", true],
    ["weight>9", true],
    ["weight>10", false],
    ["weight<11", true],
    ["app>1", false],
    ["missing<1", false],
    ["empty=", true],
    ["empty in ()", true],
    ["empty in (,x)", true],
    ["app=web,tier in (a,b),!canary", true],
    ["app=web,tier=b", false],
    [" app = web , tier=a ", true],
    ["example.com/name=x", true],
    ["in=x", false],
    ["app=in", false],
    ["toString", false],
  ])) {
    assert.equal(parseLabelSelector(selector).matches(labels), expected, selector);
  }
});

test("sel_10_label_errors_have_the_original_words", () => {
  for (const [selector, message] of [
    ["app=web,", "found '', expected: identifier after ','"],
    ["=web", "found '=', expected: !, identifier, or 'end of string'"],
    ["app web", "unable to parse requirement: found 'web', expected: in, notin, =, ==, !=, gt, lt"],
    ["app in web", "unable to parse requirement: found 'web' expected: '('"],
    ["app in (a b)", "unable to parse requirement: found 'b', expected: ',' or ')'"],
    ["app in (a", "unable to parse requirement: found '', expected: ',' or ')'"],
    ["app=a=b", "found '=', expected: ',' or 'end of string'"],
    ["!app=a", "found '=', expected: ',' or 'end of string'"],
    ["!", "unable to parse requirement: found '', expected: identifier"],
    ["app==(", "unable to parse requirement: found '(', expected: identifier"],
    ["weight>x", "unable to parse requirement: values[0]: Invalid value: \"x\": for 'Gt', 'Lt' operators, the value must be an integer"],
  ]) {
    assert.throws(() => parseLabelSelector(selector), { name: "SyntaxError", message }, selector);
  }
  assert.throws(
    () => parseLabelSelector("a_/b=c"),
    /^SyntaxError: unable to parse requirement: <nil>: Invalid value: "a_\/b": prefix part a lowercase RFC 1123 subdomain/,
  );
  assert.throws(() => parseLabelSelector("-a=c"), /<nil>: Invalid value: "-a": name part must consist of alphanumeric characters/);
  assert.throws(
    () => parseLabelSelector("a=-c"),
    /values\[0\]\[a\]: Invalid value: "-c": a valid label must be an empty string or consist of/,
  );
  assert.throws(() => parseLabelSelector(`${"a".repeat(64)}`), /name part must be no more than 63 bytes/);
});

test("sel_13_fields_match_and_escape", () => {
  const fields = { "status.phase": "Running", "spec.nodeName": "a,b=c\\" };
  for (const [selector, expected] of /** @type {[string, boolean][]} */ ([
    ["", true],
    ["status.phase=Running", true],
    ["status.phase==Running", true],
    ["status.phase!=Running", false],
    ["spec.nodeName=a\\,b\\=c\\\\", true],
    ["status.podIP=", true],
    ["status.phase=Running,,spec.nodeName!=x", true],
    ["spec.host=a\\,b\\=c\\\\", true],
  ])) {
    assert.equal(parseFieldSelector(selector, pods).matches(fields), expected, selector);
  }
});

test("sel_11_field_errors_have_the_original_words", () => {
  for (const [selector, definition, message] of /** @type {const} */ ([
    ["status.phase", pods, "invalid selector: 'status.phase'; can't understand 'status.phase'"],
    ["status.phase=a\\b", pods, "invalid field selector: invalid escape sequence: \\b"],
    ["status.phase=a\\", pods, "invalid field selector: invalid escape sequence: \\"],
    ["status.phase=a=b", pods, "invalid field selector: unescaped character in value: 61"],
    ["spec.foo=1", pods, "field label not supported: spec.foo"],
    ["status.replicas=1", replicaSets, '"status.replicas" is not a known field selector: only "metadata.name", "metadata.namespace"'],
    ["spec.foo=1", configMaps, '"spec.foo" is not a known field selector: only "metadata.name", "metadata.namespace"'],
  ])) {
    assert.throws(() => parseFieldSelector(selector, definition), { name: "SyntaxError", message });
  }
});

test("sel_12_bad_selectors_are_a_bad_request", async (t) => {
  const { api } = await serverFor(t);
  for (const query of ["labelSelector=a%20b", "fieldSelector=spec.foo%3D1"]) {
    for (const watch of ["", "&watch=1"]) {
      const { code, body } = await api(`/api/v1/pods?${query}${watch}`);
      assert.equal(code, 400);
      assert.equal(body.reason, "BadRequest");
    }
  }
});
