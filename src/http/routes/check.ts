import { andThen } from '../and-then.ts';
import type { Route } from '../edge/edge.ts';
import { refuseInvalid } from '../edge/errors.ts';
import { REPLAYED } from '../idempotency/replayed.ts';
import { jsonText } from '../json-text.ts';
import { CheckBody, CheckResult } from '../wire/metering.ts';
import type { CallerKey } from '../wire/usage.ts';
import { checkBatchRoute } from './check-batch.ts';
import {
  type Answered,
  consumed,
  hold,
  type Lookup,
  type Question,
  renderedCheck,
  useOf,
  wholeIssue,
} from './checking.ts';
import type { Asker } from './denied.ts';
import {
  findSubject,
  isRefused,
  type MeteringDeps,
  refusedResponse,
  type SubjectRefused,
} from './metering.ts';
import { ASKS_FOR_HINTS, withHints } from './node-hints.ts';

const CHECK = {
  operationId: 'checkEntitlement',
  method: 'POST',
  path: '/check',
  client: 'own',
  summary: 'Check whether a customer may use a feature',
  description:
    'Answered from memory, with every acknowledged write included. `consume: true` also records ' +
    'the value if it is allowed, durably and in the same step, so concurrent callers never ' +
    'overrun. An `idempotency_key`, or an `Idempotency-Key` header instead, counts once for its ' +
    'customer: a repeated call gets the first answer. `reserve: true` holds the value if it is ' +
    'allowed: `reservation` is what `POST /reservations` answers, or null if it is denied; ' +
    'repeated under its key it answers the reservation as it is now. Without `consume` and ' +
    '`reserve` the header has no effect.',
  tag: 'Metering',
  roles: ['owner', 'admin'],
  scopes: ['all', 'metering'],
  audit: { object: 'customer', id: 'customer', isRoutine: true },
  body: CheckBody,
  idempotent: 'ledger',
  headers: ASKS_FOR_HINTS,
  answers: { 200: CheckResult },
  refusals: ['not_found', 'conflict', 'idempotency_key_reused'],
} as const;

export function checkRoutes(deps: MeteringDeps): Route[] {
  return [checkRoute(deps), checkBatchRoute(deps)];
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
      const own = body.idempotency_key ?? idempotencyKey;
      const key = own === null ? null : [own];
      return hinted(hold(deps, call, { body, subject, key }).then(respond));
    }
    return hinted(andThen(subject, (found) => check(deps, call, body, found)));
  });
}

function check(deps: MeteringDeps, asker: Asker, body: Question, found: Awaited<Lookup>) {
  const checked = renderedCheck(deps, asker, body, found);
  if (isRefused(checked)) return refusedResponse(checked);
  return andThen(checked.json, jsonText);
}

async function consume(
  deps: MeteringDeps,
  asker: Asker & { readonly body: Question },
  { key, subject }: { readonly key: CallerKey; readonly subject: Lookup },
): Promise<Response> {
  const found = await subject;
  if (isRefused(found)) return refusedResponse(found);
  const request = useOf(deps, asker, { body: asker.body, found, key });
  if (isRefused(request)) return refusedResponse(request);
  const outcome = await deps.ledger.record(found.customer, found.meter, request);
  return respond(consumed(deps, asker, { found, request }, outcome));
}

function respond(answered: Answered | SubjectRefused): Response {
  if (isRefused(answered)) return refusedResponse(answered);
  return Response.json(answered.result, answered.replayed ? REPLAYED : undefined);
}
