// Holds units of a feature, as POST /reservations and a reserving /check do.
import { one } from '../../../ledger/kernel/quantity.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { RESERVATIONS_OPEN_MAX } from '../../../ledger/limits.ts';
import type { ReservedOutcome } from '../../../ledger/ledger.ts';
import type { UsageMeter } from '../../records/meters.ts';
import type { Issue } from '../edge/errors.ts';
import { EXPIRES_IN_DEFAULT } from '../wire/reservations.ts';
import { quantityOf } from '../wire/usage.ts';
import { type MeteringDeps, notRecorded, type Subject, type SubjectRefused } from './metering.ts';

/** What is to be held: scaled, above 0. On a meter that counts, whole units. */
export function amountOf(
  input: number | string,
  { scale, aggregation }: Pick<UsageMeter, 'scale' | 'aggregation'>,
  path: readonly string[],
): bigint | Issue {
  const amount = unitsOf(input, { scale, aggregation }, path);
  if (typeof amount !== 'bigint') return amount;
  return amount > 0n ? amount : { path, message: 'must be greater than zero' };
}

/** Units of a reservation: scaled, 0 or more. */
export function unitsOf(
  input: number | string,
  { scale, aggregation }: Pick<UsageMeter, 'scale' | 'aggregation'>,
  path: readonly string[],
): bigint | Issue {
  const units = quantityOf(input, scale, path);
  if (typeof units !== 'bigint') return units;
  if (units < 0n) return { path, message: 'must not be negative' };
  if (aggregation === 'count' && units % one(scale) !== 0n) {
    return { path, message: 'must be a whole number: the meter counts' };
  }
  return units;
}

/** What a meter must be to be held. */
export function holdingIssue({ aggregation }: Pick<UsageMeter, 'aggregation'>): Issue | null {
  if (aggregation === 'sum' || aggregation === 'count') return null;
  return { path: ['feature_key'], message: 'only meters that sum or count can be reserved' };
}

type Asked = {
  readonly tenant: Tenant;
  readonly amount: bigint;
  readonly expiresIn: number | undefined;
  /** Of the body, or of the header. */
  readonly key: string | null;
};

export function reserve(
  { ledger, ids }: MeteringDeps,
  { customer, meter }: Subject,
  { tenant: { organisationId, mode }, amount, expiresIn = EXPIRES_IN_DEFAULT, key }: Asked,
): Promise<ReservedOutcome> {
  const asked = `${customer.id}${meter.id}${amount} ${expiresIn}`;
  return ledger.reserve(customer, meter, {
    id:
      key === null
        ? ids.next()
        : ids.derive('reservation-key', organisationId, mode, customer.id, key),
    amount,
    expiresInMs: expiresIn * 1000,
    fingerprint: key === null ? null : ids.fingerprint(asked),
  });
}

/** Why nothing was held, other than for want of units. */
export function notReserved(
  deps: Pick<MeteringDeps, 'settings'>,
  why: 'key_reused' | 'out_of_range' | 'too_many_meters' | 'too_many_reservations',
  path: string,
): SubjectRefused {
  switch (why) {
    case 'too_many_reservations':
      return {
        refused: 'conflict',
        message: `a customer has at most ${RESERVATIONS_OPEN_MAX} open reservations of a feature`,
      };
    case 'key_reused':
      return {
        refused: 'idempotency_key_reused',
        message: 'this key was used for another reservation',
      };
    case 'out_of_range': {
      const issue = { path: [path], message: 'would take the total out of range' };
      return { refused: 'invalid_request', message: issue.message, issue };
    }
    case 'too_many_meters':
      return notRecorded(deps, why);
    default:
      return why satisfies never;
  }
}
