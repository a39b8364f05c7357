// A redemption of a discount while the buyer pays.
//
//     taken ──the bank asks the buyer──▶ given back ──the buyer agreed──▶ confirmed
//     each of them ──the payment failed──▶ free again
//
// How: a redemption counts when its payment is accepted: charged, or taken to settle later (bank
// debit). It is taken before the charge, so a discount is never used too often. An attempt that
// waits at a bank holds none; it is taken again before the charge is confirmed. If it is used up by
// then, nothing is charged and the page shows the new total.
// Holds: a confirmed redemption is given back only if the payment fails, never by a slow answer of
// the bank.
import type { Transaction } from '../platform/postgres/postgres.ts';
import { lockRedemption, setRedemption } from '../records/checkouts.ts';
import { redeemDiscount, releaseDiscount } from '../records/discounts.ts';

type Attempt = { readonly checkoutId: string; readonly paymentId: string };

/** Its buyer is at a bank. */
export async function giveBack(
  sql: Transaction,
  { checkoutId: id, paymentId }: Attempt,
): Promise<void> {
  const held = await lockRedemption(sql, { id, paymentId });
  if (typeof held === 'string' || held.redemption !== 'taken') return;
  await setRedemption(sql, id, 'given_back');
  await releaseDiscount(sql, held.discountId);
}

/** Takes it again after the buyer has agreed. Returns whether the shown price may be charged. */
export async function takeAgain(
  sql: Transaction,
  { checkoutId: id, paymentId }: Attempt,
  now: number,
): Promise<boolean> {
  const held = await lockRedemption(sql, { id, paymentId });
  if (held === 'none') return true;
  if (held === 'over') return false;
  const { discountId, redemption } = held;
  if (redemption === 'given_back' && !(await redeemDiscount(sql, discountId, now))) return false;
  if (redemption !== 'confirmed') await setRedemption(sql, id, 'confirmed');
  return true;
}
