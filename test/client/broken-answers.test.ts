// Answers that the service does not give: a proxy's page, nothing, too little. None is taken for an
// answer, and each is asked for again.
import { expect, test } from 'bun:test';
import { ConnectionError, Tollhouse, type TollhouseError } from '../../src/client/index.ts';
import { type Answer, http, refusal, startHostile } from './hostile.ts';

const PAGE = { 'content-type': 'text/html' };
const use = { externalCustomerId: 'a', featureKey: 'f' };

function client(baseUrl: string): Tollhouse {
  const sleep = (): Promise<void> => Promise.resolve();
  return new Tollhouse({ apiKey: 'svc_test_1', baseUrl, timeoutMs: 5000, chance: { sleep } });
}

const failed = (call: Promise<unknown>) =>
  call.then(
    () => null,
    (error: unknown) => error as TollhouseError,
  );

// prettier-ignore
const BROKEN: [name: string, answer: Answer][] = [
  ['a page',           http(200, '<html>', PAGE)],
  ['JSON as a page',   http(200, '{"id":"1"}', PAGE)],
  ['nothing',          http(200, '')],
  ['204',              http(204, '')],
  ['an empty object',  http(200, '{}')],
  ['null',             http(200, 'null')],
  ['text',             http(200, '"ok"')],
];

test.each(BROKEN)('the client takes %s for no answer to a POST', async (_, answer) => {
  await using server = await startHostile([answer, http(200, '{"id":"1"}')]);
  expect(await client(server.url).customers.create({ name: 'Ann' })).toMatchObject({ id: '1' });
  expect(server.received).toHaveLength(2);
});

test.each<[string, Answer]>([...BROKEN, ['too few', http(200, '{"results":[]}')]])(
  'the client takes %s for no answer to a check or a track',
  async (_, answer) => {
    const results = http(200, '{"results":[{"allowed":true,"duplicate":false}]}');
    await using server = await startHostile([answer, results, answer, results]);
    const tollhouse = client(server.url);
    expect(await tollhouse.check(use)).toMatchObject({ allowed: true });
    expect(await tollhouse.track(use)).toMatchObject({ duplicate: false });
    expect(server.received).toHaveLength(4);
  },
);

test.each(BROKEN)(
  'the client takes %s for no answer to a check that consumes',
  async (_, answer) => {
    await using server = await startHostile([answer, http(200, '{"results":[{"allowed":true}]}')]);
    const answered = await client(server.url).check({ ...use, consume: true });
    expect(answered).toMatchObject({ allowed: true });
  },
);

test('a client call that may not be sent twice fails with a broken answer', async () => {
  await using server = await startHostile([http(200, '<html>', PAGE)]);
  const error = await failed(client(server.url).customers.update('ann', { name: 'Ann' }));
  expect(error).toBeInstanceOf(ConnectionError);
  expect(server.received).toHaveLength(1);
});

test('a client operation that answers nothing resolves with nothing', async () => {
  await using server = await startHostile([http(200, '<html>', PAGE), http(204, '')]);
  expect(await client(server.url).meters.del('calls')).toBeUndefined();
  expect(server.received).toHaveLength(2);
});

// prettier-ignore
test.each<[string, Answer[], number | null]>([
  ['lost, then 502', ['reset', http(502, '')],                                 null],
  ['lost, then 429', ['reset', refusal(429, 'rate_limited')],                  null],
  ['503',            [refusal(503, 'service_unavailable')],                    null],
  ['429',            [refusal(429, 'rate_limited')],                            404],
])('a client DELETE that finds nothing is done, or an error, after %s', async (_, before, status) => {
  await using server = await startHostile([...before, refusal(404, 'not_found')]);
  const error = await failed(client(server.url).meters.del('calls'));
  expect(error?.status ?? null).toBe(status);
});

test('a client error of one call of a batch names the request', async () => {
  const item = '{"error":{"type":"not_found","message":"no such feature"}}';
  const answer = http(200, `{"results":[${item}]}`, { 'x-request-id': 'req-1' });
  await using server = await startHostile([answer]);
  const error = await failed(client(server.url).check(use));
  expect(error).toMatchObject({ status: 404, requestId: 'req-1' });
  // The service says it where the caller does.
  await failed(client(server.url).check(use));
  const ids = server.received.map(({ requestId }) => requestId);
  expect(ids[0]).toMatch(/^[\w-]{8,128}$/);
  expect(new Set(ids).size).toBe(2);
});

test('a client hook whose promise rejects changes nothing', async () => {
  await using server = await startHostile([refusal(429, 'rate_limited'), http(200, '{"id":"1"}')]);
  const hook = (() => Promise.reject(new Error('of the hook'))) as () => never;
  const tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: server.url,
    hooks: { onRequest: hook, onRetry: hook },
  });
  expect(await tollhouse.customers.create({ name: 'Ann' })).toMatchObject({ id: '1' });
});

test('a client error says why there was no answer', async () => {
  const beneath = Object.assign(new Error('connect'), { code: 'ECONNREFUSED' });
  const tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: 'http://127.0.0.1:1',
    // As Node says it.
    fetch: () => Promise.reject(new TypeError('fetch failed', { cause: beneath })),
  });
  const error = await failed(tollhouse.customers.update('ann', { name: 'Ann' }));
  expect(error?.message).toEndWith(': ECONNREFUSED');
});
