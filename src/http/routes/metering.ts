// What the metering routes share: the customer and the meter that a request names, and recording
// one usage.
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import type { Found, Ledger } from '../../../ledger/ledger.ts';
import type { Reason, UsageMetadata } from '../../../ledger/kernel/transfers.ts';
import type { RecordOutcome, UsageRequest } from '../../../ledger/outcome.ts';
import type { Ids, OrgClock } from '../../../ledger/ports.ts';
import type { Settings } from '../../config.ts';
import type { Denials } from '../../decisions/denials.ts';
import { Full } from '../../platform/bounds.ts';
import type { MeterCatalogue } from '../../metering/meter-catalogue.ts';
import type { UsageMeter } from '../../records/meters.ts';
import { isUuid } from '../../records/uuid.ts';
import { andThen } from '../and-then.ts';
import type { Edge } from '../edge/edge.ts';
import { isStorableText } from '../edge/json.ts';
import {
  type ErrorCode,
  type Issue,
  type ItemRefusal,
  refuse,
  refuseInvalid,
  refuseInvalidItem,
  refuseItem,
} from '../edge/errors.ts';
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
  readonly denials: Denials;
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

export const invalid = (issue: Issue): SubjectRefused => ({
  refused: 'invalid_request',
  message: issue.message,
  issue,
});

export function isRefused(value: object): value is SubjectRefused {
  return 'refused' in value;
}

export function refusedResponse({ refused, message, issue }: SubjectRefused): Response {
  return issue === undefined ? refuse(refused, message) : refuseInvalid([issue]);
}

export function refusedItem({ refused, message, issue }: SubjectRefused): ItemRefusal {
  return issue === undefined ? refuseItem(refused, message) : refuseInvalidItem([issue]);
}

/** The customer that a body names. Without a promise where it is in memory. */
export function findCustomer(
  ledger: Ledger,
  scope: Tenant,
  named: NamedCustomer,
): Found | SubjectRefused | Promise<Found | SubjectRefused> {
  const issue = namingIssue(named);
  if (issue !== null) return invalid(issue);
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

type AskedUsage = {
  readonly tenant: Tenant;
  readonly measured: Measured;
  readonly admission: UsageRequest['admission'];
  readonly metadata: UsageMetadata | undefined;
  readonly key: CallerKey;
  readonly exactReplay: boolean;
};

/** Records one usage of one meter. */
export function recordUsage(
  deps: MeteringDeps,
  subject: Subject,
  usage: AskedUsage,
): Promise<RecordOutcome> {
  return deps.ledger.record(subject.customer, subject.meter, requestOf(deps, subject, usage));
}

export function requestOf(
  deps: Pick<MeteringDeps, 'ids' | 'hasFormerKeys'>,
  { customer, meter }: Subject,
  usage: AskedUsage,
): UsageRequest {
  const { ids } = deps;
  const { tenant, measured, admission, metadata, key, exactReplay } = usage;
  const { keyId, formerKeyId } = keyedIds(deps, tenant, { customerId: customer.id, key });
  return {
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
  };
}

/** Why nothing was recorded. */
export function notRecorded(
  { settings: { bounds } }: Pick<MeteringDeps, 'settings'>,
  why: 'key_reused' | 'out_of_range' | 'too_many_meters',
): SubjectRefused {
  if (why === 'too_many_meters') {
    const { message } = new Full('metersPerCustomer', bounds.metersPerCustomer);
    return { refused: 'conflict', message };
  }
  if (why === 'key_reused') {
    return { refused: 'idempotency_key_reused', message: 'this key was used for another event' };
  }
  return invalid({ path: ['value'], message: 'would take the total out of range' });
}

const OVER_LIMIT = 'the usage would go over the limit';
const OVER: Partial<Record<Reason, string>> = {
  subscription_paused: `${OVER_LIMIT}: the subscription is paused`,
  blocked: `${OVER_LIMIT}: the subscription is blocked`,
  spend_cap: 'the usage would cost more than is left of the spend cap',
};

/** What `overage: "reject"` says of usage that does not fit. */
export function overLimit(reason: Reason): string {
  return OVER[reason] ?? OVER_LIMIT;
}
