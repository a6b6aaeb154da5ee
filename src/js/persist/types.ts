/** What is kept on disk for the next start. */
export interface PersistOptions {
  /** Which resources, by their names, such as `pods`; sources by their ids. Default: all but `secrets`, and no sources. */
  resources?: readonly string[] | undefined;
  /** The most bytes on disk for this identity. Default 64 MiB. */
  maxBytes?: number | undefined;
  /** What is older, in milliseconds, is not shown. Default a day. */
  maxAgeMs?: number | undefined;
}
