// GET /decisions of a customer with a thousand features: it reads what is near the instant, and not
// each feature by itself.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { clock } from '../../../src/platform/clock.ts';
import { listDecisionsAround } from '../../../src/records/decisions.ts';
import { untilFolded } from '../../support/folded.ts';
import { Setting } from '../metering/setting.ts';

setDefaultTimeout(180_000);

const FEATURES = 1000;
const AT_ONCE = 20;
const DAY_MS = 86_400_000;
const QUARTER_MS = 900_000;

/** The middle of a quarter of an hour. */
const now = Math.floor(clock.now() / QUARTER_MS) * QUARTER_MS - QUARTER_MS / 2;
/** Half of them are used in one quarter, then each in one of its own. */
const busy = now - 20 * DAY_MS;
const times = [
  ...Array.from({ length: FEATURES / 2 }, (_none, n) => busy + (n - 250) * 1000),
  ...Array.from({ length: FEATURES }, (_none, n) => now - n * 1_200_000),
].toSorted((a, b) => a - b);

let setting: Setting;
let customer: string;
beforeAll(async () => {
  setting = await Setting.open();
  customer = await setting.customer();
  const features = Array.from({ length: FEATURES }, (_none, n) => `f${n}`);
  for (let n = 0; n < FEATURES; n += AT_ONCE) {
    await Promise.all(features.slice(n, n + AT_ONCE).map(granted));
  }
  const events = times.map((at, n) => ({
    name: `f${n % FEATURES}`,
    customer_id: customer,
    timestamp: new Date(at).toISOString(),
  }));
  for (let n = 0; n < events.length; n += 500) {
    const { status, text } = await setting.post('/events/ingest', {
      events: events.slice(n, n + 500),
    });
    expect([status, text]).toEqual([200, text]);
  }
  await setting.server.flush();
});
afterAll(() => setting.stop());

async function granted(feature: string): Promise<void> {
  await setting.meter(feature);
  const from = new Date(now - 30 * DAY_MS).toISOString();
  await setting.grant(customer, feature, { effective_at: from });
}

/** The nearest on each side, the newest first. */
const nearest = (at: number, limit: number): number[] =>
  [
    ...times.filter((time) => time <= at).slice(-limit),
    ...times.filter((time) => time > at).slice(0, limit),
  ].toReversed();

// prettier-ignore
const INSTANTS: [string, number][] = [
  ['now',                               now],
  ['among uses in quarters of their own', now - 5 * DAY_MS],
  ['among many uses of one quarter',    busy],
  ['at the start of that quarter',      busy - QUARTER_MS / 2],
  ['between the two',                   now - 17 * DAY_MS],
  ['before all of it',                  now - 25 * DAY_MS],
];

test.each(INSTANTS)('the decisions %s are those nearest to it', async (_what, at) => {
  const query = `customer_id=${customer}&at=${new Date(at).toISOString()}&limit=20`;
  const { status, json } = await setting.server.call('GET', `/decisions?${query}`);
  expect(status).toBe(200);
  const found = json.data.map(({ at: time }: { at: string }) => Date.parse(time));
  expect(found).toEqual(nearest(at, 20));
});

test.each(['flushes', 'bins'])('are read by a few looks at the transfers, by %s', async (from) => {
  if (from === 'bins') await untilFolded(setting.server.sql);
  for (const [, at] of INSTANTS) {
    const scans = await scansFor(at);
    // Each account of up to eight is a look of its own, and more of them are one.
    expect(scans).toBeGreaterThan(0);
    expect(scans).toBeLessThan(20);
  }
});

/** How often the transfers, or their index, are read for it. */
function scansFor(at: number): Promise<number> {
  const { sql, organisation } = setting.server;
  const scope = { organisationId: organisation.id, mode: 'test' } as const;
  const around = { customerId: customer, meterId: null, at: new Date(at), limit: 20 };
  return sql.begin(async (transaction) => {
    const which = { ...around, only: null, isOld: false };
    const found = await listDecisionsAround(transaction, scope, which);
    expect(found).toHaveLength(nearest(at, 20).length);
    const [row] = await transaction<{ scans: number }[]>`
      select (pg_stat_get_xact_numscans('transfers'::regclass)
        + pg_stat_get_xact_numscans('transfers_by_time'::regclass))::int as scans`;
    return row?.scans ?? 0;
  });
}
