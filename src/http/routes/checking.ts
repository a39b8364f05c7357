// What /check and each row of /check/batch do: ask, record in the same step, or hold.
import type { Static } from '@sinclair/typebox';
import { must } from '../../../ledger/kernel/assert.ts';
import { one } from '../../../ledger/kernel/quantity.ts';
import type { RecordOutcome, UsageRequest } from '../../../ledger/outcome.ts';
import { andThen } from '../and-then.ts';
import type { Issue } from '../edge/errors.ts';
import { type CheckBody, type CheckResult, fromCheck } from '../wire/metering.ts';
import { type CallerKey, quantityOf } from '../wire/usage.ts';
import { type Asker, noted, noteRefusal } from './denied.ts';
import {
  type findSubject,
  invalid,
  isRefused,
  type MeteringDeps,
  notRecorded,
  requestOf,
  type Subject,
  type SubjectRefused,
} from './metering.ts';
import { reserve } from './reserving.ts';

export type Question = {
  readonly feature_key: string;
  readonly customer_id?: string;
  readonly external_customer_id?: string;
  readonly value?: number | string;
};

export type Whole = Static<typeof CheckBody>;

export type Lookup = ReturnType<typeof findSubject>;

/** `replayed`: it was given before under the same key. */
export type Answered = { readonly result: Static<typeof CheckResult>; readonly replayed: boolean };

/** What does not go together. A header may come with every call; without effect it is ignored. */
export function wholeIssue({ consume: isUse, reserve: isHeld, ...body }: Whole): Issue | null {
  const issue = (field: string, message: string) => ({ path: [field], message });
  if (isUse === true && isHeld === true) return issue('reserve', 'does not go with consume');
  if (isUse !== true && isHeld !== true && body.idempotency_key !== undefined) {
    return issue('idempotency_key', 'needs consume: true or reserve: true');
  }
  if (isHeld !== true && body.expires_in !== undefined) {
    return issue('expires_in', 'needs reserve: true');
  }
  return null;
}

/** The answer to a question, as JSON. Without a promise where it is in memory. */
export function renderedCheck(
  deps: MeteringDeps,
  asker: Asker,
  body: Question,
  found: Awaited<Lookup>,
) {
  if (isRefused(found)) return found;
  const { customer, meter } = found;
  const units = unitsOf(body, meter.scale);
  if (typeof units !== 'bigint') return invalid(units);
  const checked = deps.ledger.check(customer, meter, units);
  return { json: andThen(checked, (answer) => noted(deps, asker, found, answer)) };
}

/** The quantity that is checked: 1 by default, never negative. */
function unitsOf({ value }: Question, scale: number) {
  if (value === undefined) return one(scale);
  const units = quantityOf(value, scale, ['value']);
  if (typeof units === 'bigint' && units < 0n) {
    return { path: ['value'], message: 'must not be negative' };
  }
  return units;
}

/** Of a check that consumes: what the ledger is to record. */
export function useOf(
  deps: MeteringDeps,
  { principal: tenant }: Asker,
  {
    body,
    found,
    key,
  }: { readonly body: Question; readonly found: Subject; readonly key: CallerKey },
): UsageRequest | SubjectRefused {
  const { meter } = found;
  const units = unitsOf(body, meter.scale);
  if (typeof units !== 'bigint') return invalid(units);
  if (meter.aggregation === 'unique') {
    return invalid({
      path: ['consume'],
      message: 'is not for meters that count unique values',
    });
  }
  return requestOf(deps, found, {
    tenant,
    measured: { value: units, member: null },
    admission: 'consume',
    metadata: undefined,
    key,
    exactReplay: (key.body ?? key.header) !== null,
  });
}

/** What a check that consumes answers. */
export function consumed(
  deps: MeteringDeps,
  asker: Asker,
  { found, request }: { readonly found: Subject; readonly request: UsageRequest },
  outcome: RecordOutcome,
): Answered | SubjectRefused {
  if (outcome.kind === 'refused') {
    const isKeyed = request.keyId !== null;
    noteRefusal(deps, asker, found, { kind: 'consume', isKeyed, outcome });
  }
  switch (outcome.kind) {
    case 'recorded':
    case 'refused': {
      const { reason, snapshot, paidBy } = outcome.record;
      const allowed = outcome.kind === 'recorded';
      const units = must(request.value, 'what was to be used');
      const result = fromCheck({ units, allowed, reason, snapshot, paidBy }, found.meter);
      return { result, replayed: outcome.replayed };
    }
    case 'key_reused':
    case 'out_of_range':
    case 'too_many_meters':
      return notRecorded(deps, outcome.kind);
    default:
      return outcome satisfies never;
  }
}

/** What a check that holds what it allows answers. */
export async function hold(
  deps: MeteringDeps,
  asker: Asker,
  {
    body,
    subject,
    key,
  }: { readonly body: Whole; readonly subject: Lookup; readonly key: readonly string[] | null },
): Promise<Answered | SubjectRefused> {
  const { value: amount = 1, expires_in: expiresIn } = body;
  const held = await reserve(deps, asker, { subject, amount, field: 'value', expiresIn, key });
  if (isRefused(held)) return held;
  const { answer, meter, reservation, replayed } = held;
  return { result: { ...fromCheck(answer, meter), reservation }, replayed };
}
