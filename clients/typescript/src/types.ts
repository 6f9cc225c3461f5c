// Names for the types that are generated from the OpenAPI document, in which `openapi.ts` has
// every field with its description.
import type { components, operations } from "./openapi.js";

export type Schemas = components["schemas"];

export type Report = Schemas["Report"];
export type ReportDetail = Schemas["ReportDetail"];
export type ReportList = Schemas["ReportList"];
/** A report with the fields that `fields` names. */
export type ChosenReport = Schemas["ChosenReport"];
export type ChosenReportList = Schemas["ChosenReportList"];
export type Count = Schemas["Count"];
export type CountList = Schemas["CountList"];
export type History = Schemas["History"];
export type DocumentText = Schemas["DocumentText"];
export type DocumentHitList = Schemas["DocumentHitList"];
export type FactRow = Schemas["FactRow"];
export type FactList = Schemas["FactList"];
export type CalendarEntry = Schemas["CalendarEntry"];
export type CalendarList = Schemas["CalendarList"];
export type Issuer = Schemas["Issuer"];
export type IssuerDetail = Schemas["IssuerDetail"];
export type IssuerList = Schemas["IssuerList"];
export type Ownership = Schemas["Ownership"];
export type Position = Schemas["Position"];
export type Watchlist = Schemas["Watchlist"];
export type WatchlistInput = Schemas["WatchlistInput"];
export type WatchlistImport = Schemas["WatchlistImport"];
export type StreamTicket = Schemas["StreamTicket"];
export type StreamTicketInput = Schemas["StreamTicketInput"];
export type Snapshot = Schemas["Snapshot"];
export type SnapshotFile = Schemas["SnapshotFile"];
export type ChangeList = Schemas["ChangeList"];
export type Proof = Schemas["Proof"];
export type Problem = Schemas["Problem"];

/** A change: the fields of a report, an issuer or a position with those of the event. */
export type Event = Schemas["Event"];

/** The parameters of an operation, without those of CSV. */
export type Parameters<Name extends keyof operations> = Omit<
  NonNullable<operations[Name]["parameters"]["query"]>,
  "dialect"
>;

/** What every call takes beside its parameters. */
export interface CallOptions {
  /** Aborts the call, which then fails with the reason of the signal. */
  signal?: AbortSignal | undefined;
}
