/** So many arguments a call may have everywhere. */
const PIECE = 8_192;

/** Bytes, or a text as UTF-8, in base64 as the gateway has it. */
export function toBase64(given: string | Uint8Array): string {
  const bytes = typeof given === "string" ? new TextEncoder().encode(given) : given;
  let letters = "";
  for (let at = 0; at < bytes.length; at += PIECE) letters += String.fromCharCode(...bytes.subarray(at, at + PIECE));
  return btoa(letters);
}

/** @throws for what is no base64 */
export function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
}
