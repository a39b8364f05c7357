// `check` and `track`: their texts on the wire, their answers, and what is said of a check that
// could not be asked. By hand where the other operations are converted by their names: these are
// called a hundred thousand times a second.
import { toSnake } from './casing.ts';
import {
  ConnectionError,
  DeadlineError,
  QueueFullError,
  RateLimitedError,
  ServerError,
  UnavailableError,
} from './errors.ts';
import type { CheckBody, CheckResult, TrackBody, TrackResult } from './types.ts';
import { fromWire } from './wire-names.ts';

/** `throw` rejects; the others answer, with the reason `unavailable`. */
export type OnUnavailable = 'throw' | 'allow' | 'deny';

export type CheckAnswer = Omit<CheckResult, 'reason'> & {
  /** `unavailable`: the service could not be asked, and `allowed` is what `onUnavailable` says. */
  readonly reason: CheckResult['reason'] | 'unavailable';
};

/** A customer by one of its two names. */
export type CustomerName =
  | { readonly externalCustomerId: string; readonly customerId?: never }
  | { readonly customerId: string; readonly externalCustomerId?: never };

type Unnamed<Body> = Omit<Body, 'customerId' | 'externalCustomerId'>;
export type CheckParams = Unnamed<CheckBody> & CustomerName;
export type TrackParams = Unnamed<TrackBody> & CustomerName;

const nameTexts = new Map<string, string>();

/** `"feature_key":` */
function nameText(name: string): string {
  let text = nameTexts.get(name);
  if (text === undefined) {
    text = `${JSON.stringify(toSnake(name))}:`;
    if (nameTexts.size < 100) nameTexts.set(name, text);
  }
  return text;
}

/** The JSON of a call, with a key that is not among its fields. */
export function textOf(params: object, key: string | null): string {
  let text = '{';
  for (const name in params) {
    const value = JSON.stringify(params[name as keyof typeof params]) as string | undefined;
    if (value === undefined) continue;
    if (text.length > 1) text += ',';
    text += nameText(name) + value;
  }
  if (key === null) return `${text}}`;
  return `${text}${text.length > 1 ? ',' : ''}"idempotency_key":${JSON.stringify(key)}}`;
}

/** `featureKey` is `feature_key`. */
type Snake<Name extends string> = Name extends `${infer Letter}${infer Rest}`
  ? `${Letter extends Lowercase<Letter> ? Letter : `_${Lowercase<Letter>}`}${Snake<Rest>}`
  : '';

/** The same fields by their names on the wire; each is taken for what the document says. */
type Wire<T> = Readonly<Record<Snake<keyof T & string>, never>>;

export function checkOf(item: unknown): CheckResult {
  const wire = item as Wire<CheckResult>;
  const answer: CheckResult = {
    allowed: wire.allowed,
    balance: wire.balance,
    limit: wire.limit,
    consumed: wire.consumed,
    remaining: wire.remaining,
    reason: wire.reason,
    featureKey: wire.feature_key,
    requested: wire.requested,
    unlimited: wire.unlimited,
    overageAllowed: wire.overage_allowed,
    ...(wire.billed !== undefined && { billed: wire.billed }),
    reserved: wire.reserved,
    periodStart: wire.period_start,
    periodEnd: wire.period_end,
    resetsAt: wire.resets_at,
  };
  if (wire.paid_by === undefined) return answer;
  return { ...answer, paidBy: fromWire(wire.paid_by) as NonNullable<CheckResult['paidBy']> };
}

/** Of a check that records or holds. */
export function useOf(item: unknown): CheckResult {
  return fromWire(item) as CheckResult;
}

export function trackOf(item: unknown): TrackResult {
  const wire = item as Wire<TrackResult>;
  return {
    id: wire.id,
    featureKey: wire.feature_key,
    customerId: wire.customer_id,
    externalCustomerId: wire.external_customer_id,
    value: wire.value,
    timestamp: wire.timestamp,
    balance: wire.balance,
    limit: wire.limit,
    consumed: wire.consumed,
    remaining: wire.remaining,
    overage: wire.overage,
    duplicate: wire.duplicate,
    ...(wire.billed !== undefined && { billed: wire.billed }),
  };
}

/** Whether the service could not be asked, or could not say. */
export function isUnasked(error: unknown): boolean {
  return (
    error instanceof ConnectionError ||
    error instanceof DeadlineError ||
    error instanceof UnavailableError ||
    error instanceof RateLimitedError ||
    error instanceof ServerError ||
    error instanceof QueueFullError
  );
}

export function guessOf({ featureKey, value }: CheckBody, allowed: boolean): CheckAnswer {
  return {
    allowed,
    balance: null,
    limit: null,
    consumed: 0,
    remaining: null,
    reason: 'unavailable',
    featureKey,
    requested: Number(value ?? 1),
    unlimited: false,
    overageAllowed: false,
    reserved: 0,
    periodStart: null,
    periodEnd: null,
    resetsAt: null,
  };
}
