// Resource versions as they come in a query.
import { quote } from "./json.mjs";

const MAX_UINT64 = "18446744073709551615";

/**
 * A version a client asked for. `number` orders it against the server's counter (which stays far below 2^53); `text` is what messages
 * repeat.
 * @typedef {{ number: number, text: string }} AskedVersion
 */

/**
 * Parses as `strconv.ParseUint` does. "" is version 0.
 * @param {string} text
 * @returns {AskedVersion}
 * @throws {RangeError} with the message of the Go error, prefixed by the field's name
 */
export function parseVersion(text) {
  if (text === "") return { number: 0, text: "0" };
  const problem = uintProblem(text);
  if (problem)
    throw new RangeError(`resourceVersion: Invalid value: ${quote(text)}: strconv.ParseUint: parsing ${quote(text)}: ${problem}`);
  return { number: Number(text), text: text.replace(/^0+(?=\d)/, "") };
}

/** @param {string} text */
function uintProblem(text) {
  if (!/^[0-9]+$/.test(text)) return "invalid syntax";
  const digits = text.replace(/^0+/, "");
  if (digits.length > MAX_UINT64.length || (digits.length === MAX_UINT64.length && digits > MAX_UINT64)) return "value out of range";
  return "";
}

/**
 * Parses as `strconv.ParseInt` does.
 * @param {string} text
 * @returns {number}
 * @throws {RangeError} with the message of the Go error
 */
export function parseInteger(text) {
  if (!/^[+-]?[0-9]+$/.test(text)) throw new RangeError(`strconv.ParseInt: parsing ${quote(text)}: invalid syntax`);
  const value = BigInt(text.replace(/^\+/, ""));
  if (value > 9223372036854775807n || value < -9223372036854775808n)
    throw new RangeError(`strconv.ParseInt: parsing ${quote(text)}: value out of range`);
  return Number(value);
}
