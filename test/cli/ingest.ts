// What `tollhouse ingest` does with a file: every line is recorded once or rejected with a reason.
// The same in this process and in one of its own.
import { expect, test } from 'bun:test';
import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import type { TestServer } from '../support/server.ts';
import type { Setting } from './runner.ts';

/** What the tests find there. */
export async function prepare(server: TestServer): Promise<void> {
  await server.call('PUT', '/meters/units', { body: { event_name: 'call' } });
  const counted = { event_name: 'call', aggregation: 'count' };
  await server.call('PUT', '/meters/calls', { body: counted });
}

/** A customer of its own for each test. */
export async function newCustomer(
  server: TestServer,
  id: string,
): Promise<() => Promise<{ units: number; calls: number }>> {
  await server.call('PUT', `/customers/${id}`, { body: {} });
  const ask = async (feature_key: string): Promise<number> => {
    const body = { feature_key, external_customer_id: id };
    return (await server.call('POST', '/check', { body })).json.consumed;
  };
  return async () => ({ units: await ask('units'), calls: await ask('calls') });
}

export const event = (customer: string, value: unknown = 1, more: object = {}) =>
  JSON.stringify({ name: 'call', external_customer_id: customer, value, ...more });

export const rowsOf = (path: string) =>
  readFileSync(path, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line));

export const stateOf = (path: string): { lines: number } | null =>
  existsSync(`${path}.tollhouse`) ? JSON.parse(readFileSync(`${path}.tollhouse`, 'utf8')) : null;

/** `name`: whose customers these are. */
export function rejectsBadLines(of: () => Setting, name: string): void {
  const mine = (id: string) => `${id}-${name}`;

  test('tollhouse ingest records good lines, and rejects the others with a reason', async () => {
    const customer = mine('mixed');
    const used = await newCustomer(of().server, customer);
    const path = of().runner.path(`${customer}.ndjson`);
    const lines = [
      event(customer, 2),
      'no json',
      event('nobody'),
      event(customer, 'much'),
      '',
      event(customer, 3, { external_id: `${name}-same` }),
      event(customer, 3, { external_id: `${name}-same` }),
      `{"name":"call","x":"${'x'.repeat(300_000)}"}`,
      event(customer, 4, { external_id: null }),
      JSON.stringify({ name: 'call', external_customer_id: customer, valu: 1 }),
    ];
    writeFileSync(path, lines.join('\n'));
    const done = await of().runner.run(['ingest', path, '--json']);
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
  });
}

export function ingestsFiles(of: () => Setting, name: string): void {
  const mine = (id: string) => `${id}-${name}`;

  rejectsBadLines(of, name);

  test('tollhouse ingest of the same file again, and with more lines, counts nothing twice', async () => {
    const used = await newCustomer(of().server, mine('again'));
    const path = of().runner.path('again.ndjson');
    writeFileSync(path, `${event(mine('again'))}\n${event(mine('again'))}\n`);
    const first = await of().runner.run(['ingest', path]);
    expect(first).toMatchObject({ exitCode: 0, stdout: '2 lines: 2 recorded\n' });
    const second = await of().runner.run(['ingest', path]);
    expect(second).toMatchObject({ exitCode: 0, stderr: 'nothing new behind line 2\n' });
    appendFileSync(path, `${event(mine('again'), 5)}\n`);
    const third = await of().runner.run(['ingest', path]);
    expect(third.stderr).toBe('going on behind line 2\n');
    expect(third.stdout).toBe('3 lines: 3 recorded\n');
    const restarted = await of().runner.run(['ingest', path, '--restart']);
    expect(restarted.stdout).toBe('3 lines: 0 recorded, 3 had been recorded before\n');
    expect(await used()).toEqual({ units: 7, calls: 3 });
  });

  test('tollhouse ingest writes rejects anew that a killed run wrote and did not count', async () => {
    await newCustomer(of().server, mine('rejects'));
    const path = of().runner.path('rejects.ndjson');
    const rejects = `${path}.rejected.ndjson`;
    writeFileSync(path, 'one\n');
    await of().runner.run(['ingest', path]);
    appendFileSync(rejects, '{"line":2,"reason":"is not a JSON object","text":"two"}\n{"li');
    appendFileSync(path, 'two\nthree\n');
    const done = await of().runner.run(['ingest', path, '--json']);
    expect(done.json()).toMatchObject({ lines: 3, rejected: 3 });
    expect(rowsOf(rejects).map(({ line, text }) => [line, text])).toEqual([
      [1, 'one'],
      [2, 'two'],
      [3, 'three'],
    ]);
  });

  test('tollhouse ingest refuses the state of another file or another key', async () => {
    await newCustomer(of().server, mine('other'));
    const path = of().runner.path('other.ndjson');
    writeFileSync(path, `${event(mine('other'))}\n`);
    await of().runner.run(['ingest', path]);
    writeFileSync(path, `${event(mine('other'), 7)}\n`);
    const changed = await of().runner.run(['ingest', path]);
    expect(changed.exitCode).toBe(1);
    expect(changed.stderr).toMatch(/is about another file of this name: --restart .*\n$/);
    const env = { TOLLHOUSE_API_KEY: of().server.other.testKey };
    const foreign = await of().runner.run(['ingest', path], { env });
    expect(foreign.stderr).toMatch(/is about another service or key: --restart .*\n$/);
    writeFileSync(`${path}.tollhouse`, '{"lines":');
    expect((await of().runner.run(['ingest', path])).stderr).toMatch(/cannot be read: --restart/);
  });

  test('tollhouse ingest reads standard input', async () => {
    const used = await newCustomer(of().server, mine('piped'));
    const stdin = `${event(mine('piped'))}\n`.repeat(1200);
    const done = await of().runner.run(['ingest', '-'], { stdin });
    expect(done).toMatchObject({ exitCode: 0, stdout: '1,200 lines: 1,200 recorded\n' });
    expect(await used()).toEqual({ units: 1200, calls: 1200 });
  });

  test('tollhouse ingest ends in one line with a key of the wrong scope, or a missing file', async () => {
    const path = of().runner.path('refused.ndjson');
    writeFileSync(path, `${event('nobody')}\n`);
    const refused = await of().runner.run(['ingest', path, '--api-key', 'svc_test_wrong']);
    expect(refused.exitCode).toBe(1);
    expect(refused.stderr).toMatch(/^tollhouse: unauthorized: [^\n]+\n$/);
    const missing = await of().runner.run(['ingest', of().runner.path('missing')]);
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toMatch(/^tollhouse: cannot read [^\n]+\n$/);
  });
}
