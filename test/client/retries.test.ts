// What is sent again, when, and under which key; and what becomes of a call at its end.
import { expect, test } from 'bun:test';
import {
  ConnectionError,
  DeadlineError,
  type RetryInfo,
  Tollhouse,
  type TollhouseError,
  type TollhouseOptions,
} from '../../src/client/index.ts';
import { freePort } from '../support/free-port.ts';
import { type Answer, http, refusal, startHostile } from './hostile.ts';

const OK = http(200, '{"id":"1"}');

/** Waits that were asked for; none is waited. */
let waits: number[];

function client(baseUrl: string | readonly string[], options: Partial<TollhouseOptions> = {}) {
  waits = [];
  const sleep = (ms: number): Promise<void> => {
    waits.push(ms);
    return Promise.resolve();
  };
  return new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl,
    chance: { sleep, random: () => 0.5 },
    ...options,
  });
}

const create = (tollhouse: Tollhouse) => tollhouse.customers.create({ name: 'Ann' });
const failed = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error as TollhouseError,
  );

// prettier-ignore
const PASSING: [name: string, answer: Answer, waitMs: number][] = [
  ['a reset',                    'reset',                                                        50],
  ['a cut answer',               http(200, '{"id":', { 'content-length': '100' }),               50],
  ['garbage',                    http(200, '{"id":'),                                            50],
  ['503',                        refusal(503, 'service_unavailable'),                            50],
  ['503, and when to come',      refusal(503, 'service_unavailable', { 'retry-after': '2' }),  2050],
  ['a balancer without a node',  http(502, '<html>', { 'content-type': 'text/html' }),           50],
  ['429',                        refusal(429, 'rate_limited', { 'retry-after': '1' }),         1050],
  ['a key in progress',          refusal(409, 'idempotency_in_progress', { 'retry-after': '1' }), 1050],
];

test.each(PASSING)(
  'the client sends a POST again after %s, under its key',
  async (_, answer, waitMs) => {
    await using server = await startHostile([answer, OK]);
    expect(await create(client(server.url))).toMatchObject({ id: '1' });
    const keys = server.received.map(({ key }) => key);
    expect(keys).toHaveLength(2);
    expect(keys[0]).toMatch(/^[0-9a-f]{32}-\w+$/);
    expect(new Set(keys).size).toBe(1);
    expect(waits).toEqual([waitMs]);
  },
);

test('the client waits for a Retry-After that is a date', async () => {
  const at = new Date(Math.ceil(Date.now() / 1000) * 1000 + 3000).toUTCString();
  const later = refusal(503, 'service_unavailable', { 'retry-after': at });
  await using server = await startHostile([later, OK]);
  await create(client(server.url));
  expect(waits[0]).toBeWithin(2500, 4100);
});

// prettier-ignore
test.each([
  ['400', refusal(400, 'invalid_request'),         'InvalidRequestError'],
  ['401', refusal(401, 'unauthorized'),            'AuthenticationError'],
  ['402', refusal(402, 'payment_failed'),          'PaymentFailedError'],
  ['403', refusal(403, 'forbidden'),               'PermissionError'],
  ['404', refusal(404, 'not_found'),               'NotFoundError'],
  ['409', refusal(409, 'conflict'),                'ConflictError'],
  ['422', refusal(422, 'idempotency_key_reused'),  'IdempotencyError'],
  ['500', refusal(500, 'internal_error'),          'ServerError'],
  ['a redirect', http(307, '', { location: '/elsewhere' }), 'InvalidRequestError'],
  ['a type of a later release', refusal(409, 'what_is_new'), 'InvalidRequestError'],
])('the client throws at once for %s', async (_, answer, name) => {
  await using server = await startHostile([answer, OK]);
  const error = await failed(create(client(server.url)));
  expect(error?.name).toBe(name);
  expect(server.received).toHaveLength(1);
});

