// `tollhouse ingest` as a process, on Node and on Bun, also where it is killed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, writeFileSync } from 'node:fs';
import { withSeed } from '../support/random.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import {
  event,
  ingestsFiles,
  newCustomer,
  prepare,
  rejectsBadLines,
  rowsOf,
  stateOf,
} from './ingest.ts';
import { Program, RUNTIMES } from './program.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await prepare(server);
});
afterAll(() => server.stop());

describe.each(RUNTIMES)('tollhouse ingest on %s', (runtime) => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.open(server, runtime);
  });
  afterAll(() => program.close());

  test('killed again and again loses nothing and counts nothing twice', async () => {
    await withSeed(async (random) => {
      const customer = `killed-${runtime}`;
      const used = await newCustomer(server, customer);
      const path = program.path(`${customer}.ndjson`);
      const count = 30_000;
      const bad = new Set(Array.from({ length: 40 }, () => random.integer(1, count)));
      const lines = Array.from({ length: count }, (_, at) =>
        bad.has(at + 1) ? event(customer, 'much') : event(customer, (at % 7) + 1),
      );
      writeFileSync(path, `${lines.join('\n')}\n`);
      for (const share of [0.1, 0.3, 0.5]) {
        const child = program.start(['ingest', path]);
        await until('it is that far', () => (stateOf(path)?.lines ?? 0) > share * count);
        child.kill('SIGKILL');
        expect((await child.ended).exitCode).not.toBe(0);
        expect(stateOf(path)!.lines).toBeLessThan(count);
      }
      const done = await program.run(['ingest', path, '--json']);
      expect(done.json()).toMatchObject({ lines: count, rejected: bad.size });
      expect(done.json().inserted + done.json().duplicates).toBe(count - bad.size);
      const rejected = rowsOf(`${path}.rejected.ndjson`).map(({ line }) => line);
      expect(rejected).toEqual([...bad].toSorted((a, b) => a - b));
      const good = lines.filter((_, at) => !bad.has(at + 1));
      const units = good.reduce((sum, line) => sum + JSON.parse(line).value, 0);
      expect(await used()).toEqual({ units, calls: good.length });
    });
  }, 120_000);
});

describe('tollhouse ingest on Node', () => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.open(server);
  });
  afterAll(() => program.close());

  ingestsFiles(() => ({ server, runner: program }), 'node');

  test('goes on in one of many runs of one file that begin at once; the others are refused', async () => {
    const customer = 'at-once';
    const used = await newCustomer(server, customer);
    const path = program.path('at-once.ndjson');
    const line = (at: number) => event(customer, at % 100 === 0 ? 'much' : 1);
    const lines = Array.from({ length: 20_000 }, (_, at) => line(at));
    writeFileSync(path, `${lines.join('\n')}\n`);
    const all = [1, 2, 3, 4].map(() => program.start(['ingest', path, '--json']));
    const runs = await Promise.all(all.map((child) => child.ended));
    const refused = runs.filter(({ stderr }) => stderr !== '');
    for (const { exitCode, stdout, stderr } of refused) {
      const { message } = JSON.parse(stderr).error;
      expect([exitCode, stdout]).toEqual([1, '']);
      expect(message).toMatch(
        /^another run has this file \(process \d+\); if it has ended, remove /,
      );
    }
    expect(refused).toHaveLength(3);
    const [done] = runs.filter(({ stdout }) => stdout !== '');
    expect(done!.json()).toMatchObject({ lines: 20_000, inserted: 19_800, rejected: 200 });
    expect(rowsOf(`${path}.rejected.ndjson`)).toHaveLength(200);
    expect(await used()).toEqual({ units: 19_800, calls: 19_800 });
    expect(existsSync(`${path}.tollhouse.lock`)).toBe(false);
  }, 60_000);

  test('ends in good order at Ctrl-C, and goes on in the next run', async () => {
    const customer = 'stopped-by-ctrl-c';
    const used = await newCustomer(server, customer);
    const path = program.path('stopped.ndjson');
    writeFileSync(path, `${event(customer)}\n`.repeat(20_000));
    const child = program.start(['ingest', path]);
    await until('it began', () => (stateOf(path)?.lines ?? 0) > 0);
    child.interrupt();
    const stopped = await child.ended;
    expect(stopped.exitCode).toBe(1);
    expect(stopped.stderr).toMatch(/^stopped behind line [\d,]+; run it again to go on\n$/);
    expect((await program.run(['ingest', path])).exitCode).toBe(0);
    expect(await used()).toEqual({ units: 20_000, calls: 20_000 });
  }, 60_000);

  test('draws a bar on a terminal of how far it is', async () => {
    const customer = 'shown';
    await newCustomer(server, customer);
    const path = program.path('shown.ndjson');
    writeFileSync(path, `${event(customer)}\n`.repeat(3000));
    const shown = await program.onTerminal(['ingest', path]);
    expect(shown).toMatch(/[█░]{24} {2} *\d+ % {2}[\d,]+ lines {2}[\d,]+\/s/);
    expect(shown).toContain('3,000 lines: 3,000 recorded');
  });
});

describe('tollhouse ingest on Bun', () => {
  let program: Program;
  beforeAll(async () => {
    program = await Program.open(server, 'bun');
  });
  afterAll(() => program.close());

  rejectsBadLines(() => ({ server, runner: program }), 'bun');
});
