// When an allowance by hand is given anew: counted from its `effective_at`, also one that is past,
// in the time zone of the organisation, as a plan's allowance is.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { Setting } from '../setting.ts';

/**
 * The day of March on which the summer begins in Zurich: noon is 11:00 UTC before and 10:00 from
 * then.
 */
function summerOf(year: number): number {
  const last = new Date(Date.UTC(year, 2, 31));
  return 31 - last.getUTCDay();
}

const YEAR = new Date().getUTCFullYear() + 1;
const SUMMER = summerOf(YEAR);
const march = (day: number, time: string): string =>
  `${YEAR}-03-${String(day).padStart(2, '0')}T${time}:00.000Z`;

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('api');
  const body = { timezone: 'Europe/Zurich' };
  expect((await setting.server.call('PATCH', '/organization', { body })).status).toBe(200);
  const now = { now: march(SUMMER - 1, '12:30') };
  expect((await setting.post('/test-clock', now)).status).toBe(200);
});
afterAll(() => setting.stop());

// prettier-ignore
const RHYTHMS: [string, string, string, string][] = [
  // what                               interval  effective_at                    ends
  ['days keep the wall clock',          'day',    march(SUMMER - 7, '11:00'),     march(SUMMER, '10:00')],
  ['the 31st is the last day',          'month',  `${YEAR}-01-31T11:00:00.000Z`,  march(31, '10:00')],
  ['an hour is an hour',                'hour',   march(1, '00:20'),              march(SUMMER - 1, '13:20')],
];

test.each(RHYTHMS)(
  'an allowance by hand renews as a plan’s does: %s',
  async (_what, interval, effectiveAt, end) => {
    const customer = await setting.customer();
    await setting.grant(customer, 'api', { reset_interval: interval, effective_at: effectiveAt });
    const { json } = await setting.server.call('GET', `/customers/${customer}/grants`);
    expect(json.data).toMatchObject([{ effective_at: effectiveAt, renews_at: end, remaining: 10 }]);
    const { json: check } = await setting.check(customer, 'api');
    expect(check).toMatchObject({ balance: 10, period_end: end });
  },
);
