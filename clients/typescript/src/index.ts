export {
  Calendar,
  Client,
  Facts,
  Issuers,
  type PositionKind,
  Positions,
  Reports,
  Watchlists,
} from "./client.js";
export { Bulk, type FileChoice } from "./bulk.js";
export { type ErrorDetails, type ErrorKind, PregonError } from "./error.js";
export type { ChangesParameters, Reset, StreamParameters } from "./follow.js";
export { List } from "./list.js";
export * as proofs from "./proofs.js";
export type { ClientOptions } from "./transport.js";
export type * from "./types.js";
export { version } from "./version.js";
export * as webhooks from "./webhooks.js";
