import { must } from '../../../ledger/kernel/assert.ts';
import { BATCH_BODY_MAX } from '../edge/body.ts';
import type { CallOutcome, EventRefusal } from '../../../ledger/outcome.ts';
import { Full } from '../../platform/bounds.ts';
import type { OrganisationPrincipal } from '../edge/auth.ts';
import type { Route } from '../edge/edge.ts';
import { type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import { type EventSubjects, subjectsOfAll } from './event-subjects.ts';
import { type MeteringDeps, type Subject, notRecorded, refusedResponse } from './metering.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { withoutNulls } from '../edge/lenient.ts';
import { ISSUES_MAX, issuesOf, validator } from '../edge/validate.ts';
import { IngestBody, IngestEvent, IngestResult } from '../wire/metering.ts';
import { eventTime, fingerprintOf, keyedIds, measure, metadataText } from '../wire/usage.ts';

const INGEST = {
  operationId: 'ingestEvents',
  method: 'POST',
  path: '/events/ingest',
  client: 'events.ingest',
  summary: 'Record up to 500 events',
  description:
    'All or nothing, unless `partial` is true. Answers when all events are on disk. An event ' +
    'counts on every meter with its name as `event_name`. An `external_id` counts once for its ' +
    'customer, here and on /track. With an `Idempotency-Key` header an event without an ' +
    '`external_id` counts once for its customer and its place in the list: the same list in the ' +
    'same order may be sent again. The list as a whole is not compared: under that header an ' +
    'event is a `duplicate` if its customer had an event in its place, and is recorded ' +
    'otherwise. A call writes at most 1 MiB of metadata: each event counts its own once, and ' +
    'once more for each customer and meter with a `usage.recorded` endpoint; more is 413. With ' +
    '`partial: true` valid events are recorded, and `rejected` lists the others with at most 5 ' +
    'issues each; the recorded ones keep their `index`. Sent again with keys, nothing is ' +
    'recorded twice. Errors of the call itself are still 400 or 413.',
  tag: 'Metering',
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'usage', isRoutine: true },
  body: IngestBody,
  bodyMax: BATCH_BODY_MAX,
  idempotent: 'ledger',
  answers: { 200: IngestResult },
  refusals: ['conflict'],
} as const;

/** Events that are prepared before other requests get a turn: each may feed ten meters. */
const STEP_EVENTS = 50;

/** Issues of one event of a partial call. */
const EVENT_ISSUES_MAX = 5;

/** A well-formed event, with its index in the call. */
type ParsedEvent = { readonly index: number; readonly event: Event };

type Event = IngestEvent;

type Item = Subject & {
  readonly request: Parameters<MeteringDeps['ledger']['record']>[2];
  readonly follows: boolean;
};

/** An event and the index of its first item: it has one item for each meter that it feeds. */
type Placed = ParsedEvent & { readonly firstItem: number };

type Rejected = { readonly index: number; readonly issues: readonly Issue[] };

type Call = {
  readonly principal: OrganisationPrincipal;
  readonly idempotencyKey: string | null;
  readonly now: number;
};

export function ingestRoutes(deps: MeteringDeps): Route[] {
  return [ingestRoute(deps)];
}

function ingestRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(INGEST, async ({ principal, body, idempotencyKey }) => {
    const isPartial = body.partial === true;
    const rejected: Rejected[] = [];
    const given = isPartial ? await sift(deps, body.events, rejected) : allOf(body);
    const call = { principal, idempotencyKey, now: deps.orgClock.now(principal) };
    const { items, placed } = await itemsOfAll(deps, given, { call, isPartial, rejected });
    if (!isPartial && rejected.length > 0) return refuseInvalid(rejected.flatMap(inCall));
    const outcome: CallOutcome =
      items.length === 0
        ? { kind: 'recorded', items: [] }
        : await deps.ledger.recordAll(items, { isPartial });
    if (outcome.kind === 'too_many_meters') {
      return refusedResponse(notRecorded(deps, outcome.kind));
    }
    if (outcome.kind === 'too_large') return refuse('payload_too_large', outcome.why);
    if (outcome.kind !== 'recorded') {
      const index = eventAt(placed, outcome.index);
      return refuseInvalid(inCall({ index, issues: [issueOf(deps, outcome.kind)] }));
    }
    const stands = placed.filter(({ index, firstItem }) => {
      const why = outcome.items[firstItem]?.refused;
      if (why !== undefined) rejected.push({ index, issues: [issueOf(deps, why)] });
      return why === undefined;
    });
    rejected.sort((a, b) => a.index - b.index);
    return answer(stands, outcome.items, {
      byHeader: idempotencyKey !== null,
      rejected: isPartial ? rejected : null,
    });
  });
}

const allOf = ({ events }: { readonly events: readonly unknown[] }): ParsedEvent[] =>
  // The edge has validated them.
  (events as readonly Event[]).map((event, index) => ({ index, event }));

/** The events of a partial call that are well formed. */
async function sift(
  { edge }: MeteringDeps,
  events: readonly unknown[],
  rejected: Rejected[],
): Promise<ParsedEvent[]> {
  const given: ParsedEvent[] = [];
  for (const [index, event] of events.entries()) {
    if (index % STEP_EVENTS === STEP_EVENTS - 1) await edge.turns.next();
    const fitting = EVENT.Check(event) ? event : withoutNulls(IngestEvent, event);
    if (EVENT.Check(fitting)) given.push({ index, event: fitting });
    else rejected.push({ index, issues: issuesOf(EVENT, fitting, EVENT_ISSUES_MAX) });
  }
  return given;
}

