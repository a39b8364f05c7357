// `tollhouse trigger` as a process, on Bun, and on Node for people.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../support/server.ts';
import { Program } from './program.ts';
import { triggersTypes } from './trigger.ts';

let server: TestServer;
let onBun: Program;
let onNode: Program;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ checkoutUrl: `${url}/pay` }) });
  onBun = await Program.open(server, 'bun');
  onNode = await Program.open(server);
});
afterAll(async () => {
  onBun.close();
  onNode.close();
  await server.stop();
});

triggersTypes(() => ({ server, runner: onBun }));

test('tollhouse trigger on Node prints for people', async () => {
  const { stdout } = await onNode.run(['trigger', 'customer.created']);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}customer\.created +CUSTOMER +[\da-f-]{36}\n$/);
});
