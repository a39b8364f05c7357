// What the metering routes share: the customer and the meter that a request names, and recording
// one usage.
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Found, Ledger } from '../../../ledger/ledger.ts';
import type { UsageMetadata } from '../../../ledger/kernel/transfers.ts';
import type { RecordOutcome, UsageRequest } from '../../../ledger/outcome.ts';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import { Full } from '../../platform/bounds.ts';
import type { MeterCatalogue } from '../../metering/meter-catalogue.ts';
import type { UsageMeter } from '../../records/meters.ts';
import { isUuid } from '../../records/uuid.ts';
import { andThen } from '../and-then.ts';
import type { Edge } from '../edge/edge.ts';
import { isStorableText } from '../edge/json.ts';
import { type ErrorCode, type Issue, refuse, refuseInvalid } from '../edge/errors.ts';
import { type NamedCustomer, namingIssue } from '../named-customer.ts';
import {
  type CallerKey,
  fingerprintOf,
  keyedIds,
  type Measured,
  metadataText,
} from '../wire/usage.ts';

export type MeteringDeps = {
  readonly edge: Edge;
  readonly ledger: Ledger;
  readonly meters: MeterCatalogue;
  readonly ids: Ids;
  readonly orgClock: OrgClock;
  /**
   * Whether usage may be recorded under a key of the older scope, the organisation's: see
   * `hasFormerKeys`.
   */
  readonly hasFormerKeys: boolean;
  readonly settings: Pick<Settings, 'bounds'>;
};

export type Subject = { readonly customer: Found; readonly meter: UsageMeter };

export type SubjectRefused = {
  readonly refused: ErrorCode;
  readonly message: string;
  readonly issue?: Issue;
};

const NO_CUSTOMER: SubjectRefused = { refused: 'not_found', message: 'no such customer' };
const NO_FEATURE: SubjectRefused = {
  refused: 'not_found',
  message: 'no meter has this feature_key',
};

export function isRefused(value: object): value is SubjectRefused {
  return 'refused' in value;
}

export function refusedResponse({ refused, message, issue }: SubjectRefused): Response {
  return issue === undefined ? refuse(refused, message) : refuseInvalid([issue]);
}

/** The customer that a body names. Without a promise where it is in memory. */
export function findCustomer(
  ledger: Ledger,
  scope: Tenant,
  named: NamedCustomer,
): Found | SubjectRefused | Promise<Found | SubjectRefused> {
  const issue = namingIssue(named);
  if (issue !== null) return { refused: 'invalid_request', message: issue.message, issue };
  const { customer_id: id, external_customer_id: externalId } = named;
  const found = ledger.find(
    scope,
    id === undefined ? { externalId: externalId ?? '' } : { id: id.toLowerCase() },
  );
  return andThen(found, orNone);
}

const orNone = (customer: Found | null) => customer ?? NO_CUSTOMER;

/** A customer by the reference in a path: its id, or the merchant's own; its id wins. */
export async function findByReference(
  ledger: Ledger,
  scope: Tenant,
  reference: string,
): Promise<Found | null> {
  if (!isStorableText(reference)) return null;
  const byId = isUuid(reference) ? await ledger.find(scope, { id: reference.toLowerCase() }) : null;
  return byId ?? ledger.find(scope, { externalId: reference });
}

/** The customer and the meter that a body names. */
export function findSubject(
  { ledger, meters }: MeteringDeps,
  scope: Tenant,
  body: NamedCustomer & { readonly feature_key: string },
): Subject | SubjectRefused | Promise<Subject | SubjectRefused> {
  const customer = findCustomer(ledger, scope, body);
  const meter = meters.bySlug(scope, body.feature_key);
  if (customer instanceof Promise || meter instanceof Promise) {
    return Promise.all([customer, meter]).then(([found, its]) => subjectOf(found, its));
  }
  return subjectOf(customer, meter);
}

function subjectOf(
  customer: Found | SubjectRefused,
  meter: UsageMeter | null,
): Subject | SubjectRefused {
  if (isRefused(customer)) return customer;
  return meter === null ? NO_FEATURE : { customer, meter };
}

/** Records one usage of one meter, as /track and a consuming /check do. */
export function recordUsage(
  deps: MeteringDeps,
  { customer, meter }: Subject,
  usage: {
    readonly tenant: Tenant;
    readonly measured: Measured;
    readonly admission: UsageRequest['admission'];
    readonly metadata: UsageMetadata | undefined;
    readonly key: CallerKey;
    readonly exactReplay: boolean;
  },
): Promise<RecordOutcome> {
  const { ledger, ids } = deps;
  const { tenant, measured, admission, metadata, key, exactReplay } = usage;
  const { keyId, formerKeyId } = keyedIds(deps, tenant, { customerId: customer.id, key });
  return ledger.record(customer, meter, {
    value: measured.value,
    member: measured.member,
    eventAt: null,
    admission,
    metadata: metadata ?? null,
    keyId,
    formerKeyId,
    idempotencyKey: key.body ?? key.header,
    externalId: null,
    exactReplay,
    fingerprint:
      keyId === null
        ? null
        : fingerprintOf(ids, {
            customerId: customer.id,
            meterId: meter.id,
            value: measured.value,
            metadata: metadataText(metadata),
            variant: admission === 'record' ? '' : admission,
          }),
  });
}

/** The response where nothing was recorded. */
export function notRecorded(
  { settings: { bounds } }: Pick<MeteringDeps, 'settings'>,
  why: 'key_reused' | 'out_of_range' | 'too_many_meters',
): Response {
  if (why === 'too_many_meters') {
    return refuse('conflict', new Full('metersPerCustomer', bounds.metersPerCustomer).message);
  }
  if (why === 'key_reused') {
    return refuse('idempotency_key_reused', 'this key was used for another event');
  }
  return refuseInvalid([{ path: ['value'], message: 'would take the total out of range' }]);
}
