// A payment at a node, and the sandbox's record of it.
import type { Sql } from '../../../src/platform/postgres/postgres.ts';
import type { Means } from '../../support/means.ts';
import { buy, type Seller, sell } from '../../support/shop.ts';
import type { GatedNode } from './gated-node.ts';

export function sellerOf({ url, tenant }: GatedNode): Seller {
  return { url, key: tenant.key };
}

/** The id of a payment of 100.00. */
export async function payAt(node: GatedNode, means: Means): Promise<string> {
  const seller = sellerOf(node);
  return buy(seller, { product_id: await sell(seller, { USD: '100.00' }), means: [means] });
}

export async function refundsThere(sql: Sql): Promise<number> {
  const [row] = await sql<{ count: number }[]>`select count(*)::int as count from sandbox_refunds`;
  return row?.count ?? 0;
}
