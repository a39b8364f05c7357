import type { Static } from '@sinclair/typebox';
import { must } from '../../../ledger/kernel/assert.ts';
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';
import type { EachOutcome, UsageRequest } from '../../../ledger/outcome.ts';
import { breathe, type Timers } from '../../../ledger/ports.ts';
import { allOf } from '../and-then.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import { type ItemRefusal, refuseInvalidItem, refuseItem } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
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
import { AWAY, orAway, refuseIfAllAway } from './items-away.ts';
import { fromUsage, TrackBatchBody, TrackBatchResult, TrackBody } from '../wire/metering.ts';
import { measure } from '../wire/usage.ts';

const BATCH = {
  operationId: 'trackUsages',
  summary: 'Record up to 500 usages, each by itself',
  description:
    'Each item is a body of /track. It is recorded or refused by itself, in order, as if it came alone, and answered when all that were ' +
    'recorded are on disk: `results` has what /track would answer, or `error`. A key that stands twice in a call counts once: the second is a ' +
    '`duplicate`. With an `Idempotency-Key` header an item without a key of its own counts once too, by its place, so that the whole call may ' +
    'be sent again: it gets the first answers. An item that cannot be recorded now is `service_unavailable`, and the others stand; where ' +
    'that is so of all, the call is 503.',
  tag: 'Metering',
  body: TrackBatchBody,
  bodyBytesMax: INGEST_BYTES_MAX,
  idempotent: 'ledger',
  headers: ASKS_FOR_HINTS,
  answers: { 200: TrackBatchResult },
} as const;

/** Items that are prepared before other requests get a turn. */
const STEP_ITEMS = 50;

const TRACK = itemOf(TrackBody);

export type TrackBatchDeps = MeteringDeps & { readonly timers: Timers };

type Call = { readonly principal: OrganisationPrincipal; readonly header: string | null };

type Body = Static<typeof TrackBody>;

/** An item of the call that is well formed. */
type Asked = {
  readonly index: number;
  readonly body: Body;
  readonly subject: Named | Promise<Named>;
};

type Named = Subject | SubjectRefused | typeof AWAY;

/** What is to be recorded, with its place in the call. */
type Item = Subject & {
  readonly index: number;
  readonly request: UsageRequest;
  /** Whether an item before it has its key. */
  readonly isRepeated: boolean;
};

type Result = ReturnType<typeof fromUsage> | ItemRefusal;

export function trackBatchRoute(deps: TrackBatchDeps): Route {
  return deps.edge.organisation(BATCH, async (call) => {
    const { principal, body, idempotencyKey: header } = call;
    const results: Result[] = [];
    const about = { call: { principal, header }, results };
    const asked = await sift(deps, body.tracks, about);
    const items = await itemsOf(deps, asked, about);
    const outcomes = await deps.ledger.recordEach(items);
    for (const [place, item] of items.entries()) {
      const outcome = must(outcomes[place], 'each item has an outcome');
      results[item.index] = resultOf(deps, outcome, { item, byHeader: header !== null });
    }
    refuseIfAllAway(results, AWAY);
    const replayed = header !== null && isReplayed(outcomes);
    const answer = Response.json({ results }, replayed ? REPLAYED : undefined);
    return withHints(deps.ledger, call, { about: body.tracks, answer });
  });
}

type About = { readonly call: Call; readonly results: Result[] };

/** The items that are well formed, and what they are about; the results of the others. */
async function sift(
  deps: TrackBatchDeps,
  tracks: readonly unknown[],
  { call, results }: About,
): Promise<readonly Asked[]> {
  const asked: Asked[] = [];
  for (const [index, track] of tracks.entries()) {
    if (index % STEP_ITEMS === STEP_ITEMS - 1) await breathe(deps.timers);
    const body = TRACK.fit(track);
    if (body === null) {
      results[index] = TRACK.refuse(track);
      continue;
    }
    const found = findSubject(deps, call.principal, body);
    const subject = found instanceof Promise ? orAway<Named>(found, AWAY) : found;
    asked.push({ index, body, subject });
  }
  return asked;
}

/** The items that the ledger is asked to record; the results of the others. */
async function itemsOf(
  deps: TrackBatchDeps,
  asked: readonly Asked[],
  { call, results }: About,
): Promise<readonly Item[]> {
  const subjects = allOf(asked.map(({ subject }) => subject));
  const named = subjects instanceof Promise ? await subjects : subjects;
  const items: Item[] = [];
  const keys = new Set<string>();
  for (const [place, { index, body }] of asked.entries()) {
    if (place % STEP_ITEMS === STEP_ITEMS - 1) await breathe(deps.timers);
    const subject = must(named[place], 'what each item is about');
    if ('error' in subject) {
      results[index] = subject;
      continue;
    }
    if (isRefused(subject)) {
      results[index] = refusedItem(subject);
      continue;
    }
    const measured = measure(subject.meter, body, deps.ids);
    if (!('value' in measured)) {
      results[index] = refuseInvalidItem([measured]);
      continue;
    }
    const { principal: tenant, header } = call;
    const request = requestOf(deps, subject, {
      tenant,
      measured,
      admission: body.overage ?? 'record',
      metadata: body.metadata,
      key: { body: body.idempotency_key, header, operation: `track/batch ${index}` },
      exactReplay: header !== null,
    });
    const { keyId } = request;
    const isRepeated = keyId !== null && keys.has(keyId);
    if (keyId !== null) keys.add(keyId);
    items.push({ ...subject, index, request, isRepeated });
  }
  return items;
}

function resultOf(
  deps: TrackBatchDeps,
  outcome: EachOutcome,
  { item, byHeader }: { readonly item: Item; readonly byHeader: boolean },
): Result {
  switch (outcome.kind) {
    case 'recorded': {
      const { record, replayed } = outcome;
      const { customer, meter, isRepeated } = item;
      // Under a header the whole is replayed, with what was repeated in it.
      const duplicate = replayed && (isRepeated || !byHeader);
      return fromUsage(record, { customerId: customer.id, meter, duplicate });
    }
    case 'refused':
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

/** Whether an earlier call has recorded all that this one could. */
function isReplayed(outcomes: readonly EachOutcome[]): boolean {
  const answers = outcomes.filter((outcome) => 'record' in outcome);
  return answers.length > 0 && answers.every(({ replayed }) => replayed);
}
