// Compares the outcome of checkouts with what their buyers saw: each buyer who paid is charged,
// billed and told once, and nobody else is.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import type { CheckoutLoad } from './checkout-load.ts';

/**
 * The possible states of a payment, by the end of its card number; one that was killed before the
 * charge has none.
 */
const OUTCOMES: Readonly<Record<string, readonly string[]>> = {
  '4242': ['succeeded'],
  '1000': ['succeeded'],
  '0002': ['failed'],
  '3184': ['succeeded', 'failed'],
  '1629': ['failed'],
  '3000': ['succeeded'],
  '3001': ['failed'],
};
const NOT_CHARGED = ['errored'];

/**
 * What is wrong with the checkouts of this organisation, one line each. Every buyer must be done
 * before.
 */
export async function wrongCheckouts(
  sql: Sql,
  organisationId: string,
  { seen }: Pick<CheckoutLoad, 'seen'>,
): Promise<string[]> {
  const wrong: string[] = [];
  const payments = await sql<{ id: string; status: string; last4: string | null }[]>`
    select id, status, method ->> 'last4' as last4 from payments where organisation_id = ${organisationId}`;
  for (const { id, status, last4 } of payments) {
    const allowed = last4 === null ? NOT_CHARGED : OUTCOMES[last4];
    if (!allowed?.includes(status)) wrong.push(`payment ${id} with ${last4} is ${status}`);
  }
  const checkouts = await sql<
    {
      id: string;
      status: string;
      captures: number;
      charges: number;
      invoices: number;
      told: number;
    }[]
  >`
    select k.id, k.status, count(p.paid_at)::int as captures,
      count(c.key) filter (where 'succeeded' in (c.status, c.next_status))::int as charges,
      (select count(*) from invoices i where i.checkout_id = k.id)::int as invoices,
      (select count(*) from events e where e.type = 'payment.succeeded' and e.data ->> 'paymentLinkId' = k.id::text)::int as told
    from checkouts k left join payments p on p.checkout_id = k.id left join sandbox_charges c on c.key = p.id::text
    where k.organisation_id = ${organisationId} group by k.id, k.status`;
  for (const { id, status, ...counts } of checkouts) {
    const times = status === 'paid' ? 1 : 0;
    if (Object.values(counts).some((count) => count !== times) || seen.get(id) !== status) {
      wrong.push(
        `checkout ${id} is ${status}, was seen ${seen.get(id)}: ${JSON.stringify(counts)}`,
      );
    }
  }
  const doubled = await sql<{ email: string }[]>`
    select email from customers where organisation_id = ${organisationId} group by email having count(*) > 1`;
  return [...wrong, ...doubled.map(({ email }) => `${email} is a customer twice`)];
}
