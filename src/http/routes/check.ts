import type { Static } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { one } from '../../../ledger/kernel/quantity.ts';
import { allOf, andThen } from '../and-then.ts';
import type { Route } from '../edge/edge.ts';
import { type Issue, refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { jsonText } from '../json-text.ts';
import { itemOf } from './batch-item.ts';
import { type Asker, noted, noteRefusal } from './denied.ts';
import { reserve } from './reserving.ts';
import { AWAY, orAway, refuseIfAllAway } from './items-away.ts';
import { ASKS_FOR_HINTS, withHints } from './node-hints.ts';
import {
  type MeteringDeps,
  findSubject,
  isRefused,
  notRecorded,
  recordUsage,
  refusedItem,
  refusedResponse,
} from './metering.ts';
import {
  CheckBatchBody,
  CheckBatchResult,
  CheckBody,
  CheckItem,
  CheckResult,
  fromCheck,
} from '../wire/metering.ts';
import { type CallerKey, quantityOf } from '../wire/usage.ts';

const tag = 'Metering';

const CHECK = {
  operationId: 'checkEntitlement',
  summary: 'Whether a customer may use a feature now',
  description:
    'Answered from memory; includes every acknowledged write. `consume: true` records the value in the same step, durably, ' +
    'where it is allowed: concurrent callers never overrun. An `idempotency_key`, or an `Idempotency-Key` header in its place, ' +
    'counts once for its customer, and repeated answers the first answer. `reserve: true` holds the value in the same step instead, ' +
    'where it is allowed: `reservation` is what `POST /reservations` answers, and null where it is not; repeated under its key it answers the ' +
    'reservation as it is now. The header means nothing without one of the two.',
  tag,
  body: CheckBody,
  idempotent: 'ledger',
  headers: ASKS_FOR_HINTS,
  answers: { 200: CheckResult },
  refusals: ['not_found', 'conflict', 'idempotency_key_reused'],
} as const;

const BATCH = {
  operationId: 'checkEntitlements',
  summary: 'Up to 500 checks at once',
  description:
    '`results` has what /check would answer to each, in order, or `error`: a check that cannot be answered leaves the others as they are.',
  tag,
  body: CheckBatchBody,
  idempotent: false,
  headers: ASKS_FOR_HINTS,
  answers: { 200: CheckBatchResult },
} as const;

type Question = {
  readonly feature_key: string;
  readonly customer_id?: string;
  readonly external_customer_id?: string;
  readonly value?: number | string;
};

export function checkRoutes(deps: MeteringDeps) {
  return new Elysia().post('/check', ...checkRoute(deps)).post('/check/batch', ...batchRoute(deps));
}

function checkRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(CHECK, (call) => {
    const { principal, body, idempotencyKey } = call;
    const issue = wholeIssue(body);
    if (issue !== null) return refuseInvalid([issue]);
    const subject = findSubject(deps, principal, body);
    const hinted = (answer: Response | Promise<Response>) =>
      withHints(deps.ledger, call, { about: body, answer });
    if (body.consume === true) {
      const key = { body: body.idempotency_key, header: idempotencyKey, operation: 'check' };
      return hinted(consume(deps, call, { key, subject }));
    }
    if (body.reserve === true) {
      return hinted(hold(deps, call, { key: body.idempotency_key ?? idempotencyKey, subject }));
    }
    return hinted(andThen(subject, (found) => check(deps, call, body, found)));
  });
}

