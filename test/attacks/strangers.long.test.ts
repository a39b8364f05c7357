// What a stranger sends without a key leaves others their turns: bodies of single bytes, pipelined
// requests, the largest document.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { sendRaw } from '../support/raw.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { longestTurn } from '../support/longest-turn.ts';

/** Both sides are in this process. */
const TURN_MS_MAX = 60;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ own: true, alone: true });
});
afterAll(() => server.stop());

const times = <T>(count: number, task: () => Promise<T>): Promise<T[]> =>
  Promise.all(Array.from({ length: count }, task));

const asked = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

const SINGLE_BYTES = Buffer.from(
  'POST /buy-links/nothing/checkout HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n' +
    `Transfer-Encoding: chunked\r\n\r\n${'1\r\n \r\n'.repeat(20_000)}2\r\n{}\r\n0\r\n\r\n`,
);

test('bodies in chunks of one byte', async () => {
  const { turn, reply } = await longestTurn(() =>
    times(10, () => sendRaw(server.url, SINGLE_BYTES)),
  );
  console.log(`chunks of one byte, ${Math.round(turn)} ms`);
  expect(new Set(reply.flat())).toEqual(new Set(['404']));
  expect(turn).toBeLessThan(TURN_MS_MAX);
});

test.each([
  ['/health', 50_000],
  ['/nothing', 50_000],
  ['/check', 50_000],
  ['/dashboard', 10_000],
  ['/dashboard/sign-in', 10_000],
  ['/', 10_000],
])('pipelined requests: %s', async (path, count) => {
  await fetch(server.url + path);
  const sent = Buffer.from(asked(path).repeat(count / 10));
  const { turn, reply } = await longestTurn(() =>
    times(10, () => sendRaw(server.url, sent, count / 10)),
  );
  console.log(
    `${path}, ${Math.round(turn)} ms, answers ${reply.map(({ length }) => length).join(' ')}`,
  );
  expect(turn).toBeLessThan(TURN_MS_MAX);
});

test('many who read the document at once', async () => {
  const read = async () => (await fetch(`${server.url}/openapi.json`)).arrayBuffer();
  await read();
  const { turn } = await longestTurn(() => times(16, read));
  console.log(`/openapi.json, ${Math.round(turn)} ms`);
  expect(turn).toBeLessThan(TURN_MS_MAX);
});
