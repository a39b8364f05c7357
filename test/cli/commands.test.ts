// `tollhouse` against the real service. As processes: commands.long.test.ts, and one of each kind
// in program.test.ts.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { helpOf, helpOfCommand } from '../../src/cli/help.ts';
import { freePort } from '../support/free-port.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { answersCommands, prepare } from './commands.ts';
import { type InProcess, openInProcess } from './in-process.ts';

let server: TestServer;
let runner: InProcess;
beforeAll(async () => {
  server = await startServer();
  runner = openInProcess(server);
  await prepare(server);
});
afterAll(async () => {
  runner.close();
  await server.stop();
});

answersCommands(() => ({ server, runner }), 'here');

test.each(Object.entries(COMMANDS))('the help of the command line shows %s', (name, row) => {
  expect(helpOf(COMMANDS)).toContain(`\n  ${name}`);
  const own = helpOfCommand(name, row);
  for (const option of Object.keys(row.options)) expect(own).toContain(`  --${option}`);
  for (const line of own.split('\n')) expect(line).not.toMatch(/\s$/);
});

test('a command says that nobody answers at an address', async () => {
  const url = `http://127.0.0.1:${await freePort()}`;
  const refused = await runner.run(['balance', 'ada', '--url', url], { timeoutMs: 300 });
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/^tollhouse: deadline_exceeded: [^\n]*no answer from [^\n]+\n$/);
});

// prettier-ignore
test.each([
  ['a terminal',          true,  {},                  '\u001B[32mallowed\u001B[39m'],
  ['a pipe',              false, {},                  'allowed'],
  ['against NO_COLOR',    true,  { NO_COLOR: '1' },   'allowed'],
  ['a dumb terminal',     true,  { TERM: 'dumb' },    'allowed'],
])("a command's colours: %s", async (_where, isTerminal, env: Record<string, string>, begins) => {
  const args = ['check', 'api-calls', '--customer', 'ada'];
  const { stdout } = await runner.run(args, { isTerminal, env });
  expect(stdout).toStartWith(begins);
});
