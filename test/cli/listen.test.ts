// `tollhouse listen` and `tollhouse events tail` against the real service. As processes:
// listen.long.test.ts, and once in program.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { type InProcess, openInProcess } from './in-process.ts';
import { forwardsEvents } from './listen.ts';

let server: TestServer;
let runner: InProcess;
beforeAll(async () => {
  // Events reach the stream where webhooks are delivered.
  server = await startServer({
    deliver: true,
    settings: (url) => ({ checkoutUrl: `${url}/pay` }),
  });
  runner = openInProcess(server);
});
afterAll(async () => {
  runner.close();
  await server.stop();
});

forwardsEvents(() => ({ server, runner }));

test('tollhouse listen waits before each of three more attempts', () => {
  // Of the two deliveries above that failed, and the one that came with its third attempt.
  expect(runner.pauses).toEqual([500, 1000, 500, 1000, 2000, 500, 1000, 2000]);
});
