/** What the core throws, and rejects with. */
export interface RawError {
  name: "WatchCacheError";
  code: string;
  message: string;
  status?: object;
  retryable: boolean;
  retryAfterSeconds?: number;
}