const EVENT = validator(IngestEvent);

/** The issues of an event, with their paths in the call. */
const inCall = ({ index, issues }: Rejected): Issue[] =>
  issues.map(({ path, message }) => ({ path: ['events', String(index), ...path], message }));

/** The ledger's refusal as an issue of the event. */
function issueOf({ settings }: MeteringDeps, why: EventRefusal): Issue {
  switch (why) {
    case 'out_of_range':
      return { path: ['value'], message: 'would take the total out of range' };
    case 'was_refused':
      return {
        path: ['external_id'],
        message: 'was refused before: nothing was recorded under it',
      };
    case 'too_many_meters':
      return {
        path: ['name'],
        message: new Full('metersPerCustomer', settings.bounds.metersPerCustomer).message,
      };
    default:
      return why satisfies never;
  }
}

/** The items of all events. */
async function itemsOfAll(
  deps: MeteringDeps,
  given: readonly ParsedEvent[],
  about: {
    readonly call: Call;
    readonly isPartial: boolean;
    readonly rejected: Rejected[];
  },
): Promise<{ readonly items: Item[]; readonly placed: Placed[] }> {
  const { call, isPartial, rejected } = about;
  const events = given.map(({ event }) => event);
  const found = subjectsOfAll(deps, call.principal, events);
  const subjects = found instanceof Promise ? await found : found;
  const items: Item[] = [];
  const placed: Placed[] = [];
  for (const [place, { index, event }] of given.entries()) {
    if (place % STEP_EVENTS === STEP_EVENTS - 1) await deps.edge.turns.next();
    const named = must(subjects[place], 'what each event is about');
    const firstItem = items.length;
    const issue = isIssue(named)
      ? named
      : addItems(deps, items, { event, index, about: named, call });
    if (issue === null) {
      placed.push({ index, event, firstItem });
      continue;
    }
    rejected.push({ index, issues: [issue] });
    if (!isPartial && rejected.length === ISSUES_MAX) break;
  }
  return { items, placed };
}

/** The index of the event of an item. */
function eventAt(placed: readonly Placed[], item: number): number {
  return placed.findLast(({ firstItem }) => firstItem <= item)?.index ?? 0;
}

function answer(
  placed: readonly Placed[],
  items: readonly { readonly id: string; readonly duplicate: boolean }[],
  { byHeader, rejected }: { byHeader: boolean; rejected: readonly Rejected[] | null },
): Response {
  let duplicates = 0;
  const events = placed.map(({ index, event, firstItem }) => {
    const item = items[firstItem];
    const duplicate = item?.duplicate === true;
    if (duplicate) duplicates += 1;
    return {
      index,
      id: item?.id,
      external_id: event.external_id ?? null,
      status: duplicate ? 'duplicate' : 'inserted',
    };
  });
  const replayed = byHeader && events.length > 0 && duplicates === events.length;
  const result = { inserted: events.length - duplicates, duplicates, events };
  return Response.json(
    rejected === null ? result : { ...result, rejected },
    replayed ? REPLAYED : undefined,
  );
}

/** Adds one item for each meter that the event feeds, or none: why. */
function addItems(
  deps: MeteringDeps,
  items: Item[],
  {
    event,
    index,
    about: { customer, fed },
    call,
  }: ParsedEvent & { readonly about: EventSubjects; readonly call: Call },
): Issue | null {
  const at = event.timestamp === undefined ? null : eventTime(event.timestamp, call.now);
  if (at !== null && typeof at !== 'number') return at;
  const { principal, idempotencyKey: header } = call;
  const { ids } = deps;
  const { external_id: externalId = null, metadata = null } = event;
  const key = { body: event.external_id, header, operation: `ingest ${index}` };
  const { keyId, formerKeyId } = keyedIds(deps, principal, { customerId: customer.id, key });
  // Once for all meters, because it may be long.
  const text = keyId === null ? '' : metadataText(event.metadata);
  const first = items.length;
  for (const meter of fed) {
    const measured = measure(meter, event, ids);
    if (!('value' in measured)) {
      items.length = first;
      return measured;
    }
    const { value, member } = measured;
    const follows = items.length > first;
    // The transfer of the first meter has the event's id; the ids of the others derive from it.
    const named = (id: string | null) => (id === null || !follows ? id : ids.derive(id, meter.id));
    const request: Item['request'] = {
      value,
      member,
      eventAt: at,
      admission: 'record',
      exactReplay: false,
      metadata,
      idempotencyKey: header,
      externalId,
      keyId: named(keyId),
      formerKeyId: named(formerKeyId),
      fingerprint:
        keyId === null
          ? null
          : fingerprintOf(ids, {
              customerId: customer.id,
              meterId: meter.id,
              value,
              metadata: text,
              variant: '',
            }),
    };
    items.push({ customer, meter, request, follows });
  }
  return null;
}

function isIssue(value: object): value is Issue {
  return 'message' in value;
}
