// Reservations: units that are held for work whose cost is learned afterwards.
import { type Static, Type } from '@sinclair/typebox';
import { iso } from '../../../ledger/kernel/iso.ts';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { ReservationStatus } from '../../../ledger/metering/reservation.ts';
import { PaidBy } from './paid-by.ts';
import { EventKey, FeatureKey, Quantity, WHO } from './usage-fields.ts';
import { Body, ExternalCustomerId, Nullable, oneOf, Timestamp, Uuid } from './values.ts';

export const EXPIRES_IN_DEFAULT = 300;

export const ExpiresIn = Type.Integer({
  minimum: 1,
  maximum: 86_400,
  description: 'Seconds from now.',
  error: 'must be a whole number of seconds from 1 to 86400',
});

export const ReservationCreate = Body(
  {
    feature_key: FeatureKey,
    ...WHO,
    amount: Quantity,
    expires_in: Type.Optional({ ...ExpiresIn, default: EXPIRES_IN_DEFAULT }),
    idempotency_key: Type.Optional(EventKey),
  },
  { feature_key: 'api-calls', external_customer_id: 'user-1', amount: 500, expires_in: 120 },
);

export const ReservationCommit = Body({ value: Quantity }, { value: 320 });

export const ReservationExtend = Body(
  {
    amount: Type.Optional(Quantity),
    expires_in: Type.Optional(ExpiresIn),
  },
  { expires_in: 300 },
);

export const Reservation = Type.Object({
  id: Uuid,
  feature_key: Type.String(),
  customer_id: Uuid,
  external_customer_id: Nullable(ExternalCustomerId),
  amount: Type.Number({ description: 'The amount that is or was held.' }),
  committed: Type.Number({ description: 'The committed value; 0 until then.' }),
  status: oneOf(['open', 'committed', 'released', 'expired']),
  late: Type.Boolean({ description: 'Whether it was committed after its expiry.' }),
  expires_at: Timestamp,
  created_at: Timestamp,
  balance: Nullable(
    Type.Number({
      description: 'The balance of the feature, less everything that is held; null: unlimited.',
    }),
  ),
  remaining: Nullable(Type.Number({ description: 'The same, never below 0.' })),
  paid_by: PaidBy,
});

type Shown = {
  readonly id: string;
  readonly amount: bigint;
  readonly committed: bigint;
  readonly status: ReservationStatus;
  readonly late: boolean;
  readonly expiresAt: number;
  readonly createdAt: number;
};

export function fromReservation(
  shown: Shown,
  of: {
    readonly customer: { readonly id: string; readonly externalId: string | null };
    readonly meter: { readonly slug: string; readonly scale: number };
    /** Scaled; null for no limit. */
    readonly balance: bigint | null;
  },
): Static<typeof Reservation> {
  const { slug, scale } = of.meter;
  const { balance } = of;
  return {
    id: shown.id,
    feature_key: slug,
    customer_id: of.customer.id,
    external_customer_id: of.customer.externalId,
    amount: quantityNumber(shown.amount, scale),
    committed: quantityNumber(shown.committed, scale),
    status: shown.status,
    late: shown.late,
    expires_at: iso(shown.expiresAt),
    created_at: iso(shown.createdAt),
    balance: balance === null ? null : quantityNumber(balance, scale),
    remaining: balance === null ? null : balance > 0n ? quantityNumber(balance, scale) : 0,
  };
}
