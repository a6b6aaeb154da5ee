/** How a relay is set up. */
export interface RelayOptions {
  /** The API server. */
  readonly server: URL;
  readonly host: string;
  /** 0: a free one. */
  readonly port: number;
  /** The relay's own token, read at each use, because what hands tokens out replaces them. */
  token(): Promise<string | undefined>;
  /** Files of a certificate and its key; undefined: plain HTTP. */
  readonly tls: { readonly cert: string; readonly key: string } | undefined;
  /** Origins whose pages may read answers; `*`: all. */
  readonly allowOrigins: readonly string[];
  /** Open watches of one client. */
  readonly maxWatches: number;
  /** Over so long a time watches are ended when the relay is to stop. */
  readonly drainMs: number;
  /** So long what nobody asks for is still held. */
  readonly lingerMs: number;
  /** So often it is asked whether open watches may go on. */
  readonly reviewMs: number;
  /** What all that is held may take. */
  readonly memoryBytes: number;
  /** Lists and watches that name no version are the server's to answer. */
  readonly exactLists: boolean;
}
