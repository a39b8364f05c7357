// A decision that the database does not take in time, because another session locks a row that it
// writes. It fails alone and is not retried.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { withSeed } from '../support/random.ts';
import { type Nodes, startNodes } from './nodes.ts';

const LEASE_MS = 3000;
/** The database cancels a flush twice; the empty flushes between; and a busy machine. */
const REFUSED_MS_MAX = LEASE_MS * 2;
const CUSTOMERS = 12;

let nodes: Nodes;
let ids: string[];
beforeAll(async () => {
  nodes = await startNodes(2, { leaseMs: LEASE_MS });
  const [first] = nodes.all;
  await first!.call('POST', '/meters', { body: { slug: 'calls', event_name: 'call' } });
  const made = Array.from({ length: CUSTOMERS }, () =>
    first!.call('POST', '/customers', { body: {} }),
  );
  ids = (await Promise.all(made)).map(({ json }) => json.id);
  for (const id of ids) expect((await track(id)).status).toBe(200);
}, 60_000);
afterAll(() => nodes.stop());

async function track(id: string) {
  const node = await nodes.ownerOf(id);
  return node.call('POST', '/track', { body: { feature_key: 'calls', customer_id: id } });
}

/** Runs `task` while another session locks the customer's account. */
async function whileHeld<T>(id: string, task: () => Promise<T>): Promise<T> {
  return nodes.all[0]!.sql.begin(async (sql) => {
    const rows = await sql`
      select from balances b join accounts a on a.slot = b.slot and a.id = b.id
      where a.customer_id = ${id} for update of b`;
    expect(rows.length).toBe(1);
    return task();
  }) as Promise<T>;
}

async function consumedOf(id: string): Promise<number> {
  const node = await nodes.ownerOf(id);
  const body = { feature_key: 'calls', customer_id: id };
  return (await node.call('POST', '/check', { body })).json.consumed;
}

test('a call whose owner is slow is refused in time, and others of its node are served meanwhile', async () => {
  const [held, ...others] = ids as [string, ...string[]];
  const own = await nodes.ownerOf(held);
  const logged = own.logged.length;
  await whileHeld(held, async () => {
    const began = performance.now();
    const isOver = new AbortController();
    const refused = track(held).finally(() => isOver.abort());
    let served = 0;
    while (!isOver.signal.aborted) {
      const answers = await Promise.all(others.map(track));
      expect(answers.map(({ status }) => status)).toEqual(others.map(() => 200));
      served += answers.length;
    }
    expect((await refused).json.error.type).toBe('service_unavailable');
    expect(performance.now() - began).toBeLessThan(REFUSED_MS_MAX);
    // Between its attempts, not only after them.
    expect(served).toBeGreaterThan(others.length);
  });
  expect(await consumedOf(held)).toBe(1);
  expect((await track(held)).json.consumed).toBe(2);
  const line = own.logged.slice(logged).find((said) => said.includes('not written in time'));
  const { organisation, op, rows, bytes } = JSON.parse(line!);
  expect({ organisation, op, rows, bytes }).toEqual({
    organisation: own.organisation.id,
    op: 'record',
    rows: 1,
    bytes: 0,
  });
}, 60_000);

test('a call over a slow node is refused in time, and its other share counts once when sent again', async () => {
  await withSeed(async (random) => {
    const here = nodes.all[random.integer(0, 1)]!;
    const owners = await Promise.all(ids.map((id) => nodes.ownerOf(id)));
    const [own, foreign] = [
      ids[owners.indexOf(here)]!,
      ids[owners.findIndex((one) => one !== here)]!,
    ];
    const event = (id: string) => ({
      name: 'call',
      customer_id: id,
      external_id: `sent again ${id}`,
    });
    const ingest = () =>
      here.call('POST', '/events/ingest', { body: { events: [event(own), event(foreign)] } });
    const before = [await consumedOf(own), await consumedOf(foreign)] as const;
    await whileHeld(foreign, async () => {
      const began = performance.now();
      expect((await ingest()).status).toBe(503);
      expect(performance.now() - began).toBeLessThan(REFUSED_MS_MAX);
    });
    const again = await ingest();
    expect(again.status).toBe(200);
    expect(again.json.duplicates).toBe(1);
    expect([await consumedOf(own), await consumedOf(foreign)]).toEqual([
      before[0] + 1,
      before[1] + 1,
    ]);
  });
}, 60_000);
