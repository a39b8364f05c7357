// Settles what is pending at the processor, without waiting.
import { expect } from 'bun:test';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import type { TestServer } from './server.ts';

/** For tests that look at pending payments: nothing settles before `settle()`. */
export const UNHURRIED = { sandboxSettleMs: 60_000 } as const;

/** Moves the organisation's test clock past all that is pending. */
export async function settle(server: TestServer): Promise<void> {
  await settleAtStripe(server);
  const { status, text } = await server.call('POST', '/test-clock', { body: { advance: 'PT2M' } });
  expect([status, text]).toEqual([200, text]);
}

/**
 * The banks behind Stripe decide now, and we look at all that may have changed for the
 * organisations of this server, as a webhook would have us do. Without Stripe, nothing.
 */
export async function settleAtStripe(server: TestServer): Promise<void> {
  const { stripe, sql, payments, organisation, other } = server;
  if (stripe === null) return;
  stripe.fake.settle();
  const ours = [organisation.id, other.id];
  const charges = await sql<Changing[]>`
    select id, organisation_id as "organisationId", mode from payments
    where status = 'processing' and organisation_id = any(${ours}::uuid[])`;
  const refunds = await sql<Changing[]>`
    select id, organisation_id as "organisationId", mode from refunds
    where ask_at is not null and organisation_id = any(${ours}::uuid[])`;
  await Promise.all([
    ...charges.map((charge) => payments.pollCharge(charge, charge.id)),
    ...refunds.map((refund) => payments.pollRefund(refund, refund.id)),
  ]);
}

type Changing = Tenant & { readonly id: string };
