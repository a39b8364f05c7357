// A call about customers of several nodes counts in full and once, though one owner falls silent
// while it records.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { audit } from '../../src/database/audit.ts';
import { balanced } from '../support/balanced.ts';
import type { TestServer } from '../support/server.ts';
import { untilReady } from '../support/until.ts';
import { type Nodes, startNodes } from './nodes.ts';

/** Longer than any other call waits for an owner. */
const LEASE_MS = 2500;

let nodes: Nodes;
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  await nodes.all[0]!.call('POST', '/meters', { body: { slug: 'calls', event_name: 'call' } });
}, 60_000);
afterAll(() => nodes.stop());
afterEach(async () => {
  const [steady, silent] = nodes.all;
  silent!.journal.thaw();
  silent!.journal.cut();
  await untilReady(silent!);
  await balanced(nodes.all);
  expect(await audit(steady!.sql)).toEqual([]);
}, 60_000);

/** The customers that this node owns and has in memory. */
async function customerOf(owner: TestServer): Promise<string> {
  for (;;) {
    const { json } = await owner.call('POST', '/customers', { body: {} });
    if ((await nodes.ownerOf(json.id)) !== owner) continue;
    expect(await consumed(owner, json.id)).toBe(0);
    return json.id;
  }
}

/** As a retrying caller sees it. */
async function consumed(node: TestServer, id: string): Promise<number> {
  for (;;) {
    const body = { feature_key: 'calls', customer_id: id };
    const { status, json } = await node.call('POST', '/check', { body });
    if (status === 200) return json.consumed;
  }
}

// prettier-ignore
const SILENT: ['freeze' | 'deafen', number, string, number][] = [
  // none of its writes arrives: the next owner records it
  // fault   nodes  asked of               which is
  ['freeze', 2,     'who owns the rest',   0],
  ['freeze', 3,     'who falls silent',    1],
  ['freeze', 3,     'who owns none of it', 2],
  // it has recorded it, but its answer is lost: the next owner finds it
  ['deafen', 2,     'who falls silent',    1],
  ['deafen', 3,     'who owns the rest',   0],
];
test.each(SILENT)(
  'an owner of a part can %s while it records: %i nodes, asked of %s',
  async (fault, count, _who, at) => {
    while (nodes.all.length < count) await nodes.join();
    await balanced(nodes.all);
    const [steady, silent] = nodes.all;
    const ids = [await customerOf(steady!), await customerOf(silent!)];
    // Without keys: only the nodes know that it is the same call.
    const body = { events: ids.map((id) => ({ name: 'call', customer_id: id })) };
    silent!.journal[fault]();
    const { status, json } = await nodes.all[at]!.call('POST', '/events/ingest', { body });
    expect([status, json]).toMatchObject([200, { inserted: 2, duplicates: 0 }]);
    expect(await Promise.all(ids.map((id) => consumed(steady!, id)))).toEqual([1, 1]);
  },
  30_000,
);

test('a part that the database refuses is a fault, and not asked for again', async () => {
  const [broken, other] = nodes.all;
  const ids = [await customerOf(broken!), await customerOf(other!)];
  const { sql } = broken!;
  // A taken number stays taken, whatever the outcome of the statement.
  await sql.unsafe(`
    create sequence refusals;
    create function refuse() returns trigger language plpgsql as $$
      begin
        perform nextval('refusals');
        raise exception 'a row that is wrong' using errcode = 'TL001';
      end $$;
    create trigger refuse before insert or update on balances
      for each row when (new.slot = ${slotOf(ids[0]!)}) execute function refuse()`);
  const body = { events: ids.map((id) => ({ name: 'call', customer_id: id })) };
  const { status } = await broken!.call('POST', '/events/ingest', { body });
  const [{ refusals } = { refusals: 0n }] = await sql<{ refusals: bigint }[]>`
    select last_value as refusals from refusals`;
  await sql.unsafe('drop trigger refuse on balances; drop function refuse; drop sequence refusals');
  expect([status, refusals]).toEqual([500, 1n]);
}, 60_000);
