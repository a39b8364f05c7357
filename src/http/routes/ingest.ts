import { Elysia } from 'elysia';
import { INGEST_BYTES_MAX } from '../../../ledger/limits.ts';
import { breathe, type Timers } from '../../../ledger/ports.ts';
import type { OrganisationPrincipal } from '../auth.ts';
import type { Route } from '../edge.ts';
import { type Issue, refuse, refuseInvalid } from '../errors.ts';
import {
  type MeteringDeps,
  type Subject,
  findCustomer,
  isRefused,
  notRecorded,
} from '../metering.ts';
import { ISSUES_MAX } from '../validate.ts';
import { IngestBody, IngestResult } from '../wire/metering.ts';
import { eventTime, fingerprintOf, keyedIds, measure, metadataText } from '../wire/usage.ts';

const INGEST = {
  operationId: 'ingestEvents',
  summary: 'Record up to 500 events',
  description:
    'All or nothing, and answered when all are on disk. The name of an event feeds every meter with that `event_name`. An ' +
    '`external_id` counts once for its customer, here and on /track; with an `Idempotency-Key` header the events without one count once too, so ' +
    'that the whole call may be sent again. What is written at once has a bound of 1 MiB of metadata: each event counts its own once, and ' +
    'once more for each customer and meter that an endpoint hears of by `usage.recorded`; more is 413.',
  tag: 'Metering',
  body: IngestBody,
  bodyBytesMax: INGEST_BYTES_MAX,
  idempotent: 'ledger',
  answers: { 200: IngestResult },
  refusals: ['conflict'],
} as const;

/** Events that are taken apart before others are answered: each may feed ten meters. */
const STEP_EVENTS = 50;

type Event = (typeof IngestBody)['static']['events'][number];

type Item = Subject & {
  readonly request: Parameters<MeteringDeps['ledger']['record']>[2];
  readonly follows: boolean;
};

/** An event, and where its items begin: one for each meter that it feeds. */
type Placed = { readonly event: Event; readonly firstItem: number };

type IngestDeps = MeteringDeps & { readonly timers: Timers };

export function ingestRoutes(deps: IngestDeps) {
  return new Elysia().post('/events/ingest', ...ingestRoute(deps));
}

function ingestRoute(deps: IngestDeps): Route {
  return deps.edge.organisation(INGEST, async ({ principal, body, idempotencyKey }) => {
    const { events } = body;
    if (events.length === 0) return answer([], [], false);
    const subjects = await subjectsOfAll(deps, principal, events);
    const items: Item[] = [];
    const placed: Placed[] = [];
    const issues: Issue[] = [];
    const now = deps.orgClock.now(principal);
    for (const [index, event] of events.entries()) {
      if (index % STEP_EVENTS === STEP_EVENTS - 1) await breathe(deps.timers);
      const found = subjects[index] ?? [];
      const call = { principal, idempotencyKey, index, now };
      const made = itemsOf(deps, event, { found, call });
      if (isIssue(made)) {
        issues.push({ ...made, path: ['events', String(index), ...made.path] });
        if (issues.length === ISSUES_MAX) break;
        continue;
      }
      placed.push({ event, firstItem: items.length });
      items.push(...made);
    }
    if (issues.length > 0) return refuseInvalid(issues);
    const outcome = await deps.ledger.recordAll(items);
    if (outcome.kind === 'out_of_range') {
      const path = ['events', String(eventAt(placed, outcome.index)), 'value'];
      return refuseInvalid([{ path, message: 'would take the total out of range' }]);
    }
    if (outcome.kind === 'too_many_meters') return notRecorded(deps, outcome.kind);
    if (outcome.kind === 'too_large') return refuse('payload_too_large', outcome.why);
    if (outcome.kind === 'was_refused') {
      const path = ['events', String(eventAt(placed, outcome.index)), 'external_id'];
      return refuseInvalid([
        { path, message: 'was refused before: nothing was recorded under it' },
      ]);
    }
    return answer(placed, outcome.items, idempotencyKey !== null);
  });
}

/** The event that an item is of. */
function eventAt(placed: readonly Placed[], item: number): number {
  return placed.findLastIndex(({ firstItem }) => firstItem <= item);
}

