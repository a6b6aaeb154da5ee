export type * from "./cache-types.js";
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
} from "./host-types.js";
export type * from "./informer-types.js";
export type * from "./metadata-types.js";
export type * from "./options-types.js";
export type * from "./path-types.js";
export type * from "./readonly-types.js";
export type * from "./requests.js";
export type * from "./resource-types.js";
export type * from "./source.js";
export type * from "./spec-types.js";
export type * from "./status-types.js";
export type * from "./view-types.js";
