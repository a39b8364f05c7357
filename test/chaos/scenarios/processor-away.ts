// The processor fails on every refund for a while. A refund of unknown outcome stays reserved, is
// asked about again, and then happens once.
import { until } from '../../support/until.ts';
import { call } from '../call.ts';
import { wrongBooks } from '../money.ts';
import { payAt, refundsThere, sellerOf } from './buyer.ts';
import { type GatedNode, differs, withGatedNode } from './gated-node.ts';

const HEARD_MS_MAX = 4000;

export function processorAway(): Promise<string[]> {
  return withGatedNode(async (node) => {
    const { sql } = node;
    const seller = sellerOf(node);
    const payment = await payAt(node, 'good');
    const refund = (amount: string) => call(seller, `/payments/${payment}/refund`, { amount });
    await sql`alter table sandbox_refunds rename to away`;
    const unknown = await refund('6.00');
    const tooMuch = await refund('95.00');
    const { json: during } = await call(seller, `/payments/${payment}`);
    await sql`alter table away rename to sandbox_refunds`;
    const wrong = [
      ...differs('an unknown refund', [unknown.status, unknown.json.status], [200, 'pending']),
      ...differs('a refund of more than is left', tooMuch.status, 400),
      ...differs('what is reserved', during.amount_refund_pending, '6.00'),
    ];
    if (wrong.length > 0) return wrong;
    await until('the unknown one is decided', async () => {
      const { json } = await call(seller, `/refunds/${unknown.json.id}`);
      return json.status !== 'pending';
    });
    const { json: next } = await refund('1.00');
    await until('the invoice has heard', async () => (await invoiced(node)) >= 700, HEARD_MS_MAX);
    return [
      ...differs('the next refund', next.status, 'succeeded'),
      ...differs('what the invoice heard of', await invoiced(node), 700),
      ...differs('refunds that the processor made', await refundsThere(sql), 2),
      ...(await wrongBooks(sql)),
    ];
  });
}

async function invoiced({ sql }: GatedNode): Promise<number> {
  const [row] = await sql<{ refunded: bigint }[]>`select amount_refunded as refunded from invoices`;
  return Number(row?.refunded);
}
