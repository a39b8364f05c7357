// What pays for usage of a feature that a pool of credits pays for.
import { type Static, Type } from '@sinclair/typebox';
import { quantityNumber } from '../../../ledger/kernel/quantity.ts';
import type { Meter } from '../../../ledger/metering/meter.ts';
import type { PaidBy as Paid } from '../../../ledger/metering/paid-by.ts';
import { FeatureKey } from './usage-fields.ts';

export const PaidPart = Type.Object({ feature_key: FeatureKey, amount: Type.Number() });

export const PaidBy = Type.Optional(
  Type.Array(PaidPart, {
    description:
      'What pays for `value`, if a pool of credits pays for the feature: units of its own ' +
      'allowance, then credits of the pool. Parts of 0 are left out; empty if it is denied. ' +
      'Absent for other features.',
  }),
);

type Shown = { readonly paid_by?: Static<typeof PaidBy> };

/** The field, where `meter` is a member of a pool. */
export function paidByOf(
  paidBy: Paid | null,
  { slug, scale }: Pick<Meter, 'slug' | 'scale'>,
): Shown {
  if (paidBy === null) return NOTHING;
  const { own, credits, pool } = paidBy;
  const parts = [
    { feature_key: slug, amount: own, scale },
    { feature_key: pool.slug, amount: credits, scale: pool.scale },
  ];
  return {
    paid_by: parts
      .filter(({ amount }) => amount !== 0n)
      .map(({ amount, ...part }) => ({
        feature_key: part.feature_key,
        amount: quantityNumber(amount, part.scale),
      })),
  };
}

const NOTHING: Shown = {};
