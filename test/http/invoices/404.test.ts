import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { issue } from './issuing.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const PATHS = [(id: string) => `/invoices/${id}`, (id: string) => `/api/invoices/${id}/pdf`];

// prettier-ignore
const REFERENCES: [string, string][] = [
  ['an unknown id',  '01890000-0000-7000-8000-000000000000'],
  ['no id',          'INV-2026-000001'],
  ['NUL',            'a%00'],
];

test.each(REFERENCES)('%s', async (_what, reference) => {
  for (const path of PATHS) {
    const reply = await server.call('GET', path(reference));
    expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
  }
});

test("another organisation's or mode's invoice", async () => {
  const { organisation, other } = server;
  const { id } = await issue(server.sql, { organisationId: organisation.id, mode: 'test' });
  for (const key of [other.testKey, other.liveKey, organisation.liveKey]) {
    for (const path of PATHS) {
      const reply = await server.call('GET', path(id), { key });
      expect([reply.status, reply.json.error.type]).toEqual([404, 'not_found']);
    }
    expect((await server.call('GET', '/invoices', { key })).json.data).toEqual([]);
  }
  for (const path of PATHS) expect((await server.call('GET', path(id))).status).toBe(200);
});
