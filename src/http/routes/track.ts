import type { RecordOutcome } from '../../../ledger/outcome.ts';
import type { Route } from '../edge/edge.ts';
import { refuse, refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { noteRefusal } from './denied.ts';
import { ASKS_FOR_HINTS, withHints } from './node-hints.ts';
import {
  type MeteringDeps,
  type Subject,
  findSubject,
  isRefused,
  notRecorded,
  overLimit,
  recordUsage,
  refusedResponse,
} from './metering.ts';
import { type TrackBatchDeps, trackBatchRoute } from './track-batch.ts';
import { TrackBody, TrackResult, fromUsage } from '../wire/metering.ts';
import { measure } from '../wire/usage.ts';

const TRACK = {
  operationId: 'trackUsage',
  method: 'POST',
  path: '/track',
  client: 'own',
  summary: 'Record usage',
  description:
    'Answers when the event is on disk. Usage is recorded in full, also past the limit, unless ' +
    '`overage` is `reject`. An `idempotency_key` counts once for its customer: a repeated call ' +
    'gets the first answer with `duplicate: true`; a repeated `Idempotency-Key` header replays ' +
    'the first answer byte for byte. The header also counts once for its customer: the same ' +
    'header with another customer records usage of that customer, and with an `idempotency_key` ' +
    'in the body only that key decides whether a call is a repetition. The metadata is part of ' +
    'what a key was used for; 1 and "1" differ there.',
  tag: 'Metering',
  roles: ['owner', 'admin', 'support'],
  scopes: ['all', 'metering'],
  audit: { object: 'customer', id: 'customer', isRoutine: true },
  body: TrackBody,
  idempotent: 'ledger',
  headers: ASKS_FOR_HINTS,
  answers: { 200: TrackResult },
  refusals: ['not_found', 'conflict', 'insufficient_balance', 'idempotency_key_reused'],
} as const;

export function trackRoutes(deps: TrackBatchDeps): Route[] {
  return [trackRoute(deps), trackBatchRoute(deps)];
}

function trackRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(TRACK, async (call) => {
    const { principal, body, idempotencyKey: header } = call;
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
    if (outcome.kind === 'refused') {
      const isKeyed = (body.idempotency_key ?? header) !== null;
      noteRefusal(deps, call, found, { kind: 'track', outcome, isKeyed });
    }
    const answered = answer(deps, outcome, found, { byHeader: header !== null });
    return withHints(deps.ledger, call, { about: body, answer: answered });
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
      const duplicate = replayed && !byHeader;
      const result = fromUsage(record, { customerId: customer.id, meter, duplicate });
      return Response.json(result, replayed && byHeader ? REPLAYED : undefined);
    }
    case 'refused':
      return refuse('insufficient_balance', overLimit(outcome.record.reason), {
        headers: outcome.replayed && byHeader ? REPLAYED.headers : {},
      });
    case 'key_reused':
    case 'out_of_range':
    case 'too_many_meters':
      return refusedResponse(notRecorded(deps, outcome.kind));
    default:
      return outcome satisfies never;
  }
}
