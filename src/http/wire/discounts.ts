import { type Static, Type } from '@sinclair/typebox';
import type { DiscountRecord, NewDiscount } from '../../records/discounts.ts';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import type { Issue } from '../edge/errors.ts';
import { AskedFor } from '../edge/lenient.ts';
import { Amount, Currency, moneyOf } from './money.ts';
import { timeOf } from './usage.ts';
import { Body, Nullable, Timestamp, Uuid } from './values.ts';

const Code = Type.String({
  pattern: '^[A-Za-z0-9_-]{1,64}$',
  description: 'The code that a buyer enters. Case does not matter.',
  error: 'must be 1 to 64 of letters, digits, _ and -',
});

const Percent = Type.Number({
  exclusiveMinimum: 0,
  maximum: 100,
  description: 'With at most 4 decimals.',
  error: 'must be a number over 0, at most 100, with at most 4 decimals',
});

const Redemptions = Type.Integer({ minimum: 1, maximum: 1_000_000_000 });

export const DiscountCreate = Body(
  {
    code: Code,
    percent_off: Type.Optional(Percent),
    amount_off: Type.Optional(Amount),
    currency: Type.Optional(Currency),
    max_redemptions: Type.Optional(Redemptions),
    expires_at: Type.Optional(
      AskedFor(
        Type.String({
          format: 'date-time',
          description: 'ISO 8601, with Z or an offset. In the future.',
        }),
      ),
    ),
  },
  { code: 'SPRING', percent_off: 20, max_redemptions: 100 },
);

export const Discount = Type.Object({
  id: Uuid,
  code: Code,
  percent_off: Nullable(Percent),
  amount_off: Nullable(Amount),
  currency: Nullable(Currency),
  max_redemptions: Nullable(Redemptions),
  redemptions: Type.Integer({
    description: 'Payments that used it, including payments under way that do not wait at a bank.',
  }),
  expires_at: Nullable(Timestamp),
  created_at: Timestamp,
});

/**
 * The text of a double that is a decimal of the right size; nothing is computed with the double.
 */
const PERCENT = /^\d{1,3}(?:\.\d{1,4})?$/;

export function toNewDiscount(
  body: Static<typeof DiscountCreate>,
  id: string,
): NewDiscount | { readonly issues: readonly Issue[] } {
  const { code, percent_off: percent, amount_off: off, currency, expires_at: expires } = body;
  const issues: Issue[] = [];
  const issue = (field: string, message: string): void => {
    issues.push({ path: [field], message });
  };
  const percentOff = percent === undefined ? null : String(percent);
  if (percentOff !== null && !PERCENT.test(percentOff)) {
    issue('percent_off', 'must have at most 4 decimals');
  }
  if (percent === undefined && off === undefined) {
    issue('percent_off', 'is required, or amount_off');
  } else if (percent !== undefined && off !== undefined) {
    issue('amount_off', 'does not go with percent_off');
  }
  if (off === undefined && currency !== undefined) issue('currency', 'goes with amount_off only');
  if (off !== undefined && currency === undefined) issue('currency', 'is required with amount_off');
  let amountOff: bigint | null = null;
  if (off !== undefined && currency !== undefined) {
    const units = moneyOf(off, currency, ['amount_off']);
    if (typeof units !== 'bigint') issues.push(units);
    else if (units === 0n) issue('amount_off', 'must be greater than zero');
    else amountOff = units;
  }
  const expiresAt = expires === undefined ? null : timeOf(expires);
  if (expires !== undefined && expiresAt === null) {
    issue('expires_at', 'must be an ISO 8601 time with a zone');
  }
  if (issues.length > 0) return { issues };
  return {
    id,
    code,
    percentOff,
    amountOff,
    currency: currency ?? null,
    maxRedemptions: body.max_redemptions ?? null,
    expiresAt: expiresAt === null ? null : new Date(expiresAt),
  };
}

export function fromDiscount(discount: DiscountRecord): Static<typeof Discount> {
  const { percentOff, amountOff, currency, expiresAt } = discount;
  return {
    id: discount.id,
    code: discount.code,
    // As it was sent: the shortest decimal of the double has the same digits.
    percent_off: percentOff === null ? null : Number(percentOff),
    amount_off: amountOff === null || currency === null ? null : formatMoney(amountOff, currency),
    currency,
    max_redemptions: discount.maxRedemptions,
    redemptions: discount.redemptions,
    expires_at: expiresAt === null ? null : expiresAt.toISOString(),
    created_at: discount.createdAt.toISOString(),
  };
}
