/** What is particular about a host. */
export interface Host {
  /** How watches stream where nobody says it: a host's own WebSocket may be none that an API server takes. */
  readonly transport: "fetch";
  /** Any number of listeners is no leak: each component that shows a status has one. */
  unlimited(target: EventTarget): void;
}
