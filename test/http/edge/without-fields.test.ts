// An operation without fields refuses every body: the caller meant it to have an effect.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { changesBothModes, type Listed, listOperations } from './operations.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const BODILESS = listOperations().filter(
  ({ method, access, operation }) =>
    method !== 'GET' &&
    operation.body === undefined &&
    operation.form === undefined &&
    access !== 'portal',
);

test('some operations take a body in which everything may be left out', () => {
  expect(BODILESS.map(({ name }) => name)).toContain('POST /invoices/:id/pay');
  expect(BODILESS.map(({ name }) => name)).toContain('DELETE /meters/:id');
});

// prettier-ignore
const REFUSED: [string, string, string, number, string[] | null][] = [
  // what                raw                     type                status  path
  ['a field',            '{"amount":"5.00"}',    'application/json', 400,    ['amount']],
  ['another field',      '{"dry_run":true}',     'application/json', 400,    ['dry_run']],
  ['broken JSON',        '{"amount":',           'application/json', 400,    []],
  ['a list',             '[]',                   'application/json', 400,    []],
  ['null',               'null',                 'application/json', 400,    []],
  ['a form',             'amount=5.00',          'application/x-www-form-urlencoded', 415, null],
];

const cases = BODILESS.flatMap(({ name, ...one }) =>
  REFUSED.map(([what, ...how]) => [name, what, one, how] as const),
);

test.each(cases)('%s with %s', async (_name, _what, one, how) => {
  const [raw, type, status, at] = how;
  const reply = await server.call(one.method, one.path.replaceAll(/:\w+/g, 'none'), {
    key: keyFor(one),
    raw,
    headers: { 'content-type': type },
  });
  const issues = reply.json.error.issues?.map((issue: { path: string[] }) => issue.path);
  expect([reply.status, issues ?? null]).toEqual([status, at === null ? null : [at]]);
});

function keyFor(one: Pick<Listed, 'method' | 'path' | 'access'>): string {
  const { testKey, liveKey } = one.access === 'group' ? server.group : server.organisation;
  return changesBothModes(one) ? liveKey : testKey;
}

test.each(BODILESS)('$name without a body is as before, and so is {}', async (one) => {
  const key = keyFor(one);
  const at = one.path.replaceAll(/:\w+/g, 'none');
  const nothing = await server.call(one.method, at, { key });
  const empty = await server.call(one.method, at, { key, raw: '{}' });
  expect([nothing.status, empty.status]).toEqual([404, 404]);
});
