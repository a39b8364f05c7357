// `tollhouse listen` and `tollhouse events tail` as processes, beside two nodes of the service.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { newPlace } from '../support/new-place.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { forwardsEvents } from './listen.ts';
import { Program } from './program.ts';

setDefaultTimeout(90_000);

let server: TestServer;
let program: Program;
let onBun: Program;
beforeAll(async () => {
  server = await startServer({
    deliver: true,
    node: await newPlace(),
    settings: (url) => ({ checkoutUrl: `${url}/pay` }),
  });
  program = await Program.open(server);
  onBun = await Program.open(server, 'bun');
});
afterAll(async () => {
  program.close();
  onBun.close();
  await server.stop();
});

describe('tollhouse listen on Bun', () => {
  forwardsEvents(() => ({ server, runner: onBun }), 'payment');
});

describe('tollhouse listen on Node', () => {
  forwardsEvents(() => ({
    server,
    runner: program,
    second: async () => startServer({ beside: server, node: await newPlace(), deliver: true }),
  }));
});

const makeCustomer = (name: string) =>
  server.call('POST', '/customers', { body: { external_customer_id: name } });

test('tollhouse events tail ends with its reader', async () => {
  const { id } = (await server.call('GET', '/events?limit=1')).json.data[0];
  for (const name of ['head-1', 'head-2', 'head-3']) await makeCustomer(name);
  const command = [...program.command, 'events', 'tail', '--after', id, '--json'].join(' ');
  const env = {
    ...process.env,
    ...program.env,
  };
  const child = Bun.spawn(['bash', '-c', `${command} | head -n 2; echo "\${PIPESTATUS[0]}"`], {
    env,
    stdout: 'pipe',
    stderr: 'pipe',
  });
  await until('it was cut off', async () => {
    await makeCustomer(`more-${crypto.randomUUID()}`);
    return child.exitCode !== null;
  });
  const [first, second, code] = (await child.stdout.text()).trim().split('\n');
  const event = JSON.parse(first!);
  expect((await server.call('GET', `/events/${event.id}`)).json).toEqual(event);
  expect(event.data.externalCustomerId).toBe('head-1');
  expect(JSON.parse(second!).data.externalCustomerId).toBe('head-2');
  expect([code, await child.stderr.text()]).toEqual(['0', '']);
});
