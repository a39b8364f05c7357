// What a client is made with: refused at once where it cannot work, without a word of a secret.
import { expect, test } from 'bun:test';
import { Tollhouse } from '../../src/client/index.ts';
import { http, startHostile } from './hostile.ts';

const GOOD = { apiKey: 'svc_test_1', baseUrl: 'http://127.0.0.1:1' };

function refusalOf(options: object): Error | null {
  try {
    void new Tollhouse({ ...GOOD, ...options });
    return null;
  } catch (error) {
    return error as Error;
  }
}

test.each(['timeoutMs', 'attemptTimeoutMs', 'checkTimeoutMs', 'waitingMax', 'batchesInFlight'])(
  'the client refuses an invalid number for %s',
  (name) => {
    for (const value of [Number.NaN, 0, -1]) {
      const refused = refusalOf({ [name]: value });
      expect(refused).toBeInstanceOf(RangeError);
      expect(refused?.message).toStartWith(name);
    }
    expect(refusalOf({ [name]: '5' })).toBeInstanceOf(TypeError);
    expect(refusalOf({ [name]: 5 })).toBeNull();
  },
);

test.each([Number.NaN, 0, -1])("the client refuses a call's time of %d", async (timeoutMs) => {
  const tollhouse = new Tollhouse(GOOD);
  const use = { externalCustomerId: 'a', featureKey: 'f' };
  const calls = [
    tollhouse.check(use, { timeoutMs }),
    tollhouse.track(use, { timeoutMs }),
    tollhouse.customers.retrieve('a', { timeoutMs }),
  ];
  for (const { status, reason } of (await Promise.allSettled(calls)) as PromiseRejectedResult[]) {
    expect(status).toBe('rejected');
    expect(reason).toBeInstanceOf(RangeError);
  }
});

test.each([Infinity, 30 * 86_400_000])(
  'the client caps a time of %d ms at the longest possible',
  async (ms) => {
    const answers = [http(503, '{}'), http(200, '{"results":[{"allowed":true}]}')];
    await using server = await startHostile(answers);
    const times = { timeoutMs: ms, attemptTimeoutMs: ms, checkTimeoutMs: ms };
    const slow = async (url: string, init: RequestInit): Promise<Response> => {
      await Bun.sleep(50);
      init.signal?.throwIfAborted();
      return fetch(url, init);
    };
    const tollhouse = new Tollhouse({ ...GOOD, ...times, baseUrl: server.url, fetch: slow });
    const { signal } = new AbortController();
    const use = { externalCustomerId: 'a', featureKey: 'f' };
    const check = tollhouse.check(use, { timeoutMs: ms, signal });
    expect(await check).toMatchObject({ allowed: true });
    expect(server.received).toHaveLength(2);
  },
);

test.each([
  ['a key with a line break', { apiKey: 'svc_test_SECRET\n' }],
  ['a key with a space', { apiKey: 'svc_test SECRET' }],
  ['a key beyond ASCII', { apiKey: 'svc_test_SECRET\u00e9' }],
  ['no key', { apiKey: undefined }],
  ['an empty key', { apiKey: '' }],
  ['a user and a password', { baseUrl: 'http://user:SECRET@127.0.0.1:1' }],
  ['a user', { baseUrl: 'http://SECRET@127.0.0.1:1' }],
  ['a broken address with a password', { baseUrl: 'http://user:SECRET@127.0.0.1:x' }],
])('the client refuses %s, and does not print it', (_, options) => {
  const refused = refusalOf(options);
  expect(refused).toBeInstanceOf(TypeError);
  expect(Bun.inspect(refused?.message)).not.toContain('SECRET');
  expect(JSON.stringify(Object.entries(refused ?? {}))).not.toContain('SECRET');
});

test('the client takes a null key where a server in between adds the key', () => {
  expect(refusalOf({ apiKey: null })).toBeNull();
});
