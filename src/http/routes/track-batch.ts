import type { Static } from '@sinclair/typebox';
import { must } from '../../../ledger/kernel/assert.ts';
import { BATCH_BODY_MAX } from '../edge/body.ts';
import type { EachOutcome, UsageRequest } from '../../../ledger/outcome.ts';
import { allOf } from '../and-then.ts';
import type { Route } from '../edge/edge.ts';
import { type ItemRefusal, refuseInvalidItem, refuseItem } from '../edge/errors.ts';
import { answer, onceRepeatable } from '../idempotency/idempotency.ts';
import type { KeyLocks } from '../../platform/postgres/key-locks.ts';
import type { Sql } from '../../platform/postgres/postgres.ts';
import { ASKS_FOR_HINTS, withHints } from './node-hints.ts';
import {
  findSubject,
  isRefused,
  type MeteringDeps,
  notRecorded,
  overLimit,
  refusedItem,
  requestOf,
  type Subject,
  type SubjectRefused,
} from './metering.ts';
import { itemOf } from './batch-item.ts';
import { type Asker, noteRefusal } from './denied.ts';
import { AWAY, orAway, refuseIfAllAway } from './items-away.ts';
import { fromUsage, TrackBatchBody, TrackBatchResult, TrackBody } from '../wire/metering.ts';
import { measure } from '../wire/usage.ts';

const BATCH = {
  operationId: 'trackUsages',
  method: 'POST',
  path: '/track/batch',
  client: 'own',
  summary: 'Record up to 500 usages in one call',
  description:
    'Up to 500 bodies of /track and 2 MiB (2,097,152 bytes). Each item is recorded or refused by ' +
    'itself, in order, and the call answers when all that were recorded are on disk: `results` ' +
    'has the answer of /track, or `error`. A key that occurs twice in a call counts once: the ' +
    'second is a `duplicate`. With an `Idempotency-Key` header the whole call may be sent again ' +
    'and gets the first answer; another list, or another order, under that header is 422 and ' +
    'records nothing. A call that was cut off is completed when it is sent again: an item ' +
    'without a key gets its first answer, an item with a key that was recorded is a `duplicate`. ' +
    'An item that cannot be recorded now is `service_unavailable`: send the same call again. If ' +
    'all are, the call is 503.',
  tag: 'Metering',
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'usage', isRoutine: true },
  body: TrackBatchBody,
  bodyMax: BATCH_BODY_MAX,
  idempotent: true,
  headers: ASKS_FOR_HINTS,
  answers: { 200: TrackBatchResult },
} as const;

/** Items that are prepared before other requests get a turn. */
const STEP_ITEMS = 50;

const TRACK = itemOf(TrackBody);

export type TrackBatchDeps = MeteringDeps & {
  readonly sql: Sql;
  readonly keyLocks: KeyLocks;
};

type Batch = Asker & {
  readonly header: string | null;
  readonly tracks: readonly unknown[];
};

type Body = Static<typeof TrackBody>;

/** An item that is well formed. */
type Asked = { readonly body: Body; readonly subject: Named | Promise<Named> };

type Named = Subject | SubjectRefused | typeof AWAY;

/** What the ledger is to record. */
type Item = Subject & { readonly request: UsageRequest; readonly hasOwnKey: boolean };

type Result = ReturnType<typeof fromUsage> | ItemRefusal;

export function trackBatchRoute(deps: TrackBatchDeps): Route {
  const { sql, keyLocks, orgClock, ledger } = deps;
  return deps.edge.organisation(BATCH, async (call) => {
    const { principal, body, idempotencyKey: header } = call;
    const { tracks } = body;
    const batch = { principal, request: call.request, header, tracks };
    const respond = async () => Response.json({ results: await resultsOf(deps, batch) });
    const respondOnce = (key: string) => {
      const now = orgClock.now(principal);
      const attempt = {
        sql,
        keyLocks,
        principal,
        operation: BATCH,
        key,
        body,
        begin: () => '',
        now,
      };
      return onceRepeatable(attempt, async () => {
        const results = await resultsOf(deps, batch);
        // What was away is recorded when the call is sent again.
        return { ...answer(200, { results }), isKept: !results.includes(AWAY) };
      });
    };
    const response = await (header === null ? respond() : respondOnce(header));
    return withHints(ledger, call, { about: tracks, answer: response });
  });
}

