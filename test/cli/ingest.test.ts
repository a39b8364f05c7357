// `tollhouse ingest` into the real service: every line is recorded once or rejected with a reason,
// also where the command is killed.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { withSeed } from '../support/random.ts';
import { startServer, type TestServer } from '../support/server.ts';
import { until } from '../support/until.ts';
import { ended, Program, RUNTIMES } from './program.ts';

let server: TestServer;
let program: Program;
beforeAll(async () => {
  server = await startServer();
  program = await Program.open(server);
  await server.call('PUT', '/meters/units', { body: { event_name: 'call' } });
  const counted = { event_name: 'call', aggregation: 'count' };
  await server.call('PUT', '/meters/calls', { body: counted });
});
afterAll(async () => {
  program.close();
  await server.stop();
});

/** A customer of its own for each test. */
async function newCustomer(id: string): Promise<() => Promise<{ units: number; calls: number }>> {
  await server.call('PUT', `/customers/${id}`, { body: {} });
  const of = async (feature_key: string): Promise<number> => {
    const body = { feature_key, external_customer_id: id };
    return (await server.call('POST', '/check', { body })).json.consumed;
  };
  return async () => ({ units: await of('units'), calls: await of('calls') });
}

const event = (customer: string, value: unknown = 1, more: object = {}) =>
  JSON.stringify({ name: 'call', external_customer_id: customer, value, ...more });

const rowsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

const stateOf = (path: string): { lines: number } | null =>
  existsSync(`${path}.tollhouse`) ? JSON.parse(readFileSync(`${path}.tollhouse`, 'utf8')) : null;

test.each(RUNTIMES)(
  '%s: good lines are recorded, the others rejected with a reason',
  async (runtime) => {
    const customer = `mixed-${runtime}`;
    const used = await newCustomer(customer);
    const path = program.path(`${customer}.ndjson`);
    const lines = [
      event(customer, 2),
      'no json',
      event('nobody'),
      event(customer, 'much'),
      '',
      event(customer, 3, { external_id: `${runtime}-same` }),
      event(customer, 3, { external_id: `${runtime}-same` }),
      `{"name":"call","x":"${'x'.repeat(300_000)}"}`,
      event(customer, 4, { external_id: null }),
      JSON.stringify({ name: 'call', external_customer_id: customer, valu: 1 }),
    ];
    writeFileSync(path, lines.join('\n'));
    const done = await program.run(['ingest', path, '--json'], { runtime });
    expect([done.exitCode, done.stderr]).toEqual([1, '']);
    const rejects = `${path}.rejected.ndjson`;
    expect(done.json()).toEqual({
      lines: 10,
      inserted: 3,
      duplicates: 1,
      rejected: 5,
      rejects_file: rejects,
      seconds: expect.any(Number),
    });
    expect(rowsOf(rejects)).toEqual([
      { line: 2, reason: 'is not a JSON object', text: 'no json' },
      { line: 3, reason: expect.stringContaining('customer'), event: expect.any(Object) },
      { line: 4, reason: expect.stringMatching(/^value must be/), event: expect.any(Object) },
      { line: 8, reason: 'is longer than 262144 bytes', text: expect.any(String) },
      { line: 10, reason: expect.stringContaining('valu'), event: expect.any(Object) },
    ]);
    expect(await used()).toEqual({ units: 9, calls: 3 });
  },
);

test('the same file again, and with more lines, counts nothing twice', async () => {
  const used = await newCustomer('again');
  const path = program.path('again.ndjson');
  writeFileSync(path, `${event('again')}\n${event('again')}\n`);
  const first = await program.run(['ingest', path]);
  expect(first).toMatchObject({ exitCode: 0, stdout: '2 lines: 2 recorded\n' });
  const second = await program.run(['ingest', path]);
  expect(second).toMatchObject({ exitCode: 0, stderr: 'nothing new behind line 2\n' });
  appendFileSync(path, `${event('again', 5)}\n`);
  const third = await program.run(['ingest', path]);
  expect(third.stderr).toBe('going on behind line 2\n');
  expect(third.stdout).toBe('3 lines: 3 recorded\n');
  const restarted = await program.run(['ingest', path, '--restart']);
  expect(restarted.stdout).toBe('3 lines: 0 recorded, 3 had been recorded before\n');
  expect(await used()).toEqual({ units: 7, calls: 3 });
});

test('rejects that a killed run wrote and did not count are written anew', async () => {
  await newCustomer('rejects');
  const path = program.path('rejects.ndjson');
  const rejects = `${path}.rejected.ndjson`;
  writeFileSync(path, 'one\n');
  await program.run(['ingest', path]);
  appendFileSync(rejects, '{"line":2,"reason":"is not a JSON object","text":"two"}\n{"li');
  appendFileSync(path, 'two\nthree\n');
  const done = await program.run(['ingest', path, '--json']);
  expect(done.json()).toMatchObject({ lines: 3, rejected: 3 });
  expect(rowsOf(rejects).map(({ line, text }) => [line, text])).toEqual([
    [1, 'one'],
    [2, 'two'],
    [3, 'three'],
  ]);
});

test('a state of another file or another key is refused', async () => {
  await newCustomer('other');
  const path = program.path('other.ndjson');
  writeFileSync(path, `${event('other')}\n`);
  await program.run(['ingest', path]);
  writeFileSync(path, `${event('other', 7)}\n`);
  const changed = await program.run(['ingest', path]);
  expect(changed.exitCode).toBe(1);
  expect(changed.stderr).toMatch(/is about another file of this name: --restart .*\n$/);
  const env = { TOLLHOUSE_API_KEY: server.other.testKey };
  const foreign = await program.run(['ingest', path], { env });
  expect(foreign.stderr).toMatch(/is about another service or key: --restart .*\n$/);
  writeFileSync(`${path}.tollhouse`, '{"lines":');
  expect((await program.run(['ingest', path])).stderr).toMatch(/cannot be read: --restart/);
});

