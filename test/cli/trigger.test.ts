// `tollhouse trigger` against the real service. As a process: trigger.long.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { type InProcess, openInProcess } from './in-process.ts';
import { triggersTypes } from './trigger.ts';

let server: TestServer;
let runner: InProcess;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ checkoutUrl: `${url}/pay` }) });
  runner = openInProcess(server);
});
afterAll(async () => {
  runner.close();
  await server.stop();
});

triggersTypes(() => ({ server, runner }));

test('tollhouse trigger prints for people', async () => {
  const { stdout } = await runner.run(['trigger', 'customer.created']);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}customer\.created +CUSTOMER +[\da-f-]{36}\n$/);
});
