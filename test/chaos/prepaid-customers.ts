// Customers with a pool of credits, and two features that it pays for at different costs. Half of
// them came with the first list of costs, the others with the second.
import Big from 'big.js';
import type { Random } from '../support/random.ts';
import { ask, type Seller } from '../support/shop.ts';

export const POOL = 'credits';

export type Feature = {
  readonly name: string;
  readonly decimals: number;
  /** The most of one call, in its smallest unit. */
  readonly most: number;
};

export const MEMBERS: readonly Feature[] = [
  { name: 'tokens', decimals: 0, most: 3000 },
  { name: 'minutes', decimals: 2, most: 900 },
];
export const CREDITS: Feature = { name: POOL, decimals: 9, most: 4_000_000_000 };

type Costs = { readonly feature_key: string; readonly cost: string }[];

const LISTS: readonly Costs[] = [
  [
    { feature_key: 'tokens', cost: '0.002' },
    { feature_key: 'minutes', cost: '0.35' },
  ],
  [
    { feature_key: 'tokens', cost: '0.0035' },
    { feature_key: 'minutes', cost: '0.1212' },
  ],
];

/** What is granted to begin with: one of these. */
const GRANTS: Readonly<Record<string, readonly number[]>> = {
  tokens: [0, 500, 4000],
  minutes: [0, 2.5, 40],
  [POOL]: [10, 30, 60],
};

export type Prepaid = {
  readonly id: string;
  /** Credits for one unit of a member. They stay, because its period has no end. */
  readonly costs: ReadonlyMap<string, Big>;
  /** What was granted of each feature. */
  readonly granted: Map<string, Big>;
  /** Nothing is used but what it has. Of the others usage is a fact, past every limit too. */
  readonly isStrict: boolean;
  /** Credits are also used and held by themselves. */
  readonly isDirect: boolean;
};

export async function openPrepaid(
  seller: Seller,
  { random, count }: { readonly random: Random; readonly count: number },
): Promise<readonly Prepaid[]> {
  const [first, second] = LISTS;
  for (const { name, decimals } of MEMBERS) {
    await ask(seller, 'POST', '/meters', { slug: name, scale: decimals });
  }
  const meter = { slug: POOL, aggregation: 'sum', credit_costs: first };
  const pool = await ask(seller, 'POST', '/meters', meter);
  const customers: Prepaid[] = [];
  for (let index = 0; index < count; index += 1) {
    if (index === count / 2) {
      await ask(seller, 'PATCH', `/meters/${pool.id}`, { credit_costs: second });
    }
    const { id } = await ask(seller, 'POST', '/customers', {});
    const granted = new Map<string, Big>();
    for (const [feature_key, amounts] of Object.entries(GRANTS)) {
      const amount = random.pick(amounts);
      granted.set(feature_key, Big(amount));
      const body = { feature_key, amount };
      if (amount > 0) await ask(seller, 'POST', `/customers/${id}/grants`, body);
    }
    const list = LISTS[index < count / 2 ? 0 : 1] ?? [];
    const costs = new Map(list.map(({ feature_key, cost }) => [feature_key, Big(cost)]));
    customers.push({ id, costs, granted, isStrict: index % 2 === 0, isDirect: index % 4 > 1 });
  }
  return customers;
}