test.each(RUNTIMES)(
  '%s: killed again and again, nothing is lost or counted twice',
  async (runtime) => {
    await withSeed(async (random) => {
      const customer = `killed-${runtime}`;
      const used = await newCustomer(customer);
      const path = program.path(`${customer}.ndjson`);
      const count = 30_000;
      const bad = new Set(Array.from({ length: 40 }, () => random.integer(1, count)));
      const lines = Array.from({ length: count }, (_, at) =>
        bad.has(at + 1) ? event(customer, 'much') : event(customer, (at % 7) + 1),
      );
      writeFileSync(path, `${lines.join('\n')}\n`);
      for (const share of [0.1, 0.3, 0.5]) {
        const child = program.start(['ingest', path], { runtime });
        await until('it is that far', () => (stateOf(path)?.lines ?? 0) > share * count);
        child.kill('SIGKILL');
        expect(await child.exited).not.toBe(0);
        expect(stateOf(path)!.lines).toBeLessThan(count);
      }
      const done = await program.run(['ingest', path, '--json'], { runtime });
      expect(done.json()).toMatchObject({ lines: count, rejected: bad.size });
      expect(done.json().inserted + done.json().duplicates).toBe(count - bad.size);
      const rejected = rowsOf(`${path}.rejected.ndjson`).map(({ line }) => line);
      expect(rejected).toEqual([...bad].toSorted((a, b) => a - b));
      const good = lines.filter((_, at) => !bad.has(at + 1));
      const units = good.reduce((sum, line) => sum + JSON.parse(line).value, 0);
      expect(await used()).toEqual({ units, calls: good.length });
    });
  },
  120_000,
);

test('of runs of one file that begin at once, one goes on; the others are refused', async () => {
  const used = await newCustomer('at-once');
  const path = program.path('at-once.ndjson');
  const line = (at: number) => event('at-once', at % 100 === 0 ? 'much' : 1);
  const lines = Array.from({ length: 20_000 }, (_, at) => line(at));
  writeFileSync(path, `${lines.join('\n')}\n`);
  const all = [1, 2, 3, 4].map(() => program.start(['ingest', path, '--json']));
  const runs = await Promise.all(all.map((child) => ended(child)));
  const refused = runs.filter(({ stderr }) => stderr !== '');
  for (const { exitCode, stdout, stderr } of refused) {
    const { message } = JSON.parse(stderr).error;
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(message).toMatch(/^another run has this file \(process \d+\); if it has ended, remove /);
  }
  expect(refused).toHaveLength(3);
  const [done] = runs.filter(({ stdout }) => stdout !== '');
  expect(done!.json()).toMatchObject({ lines: 20_000, inserted: 19_800, rejected: 200 });
  expect(rowsOf(`${path}.rejected.ndjson`)).toHaveLength(200);
  expect(await used()).toEqual({ units: 19_800, calls: 19_800 });
  expect(existsSync(`${path}.tollhouse.lock`)).toBe(false);
}, 60_000);

test('Ctrl-C ends it in good order, and it goes on', async () => {
  const used = await newCustomer('stopped');
  const path = program.path('stopped.ndjson');
  writeFileSync(path, `${event('stopped')}\n`.repeat(20_000));
  const child = program.start(['ingest', path]);
  await until('it began', () => (stateOf(path)?.lines ?? 0) > 0);
  child.kill('SIGINT');
  const stopped = await ended(child);
  expect(stopped.exitCode).toBe(1);
  expect(stopped.stderr).toMatch(/^stopped behind line [\d,]+; run it again to go on\n$/);
  expect((await program.run(['ingest', path])).exitCode).toBe(0);
  expect(await used()).toEqual({ units: 20_000, calls: 20_000 });
}, 60_000);

test('standard input', async () => {
  const used = await newCustomer('piped');
  const stdin = `${event('piped')}\n`.repeat(1200);
  const done = await program.run(['ingest', '-'], { stdin });
  expect(done).toMatchObject({ exitCode: 0, stdout: '1,200 lines: 1,200 recorded\n' });
  expect(await used()).toEqual({ units: 1200, calls: 1200 });
});

test('a key that may not, and a file that is not there, end it in one line', async () => {
  const path = program.path('refused.ndjson');
  writeFileSync(path, `${event('nobody')}\n`);
  const refused = await program.run(['ingest', path, '--api-key', 'svc_test_wrong']);
  expect(refused.exitCode).toBe(1);
  expect(refused.stderr).toMatch(/^tollhouse: unauthorized: [^\n]+\n$/);
  const missing = await program.run(['ingest', program.path('missing')]);
  expect(missing.exitCode).toBe(1);
  expect(missing.stderr).toMatch(/^tollhouse: cannot read [^\n]+\n$/);
});

test('on a terminal a bar shows how far it is', async () => {
  await newCustomer('shown');
  const path = program.path('shown.ndjson');
  writeFileSync(path, `${event('shown')}\n`.repeat(3000));
  const command = [...program.command(), 'ingest', path].join(' ');
  const child = Bun.spawn(['script', '-qec', command, '/dev/null'], {
    env: {
      PATH: process.env['PATH'] ?? '',
      TOLLHOUSE_URL: server.url,
      TOLLHOUSE_API_KEY: server.organisation.testKey,
    },
    stdout: 'pipe',
  });
  const shown = await child.stdout.text();
  expect(shown).toMatch(/[█░]{24} {2} *\d+ % {2}[\d,]+ lines {2}[\d,]+\/s/);
  expect(shown).toContain('3,000 lines: 3,000 recorded');
});