function answer(
  placed: readonly Placed[],
  items: readonly { readonly id: string; readonly duplicate: boolean }[],
  byHeader: boolean,
): Response {
  let duplicates = 0;
  const events = placed.map(({ event, firstItem }, index) => {
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
  const replayed = byHeader && duplicates === events.length;
  return Response.json(
    { inserted: events.length - duplicates, duplicates, events },
    replayed ? { headers: { 'idempotency-replayed': 'true' } } : undefined,
  );
}

/** Each customer and name is looked up once, however many events are about it. */
async function subjectsOfAll(
  deps: MeteringDeps,
  principal: OrganisationPrincipal,
  events: readonly Event[],
): Promise<(Subject[] | Issue)[]> {
  const known = new Map<string, ReturnType<typeof subjectsOf>>();
  const keys = events.map((event) => {
    const { name, customer_id: id, external_customer_id: externalId } = event;
    // Neither can hold a NUL: the edge refuses it.
    const key = `${name}\0${id ?? ''}\0${externalId ?? ''}`;
    if (!known.has(key)) known.set(key, subjectsOf(deps, principal, event));
    return key;
  });
  const found = new Map<string, Subject[] | Issue>();
  const late: Promise<unknown>[] = [];
  for (const [key, subjects] of known) {
    if (subjects instanceof Promise) late.push(subjects.then((value) => found.set(key, value)));
    else found.set(key, subjects);
  }
  if (late.length > 0) await Promise.all(late);
  return keys.map((key) => found.get(key) ?? []);
}

/** The customer and every meter that the event feeds, or why there is none. */
function subjectsOf(
  { ledger, meters }: MeteringDeps,
  principal: OrganisationPrincipal,
  event: Event,
): (Subject[] | Issue) | Promise<Subject[] | Issue> {
  const customer = findCustomer(ledger, principal, event);
  const fed = meters.byEventName(principal, event.name);
  if (customer instanceof Promise || fed instanceof Promise) {
    return Promise.all([customer, fed]).then(([a, f]) => join(event, a, f));
  }
  return join(event, customer, fed);
}

function join(
  event: Event,
  customer: Awaited<ReturnType<typeof findCustomer>>,
  fed: readonly Subject['meter'][],
): Subject[] | Issue {
  if (isRefused(customer)) {
    const field = event.customer_id === undefined ? 'external_customer_id' : 'customer_id';
    return customer.issue ?? { path: [field], message: customer.message };
  }
  if (fed.length === 0) return { path: ['name'], message: 'feeds no meter' };
  return fed.map((meter) => ({ customer, meter }));
}

function itemsOf(
  deps: MeteringDeps,
  event: Event,
  about: {
    found: Subject[] | Issue;
    call: {
      principal: OrganisationPrincipal;
      idempotencyKey: string | null;
      index: number;
      now: number;
    };
  },
): Item[] | Issue {
  const { found, call } = about;
  if (isIssue(found)) return found;
  const at = event.timestamp === undefined ? null : eventTime(event.timestamp, call.now);
  if (at !== null && typeof at !== 'number') return at;
  const header = call.idempotencyKey;
  const { ids } = deps;
  const key = { body: event.external_id, header, operation: `ingest ${call.index}` };
  const hasKey = (event.external_id ?? header) !== null;
  // Once for all meters: it may be long.
  const text = hasKey ? metadataText(event.metadata) : '';
  const items: Item[] = [];
  for (const { customer, meter } of found) {
    const measured = measure(meter, event, ids);
    if (!('value' in measured)) return measured;
    const { keyId, formerKeyId } = keyedIds(deps, { ...call.principal, id: customer.id }, key);
    // The first meter's transfer is the event; those of the others are named after it.
    const named = (id: string | null) =>
      id === null || items.length === 0 ? id : ids.derive(id, meter.id);
    const said = { customerId: customer.id, meterId: meter.id, value: measured.value };
    const request: Item['request'] = {
      ...measured,
      eventAt: at,
      admission: 'record',
      exactReplay: false,
      metadata: event.metadata ?? null,
      idempotencyKey: header,
      externalId: event.external_id ?? null,
      keyId: named(keyId),
      formerKeyId: named(formerKeyId),
      fingerprint:
        keyId === null ? null : fingerprintOf(ids, { ...said, metadata: text, variant: '' }),
    };
    items.push({ customer, meter, request, follows: items.length > 0 });
  }
  return items;
}

function isIssue(value: object): value is Issue {
  return 'message' in value;
}
