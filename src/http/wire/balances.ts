import { type Static, Type } from '@sinclair/typebox';
import { CUSTOMER_PAGE, NextCursor } from './customer-page.ts';
import { GrantOrigin } from './grants.ts';
import { Billed } from './metering.ts';
import { Body, Nullable, Timestamp, Uuid } from './values.ts';

export const BalancesQuery = Body(CUSTOMER_PAGE);
export type BalancesQuery = Static<typeof BalancesQuery>;

const OutQuantity = Nullable(Type.Number());

/** What one grant of the customer gives to the balance. */
export const BalanceBreakdown = Type.Object({
  grant_id: Uuid,
  source: GrantOrigin,
  product_id: Nullable(Uuid),
  subscription_id: Nullable(Uuid),
  granted: OutQuantity,
  remaining: OutQuantity,
  priority: Type.Integer(),
  expires_at: Nullable(Timestamp),
});

export const Balance = Type.Object({
  customer_id: Uuid,
  external_customer_id: Nullable(Type.String()),
  meter_id: Uuid,
  feature_key: Type.String(),
  balance: OutQuantity,
  limit: OutQuantity,
  consumed: Type.Number(),
  remaining: OutQuantity,
  billed: Billed,
  reserved: Type.Number(),
  overage: Type.Number(),
  unlimited: Type.Boolean(),
  period_start: Nullable(Timestamp),
  period_end: Nullable(Timestamp),
  resets_at: Nullable(Timestamp),
  updated_at: Timestamp,
  breakdown: Type.Array(BalanceBreakdown, {
    description: 'In burn order.',
  }),
  breakdown_has_more: Type.Boolean({
    description: 'Whether there are more grants: `GET /customers/{id}/grants` lists them all.',
  }),
});

export const Balances = Type.Object({ data: Type.Array(Balance), next_cursor: NextCursor });
