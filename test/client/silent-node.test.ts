// One of two nodes takes connections and never answers: calls with less time than an attempt may
// take are answered by the other one, and soon ask it first.
import { expect, test } from 'bun:test';
import { Tollhouse } from '../../src/client/index.ts';
import { type Hostile, http, startHostile } from './hostile.ts';

const ALLOWED = http(200, '{"results":[{"allowed":true,"duplicate":false}]}');
const PERIOD_MS = 1000;
const use = { externalCustomerId: 'a', featureKey: 'f' };

/** By a clock that the test moves on: a silence takes real time, and what follows takes none. */
function clientOf(silent: Hostile, other: Hostile) {
  let ahead = 0;
  const tollhouse = new Tollhouse({
    apiKey: 'svc_test_1',
    baseUrl: [silent.url, other.url],
    checkTimeoutMs: 500,
    chance: { now: () => performance.now() + ahead },
  });
  const later = (ms: number): void => {
    ahead += ms;
  };
  return { tollhouse, later };
}

test("a client's check and track at a silent node are answered by the other node", async () => {
  await using silent = await startHostile(['silence']);
  await using other = await startHostile([ALLOWED]);
  const { tollhouse, later } = clientOf(silent, other);
  for (let call = 0; call < 4; call += 1) {
    expect(await tollhouse.check(use)).toMatchObject({ allowed: true });
    expect(await tollhouse.track(use, { timeoutMs: 600 })).toMatchObject({ duplicate: false });
    later(PERIOD_MS);
  }
});

test('the client leaves a silent node alone, and longer when it is silent again', async () => {
  await using silent = await startHostile(['silence']);
  await using other = await startHostile([ALLOWED]);
  const { tollhouse, later } = clientOf(silent, other);
  for (let call = 0; call < 4; call += 1) await tollhouse.check(use);
  expect(silent.received).toHaveLength(1);
  for (let second = 0; second < 60; second += 1) {
    later(PERIOD_MS);
    for (let call = 0; call < 2; call += 1) await tollhouse.check(use);
  }
  // After 1, 2, 4, 8, 16 seconds, and each 16 s from then on.
  expect(silent.received.length).toBeWithin(4, 9);
}, 30_000);

test('the client leaves a node alone after a call that had no time for another', async () => {
  await using silent = await startHostile(['silence']);
  await using other = await startHostile([http(200, '{"id":"1"}')]);
  const { tollhouse } = clientOf(silent, other);
  // A PATCH is not sent again: this one ends there, and the next one goes elsewhere.
  const update = () => tollhouse.customers.update('a', { name: 'A' }, { timeoutMs: 200 });
  const first = await Promise.allSettled([update(), update()]);
  expect(first.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
  for (let call = 0; call < 4; call += 1) expect(await update()).toMatchObject({ id: '1' });
  expect(silent.received).toHaveLength(1);
});
