// `tollhouse` as a process against the real service, on Node and on Bun.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { freePort } from '../support/free-port.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { answersCommands, prepare } from './commands.ts';
import { endsWithItsOutput } from './output.ts';
import { Program, RUNTIMES } from './program.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await prepare(server);
});
afterAll(() => server.stop());

describe.each(RUNTIMES)('the command line on %s', (runtime) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.open(server, runtime);
  });
  afterAll(() => program.close());

  answersCommands(() => ({ server, runner: program }), runtime);
  endsWithItsOutput(() => program);

  test('says that nobody answers at an address', async () => {
    const url = `http://127.0.0.1:${await freePort()}`;
    const refused = await program.run(['balance', 'ada', '--url', url]);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/^tollhouse: deadline_exceeded: [^\n]*no answer from [^\n]+\n$/);
  }, 60_000);

  test('has colours on a terminal only, and not against NO_COLOR', async () => {
    const check = ['check', 'api-calls', '--customer', 'ada'];
    expect(await program.onTerminal(check)).toContain('\u001B[32mallowed\u001B[39m');
    expect(await program.onTerminal(check, { NO_COLOR: '1' })).toStartWith('allowed');
  });
});
