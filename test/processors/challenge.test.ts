// The page of the sandbox bank, over HTTP as a browser without JavaScript uses it.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { clock, timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openSandbox, type Sandbox } from '../../src/processors/sandbox.ts';
import { startServer, type Reply, type TestServer } from '../support/server.ts';

const RETURN_URL = 'https://pay.example/<token>?returned=1&a="b"';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

let server: TestServer;
let bank: Sandbox;
beforeAll(async () => {
  server = await startServer({ edited: true });
  // The books are the server's: one process charges, and the page of another one shows it.
  bank = openSandbox({
    sql: server.sql,
    timers,
    settleMs: 1,
    origin: 'https://bank.example',
    challengeUrl: (key) => `http://${key}`,
  })(clock);
});
afterAll(() => server.stop());

async function challenge(more: { amount?: bigint; currency?: string } = {}): Promise<string> {
  const key = ids.next();
  const number = '4000002760003184';
  const instrument = { type: 'card', number, expiry: '12/34', cvc: '123' } as const;
  const what = { amount: 1250n, currency: 'USD', ...more };
  await bank.charge({ key, ...what, instrument, save: false, returnUrl: RETURN_URL });
  return key;
}
const path = (key: string): string => `/sandbox/challenges/${key}`;
const read = (key: string): Promise<Reply> => server.call('GET', path(key), { key: null });
const send = (key: string, raw: string, headers = {}): Promise<Response> =>
  fetch(`${server.url}${path(key)}`, {
    method: 'POST',
    body: raw,
    headers: { ...FORM, ...headers },
    redirect: 'manual',
  });

test("the sandbox's challenge page says that it is a test, what is to be confirmed, and asks", async () => {
  const reply = await read(await challenge());
  expect(reply.status).toBe(200);
  for (const shown of ['Test mode', '$12.50', '3184', 'value="complete"', 'value="fail"']) {
    expect(reply.text).toContain(shown);
  }
  expect(reply.text).not.toContain('<script');
});

test.each([
  ['JPY', 1000n, '¥1,000'],
  ['KWD', 12_500n, 'KWD\u00a012.500'],
])("the sandbox's challenge page shows an amount in %s", async (currency, amount, shown) => {
  expect((await read(await challenge({ amount, currency }))).text).toContain(shown);
});

test.each([
  ['complete', { kind: 'requires_confirmation' }],
  ['fail', { kind: 'declined', code: 'authentication_failed' }],
])("the sandbox's challenge page, %s, leads back to the checkout", async (answer, decided) => {
  const key = await challenge();
  const response = await send(key, `answer=${answer}`);
  expect([response.status, response.headers.get('location')]).toEqual([303, RETURN_URL]);
  expect(await bank.findCharge(key)).toMatchObject(decided);
});

test("the sandbox's challenge page of an answered challenge says so, leads back, changes nothing", async () => {
  const key = await challenge();
  await send(key, 'answer=complete');
  const again = await send(key, 'answer=fail');
  expect(again.status).toBe(410);
  const page = await read(key);
  expect(page.status).toBe(410);
  for (const text of [page.text, await again.text()]) {
    expect(text).toContain(
      'href="https://pay.example/&lt;token&gt;?returned=1&amp;a=&quot;b&quot;"',
    );
    expect(text).not.toContain('<form');
  }
  expect((await bank.findCharge(key)).kind).toBe('requires_confirmation');
});

test("a double click on the sandbox's challenge page is one answer", async () => {
  const key = await challenge();
  const answers = await Promise.all(Array.from({ length: 10 }, () => send(key, 'answer=complete')));
  const statuses = answers.map(({ status }) => status).sort((a, b) => a - b);
  expect(statuses).toEqual([303, ...Array<number>(9).fill(410)]);
});

test("an answer on the sandbox's challenge page of a charge that was given up charges nothing", async () => {
  const key = await challenge();
  await bank.cancelCharge(key);
  expect((await send(key, 'answer=complete')).status).toBe(410);
  expect((await bank.findCharge(key)).kind).toBe('not_attempted');
});

test.each([
  ['unknown', () => ids.next()],
  ['no id', () => 'x'],
  ['with NUL', () => '%00'],
  ['with markup', () => '%3Cscript%3E'],
])("the sandbox's challenge page of a key that is %s is a 404", async (_what, key) => {
  const page = await read(key());
  const answer = await send(key(), 'answer=complete');
  expect([page.status, answer.status]).toEqual([404, 404]);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.text).not.toContain('<script');
});

test('a charge without a challenge has no challenge page', async () => {
  const key = ids.next();
  const instrument = { type: 'card', number: '4242424242424242', expiry: '12/34', cvc: '123' };
  const charge = { key, amount: 1n, currency: 'USD', save: false, returnUrl: RETURN_URL };
  await bank.charge({ ...charge, instrument: instrument as never });
  expect((await read(key)).status).toBe(404);
});

// prettier-ignore
const REFUSED: [string, string, Record<string, string>, number][] = [
  ['no answer',        '',                            {},                                          400],
  ['another answer',   'answer=maybe',                {},                                          400],
  ['two answers',      'answer=fail&answer=complete', {},                                          400],
  ['another field',    'answer=fail&card=1',          {},                                          400],
  ['JSON',             '{"answer":"complete"}',       { 'content-type': 'application/json' },      415],
  ['another site',     'answer=complete',             { origin: 'https://evil.example' },          403],
  ['a hidden site',    'answer=complete',             { origin: 'null' },                          403],
];

test.each(REFUSED)(
  "an answer on the sandbox's challenge page is refused: %s",
  async (_what, raw, headers, status) => {
    const key = await challenge();
    expect((await send(key, raw, headers)).status).toBe(status);
    expect((await bank.findCharge(key)).kind).toBe('requires_action');
  },
);

test("the sandbox's challenge page runs and loads nothing, and limits where its form may lead", async () => {
  const { headers } = await read(await challenge());
  const policy = headers.get('content-security-policy') ?? '';
  expect(policy).toContain("default-src 'none'");
  expect(policy).toContain("frame-ancestors 'none'");
  expect(policy).toContain("form-action 'self'");
  expect(policy).not.toContain('unsafe-inline');
  // With no-referrer a browser on plain http would send `Origin: null`, which the edge refuses.
  expect(headers.get('referrer-policy')).toBe('same-origin');
});
