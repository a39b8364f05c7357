// GET /usage after retention: bins stay, and what needs the events themselves says so.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { retain } from '../../../src/database/retention.ts';
import { clock, timers } from '../../../src/platform/clock.ts';
import { ids } from '../../../src/platform/ids.ts';
import { POLICY } from '../../store/keeping.ts';
import { untilFolded } from '../../support/folded.ts';
import { invalidAt, refusal, Setting, testBooksClose } from '../metering/setting.ts';
import { ask, type Asked, binsOf, expectReckoned, type Sent } from './reckoning.ts';

setDefaultTimeout(120_000);

const DAY = 86_400_000;
const QUARTER = 900_000;
const START = Math.floor(Date.now() / DAY) * DAY - 10 * DAY;

let setting: Setting;
const sent: Sent[] = [];
let customer: string;
beforeAll(async () => {
  setting = await Setting.open({ own: true });
  await setting.meter('api');
  customer = await setting.customer();
  for (let n = 0; n < 40; n += 1) {
    sent.push({
      customer,
      feature: 'api',
      at: START + n * 5 * 60_000 + 1,
      value: n % 4 === 3 ? -1000 : n * 1000,
    });
  }
  // They come to nothing.
  for (const value of [5000, -5000]) {
    sent.push({ customer, feature: 'api', at: START + DAY + 2, value });
  }
  const { status } = await setting.ingest(
    sent.map(({ at, value }) => ({
      name: 'api',
      customer_id: customer,
      value: value / 1000,
      timestamp: new Date(at).toISOString(),
      metadata: { region: 'eu' },
    })),
  );
  expect(status).toBe(200);
});
afterAll(() => setting.stop());

/** As the command does, so many days from now. */
async function keep(days: number, usageMonths: number | null): Promise<readonly string[]> {
  const later = { ...clock, now: () => Date.now() + days * DAY };
  const policy = { ...POLICY, usageMonths };
  const { sql } = setting.server;
  const kept = await retain({ sql, clock: later, timers, ids, dryRun: false }, policy);
  return kept?.closed ?? [];
}

const whole: Asked = { feature: 'api', from: START - DAY, to: START + 2 * DAY };
const cut: Asked = { feature: 'api', from: START + 7 * 60_000, to: START + QUARTER * 5 + 1 };
const nothing: Asked = { feature: 'api', from: START + DAY + 1, to: START + DAY + QUARTER };
const grouped: Asked = { ...cut, group_by: 'metadata.region' };

async function expectWhole(): Promise<void> {
  for (const who of [{}, { customer }]) {
    const asked = { ...whole, ...who };
    expectReckoned(await binsOf(setting, asked), sent, { asked, isCount: false });
  }
}

async function expectCut(): Promise<void> {
  for (const who of [{}, { customer }]) {
    const asked = { ...cut, ...who };
    expectReckoned(await binsOf(setting, asked), sent, { asked, isCount: false });
    const bins = await binsOf(setting, { ...grouped, ...who });
    const plain = bins.map(({ group, ...bin }) => [group, bin] as const);
    expect(plain.map(([group]) => group)).toEqual(['eu']);
    expectReckoned(
      plain.map(([, bin]) => bin),
      sent,
      { asked, isCount: false },
    );
  }
}

test('archived usage counts as before', async () => {
  await untilFolded(setting.server.sql);
  await expectCut();
  await keep(41, null);
  expect(await setting.server.sql`select from transfers where value is not null`).toHaveLength(0);
  await expectWhole();
  await expectCut();
});

test('usage in whole bins stays when its events are dropped; a cut quarter and groups are refused', async () => {
  expect(await keep(200, 1)).not.toEqual([]);
  expect(await setting.server.sql`select from transfers_archive`).toHaveLength(0);
  await expectWhole();
  for (const who of [{}, { customer }]) {
    expect(refusal(await ask(setting, { ...cut, ...who }))).toEqual(invalidAt(['from']));
    expect(refusal(await ask(setting, { ...nothing, ...who }))).toEqual(invalidAt(['from']));
    expect(refusal(await ask(setting, { ...grouped, ...who }))).toEqual(invalidAt(['group_by']));
  }
  // A cut quarter without usage needs no event.
  const empty = { ...cut, to: START + 2 * DAY + 1, from: START - DAY + 1 };
  expectReckoned(await binsOf(setting, empty), sent, { asked: empty, isCount: false });
  const events = await setting.server.call('GET', '/usage/events');
  expect(events.json).toEqual({ data: [], next_cursor: null });
});

test('new usage counts beside archived usage', async () => {
  const { json } = await setting.track(customer, 'api', { value: 2 });
  sent.push({ customer, feature: 'api', at: Date.parse(json.timestamp as string), value: 2000 });
  const asked = { ...whole, to: Date.now() + 60_001 };
  expectReckoned(await binsOf(setting, asked), sent, { asked, isCount: false });
});

testBooksClose(() => setting);
