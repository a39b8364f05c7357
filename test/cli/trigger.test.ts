// `tollhouse trigger`: each type that it offers really happens.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { Program } from './program.ts';

let server: TestServer;
let program: Program;
beforeAll(async () => {
  server = await startServer({ settings: (url) => ({ checkoutUrl: `${url}/pay` }) });
  program = await Program.open(server);
});
afterAll(async () => {
  program.close();
  await server.stop();
});

const TYPES = COMMANDS['trigger']!.args[0]!.choices!;

test.each(TYPES)('%s', async (type) => {
  const { exitCode, stderr, json } = await program.run(['trigger', type, '--json'], {
    runtime: 'bun',
  });
  expect([exitCode, stderr]).toEqual([0, '']);
  const event = json();
  expect(event.type).toBe(type);
  expect((await server.call('GET', `/events/${event.id}`)).json).toEqual(event);
});

test('on Node, for people', async () => {
  const { stdout } = await program.run(['trigger', 'customer.created']);
  expect(stdout).toMatch(/^\d\d:\d\d:\d\d {2}customer\.created +CUSTOMER +[\da-f-]{36}\n$/);
});

test('never with a live key', async () => {
  const env = { TOLLHOUSE_API_KEY: server.organisation.liveKey };
  const refused = await program.run(['trigger', 'customer.created'], { env });
  expect(refused).toMatchObject({
    exitCode: 1,
    stderr: 'tollhouse: trigger needs a key of test mode\n',
  });
});
