// `tollhouse` starts as a process, on Node and on Bun: it answers, and exits with the code. What it
// answers is in the other files; with many more processes in the long ones.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { VERSION } from '../../src/client/version.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { prepare } from './commands.ts';
import { endsWithItsOutput } from './output.ts';
import { Program, type Runtime, RUNTIMES } from './program.ts';

let server: TestServer;
const programs = {} as Record<Runtime, Program>;
beforeAll(async () => {
  server = await startServer();
  await prepare(server);
  for (const runtime of RUNTIMES) programs[runtime] = await Program.open(server, runtime);
});
afterAll(async () => {
  for (const runtime of RUNTIMES) programs[runtime].close();
  await server.stop();
});

describe.each(RUNTIMES)('the command line on %s', (runtime) => {
  test('exits with 3 for a check that is denied', async () => {
    const program = programs[runtime];
    const args = ['check', 'api-calls', '--customer', 'ada', '--value', '11'];
    const denied = await program.run(args);
    expect(denied).toMatchObject({ exitCode: 3, stderr: '' });
    expect(denied.stdout).toStartWith('denied  ');
  });

  test('reads standard input', async () => {
    const program = programs[runtime];
    const line = JSON.stringify({ name: 'seats', external_customer_id: 'bob', value: 1 });
    const piped = await program.run(['ingest', '-'], { stdin: `${line}\n`.repeat(3) });
    expect(piped).toMatchObject({ exitCode: 0, stdout: '3 lines: 3 recorded\n' });
  });

  test.each(['SIGINT', 'SIGTERM'] as const)('ends a long-running command on %s', async (signal) => {
    const program = programs[runtime];
    const to = `http://127.0.0.1:9/${runtime}`;
    const listening = program.start(['listen', '--forward-to', to, '--json']);
    await until('it listens', () => listening.said !== '');
    listening.kill(signal);
    const { exitCode, stdout } = await listening.ended;
    expect(exitCode).toBe(0);
    const [first, last] = stdout
      .trim()
      .split('\n')
      .map((row) => JSON.parse(row));
    expect(first).toMatchObject({ kind: 'listening', forward_to: to });
    expect(last).toEqual({ kind: 'summary', delivered: 0, failed: 0 });
  });
});

describe('the command line on Node', () => {
  endsWithItsOutput(() => programs.node);

  test('has colours on a terminal', async () => {
    const shown = await programs.node.onTerminal(['check', 'api-calls', '--customer', 'ada']);
    expect(shown).toContain('\u001B[32mallowed\u001B[39m');
  });

  test('resumes a file after a kill, and nothing counts twice', async () => {
    const program = programs.node;
    const path = program.path('killed.ndjson');
    const line = JSON.stringify({ name: 'seats', external_customer_id: 'ada', value: 1 });
    writeFileSync(path, `${line}\n`.repeat(20_000));
    const child = program.start(['ingest', path]);
    await until('it began', () => Bun.file(`${path}.tollhouse`).exists());
    child.kill('SIGKILL');
    expect((await child.ended).exitCode).not.toBe(0);
    expect((await program.run(['ingest', path])).exitCode).toBe(0);
    const body = { feature_key: 'seats', external_customer_id: 'ada' };
    expect((await server.call('POST', '/check', { body })).json.consumed).toBe(20_000);
  });

  test('prints its version', async () => {
    expect(await programs.node.run(['--version'])).toMatchObject({
      exitCode: 0,
      stdout: `${VERSION}\n`,
    });
  });
});