/**
 * The result of each item, in order. The steps on the way have one value for each item, too: what
 * goes on to the next step, or the refusal that stays.
 *
 * @throws Unavailable where nothing could be recorded now
 */
async function resultsOf(deps: TrackBatchDeps, batch: Batch): Promise<readonly Result[]> {
  const items = await itemsOf(deps, batch, await askedOf(deps, batch));
  const outcomes = (await deps.ledger.recordEach(items.filter(isAccepted))).values();
  const results = items.map((item) =>
    isAccepted(item)
      ? resultOf(deps, batch, item, must(outcomes.next().value, 'each item has an outcome'))
      : item,
  );
  refuseIfAllAway(results, AWAY);
  return results;
}

function isAccepted<T extends object>(step: T | ItemRefusal): step is T {
  return !('error' in step);
}

/** The items that are well formed, and what they are about. */
async function askedOf(
  deps: TrackBatchDeps,
  { principal, tracks }: Batch,
): Promise<readonly (Asked | ItemRefusal)[]> {
  const asked: (Asked | ItemRefusal)[] = [];
  for (const [index, track] of tracks.entries()) {
    if (index % STEP_ITEMS === STEP_ITEMS - 1) await deps.edge.turns.next();
    const body = TRACK.fit(track);
    if (body === null) {
      asked.push(TRACK.refuse(track));
      continue;
    }
    const found = findSubject(deps, principal, body);
    const subject = found instanceof Promise ? orAway<Named>(found, AWAY) : found;
    asked.push({ body, subject });
  }
  return asked;
}

/** The items that the ledger is to record. */
async function itemsOf(
  deps: TrackBatchDeps,
  batch: Batch,
  asked: readonly (Asked | ItemRefusal)[],
): Promise<readonly (Item | ItemRefusal)[]> {
  const subjects = allOf(asked.map((one) => (isAccepted(one) ? one.subject : one)));
  const named = subjects instanceof Promise ? await subjects : subjects;
  const items: (Item | ItemRefusal)[] = [];
  for (const [index, one] of asked.entries()) {
    if (index % STEP_ITEMS === STEP_ITEMS - 1) await deps.edge.turns.next();
    const subject = must(named[index], 'what each item is about');
    if (!isAccepted(one)) items.push(one);
    else if ('error' in subject) items.push(subject);
    else if (isRefused(subject)) items.push(refusedItem(subject));
    else items.push(requestedOf(deps, batch, { index, body: one.body, subject }));
  }
  return items;
}

function requestedOf(
  deps: TrackBatchDeps,
  { principal, header }: Batch,
  { index, body, subject }: { index: number; body: Body; subject: Subject },
): Item | ItemRefusal {
  const measured = measure(subject.meter, body, deps.ids);
  if (!('value' in measured)) return refuseInvalidItem([measured]);
  const hasOwnKey = body.idempotency_key !== undefined;
  const request = requestOf(deps, subject, {
    tenant: principal,
    measured,
    admission: body.overage ?? 'record',
    metadata: body.metadata,
    key: { body: body.idempotency_key, header, operation: `track/batch ${index}` },
    exactReplay: header !== null && !hasOwnKey,
  });
  return { ...subject, request, hasOwnKey };
}

function resultOf(deps: TrackBatchDeps, batch: Batch, item: Item, outcome: EachOutcome): Result {
  switch (outcome.kind) {
    case 'recorded': {
      const { record, replayed } = outcome;
      const { customer, meter, hasOwnKey } = item;
      // Without a key of its own it was recorded by this call, which was cut off before.
      const duplicate = replayed && hasOwnKey;
      return fromUsage(record, { customerId: customer.id, meter, duplicate });
    }
    case 'refused':
      noteRefusal(deps, batch, item, {
        outcome,
        kind: 'track',
        isKeyed: item.request.keyId !== null,
      });
      return refuseItem('insufficient_balance', overLimit(outcome.record.reason));
    case 'key_reused':
    case 'out_of_range':
    case 'too_many_meters':
      return refusedItem(notRecorded(deps, outcome.kind));
    case 'unavailable':
      return AWAY;
    default:
      return outcome satisfies never;
  }
}
