// The longest turn of the event loop during a call: in that time nobody else is answered.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { type Reply, startServer, type TestServer } from '../support/server.ts';
import { LARGEST_CALLS, prepareLargestCalls } from './largest-calls.ts';

const STRETCH_MS_MAX = 50;
const TRIES = 5;

let server: TestServer;
beforeAll(async () => {
  server = await startServer({ alone: true });
  const make = async (path: string, body: unknown) => {
    expect((await server.call('POST', path, { body })).status).toBe(201);
  };
  await prepareLargestCalls({ make });
}, 60_000);
afterAll(() => server.stop());

/**
 * The longest turn in milliseconds while `task` runs, as processor time of this thread: other
 * programs do not count.
 */
async function longestTurn(task: () => Promise<Reply>): Promise<{ turn: number; reply: Reply }> {
  let longest = 0;
  let last = process.threadCpuUsage();
  let isOver = false;
  const turn = (): void => {
    const { user, system } = process.threadCpuUsage(last);
    last = process.threadCpuUsage();
    longest = Math.max(longest, (user + system) / 1e3);
    if (!isOver) setImmediate(turn);
  };
  setImmediate(turn);
  const reply = await task();
  isOver = true;
  return { turn: longest, reply };
}

test.each(LARGEST_CALLS)(
  '$what',
  async ({ what, path, status, text }) => {
    const turns: number[] = [];
    const send = () => server.call('POST', path, { raw: text });
    for (let n = 0; n < TRIES; n += 1) {
      const { turn, reply } = await longestTurn(send);
      expect(reply.status).toBe(status);
      turns.push(turn);
    }
    turns.sort((a, b) => a - b);
    const [least = 0, , median = 0, , most = 0] = turns.map((ms) => Math.round(ms));
    console.log(`${what}: ${text.length} bytes, ${least} to ${most} ms`);
    expect(median).toBeLessThan(STRETCH_MS_MAX);
  },
  60_000,
);
