export type * from "./cache/informer-factory-types.js";
export type * from "./cache/options-types.js";
export type * from "./cache/types.js";
export type {
  AbortSignalLike,
  ByteStream,
  DetailEvent,
  EventLike,
  EventTargetLike,
  FetchAnswer,
  FetchInit,
  HeadersLike,
  HostAbortSignal,
  HostAsyncDisposable,
  HostEventTarget,
  HostFetch,
  Logger,
  UrlLike,
  WasmBytes,
  WasmSource,
  WebSocketClass,
} from "./host/types.js";
export type * from "./indexes/types.js";
export type * from "./informer/types.js";
export type * from "./kubernetes/types.js";
export type * from "./object/metadata.js";
export type * from "./object/path.js";
export type * from "./object/readonly.js";
export type * from "./persist/types.js";
export type * from "./request/types.js";
export type * from "./resource/types.js";
export type * from "./status/types.js";
export type * from "./upstream/source.js";
export type * from "./upstream/types.js";
export type * from "./view/types.js";
export type * from "./watch/types.js";
