// A charge is made and its answer is lost: the node asks about it, and neither gives up nor charges
// again.
import { until } from '../../support/until.ts';
import { call } from '../call.ts';
import { wrongBooks } from '../money.ts';
import { payAt, sellerOf } from './buyer.ts';
import { differs, withGatedNode } from './gated-node.ts';

const OPEN = ['processing', 'requires_action'];

export function lostCharge(): Promise<string[]> {
  return withGatedNode(async (node) => {
    const payment = await payAt(node, 'answerLost');
    const statusOf = async (): Promise<string> =>
      (await call(sellerOf(node), `/payments/${payment}`)).json.status;
    await until('the payment is decided', async () => !OPEN.includes(await statusOf()));
    return [
      ...differs('the payment', await statusOf(), 'succeeded'),
      ...(await wrongBooks(node.sql)),
    ];
  });
}
