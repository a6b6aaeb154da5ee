/** `Retry-After` (RFC 9110, 10.2.3) in seconds: a number of them, or a date, which counts from the answer's own. Undefined: none that can be read. */
export function retryAfterSeconds(headers: Headers | undefined): number | undefined {
  const given = headers?.get("retry-after")?.trim();
  if (!given) return undefined;
  if (/^\d+$/.test(given)) return Number(given);
  const answered = Date.parse(headers!.get("date") ?? "");
  const seconds = Math.ceil((Date.parse(given) - (Number.isNaN(answered) ? Date.now() : answered)) / 1000);
  return Number.isNaN(seconds) ? undefined : seconds;
}
