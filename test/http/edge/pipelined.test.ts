// Requests that one connection sends behind each other, without waiting for answers.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendRaw } from '../../support/raw.ts';
import { startServer, type TestServer } from '../../support/server.ts';

/** All at once they take longer than requests begin in one turn of the event loop. */
const SENT = 20_000;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
});
afterAll(() => server.stop());

const sent = (path: string, count: number): Buffer =>
  Buffer.from(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`.repeat(count));

test.each([
  ['/health', '200'],
  ['/check', '405'],
  ['/customers', '401'],
  ['/nothing', '404'],
  ['/', '404'],
  ['/dashboard', '303'],
])('of thousands of %s not all are answered, and the connection ends', async (path, status) => {
  const statuses = await sendRaw(server.url, sent(path, SENT), SENT);
  expect(statuses.length).toBeLessThan(SENT);
  expect(new Set([status, ...statuses])).toEqual(new Set([status]));
});

test('as many at once, each on its connection, are all answered', async () => {
  const ask = () => sendRaw(server.url, sent('/health', 1));
  const statuses = await Promise.all(Array.from({ length: 500 }, ask));
  expect(statuses.flat()).toEqual(Array<string>(500).fill('200'));
});
