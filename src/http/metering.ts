// What the metering routes share: whom and what a request is about.
import type { Ledger } from '../../ledger/ledger.ts';
import type { Ids, OrgClock } from '../../ledger/ports.ts';
import type { MeterCatalogue } from '../records/meter-catalogue.ts';
import type { UsageMeter } from '../records/meters.ts';
import { isUuid, type Scope } from '../records/scope.ts';
import type { Edge } from './edge.ts';
import { isStorableText } from './json.ts';
import { type ErrorCode, type Issue, refuse, refuseInvalid } from './errors.ts';

export type MeteringDeps = {
  readonly edge: Edge;
  readonly ledger: Ledger;
  readonly meters: MeterCatalogue;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
};

type Actor = NonNullable<Awaited<ReturnType<Ledger['find']>>>;

export type Subject = { readonly actor: Actor; readonly meter: UsageMeter };

type Who = { readonly customer_id?: string; readonly external_customer_id?: string };

export type Refused = {
  readonly refused: ErrorCode;
  readonly message: string;
  readonly issue?: Issue;
};

const ONE_OF = 'exactly one of customer_id and external_customer_id must be given';
const NO_CUSTOMER: Refused = { refused: 'not_found', message: 'no such customer' };
const NO_FEATURE: Refused = { refused: 'not_found', message: 'no meter has this feature_key' };
const NOT_ONE: Refused = {
  refused: 'invalid_request',
  message: ONE_OF,
  issue: { path: ['customer_id'], message: ONE_OF },
};

export function isRefused(value: object): value is Refused {
  return 'refused' in value;
}

export function refusedResponse({ refused, message, issue }: Refused): Response {
  return issue === undefined ? refuse(refused, message) : refuseInvalid([issue]);
}

/** The customer that a body names. Without a promise where it is in memory. */
export function findCustomer(
  ledger: Ledger,
  scope: Scope,
  who: Who,
): Actor | Refused | Promise<Actor | Refused> {
  const { customer_id: id, external_customer_id: externalId } = who;
  if ((id === undefined) === (externalId === undefined)) return NOT_ONE;
  const found = ledger.find(
    scope,
    id === undefined ? { externalId: externalId ?? '' } : { id: id.toLowerCase() },
  );
  if (found instanceof Promise) return found.then((actor) => actor ?? NO_CUSTOMER);
  return found ?? NO_CUSTOMER;
}

/** A customer by what stands in a path: its id, or the merchant's own; its id wins. */
export async function findByReference(
  ledger: Ledger,
  scope: Scope,
  reference: string,
): Promise<Actor | null> {
  if (!isStorableText(reference)) return null;
  const byId = isUuid(reference) ? await ledger.find(scope, { id: reference.toLowerCase() }) : null;
  return byId ?? ledger.find(scope, { externalId: reference });
}

/** The customer and the meter that a body names. */
export function findSubject(
  { ledger, meters }: MeteringDeps,
  scope: Scope,
  body: Who & { readonly feature_key: string },
): Subject | Refused | Promise<Subject | Refused> {
  const actor = findCustomer(ledger, scope, body);
  const meter = meters.bySlug(scope, body.feature_key);
  if (actor instanceof Promise || meter instanceof Promise) {
    return Promise.all([actor, meter]).then(([a, m]) => subjectOf(a, m));
  }
  return subjectOf(actor, meter);
}

function subjectOf(actor: Actor | Refused, meter: UsageMeter | null): Subject | Refused {
  if (isRefused(actor)) return actor;
  return meter === null ? NO_FEATURE : { actor, meter };
}

/** What an answer that was given before carries. */
export const REPLAYED = { headers: { 'idempotency-replayed': 'true' } };

/** Why a usage left no trace. */
export function notRecorded(why: 'key_reused' | 'out_of_range'): Response {
  if (why === 'key_reused') {
    return refuse('idempotency_key_reused', 'this key was used for another event');
  }
  return refuseInvalid([{ path: ['value'], message: 'would take the total out of range' }]);
}
