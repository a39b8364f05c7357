// What the test clock refuses: it does not move then.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { move, moved, read } from './clock.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const ONE = 'exactly one of advance and now must be given';
const DURATION = 'must be an ISO 8601 duration in whole numbers, such as P1M';
const TIME = 'must be an ISO 8601 time with a zone';
const FAR = 'is more than five years ahead';

// prettier-ignore
const INVALID: [object, string[], string][] = [
  [{},                                          ['advance'], ONE],
  [{ advance: 'P1D', now: '2099-01-01T00:00:00Z' }, ['advance'], ONE],
  [{ advance: '1 month' },                      ['advance'], DURATION],
  [{ advance: 'P' },                            ['advance'], DURATION],
  [{ advance: 'PT' },                           ['advance'], DURATION],
  [{ advance: 'P1DT' },                         ['advance'], DURATION],
  [{ advance: '-P1D' },                         ['advance'], DURATION],
  [{ advance: 'P1.5D' },                        ['advance'], DURATION],
  [{ advance: 'PT0.5S' },                       ['advance'], DURATION],
  [{ advance: 'P1D1M' },                        ['advance'], DURATION],
  [{ now: 'tomorrow' },                         ['now'],     TIME],
  [{ now: '2099-02-30T00:00:00Z' },             ['now'],     TIME],
  [{ now: '2099-01-01' },                       ['now'],     TIME],
  [{ advance: 'P5Y2D' },                        ['advance'], FAR],
  [{ now: '2099-01-01T00:00:00Z' },             ['now'],     FAR],
];

test.each(INVALID)('moving a test clock with %p is refused', async (body, path, message) => {
  const { status, json } = await move(server, body);
  expect([status, json.error.type, json.error.issues]).toEqual([
    400,
    'invalid_request',
    [{ path, message }],
  ]);
});

test('moving a test clock with an unknown field is refused', async () => {
  const { status, json } = await move(server, { advance: 'P1D', frozen: true });
  expect([status, json.error.issues.map(({ path }: { path: string[] }) => path)]).toEqual([
    400,
    [['frozen']],
  ]);
});

test('moving a test clock back is refused', async () => {
  const now = await moved(server, { advance: 'P1D' });
  const back = await move(server, { now: new Date(now - 1).toISOString() });
  expect([back.status, back.json.error.type]).toEqual([409, 'invalid_state']);
  expect(await read(server)).toBeGreaterThanOrEqual(now);
});

test('a live key has no test clock, and a group’s key or none is refused', async () => {
  const keys = [
    [server.organisation.liveKey, 404, 'not_found'],
    [server.group.testKey, 403, 'forbidden'],
    [null, 401, 'unauthorized'],
  ] as const;
  for (const [key, status, code] of keys) {
    const replies = [
      await move(server, { advance: 'P1D' }, { key }),
      await server.call('GET', '/test-clock', { key }),
    ];
    for (const reply of replies) {
      expect([reply.status, reply.json.error.type]).toEqual([status, code]);
    }
  }
});

test('no refused move of a test clock stored anything', async () => {
  const [row] = await server.sql<{ count: number }[]>`
    select count(*)::int as count from test_clocks where organisation_id = ${server.organisation.id}`;
  expect(row?.count).toBe(1);
});