/** What does not go together. A header may come with every call; without effect it is ignored. */
function wholeIssue({ consume: isUse, reserve: isHeld, ...body }: Whole): Issue | null {
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

type Whole = Static<typeof CheckBody>;

type Lookup = ReturnType<typeof findSubject>;

function check(deps: MeteringDeps, asker: Asker, body: Question, found: Awaited<Lookup>) {
  const checked = renderedCheck(deps, asker, body, found);
  if (isRefused(checked)) return refusedResponse(checked);
  return andThen(checked.json, jsonText);
}

function renderedCheck(deps: MeteringDeps, asker: Asker, body: Question, found: Awaited<Lookup>) {
  if (isRefused(found)) return found;
  const { customer, meter } = found;
  const units = unitsOf(body, meter.scale);
  if (typeof units !== 'bigint') {
    return { refused: 'invalid_request' as const, message: units.message, issue: units };
  }
  const json = deps.ledger.check(customer, meter, units);
  if (typeof json === 'string') return { json: noted(deps, asker, found, json) };
  return { json: json.then((answer) => noted(deps, asker, found, answer)) };
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

async function consume(
  deps: MeteringDeps,
  asker: Asker & { readonly body: Question },
  { key, subject }: { readonly key: CallerKey; readonly subject: Lookup },
): Promise<Response> {
  const { principal, body } = asker;
  const found = await subject;
  if (isRefused(found)) return refusedResponse(found);
  const { meter } = found;
  const units = unitsOf(body, meter.scale);
  if (typeof units !== 'bigint') return refuseInvalid([units]);
  if (meter.aggregation === 'unique') {
    return refuseInvalid([
      { path: ['consume'], message: 'is not for meters that count unique values' },
    ]);
  }
  const isKeyed = (key.body ?? key.header) !== null;
  const outcome = await recordUsage(deps, found, {
    tenant: principal,
    measured: { value: units, member: null },
    admission: 'consume',
    metadata: undefined,
    key,
    exactReplay: isKeyed,
  });
  if (outcome.kind === 'refused') {
    noteRefusal(deps, asker, found, { kind: 'consume', isKeyed, outcome });
  }
  switch (outcome.kind) {
    case 'recorded':
    case 'refused': {
      const { reason, snapshot, paidBy } = outcome.record;
      const allowed = outcome.kind === 'recorded';
      const result = fromCheck({ units, allowed, reason, snapshot, paidBy }, meter);
      return Response.json(result, outcome.replayed ? REPLAYED : undefined);
    }
    case 'key_reused':
    case 'out_of_range':
    case 'too_many_meters':
      return refusedResponse(notRecorded(deps, outcome.kind));
    default:
      return outcome satisfies never;
  }
}

/** A check that holds what it allows. */
async function hold(
  deps: MeteringDeps,
  asker: Asker & { readonly body: Whole },
  { key, subject }: { readonly key: string | null; readonly subject: Lookup },
): Promise<Response> {
  const { value: amount = 1, expires_in: expiresIn } = asker.body;
  const held = await reserve(deps, asker, { subject, amount, field: 'value', expiresIn, key });
  if (held instanceof Response) return held;
  const { answer, meter, reservation, init } = held;
  return Response.json({ ...fromCheck(answer, meter), reservation }, init);
}

function batchRoute(deps: MeteringDeps): Route {
  return deps.edge.organisation(BATCH, (call) => {
    const { principal, body } = call;
    const results = body.checks.map((item) => {
      const question = ITEM.fit(item);
      if (question === null) return JSON.stringify(ITEM.refuse(item));
      return orTextAway(
        andThen(findSubject(deps, principal, question), (found) =>
          resultOf(deps, call, question, found),
        ),
      );
    });
    const answer = andThen(allOf(results), answerOfBatch);
    return withHints(deps.ledger, call, { about: body.checks, answer });
  });
}

const ITEM = itemOf(CheckItem);

const AWAY_TEXT = JSON.stringify(AWAY);

const orTextAway = (text: string | Promise<string>) =>
  text instanceof Promise ? orAway(text, AWAY_TEXT) : text;

function answerOfBatch(results: readonly string[]): Response {
  refuseIfAllAway(results, AWAY_TEXT);
  return jsonText(`{"results":[${results.join(',')}]}`);
}

/** One of a batch, as JSON text. */
function resultOf(deps: MeteringDeps, asker: Asker, question: Question, found: Awaited<Lookup>) {
  const checked = renderedCheck(deps, asker, question, found);
  return isRefused(checked) ? JSON.stringify(refusedItem(checked)) : checked.json;
}
