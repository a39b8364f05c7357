// A process of the release before clusters still runs on the new schema: it waits for the seat, and
// must not get it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { ids } from '../../src/platform/ids.ts';
import { type Nodes, startNodes } from './nodes.ts';

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2);
}, 60_000);
afterAll(() => nodes.stop());

/** The statement that this release runs every second until it has the one seat, word for word. */
async function claimAsBefore(sql: Sql): Promise<boolean> {
  return sql.begin(async (transaction) => {
    const seats = await transaction<{ id: number }[]>`
      insert into nodes as n (id, holder, address, epoch, seq, expires_at)
      values (1, ${ids.next()}, ${null}, 1, 0, now() + ${5000} * interval '1 millisecond')
      on conflict (id) do update set holder = excluded.holder, address = excluded.address, epoch = n.epoch + 1,
        expires_at = excluded.expires_at
      where n.expires_at < now()
      returning id, epoch, seq`;
    if (seats[0] !== undefined)
      await transaction`update slots set node = ${seats[0].id} where node is distinct from ${seats[0].id}`;
    return seats.length > 0;
  });
}

test('a waiting process of the old release takes neither a free seat nor the slots of live nodes', async () => {
  const [first, second] = nodes.all;
  await first!.ledger.close();
  const { sql } = second!;
  const claimed = await claimAsBefore(sql).catch((error: unknown) => error);
  expect(claimed).toMatchObject({ code: '23502', column_name: 'leaving' });
  const owners = await sql<{ node: number }[]>`select distinct node from slots`;
  expect(owners.map(({ node }) => node)).toEqual([2]);
});
