import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

// prettier-ignore
const QUERIES: [string, string[]][] = [
  ['limit=0',                                    ['limit']],
  ['limit=201',                                  ['limit']],
  ['offset=-1',                                  ['offset']],
  ['type=payment.success',                       ['type']],
  ['type=',                                      ['type']],
  ['object_id=x',                                ['object_id']],
  ['since=yesterday',                            ['since']],
  ['since=1763717415',                           ['since']],
  ['since=2026-11-21',                           ['since']],
  ['since=2026-11-21T09:30:15',                  ['since']],
  ['since=2026-11-31T09:30:15Z',                 ['since']],
  ['until=',                                     ['until']],
  ['since=x&until=y',                            ['since', 'until']],
  ['account_id=x',                               ['account_id']],
  ['type=customer.created&type=customer.updated', ['type']],
];

test.each(QUERIES)('GET /events?%s is 400', async (query, at) => {
  const reply = await server.call('GET', `/events?${query}`);
  expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
  const paths = reply.json.error.issues.map(({ path }: { path: string[] }) => path);
  expect(paths).toEqual(at.map((name) => [name]));
});
