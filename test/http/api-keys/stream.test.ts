// What a key has open ends with it, on every node, and nothing else does.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { Keys } from './keys.ts';

const WITHIN_MS = 1000;
const NODES = 3;

let server: TestServer;
let keys: Keys;
beforeAll(async () => {
  server = await startServer();
  keys = new Keys(server);
});
afterAll(() => server.stop());

/** An open stream of events, one for each node where there are several. */
async function open(key: string) {
  const headers = { authorization: `Bearer ${key}` };
  const answers = await Promise.all(
    Array.from({ length: NODES }, () => fetch(`${server.url}/events/stream`, { headers })),
  );
  expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
  let left = answers.length;
  const all = answers.map(async (answer) => {
    await answer.text().catch(() => undefined);
    left -= 1;
  });
  return { ended: Promise.all(all), left: () => left };
}

const ENDS: [string, (id: string) => Promise<{ readonly status: number }>, number][] = [
  ['revoked', (id) => keys.revoke(id), 204],
  ['replaced without an overlap', (id) => keys.rotate(id, { overlap_seconds: 0 }), 201],
];

test.each(ENDS)(
  'the event streams of an API key that is %s end on every node',
  async (_what, end, status) => {
    const [one, other] = [await keys.make({ scopes: ['read'] }), await keys.make()];
    const [streams, others] = [await open(one.key), await open(other.key)];
    expect(streams.left()).toBe(NODES);
    const began = performance.now();
    expect((await end(one.id)).status).toBe(status);
    await streams.ended;
    expect(performance.now() - began).toBeLessThan(WITHIN_MS);
    expect(others.left()).toBe(NODES);
    await keys.revoke(other.id);
    await others.ended;
  },
);

test('an API key with the scope metering opens no event stream', async () => {
  const { key } = await keys.make({ scopes: ['metering'] });
  expect((await server.call('GET', '/events/stream', { key })).status).toBe(403);
});
