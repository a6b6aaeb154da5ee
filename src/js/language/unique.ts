/** Text that nobody else makes. `randomUUID` is only where a page came safely, over HTTPS or from this machine. */
export function unique(): string {
  return String(crypto.getRandomValues(new Uint32Array(4)));
}
