// The processor fails on every refund for a while. A refund of unknown outcome stays reserved, is
// asked about again, and then happens once. The invoice hears of each refund once, whatever is to be
// done for the payment afterwards.
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
    await hearsOf(node, [unknown.json.id, next.id]);
    // What is owed of a payment is done together: what is still owed of it would be done again here.
    const { json: last } = await refund('2.00');
    await hearsOf(node, [last.id]);
    const heard = await heardOf(node);
    const times = heard.filter((id) => id === unknown.json.id).length;
    return [
      ...differs('the next refund', [next.status, last.status], ['succeeded', 'succeeded']),
      ...differs('the invoice heard again of a refund', times > 1, false),
      ...differs('how many refunds the invoice heard of', heard.length, 3),
      ...differs('what the invoice heard of', await invoiced(node), 900),
      ...differs('refunds that the processor made', await refundsThere(sql), 3),
      ...(await wrongBooks(sql)),
    ];
  });
}

function hearsOf(node: GatedNode, refunds: readonly string[]): Promise<void> {
  const holds = async (): Promise<boolean> => {
    const heard = await heardOf(node);
    return refunds.every((id) => heard.includes(id));
  };
  return until('the invoice has heard', holds, HEARD_MS_MAX);
}

/** The refund of each time that the invoice heard of one. */
async function heardOf({ sql }: GatedNode): Promise<string[]> {
  const rows = await sql<{ id: string }[]>`
    select data ->> 'refundId' as id from events
    where object_type = 'INVOICE' and data ->> 'refundId' is not null order by sequence`;
  return rows.map(({ id }) => id);
}

async function invoiced({ sql }: GatedNode): Promise<number> {
  const [row] = await sql<{ refunded: bigint }[]>`select amount_refunded as refunded from invoices`;
  return Number(row?.refunded);
}
