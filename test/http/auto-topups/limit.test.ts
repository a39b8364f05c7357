// The limit: captures in a calendar day, week or month of the organisation's zone.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { Topped } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

const ZONE = 'America/New_York';

let topped: Topped;
beforeAll(async () => {
  topped = await Topped.open();
  const { status } = await topped.server.call('PATCH', '/organization', {
    body: { timezone: ZONE },
  });
  expect(status).toBe(200);
});
afterAll(() => topped.close());

/** The start of the next day, week or month there. */
function nextStart(now: number, interval: 'day' | 'week' | 'month'): string {
  const day = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(ZONE).toPlainDate();
  const next = {
    day: day.add({ days: 1 }),
    week: day.add({ days: 8 - day.dayOfWeek }),
    month: day.with({ day: 1 }).add({ months: 1 }),
  }[interval];
  return new Date(next.toZonedDateTime(ZONE).epochMilliseconds).toISOString();
}

test.each(['day', 'week', 'month'] as const)(
  'an auto top-up charges at most two times a %s; when the next one begins it looks again',
  async (interval) => {
    const subject = await topped.subject({ units: 0 });
    const limit = { count: 2, interval };
    // Far below: three would be needed.
    await topped.put(subject, { threshold: 1001, limit });
    const next = nextStart(await topped.now(), interval);
    await topped.settled(subject, { status: 'suspended', reason: 'limit', next_attempt_at: next });
    expect(await topped.level(subject)).toBe(1000);
    await topped.track(subject, 1);
    await topped.put(subject, { threshold: 1001, limit });
    expect(await topped.payments(subject)).toHaveLength(2);
    await topped.advanceTo(new Date(Date.parse(next) - 60_000).toISOString());
    expect(await topped.get(subject)).toMatchObject({ status: 'suspended', reason: 'limit' });
    await topped.advanceTo(next);
    await topped.settled(subject, { status: 'armed', reason: null, next_attempt_at: null });
    expect(await topped.level(subject)).toBe(1499);
    expect(await topped.payments(subject)).toHaveLength(3);
  },
);

test('a raised limit of an auto top-up counts the charges that were captured before', async () => {
  const subject = await topped.subject({ units: 0 });
  await topped.put(subject, { threshold: 2001, limit: { count: 1, interval: 'month' } });
  await topped.settled(subject, { status: 'suspended', reason: 'limit' });
  await topped.put(subject, { threshold: 2001, limit: { count: 3, interval: 'month' } });
  await topped.settled(subject, { status: 'suspended', reason: 'limit' });
  expect(await topped.payments(subject)).toHaveLength(3);
  // To remove it and put it again does not reset the count.
  expect((await topped.call('DELETE', subject)).status).toBe(204);
  await topped.put(subject, { threshold: 2001, limit: { count: 3, interval: 'month' } });
  expect(await topped.get(subject)).toMatchObject({ status: 'suspended', reason: 'limit' });
  await topped.put(subject, { threshold: 2001 });
  await topped.settled(subject, { status: 'armed' });
  expect(await topped.payments(subject)).toHaveLength(5);
});

test('a grant from elsewhere lifts the suspension of an auto top-up at its limit', async () => {
  const subject = await topped.subject({ units: 0 });
  await topped.put(subject, { threshold: 501, limit: { count: 1, interval: 'month' } });
  await topped.settled(subject, { status: 'suspended', reason: 'limit' });
  const body = { feature_key: subject.feature, amount: 100 };
  await topped.post(`/customers/${subject.customer}/grants`, body);
  expect(await topped.get(subject)).toMatchObject({ status: 'armed', reason: null });
});
