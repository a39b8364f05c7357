// What each command answers: exit codes, what a program reads, what a person reads. The same in
// this process and in one of its own.
import { expect, test } from 'bun:test';
import { COMMANDS } from '../../src/cli/commands.ts';
import { helpOf } from '../../src/cli/help.ts';
import { VERSION } from '../../src/client/version.ts';
import type { TestServer } from '../support/server.ts';
import type { Ended, Setting } from './runner.ts';

/** What the tests find there. */
export async function prepare(server: TestServer): Promise<void> {
  await server.call('PUT', '/meters/api-calls', { body: {} });
  await server.call('PUT', '/meters/seats', { body: {} });
  for (const customer of ['ada', 'bob'])
    await server.call('PUT', `/customers/${customer}`, { body: {} });
  const body = { feature_key: 'api-calls', amount: 10 };
  await server.call('POST', '/customers/ada/grants', { body });
}

/** `name`: whose customers and keys these are. */
export function answersCommands(of: () => Setting, name: string): void {
  const run = (line: string, env: Record<string, string> = {}): Promise<Ended> =>
    of().runner.run(line.split(' '), { env });

  test('tollhouse check exits with 0 where it is allowed and with 3 where it is denied', async () => {
    const yes = await run('check api-calls --customer ada');
    expect(yes).toMatchObject({ exitCode: 0, stderr: '' });
    expect(yes.stdout).toMatch(/^allowed {2}ok {2}\d+ of 10 left\n$/);
    const no = await run('check api-calls --customer ada --value 11 --json');
    expect(no).toMatchObject({ exitCode: 3, stderr: '' });
    const { json } = await of().server.call('POST', '/check', {
      body: { feature_key: 'api-calls', external_customer_id: 'ada', value: 11 },
    });
    expect(no.json()).toEqual(json);
  });

  test('tollhouse track with a key counts once; a negative value corrects', async () => {
    const track = `track api-calls --customer bob --key ${name}-1 --value 2.5 --json`;
    const first = await run(track);
    expect([first.exitCode, first.stderr]).toEqual([0, '']);
    expect(first.json()).toMatchObject({
      external_customer_id: 'bob',
      value: 2.5,
      duplicate: false,
    });
    expect((await run(track)).json()).toEqual({ ...first.json(), duplicate: true });
    const back = await run('track api-calls --customer bob --value -2.5 --json');
    expect(back.json()).toMatchObject({ value: -2.5, consumed: 0 });
  });

  test('tollhouse customers: create, get, list', async () => {
    const made = await run(`customers create --external-id ${name} --name Zoe --json`);
    expect(made.json()).toMatchObject({ external_customer_id: name, name: 'Zoe', email: null });
    const { id } = made.json();
    expect((await run(`customers get ${name} --json`)).json()).toEqual(made.json());
    const shown = await run(`customers get ${id}`);
    expect(shown.stdout).toContain(`external_customer_id  ${name}\n`);
    const page = (await run('customers list --limit 1 --json')).json();
    expect(page).toMatchObject({ data: [made.json()], limit: 1, has_more: true });
    const next = await run(`customers list --after ${id}`);
    expect(next.stdout).toContain('bob');
    expect(next.stdout).not.toContain(id);
    const again = await run(`customers create --external-id ${name}`);
    expect(again).toMatchObject({ exitCode: 1, stdout: '' });
    expect(again.stderr).toMatch(/^tollhouse: conflict: .*\(request .*\)\n$/);
  });

  test('tollhouse reservations are held, extended, committed, released', async () => {
    const zed = `zed-${name}`;
    await of().server.call('PUT', `/customers/${zed}`, { body: {} });
    const body = { feature_key: 'api-calls', amount: 10 };
    await of().server.call('POST', `/customers/${zed}/grants`, { body });
    const create = `reservations create api-calls --customer ${zed} --amount`;
    const held = await run(`${create} 6 --expires-in 60 --key a --json`);
    expect([held.exitCode, held.stderr]).toEqual([0, '']);
    expect(held.json()).toMatchObject({ amount: 6, status: 'open', remaining: 4 });
    const { id, created_at: from, expires_at: to } = held.json();
    expect(Date.parse(to) - Date.parse(from)).toBe(60_000);
    expect((await run(`${create} 6 --expires-in 60 --key a --json`)).json()).toEqual(held.json());
    const denied = await run(`${create} 5`);
    expect([denied.exitCode, denied.stdout]).toEqual([3, '']);
    expect(denied.stderr).toMatch(/^tollhouse: insufficient_balance: [^\n]+\n$/);
    const got = await run(`reservations get ${id}`);
    expect(got.stdout).toBe(`${id}  open  6  4 left  until ${to}\n`);
    const more = await run(`reservations extend ${id} --amount 8 --expires-in 90 --json`);
    expect(more.json()).toMatchObject({ amount: 8, remaining: 2 });
    const done = await run(`reservations commit ${id} --value 2.5`);
    expect(done.stdout).toBe(`${id}  committed  2.5 of 8  7.5 left\n`);
    const refused = await run(`reservations release ${id}`);
    expect([refused.exitCode, refused.stdout]).toEqual([1, '']);
    const other = (await run(`${create} 1 --json`)).json().id;
    expect((await run(`reservations release ${other}`)).stdout).toBe(
      `${other}  released  1  7.5 left\n`,
    );
    for (const line of [
      `${create} many`,
      `${create} 1 --expires-in 0`,
      `reservations commit ${id}`,
    ])
      expect(await run(line)).toMatchObject({ exitCode: 2, stdout: '' });
  });

  test('tollhouse balance draws a bar of the usage; --json prints the answer', async () => {
    const shown = await run('balance ada');
    expect(shown.stdout).toMatch(/^api-calls {2}[█░]{24} {2}\d+ \/ 10\n$/);
    const { json } = await of().server.call('GET', '/customers/ada/balances');
    expect((await run('balance ada --json')).json()).toEqual({ data: json.data });
  });

  test('a refused command prints one line on stderr, or one JSON document', async () => {
    const text = await run('check nothing --customer ada');
    expect(text).toMatchObject({ exitCode: 1, stdout: '' });
    expect(text.stderr).toMatch(/^tollhouse: not_found: [^\n]+\n$/);
    const json = await run('check nothing --customer ada --json');
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stderr)).toMatchObject({ error: { type: 'not_found', status: 404 } });
  });

  test('a command without a key, with a wrong one, or with invalid arguments is refused', async () => {
    const none = await run('balance ada', { TOLLHOUSE_API_KEY: '' });
    expect(none).toMatchObject({
      exitCode: 2,
      stderr: 'tollhouse: no key: set TOLLHOUSE_API_KEY or give --api-key\n',
    });
    const wrong = await run('balance ada --api-key svc_test_wrong');
    expect(wrong.exitCode).toBe(1);
    expect(wrong.stderr).toMatch(/^tollhouse: unauthorized: /);
    const given = await run(`balance ada --api-key ${of().server.organisation.testKey}`, {
      TOLLHOUSE_API_KEY: '',
    });
    expect(given.exitCode).toBe(0);
    for (const line of ['', 'chek', 'check x', 'track x --customer ada --value many']) {
      const { exitCode, stdout, stderr } = await run(line);
      expect([exitCode, stdout]).toEqual([2, '']);
      expect(stderr).toMatch(/^tollhouse: [^\n]+\n$/);
    }
  });

  test('a refused command says its reason once, and the address as it is meant', async () => {
    const negative = await run('check api-calls --customer ada --value -1');
    expect(negative.stderr.match(/must not be negative/g)).toHaveLength(1);
    const email = await run('customers create --email nonsense');
    expect(email.stderr).toMatch(/^tollhouse: invalid_request: email [^;\n]+\n$/);
    const example = 'must be an address such as http://localhost:3000\n';
    const given = await run('balance ada --url nonsense');
    expect(given).toMatchObject({ exitCode: 2, stderr: `tollhouse: --url ${example}` });
    const set = await run('balance ada', { TOLLHOUSE_URL: 'nonsense' });
    expect(set).toMatchObject({ exitCode: 2, stderr: `tollhouse: TOLLHOUSE_URL ${example}` });
  });

  test('the command line prints its help and version', async () => {
    expect(await run('--help')).toMatchObject({ exitCode: 0, stdout: `${helpOf(COMMANDS)}\n` });
    const own = await run('events tail --help');
    expect(own).toMatchObject({ exitCode: 0, stderr: '' });
    expect(own.stdout).toStartWith('usage: tollhouse events tail [options]\n');
    expect(await run('--version')).toMatchObject({ exitCode: 0, stdout: `${VERSION}\n` });
  });

  test('no control character of a name reaches the terminal from a command', async () => {
    const eve = `eve-${name}`;
    const shown = 'Eve\u001B[2J\u202E';
    await of().server.call('POST', '/customers', {
      body: { external_customer_id: eve, name: shown },
    });
    const { stdout } = await run(`customers get ${eve}`);
    for (const control of ['\u001B', '\u202E']) expect(stdout).not.toContain(control);
    expect((await run(`customers get ${eve} --json`)).json().name).toBe(shown);
  });
}
