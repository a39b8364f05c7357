// A pool of credits with as many members as it may have, all of them used by one customer: however
// many calls come at once, everybody else is answered in between.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { CREDIT_COSTS_MAX, METERS_PER_EVENT_MAX, POOL_MEMBERS_MAX } from '../../ledger/limits.ts';
import { audit } from '../../src/database/audit.ts';
import { type Fields, Setting, times } from '../http/metering/setting.ts';
import { medianTurn } from '../support/longest-turn.ts';
import { MovedClock } from '../support/moved-clock.ts';

setDefaultTimeout(300_000);

/** Others are answered in between. With all 999 members that it could have it took 90 to 130 ms. */
const TURN_MS_MAX = 25;
/** Of 5,000 usages that are recorded together or not at all: one decision. It took 870 ms. */
const WHOLE_MS_MAX = 60;
const TRIES = 9;
const ROWS = 500;
const HOUR_MS = 3_600_000;

const members = Array.from({ length: POOL_MEMBERS_MAX }, (_, n) => `member-${n}`);
/** Ten of them have the same events. */
const shared = (n: number): string => `event-${Math.floor(n / METERS_PER_EVENT_MAX)}`;

const clock = new MovedClock();
let setting: Setting;
let customer_id: string;
beforeAll(async () => {
  clock.travel(Date.parse('2028-01-01T12:00:00Z'));
  setting = await Setting.open({ alone: true, clock });
  for (const [n, slug] of members.entries()) {
    await setting.meter(slug, { event_name: shared(n), scale: 0 });
  }
  const id = await setting.meter('pool', { scale: 6 });
  for (let from = 0; from < members.length; from += CREDIT_COSTS_MAX) {
    const listed = members.slice(from, from + CREDIT_COSTS_MAX);
    const credit_costs = listed.map((feature_key) => ({ feature_key, cost: '0.001' }));
    const { status, text } = await setting.server.call('PATCH', `/meters/${id}`, {
      body: { credit_costs },
    });
    expect([status, text]).toEqual([200, text]);
  }
  customer_id = await setting.customer();
  await setting.grant(customer_id, 'pool', { amount: 1_000_000, reset_interval: 'hour' });
  // Every second one has periods of its own.
  for (const [n, slug] of members.entries()) {
    if (n % 2 === 0) await setting.grant(customer_id, slug, { reset_interval: 'hour' });
  }
  for (let from = 0; from < members.length; from += METERS_PER_EVENT_MAX) {
    const used = await setting.ingest([{ customer_id, name: shared(from) }]);
    expect([used.status, used.text]).toEqual([200, used.text]);
  }
});
afterAll(async () => {
  expect(await audit(setting.server.sql)).toEqual([]);
  await setting.stop();
});

const rows = (fields: Fields): Fields[] =>
  Array.from({ length: ROWS }, (_, n) => {
    const feature_key = members[(POOL_MEMBERS_MAX - 1 - n) % POOL_MEMBERS_MAX];
    return { customer_id, feature_key, value: 1, ...fields };
  });
/** Of the last ten, whose list is in force. */
const events = (name: string): Fields[] =>
  Array.from({ length: ROWS }, () => ({ customer_id, name, value: 1 }));

// prettier-ignore
test.each<[string, number, string, () => object, number]>([
  ['checks',                  4, '/check/batch',   () => ({ checks: rows({}) }), TURN_MS_MAX],
  ['checks that consume',     4, '/check/batch',   () => ({ checks: rows({ consume: true }) }), TURN_MS_MAX],
  ['usages',                  4, '/track/batch',   () => ({ tracks: rows({}) }), TURN_MS_MAX],
  ['rejectable usages',       4, '/track/batch',   () => ({ tracks: rows({ overage: 'reject' }) }), TURN_MS_MAX],
  ['events of ten each',   1, '/events/ingest', () => ({ events: events(shared(POOL_MEMBERS_MAX - 1)) }), WHOLE_MS_MAX],
])('many %s of members of a pool take short turns', async (what, calls, path, body, most) => {
  const send = async (): Promise<void> => {
    const replies = await times(calls, () => setting.post(path, body()));
    for (const { status, text } of replies) expect([status, text]).toEqual([200, text]);
  };
  expect(await medianTurn(what, TRIES, send)).toBeLessThan(most);
});

test('many calls about members of a pool at once take short turns', async () => {
  const send = () =>
    times(300, (index) => setting.track(customer_id, members[index % POOL_MEMBERS_MAX] ?? ''));
  // With what the 300 calls of the test itself take.
  expect(await medianTurn('single usages', TRIES, send)).toBeLessThan(2 * TURN_MS_MAX);
});

test('the end of a period of a pool and of all its members takes a short turn', async () => {
  const end = async (): Promise<void> => {
    clock.travel(clock.now() + HOUR_MS);
    const { status, text } = await setting.check(customer_id, 'pool');
    expect([status, text]).toEqual([200, text]);
  };
  expect(await medianTurn('ends of a period', TRIES, end)).toBeLessThan(TURN_MS_MAX);
});
