// kill -9 in the middle of a batch: sent again under its Idempotency-Key, each item counts once.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { TRACK_BATCH_MAX } from '../../ledger/limits.ts';
import { ask, type Seller } from '../support/shop.ts';
import { until } from '../support/until.ts';
import { type Killable, startKillable } from './killable.ts';
import { withSql, wrongBooks } from './money.ts';
import { createKeys } from './tenant.ts';

const ROUNDS_MAX = 10;

let service: Killable;
let seller: Seller;
beforeAll(async () => {
  service = await startKillable();
  seller = { url: await service.target(), key: (await createKeys(service.databaseUrl)).testKey };
  await ask(seller, 'POST', '/meters', { slug: 'calls' });
});
afterAll(() => service.stop());

/** So much that the items are written in two parts, one after the other. */
const METADATA = Object.fromEntries(
  Array.from({ length: 8 }, (_, index) => [`key-${index}`, 'x'.repeat(440)]),
);

const VALUES = Array.from({ length: TRACK_BATCH_MAX }, (_, index) => 1 + (index % 2));

async function send(customer: string, values = VALUES): Promise<Response> {
  return fetch(`${await service.target()}/track/batch`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${seller.key}`,
      'content-type': 'application/json',
      'idempotency-key': `batch of ${customer}`,
    },
    body: JSON.stringify({
      tracks: values.map((value) => {
        return { feature_key: 'calls', customer_id: customer, value, metadata: METADATA };
      }),
    }),
  });
}

test('a track batch that was cut off is completed, and nothing of it counts twice', async () => {
  await withSql(service.databaseUrl, async (sql) => {
    const recorded = async (): Promise<number> => {
      const [row] = await sql<{ count: number }[]>`select count(*)::int as count from transfers`;
      return row?.count ?? 0;
    };
    for (let round = 1; ; round += 1) {
      // Otherwise no kill came in the middle of a call.
      expect(round).toBeLessThanOrEqual(ROUNDS_MAX);
      const there = { ...seller, url: await service.target() };
      const { id } = await ask(there, 'POST', '/customers', {});
      const before = await recorded();
      const lost = send(id).catch(() => null);
      await until('some of it is on disk', async () => (await recorded()) > before);
      await service.kill();
      await lost;
      const cut = (await recorded()) - before;
      await service.restart();
      const reused = await send(id, VALUES.toReversed());
      expect(reused.status).toBe(422);
      const again = await send(id);
      const { results } = (await again.json()) as {
        results: { consumed: number; duplicate: boolean }[];
      };
      expect((await recorded()) - before).toBe(TRACK_BATCH_MAX);
      let sum = 0;
      expect(results.map(({ consumed }) => consumed)).toEqual(
        VALUES.map((value) => (sum += value)),
      );
      expect(results.some(({ duplicate }) => duplicate)).toBe(false);
      if (cut < TRACK_BATCH_MAX) break;
    }
    expect(await wrongBooks(sql)).toEqual([]);
  });
}, 60_000);
