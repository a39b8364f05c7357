// What a pool pays and holds, from totals alone and without the ledger's code (beyond.md 4).
import Big from 'big.js';
import { MEMBERS, POOL, type Prepaid } from './prepaid-customers.ts';

/** One feature of a customer, as its balances have it. */
export type Row = {
  readonly feature: string;
  readonly limit: Big;
  readonly consumed: Big;
  readonly reserved: Big;
  readonly balance: Big;
};

type Wire = {
  readonly feature_key: string;
  readonly limit: number;
  readonly consumed: number;
  readonly reserved: number;
  readonly balance: number;
};

export const NONE = Big(0);

/** Of the members and of the pool; of a feature that was never used too. */
export function rowsOf(data: readonly Wire[]): readonly Row[] {
  return [...MEMBERS.map(({ name }) => name), POOL].map((feature) => {
    const found = data.find(({ feature_key }) => feature_key === feature);
    return {
      feature,
      limit: Big(found?.limit ?? 0),
      consumed: Big(found?.consumed ?? 0),
      reserved: Big(found?.reserved ?? 0),
      balance: Big(found?.balance ?? 0),
    };
  });
}

/** What the pool pays is no debt of a member. */
export function balanceOf({ feature, limit, consumed, reserved }: Omit<Row, 'balance'>): Big {
  const taken = consumed.plus(reserved);
  return feature === POOL ? limit.minus(taken) : past(limit, taken);
}

export const shown = ({ feature, limit, consumed, reserved, balance }: Row): string =>
  [feature, limit, consumed, reserved, balance].map(String).join(' ');

/** What the pool has paid and holds for its members. */
export function creditsOf(
  { costs }: Prepaid,
  rows: readonly Omit<Row, 'balance'>[],
): { readonly used: Big; readonly held: Big } {
  let [used, held] = [NONE, NONE];
  for (const { feature, limit, consumed, reserved } of rows) {
    const cost = costs.get(feature) ?? NONE;
    const beyond = past(consumed, limit);
    const taken = past(consumed.plus(reserved), limit);
    used = used.plus(cost.times(beyond));
    held = held.plus(cost.times(taken.minus(beyond)));
  }
  return { used, held };
}

/** What is wrong with the balances of a customer at any moment, whatever is on its way. */
export function wrongRows(customer: Prepaid, data: readonly Wire[]): readonly string[] {
  const rows = rowsOf(data);
  const { used, held } = creditsOf(customer, rows);
  const { limit, consumed, reserved } = rows.find(({ feature }) => feature === POOL)!;
  const directly = [consumed.minus(used), reserved.minus(held)];
  const isPaid = directly.every((one) => (customer.isDirect ? one.gte(0) : one.eq(0)));
  const isWithin = !customer.isStrict || consumed.plus(reserved).lte(limit);
  const isLeft = rows.every((row) => row.balance.eq(balanceOf(row)));
  return isPaid && isWithin && isLeft ? [] : [`${customer.id} has ${rows.map(shown).join(', ')}`];
}

/** @throws where `paid_by` does not add up to `value` */
export function expectPaid(
  { costs }: Prepaid,
  { feature, value }: { readonly feature: string; readonly value: Big },
  json: { readonly allowed?: boolean; readonly paid_by?: readonly Part[] },
): void {
  const { allowed = true, paid_by: parts = [] } = json;
  const own = partOf(parts, feature);
  const credits = allowed ? value.minus(own).times(costs.get(feature) ?? NONE) : NONE;
  const order = [own.gt(0) && feature, credits.gt(0) && POOL].filter((one) => one !== false);
  const isSo =
    partOf(parts, POOL).eq(credits) &&
    own.lte(allowed ? value : NONE) &&
    parts.map(({ feature_key }) => feature_key).join() === order.join();
  if (!isSo) throw new Error(`${value.toFixed()} were paid by ${JSON.stringify(json)}`);
}

type Part = { readonly feature_key: string; readonly amount: number };

function partOf(parts: readonly Part[], feature: string): Big {
  return Big(parts.find(({ feature_key }) => feature_key === feature)?.amount ?? 0);
}

export function past(units: Big, limit: Big): Big {
  return units.gt(limit) ? units.minus(limit) : NONE;
}

export function sum(values: readonly Big[]): Big {
  return values.reduce((all, one) => all.plus(one), NONE);
}