test('a client error says what the answer said', async () => {
  const body = {
    error: { type: 'invalid_request', message: 'bad', issues: [{ path: ['name'], message: 'x' }] },
  };
  await using server = await startHostile([
    http(400, JSON.stringify(body), { 'x-request-id': 'req-1' }),
  ]);
  const error = await failed(create(client(server.url)));
  expect(error).toMatchObject({
    status: 400,
    type: 'invalid_request',
    message: 'bad',
    requestId: 'req-1',
  });
  expect(error?.issues).toEqual([{ path: ['name'], message: 'x' }]);
  expect(error?.idempotencyKey).toBe(server.received[0]!.key);
});

test('the client retries what may not be sent twice only after a 429', async () => {
  const change = (tollhouse: Tollhouse) => tollhouse.customers.update('ann', { name: 'Ann' });
  await using lost = await startHostile(['reset', OK]);
  expect(await failed(change(client(lost.url)))).toBeInstanceOf(ConnectionError);
  expect(lost.received).toHaveLength(1);
  await using limited = await startHostile([refusal(429, 'rate_limited'), OK]);
  expect(await change(client(limited.url))).toMatchObject({ id: '1' });
});

test('a client DELETE whose answer was lost and that finds nothing is done', async () => {
  await using server = await startHostile(['reset', refusal(404, 'not_found')]);
  expect(await failed(client(server.url).meters.del('calls'))).toBeNull();
  await using gone = await startHostile([refusal(404, 'not_found')]);
  expect(await failed(client(gone.url).meters.del('calls'))).toMatchObject({ status: 404 });
});

test('the client gives up a silent attempt, and the call ends at its deadline', async () => {
  await using server = await startHostile(['silence']);
  const tollhouse = client(server.url, {
    attemptTimeoutMs: 50,
    timeoutMs: 120,
    chance: { random: () => 0 },
  });
  const error = await failed(create(tollhouse));
  expect(error).toBeInstanceOf(DeadlineError);
  expect(error?.cause).toBeInstanceOf(ConnectionError);
  expect(error?.idempotencyKey).toBe(server.received[0]!.key);
  expect(new Set(server.received.map(({ key }) => key)).size).toBe(1);
  // So do calls that go together.
  const tracked = await failed(tollhouse.track({ externalCustomerId: 'a', featureKey: 'f' }));
  expect(tracked).toBeInstanceOf(DeadlineError);
});

test('the client begins no wait that leads past the deadline', async () => {
  const later = refusal(503, 'service_unavailable', { 'retry-after': '3600' });
  await using server = await startHostile([later]);
  const error = await failed(create(client(server.url)));
  expect(error).toMatchObject({ status: 503, retryAfterMs: 3_600_000 });
  expect(server.received).toHaveLength(1);
});

test("the caller's signal ends a client call with its reason", async () => {
  await using server = await startHostile(['silence']);
  const abort = new AbortController();
  const call = client(server.url).customers.list({}, { signal: abort.signal });
  setTimeout(() => abort.abort(new Error('enough')), 20);
  expect(await failed(call)).toEqual(new Error('enough') as never);
});

test('client hooks see each attempt and each wait, and change nothing when they throw', async () => {
  await using server = await startHostile([refusal(503, 'service_unavailable'), OK]);
  const seen: unknown[] = [];
  const onRetry = (retry: RetryInfo): void => {
    seen.push(['retry', retry.attempt, retry.delayMs]);
    throw new Error('of the hook');
  };
  const tollhouse = client(server.url, {
    hooks: {
      onRetry,
      onRequest: ({ operation, path, attempt, headers }) => {
        headers['traceparent'] = '00-1';
        return ({ status, durationMs, error }) =>
          seen.push([operation, path, attempt, status, durationMs >= 0, error?.name]);
      },
    },
  });
  await create(tollhouse);
  expect(seen).toEqual([
    ['createCustomer', '/customers', 1, 503, true, 'UnavailableError'],
    ['retry', 1, 50],
    ['createCustomer', '/customers', 2, 200, true, undefined],
  ]);
});

test('the client asks another node at once where one gives no answer', async () => {
  await using server = await startHostile([OK]);
  const away = `http://127.0.0.1:${await freePort()}`;
  const tollhouse = client([away, server.url]);
  for (let call = 0; call < 4; call += 1) await create(tollhouse);
  expect(server.received).toHaveLength(4);
  expect(waits.every((ms) => ms === 0)).toBe(true);
});
