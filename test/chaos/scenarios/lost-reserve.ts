// The connection is lost before a refund is reserved: the processor is not called yet, and then is
// called once.
import { call } from '../call.ts';
import { wrongBooks } from '../money.ts';
import { payAt, refundsThere, sellerOf } from './buyer.ts';
import { differs, withGatedNode } from './gated-node.ts';

export function lostReserve(): Promise<string[]> {
  return withGatedNode(async (node) => {
    const payment = await payAt(node, 'good');
    const holding = node.gate.hold('before');
    const answer = call(sellerOf(node), `/payments/${payment}/refund`, { amount: '4.00' });
    const held = await holding;
    const early = await refundsThere(node.sql);
    held.cut();
    const { status, json } = await answer;
    return [
      ...differs('refunds that the processor made before they were reserved', early, 0),
      ...differs('the answer', [status, json.status], [200, 'succeeded']),
      ...differs('refunds that the processor made', await refundsThere(node.sql), 1),
      ...(await wrongBooks(node.sql)),
    ];
  });
}
