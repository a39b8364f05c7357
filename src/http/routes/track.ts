import { Elysia } from 'elysia';
import type { RecordOutcome } from '../../../ledger/outcome.ts';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { Reason } from '../../../ledger/kernel/transfers.ts';
import type { Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import {
  type MeteringDeps,
  type Subject,
  findSubject,
  isRefused,
  notRecorded,
  recordUsage,
  refusedResponse,
} from './metering.ts';
import { TrackBody, TrackResult, fromSnapshot, overageOf } from '../wire/metering.ts';
import { measure } from '../wire/usage.ts';

const OVER_LIMIT = 'the usage would go over the limit';
const OVER: Partial<Record<Reason, string>> = {
  subscription_paused: `${OVER_LIMIT}: the subscription is paused`,
  blocked: `${OVER_LIMIT}: the subscription is blocked`,
};

const TRACK = {
  operationId: 'trackUsage',
  summary: 'Record usage',
  description:
    'Answers when the event is on disk. Usage is a fact: it is recorded in full, past the limit too, unless `overage` is ' +
    '`reject`. An `idempotency_key` counts once for its customer: repeated, it answers the first answer with `duplicate: true`; a repeated `Idempotency-Key` ' +
    'header replays it to the byte. The metadata is part of what a key was used for, and 1 is not "1" there.',
  tag: 'Metering',
  body: TrackBody,
  idempotent: 'ledger',
  answers: { 200: TrackResult },
  refusals: ['not_found', 'conflict', 'insufficient_balance', 'idempotency_key_reused'],
} as const;

export function trackRoutes(deps: MeteringDeps) {
  return new Elysia().post('/track', ...trackRoute(deps));
}

function trackRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(TRACK, async ({ principal, body, idempotencyKey: header }) => {
    const subject = findSubject(deps, principal, body);
    const found = subject instanceof Promise ? await subject : subject;
    if (isRefused(found)) return refusedResponse(found);
    const measured = measure(found.meter, body, deps.ids);
    if (!('value' in measured)) return refuseInvalid([measured]);
    const outcome = await recordUsage(deps, found, {
      tenant: principal,
      measured,
      admission: body.overage ?? 'record',
      metadata: body.metadata,
      key: { body: body.idempotency_key, header, operation: 'track' },
      exactReplay: header !== null,
    });
    return answer(deps, outcome, found, { byHeader: header !== null });
  });
}

function answer(
  deps: MeteringDeps,
  outcome: RecordOutcome,
  { customer, meter }: Subject,
  { byHeader }: { byHeader: boolean },
): Response {
  switch (outcome.kind) {
    case 'recorded': {
      const { record, replayed } = outcome;
      const { balance, limit, consumed, remaining } = fromSnapshot(record.snapshot, meter.scale);
      const result = {
        id: record.id,
        feature_key: meter.slug,
        customer_id: customer.id,
        external_customer_id: record.externalId,
        value: quantityNumber(record.value, meter.scale),
        timestamp: iso(record.eventAt),
        balance,
        limit,
        consumed,
        remaining,
        overage: quantityNumber(overageOf(record.snapshot), meter.scale),
        duplicate: replayed && !byHeader,
      };
      return Response.json(result, replayed && byHeader ? REPLAYED : undefined);
    }
    case 'refused':
      return refuse('insufficient_balance', OVER[outcome.record.reason] ?? OVER_LIMIT, {
        headers: outcome.replayed && byHeader ? REPLAYED.headers : {},
      });
    case 'key_reused':
    case 'out_of_range':
    case 'too_many_meters':
      return notRecorded(deps, outcome.kind);
    default:
      return outcome satisfies never;
  }
}
