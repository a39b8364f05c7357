/// <reference lib="esnext.disposable" preserve="true" />
// What `tollhouse/client` exports.
export type { Caller, CallOptions, Input } from './caller.ts';
export * from './errors.ts';
export type { StreamOptions } from './event-stream.ts';
export type { Hooks, RequestInfo, ResponseInfo, RetryInfo } from './hooks.ts';
export type { Lease, LeaseParams } from './lease.ts';
export type {
  CheckAnswer,
  CheckParams,
  CustomerName,
  OnUnavailable,
  TrackParams,
} from './metering.ts';
export type { OperationId } from './operations.ts';
export { List, type Page, type PageParams } from './page.ts';
export { type CheckOptions, Tollhouse, type TollhouseOptions } from './tollhouse.ts';
export type * from './types.ts';
export { verifyWebhook, type VerifyOptions, type WebhookHeaders } from './verify-webhook.ts';
