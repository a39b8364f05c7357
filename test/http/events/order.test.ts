// What a receiver can order by. After many concurrent changes of one object the sequence has
// no gap, a later number has a later time, and this is the order of the commits.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Shop } from '../../payments/shop.ts';
import { casesOf } from '../../support/cases.ts';
import type { Reply } from '../../support/server.ts';

const PATIENCE_MS = 60_000;
const CHANGES = casesOf(1000);
/** Below what one client process opens at once. */
const AT_ONCE = 128;

let shop: Shop;
beforeAll(async () => {
  shop = await Shop.open();
});
// A payment's invoice is updated after each of its refunds, one after the other.
afterAll(() => shop.close(), PATIENCE_MS);

/** Runs all of them, this many at a time. */
async function atOnce(task: (n: number) => Promise<Reply>): Promise<Reply[]> {
  const replies: Reply[] = [];
  let next = 0;
  const lane = async (): Promise<void> => {
    while (next < CHANGES) replies.push(await task(next++));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, lane));
  return replies;
}

type Row = { readonly sequence: bigint; readonly at: Date };

const rowsOf = (objectId: string) => shop.server.sql<Row[]>`
  select sequence, at from events where object_id = ${objectId} order by sequence`;

const gapless = (rows: readonly Row[]): boolean =>
  rows.every(({ sequence }, index) => sequence === BigInt(index + 1));

/**
 * Reads the committed events again and again while `work` runs. No read has a gap: no event is
 * visible before one with a lower number, so the sequence is the order of the commits.
 */
async function watching(objectId: string, work: Promise<Reply[]>): Promise<Reply[]> {
  const looks: number[] = [];
  const over = new AbortController();
  const watch = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const [seen] = await shop.server.sql<{ count: number; last: number }[]>`
        select count(*)::int as count, coalesce(max(sequence), 0)::int as last from events where object_id = ${objectId}`;
      expect(seen!.last).toBe(seen!.count);
      looks.push(seen!.count);
    }
  };
  const watched = watch();
  const replies = await work.finally(() => over.abort());
  await watched;
  // It did read while they were written.
  expect(new Set(looks).size).toBeGreaterThan(CHANGES / 100);
  return replies;
}

async function expectOrder(objectId: string, count: number): Promise<void> {
  const rows = await rowsOf(objectId);
  expect(rows).toHaveLength(count);
  expect(gapless(rows)).toBe(true);
  const times = rows.map(({ at }) => at.getTime());
  expect(times).toEqual([...new Set(times)].sort((a, b) => a - b));
}

const statuses = (replies: readonly Reply[]) => [...new Set(replies.map(({ status }) => status))];

test(
  'events of a customer are in the order of its changes',
  async () => {
    const { json } = await shop.server.call('POST', '/customers', { body: {} });
    const { id } = json;
    const rename = (n: number) =>
      shop.server.call('PATCH', `/customers/${id}`, { body: { name: `name ${n}` } });
    expect(statuses(await watching(id, atOnce(rename)))).toEqual([200]);
    await expectOrder(id, CHANGES + 1);
    const [last] = (await shop.read(`/events?object_id=${id}&limit=1`)).data;
    expect(last.data.name).toBe((await shop.read(`/customers/${id}`)).name);
  },
  PATIENCE_MS,
);

test(
  "events of a payment's refunds are in the order of its changes",
  async () => {
    const { id } = await shop.buy();
    const refund = () => shop.refund(id, { amount: '0.05' });
    const replies = await watching(id, atOnce(refund));
    expect(statuses(replies)).toEqual([200]);
    await expectOrder(id, CHANGES + 1);
    // In that order the refundable amount shrinks by one refund each time, so nothing was refunded
    // twice.
    const left = await shop.server.sql<{ left: string }[]>`
    select data ->> 'refundableAmount' as left from events
    where object_id = ${id} and type = 'payment.refunded' order by sequence`;
    const shrunk = left.every(
      ({ left: now }, n) => n === 0 || Number(now) <= Number(left[n - 1]!.left),
    );
    expect(shrunk).toBe(true);
    const refunded = await shop.server.sql<{ total: string }[]>`
    select data ->> 'amountRefundedTotal' as total from events
    where object_id = ${id} and type = 'payment.refunded' order by at`;
    expect(refunded.map(({ total }) => total)).toEqual(
      Array.from({ length: CHANGES }, (_, n) => ((n + 1) * 0.05).toFixed(2)),
    );
  },
  PATIENCE_MS,
);

test(
  "events of a meter's grants are in the order of its changes",
  async () => {
    await shop.server.call('POST', '/meters', { body: { slug: 'calls' } });
    const { json: customer } = await shop.server.call('POST', '/customers', { body: {} });
    const used = { feature_key: 'calls', customer_id: customer.id, value: CHANGES };
    // Each grant is used up at once, so that there is room for the next.
    await shop.server.call('POST', '/track', { body: used });
    const first = await shop.server.call('POST', `/customers/${customer.id}/grants`, {
      body: { feature_key: 'calls', amount: 1 },
    });
    expect(first.status).toBe(201);
    const [event] = (await shop.read(`/events?type=entitlement.granted&limit=1`)).data;
    const { objectId } = event.data;
    const grant = () =>
      shop.server.call('POST', `/customers/${customer.id}/grants`, {
        body: { feature_key: 'calls', amount: 1 },
      });
    expect(statuses(await watching(objectId, atOnce(grant)))).toEqual([201]);
    await expectOrder(objectId, CHANGES + 1);
    const limits = await shop.server.sql<{ limit: string }[]>`
    select data ->> 'limit' as limit from events where object_id = ${objectId} order by at`;
    expect(limits.map(({ limit }) => Number(limit))).toEqual(
      Array.from({ length: CHANGES + 1 }, (_, n) => n + 1),
    );
  },
  PATIENCE_MS,
);
