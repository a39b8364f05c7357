import { assert, must } from '../kernel/assert.ts';
import { percentOf } from '../kernel/money.ts';

/** A percentage or an amount in one currency, never both. */
export type Discount = {
  readonly percentOff: string | null;
  readonly amountOff: bigint | null;
  readonly currency: string | null;
};

/** What a discount takes off a subtotal, never more than there is; a percentage rounds half up. */
export function discountOn(
  subtotal: bigint,
  currency: string,
  { percentOff, amountOff, currency: itsCurrency }: Discount,
): bigint | 'currency_conflict' {
  assert(subtotal >= 0n, 'a discount is on what is there');
  assert((percentOff === null) !== (amountOff === null), 'a discount is of one kind');
  if (percentOff !== null) return percentOf(subtotal, percentOff);
  if (itsCurrency !== currency) return 'currency_conflict';
  const off = must(amountOff, 'an amount off');
  return off < subtotal ? off : subtotal;
}
