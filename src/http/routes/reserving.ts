// Holds units of a feature, as POST /reservations and a reserving /check do.
import type { Static } from '@sinclair/typebox';
import type { Ids } from '../../../ledger/ports.ts';
import type { Tenant } from '../../../ledger/kernel/tenant.ts';
import { one } from '../../../ledger/kernel/quantity.ts';
import { RESERVATIONS_OPEN_MAX } from '../../../ledger/limits.ts';
import { balance, type CheckAnswer } from '../../../ledger/metering/meter.ts';
import type { UsageMeter } from '../../records/meters.ts';
import type { Issue } from '../edge/errors.ts';
import { EXPIRES_IN_DEFAULT, fromReservation, type Reservation } from '../wire/reservations.ts';
import { paidByOf } from '../wire/paid-by.ts';
import { quantityOf } from '../wire/usage.ts';
import { type Asker, noteDenial } from './denied.ts';
import {
  type findSubject,
  invalid,
  isRefused,
  type MeteringDeps,
  notRecorded,
  type SubjectRefused,
} from './metering.ts';

type Asked = {
  readonly subject: ReturnType<typeof findSubject>;
  /** As it came, in the field of this name. */
  readonly amount: number | string;
  readonly field: string;
  readonly expiresIn: number | undefined;
  /** Of the body, or of the header; of one for many, with its place among them. */
  readonly key: readonly string[] | null;
};

type Reserved = {
  readonly meter: UsageMeter;
  /** What a check of it says: of what was left before, with the numbers after. */
  readonly answer: Omit<CheckAnswer, 'rendered'>;
  /** null: denied. */
  readonly reservation: Static<typeof Reservation> | null;
  /** Whether it was made before, under this key. */
  readonly replayed: boolean;
};

/** Holds units where a check of as many would allow them. */
export async function reserve(
  deps: MeteringDeps,
  asker: Asker,
  { subject, amount: input, field, expiresIn = EXPIRES_IN_DEFAULT, key }: Asked,
): Promise<Reserved | SubjectRefused> {
  const found = await subject;
  if (isRefused(found)) return found;
  const { customer, meter } = found;
  const amount = amountOf(input, meter, [field]);
  if (typeof amount !== 'bigint') return invalid(amount);
  const { ids } = deps;
  const asked = `${customer.id}${meter.id}${amount} ${expiresIn}`;
  const outcome = await deps.ledger.reserve(customer, meter, {
    id: key === null ? ids.next() : reservationId(ids, asker.principal, customer.id, key),
    amount,
    expiresInMs: expiresIn * 1000,
    fingerprint: key === null ? null : ids.fingerprint(asked),
  });
  switch (outcome.kind) {
    case 'reserved':
    case 'known': {
      const { reservation, reason, snapshot, paidBy } = outcome;
      const of = { customer: customer.customer, meter, balance: balance(snapshot) };
      return {
        meter,
        answer: { units: amount, allowed: true, reason, snapshot, paidBy },
        reservation: { ...fromReservation(reservation, of), ...paidByOf(paidBy, meter) },
        replayed: outcome.kind === 'known',
      };
    }
    case 'denied':
      noteDenial(deps, asker, found, outcome.answer);
      return { meter, answer: outcome.answer, reservation: null, replayed: false };
    case 'too_many_reservations':
      return { refused: 'conflict', message: TOO_MANY };
    case 'key_reused':
      return { refused: 'idempotency_key_reused', message: KEY_REUSED };
    case 'out_of_range':
      return invalid({ path: [field], message: 'would take the total out of range' });
    case 'too_many_meters':
      return notRecorded(deps, outcome.kind);
    default:
      return outcome satisfies never;
  }
}

/** Of a reservation with a key. */
export function reservationId(
  ids: Ids,
  { organisationId, mode }: Tenant,
  customerId: string,
  key: readonly string[],
): string {
  return ids.derive('reservation-key', organisationId, mode, customerId, ...key);
}

const KEY_REUSED = 'this key was used for another reservation';
const TOO_MANY = `a customer has at most ${RESERVATIONS_OPEN_MAX} open reservations of a feature`;

/** What is to be held: scaled, above 0. */
export function amountOf(
  input: number | string,
  meter: Pick<UsageMeter, 'scale' | 'aggregation'>,
  path: readonly string[],
): bigint | Issue {
  const { aggregation } = meter;
  if (aggregation !== 'sum' && aggregation !== 'count') {
    return { path: ['feature_key'], message: 'only meters that sum or count can be reserved' };
  }
  const amount = unitsOf(input, meter, path);
  if (typeof amount !== 'bigint') return amount;
  return amount > 0n ? amount : { path, message: 'must be greater than zero' };
}

/** Units of a reservation: scaled, 0 or more. On a meter that counts, whole ones. */
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
