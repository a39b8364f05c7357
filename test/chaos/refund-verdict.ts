// Compares the refunds in the database with what callers were answered.
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { cents, type RefundLoad } from './refund-load.ts';

/** Each refund was answered to a caller, or belongs to a call without a key that got no answer. */
export async function wrongRefunds(
  sql: Sql,
  load: Pick<RefundLoad, 'refunds' | 'lost'>,
): Promise<string[]> {
  const rows = await sql<{ id: string; payment: string; amount: bigint }[]>`
    select id, payment_id as payment, amount from refunds`;
  const wrong: string[] = [];
  const stored = new Map(rows.map((row) => [row.id, row]));
  const lost = load.lost.map((wish) => `${wish.payment} ${cents(wish.amount)}`);
  for (const [id, wish] of load.refunds) {
    const row = stored.get(id);
    stored.delete(id);
    if (row?.payment !== wish.payment || row.amount !== cents(wish.amount)) {
      wrong.push(`${id} was answered and is not there as it was asked for`);
    }
  }
  for (const { id, payment, amount } of stored.values()) {
    const index = lost.indexOf(`${payment} ${amount}`);
    if (index === -1) wrong.push(`${id} is there and nobody asked for it`);
    else lost.splice(index, 1);
  }
  return wrong;
}
