// Read your writes: what one node has acknowledged, the next node shows at once, without stale
// caches.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import type { Reply, TestServer } from '../support/server.ts';
import { type Nodes, startNodes } from './nodes.ts';

async function send(node: TestServer, method: string, path: string, body: unknown): Promise<Reply> {
  return node.call(method, path, { body });
}

async function meter(node: TestServer, slug: string): Promise<Reply> {
  return send(node, 'POST', '/meters', { slug, event_name: slug });
}

/** The tests of a file; each writes and reads this many times. */
export function testReadYourWrites(times: number): void {
  let nodes: Nodes;
  beforeAll(async () => {
    nodes = await startNodes(2);
  }, 60_000);
  afterAll(() => nodes.stop());

  /** Each time in the other direction. */
  const pair = (time: number): readonly [TestServer, TestServer] => {
    const [a, b] = nodes.all as [TestServer, TestServer];
    return time % 2 === 0 ? [a, b] : [b, a];
  };

  test('a meter counts on another node once it is made, and does not once it is archived', async () => {
    const statuses: number[][] = [];
    const { id } = (await send(nodes.all[0]!, 'POST', '/customers', {})).json;
    for (let time = 0; time < times; time += 1) {
      const [here, there] = pair(time);
      const slug = `meter-${time}`;
      const body = { feature_key: slug, customer_id: id };
      const events = { events: [{ name: slug, customer_id: id }] };
      const unknown = await send(there, 'POST', '/track', body);
      const before = await send(there, 'POST', '/events/ingest', events);
      const made = await meter(here, slug);
      const [tracked, ingested] = await Promise.all([
        send(there, 'POST', '/track', body),
        send(there, 'POST', '/events/ingest', events),
      ]);
      await send(here, 'PATCH', `/meters/${made.json.id}`, { status: 'archived' });
      const archived = await send(there, 'POST', '/check', body);
      await send(here, 'PATCH', `/meters/${made.json.id}`, { status: 'active' });
      const back = await send(there, 'POST', '/check', body);
      expect([before.status, ingested.status, back.json.consumed]).toEqual([400, 200, 2]);
      statuses.push([unknown, made, tracked, archived, back].map(({ status }) => status));
    }
    expect(statuses).toEqual(Array.from({ length: times }, () => [404, 201, 200, 404, 200]));
  }, 60_000);

  test('a customer has its new external id on another node, and not its old one', async () => {
    await meter(nodes.all[0]!, 'calls');
    const statuses: number[][] = [];
    for (let time = 0; time < times; time += 1) {
      const [here, there] = pair(time);
      const [before, after] = [`before-${time}`, `after-${time}`];
      const check = async (name: string): Promise<Reply> =>
        send(there, 'POST', '/check', { feature_key: 'calls', external_customer_id: name });
      const unknown = await check(before);
      const made = await send(here, 'POST', '/customers', { external_customer_id: before });
      const known = await check(before);
      const path = `/customers/${made.json.id}`;
      await send(here, 'PATCH', path, { external_customer_id: after });
      const [old, renamed] = await Promise.all([check(before), check(after)]);
      statuses.push([unknown, made, known, old, renamed].map(({ status }) => status));
    }
    expect(statuses).toEqual(Array.from({ length: times }, () => [404, 201, 200, 404, 200]));
  }, 60_000);

  test('a webhook endpoint gets the next event of another node, and none once it is deleted', async () => {
    const { id } = (await send(nodes.all[0]!, 'POST', '/customers', {})).json;
    const body = { feature_key: 'calls', customer_id: id };
    const endpoint = { url: 'https://hooks.example.com/', event_types: ['usage.recorded'] };
    const told = async (): Promise<number> => {
      const [row] = await nodes.all[0]!.sql<{ count: number }[]>`
      select count(*)::int as count from events where type = 'usage.recorded' and account_id = ${id}`;
      return row!.count;
    };
    for (let time = 0; time < times / 10; time += 1) {
      const [here, there] = pair(time);
      const made = await send(here, 'POST', '/webhook-endpoints', endpoint);
      expect(made.status).toBe(201);
      await send(there, 'POST', '/track', body);
      expect(await told()).toBe(time + 1);
      expect((await here.call('DELETE', `/webhook-endpoints/${made.json.id}`)).status).toBe(204);
      await send(there, 'POST', '/track', body);
      expect(await told()).toBe(time + 1);
    }
  }, 60_000);
}
