// GET /usage with groups by metadata, and as CSV.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { must } from '../../../ledger/kernel/assert.ts';
import { ids } from '../../../src/platform/ids.ts';
import { findMeterBySlug } from '../../../src/records/meters.ts';
import { readUsageSeries } from '../../../src/records/usage-series.ts';
import { withSeed } from '../../support/random.ts';
import { type Fields, invalidAt, refusal, Setting, times } from '../metering/setting.ts';
import { ask, type Asked, type Bin, binsOf, type Sent } from './reckoning.ts';

setDefaultTimeout(120_000);

const HOUR = 3_600_000;
const START = Math.floor(Date.now() / HOUR) * HOUR - 20 * HOUR;

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open({ edited: true });
});
afterAll(() => setting.stop());

let meters = 0;
/** A meter of its own. */
async function metered(fields: Fields = {}): Promise<string> {
  meters += 1;
  await setting.meter(`m${meters}`, fields);
  return `m${meters}`;
}

type Use = { readonly at?: number; readonly value?: number; readonly metadata?: Fields };

async function use(feature: string, uses: readonly Use[], customer?: string): Promise<void> {
  const customer_id = customer ?? (await setting.customer());
  for (let from = 0; from < uses.length; from += 500) {
    const events = uses.slice(from, from + 500).map(({ at = START, value = 1, metadata }) => ({
      name: feature,
      customer_id,
      value,
      timestamp: new Date(at).toISOString(),
      ...(metadata !== undefined && { metadata }),
    }));
    const { status, text } = await setting.ingest(events);
    expect([status, text.slice(0, 100)]).toEqual([200, expect.any(String)]);
  }
}

const range = (hours = 3) => ({ from: START, to: START + hours * HOUR, bin: 'hour' });

/** Start, group, value and events of each row, the start in hours. */
const rowsOf = (bins: readonly Bin[]) =>
  bins.map(({ start, group, value, events }) => [
    (Date.parse(start) - START) / HOUR,
    group,
    value,
    events,
  ]);

test('usage by group: the largest over the range first, the rest last, an empty bin has one row', async () => {
  const feature = await metered();
  await use(feature, [
    { value: 1, metadata: { region: 'eu' } },
    { value: 5, metadata: { region: 'us' } },
    { value: 3 },
    { value: 2, metadata: { other: 'eu' } },
    { at: START + 2 * HOUR, value: 7, metadata: { region: 'eu' } },
    { at: START + 2 * HOUR, value: -2, metadata: { region: 'eu' } },
  ]);
  const bins = await binsOf(setting, { feature, ...range(), group_by: 'metadata.region' });
  expect(rowsOf(bins)).toEqual([
    [0, 'eu', 1, 1],
    [0, 'us', 5, 1],
    [0, null, 5, 2],
    [1, null, 0, 0],
    [2, 'eu', 5, 2],
  ]);
});

test('usage by group keeps a value as it was sent: 1 is not "1"', async () => {
  const feature = await metered({ aggregation: 'count' });
  const values = [1, '1', true, 'true', 'null', '', 1.5, 1e300];
  await use(
    feature,
    values.flatMap((v, index) => Array.from({ length: index + 1 }, () => ({ metadata: { v } }))),
  );
  const bins = await binsOf(setting, { feature, ...range(1), group_by: 'metadata.v' });
  expect(rowsOf(bins)).toEqual(
    values.map((group, index) => [0, group, index + 1, index + 1]).toReversed(),
  );
});

test('usage by group has 250 groups by name, and null for the rest', async () => {
  const feature = await metered();
  const uses = Array.from({ length: 260 }, (_, index) => ({
    value: index + 1,
    at: START + (index % 2) * HOUR,
    metadata: { user: `user-${index}` },
  }));
  await use(feature, uses);
  const bins = await binsOf(setting, { feature, ...range(2), group_by: 'metadata.user' });
  expect(bins).toHaveLength(252);
  const rest = bins.filter(({ group }) => group === null).map(({ value }) => value);
  // 1, 3, 5, 7, 9 in the first hour, 2, 4, 6, 8, 10 in the second.
  expect(rest).toEqual([25, 30]);
  expect(bins.find(({ group }) => group === 'user-10')?.value).toBe(11);
  expect(bins.find(({ group }) => group === 'user-9')).toBeUndefined();
});

test('usage by group of one customer, cut at any instant', async () => {
  const feature = await metered();
  const [one = '', other = ''] = await times(2, () => setting.customer());
  const at = START + 61_234;
  const uses = [-1, 0, 1].map((ms) => ({ at: at + ms, value: 10 + ms, metadata: { k: 'x' } }));
  await use(feature, uses, one);
  await use(feature, [{ at, value: 100, metadata: { k: 'x' } }], other);
  const asked = { feature, from: at, to: at + 1, bin: 'hour', group_by: 'metadata.k' };
  const own = await binsOf(setting, { ...asked, customer: one });
  expect(own).toEqual([
    {
      start: new Date(START).toISOString(),
      end: new Date(START + HOUR).toISOString(),
      value: 10,
      events: 1,
      group: 'x',
    },
  ]);
  expect((await binsOf(setting, asked)).map(({ value }) => value)).toEqual([110]);
});

test('usage by random groups adds up to the bins without groups', async () => {
  const feature = await metered({ scale: 3 });
  const sent: Sent[] = [];
  await withSeed(async (random) => {
    const customers = await times(2, () => setting.customer());
    for (const customer of customers) {
      const uses = Array.from({ length: 300 }, () => ({
        at: START + random.integer(0, 10 * HOUR),
        value: random.integer(-500, 3000) / 1000,
        ...(random.chance(0.8) && { metadata: { g: random.pick(['a', 'b', 3, false, 'Ω']) } }),
      }));
      await use(feature, uses, customer);
      for (const { value, at, metadata } of uses) {
        sent.push({
          customer,
          feature,
          at,
          value: Math.round(value * 1000),
          metadata: metadata ?? {},
        });
      }
    }
    for (let run = 0; run < 20; run += 1) {
      const from = START + random.integer(0, 5 * HOUR);
      const asked: Asked = { feature, from, to: from + random.integer(1, 6 * HOUR), bin: 'hour' };
      const grouped = await binsOf(setting, { ...asked, group_by: 'metadata.g' });
      const rows = new Map<string, { value: number; events: number }>();
      for (const one of sent.filter(({ at }) => at >= asked.from && at < asked.to)) {
        const start = Math.floor(one.at / HOUR) * HOUR;
        const key = JSON.stringify([start, one.metadata?.['g'] ?? null]);
        const row = rows.get(key) ?? { value: 0, events: 0 };
        row.value += one.value;
        row.events += 1;
        rows.set(key, row);
      }
      const found = grouped
        .map(({ start, group, value, events }) => {
          const key = JSON.stringify([Date.parse(start), group]);
          return [key, { value: Math.round(value! * 1000), events }] as const;
        })
        .filter(([key, { events }]) => rows.has(key) || events !== 0);
      expect(new Map(found)).toEqual(rows);
    }
  });
});

test('usage by group takes hostile names and values', async () => {
  const feature = await metered({ aggregation: 'count' });
  const names = [
    "'",
    '"',
    '\\',
    '%',
    '_',
    '?',
    '$1',
    'a.b',
    ' ',
    '\n',
    '<b>',
    '😀',
    '__proto__',
    ''.padEnd(40, 'ü'),
  ];
  for (const name of names) await use(feature, [{ metadata: { [name]: name } }]);
  for (const name of names) {
    const bins = await binsOf(setting, { feature, ...range(1), group_by: `metadata.${name}` });
    expect([name, bins.map(({ group, value }) => [group, value])]).toEqual([
      name,
      [
        [name, 1],
        [null, names.length - 1],
      ],
    ]);
  }
  for (const name of [
    'constructor',
    'a',
    '$.x',
    "'; drop table transfers; --",
    ''.padEnd(90, 'x'),
  ]) {
    const bins = await binsOf(setting, { feature, ...range(1), group_by: `metadata.${name}` });
    expect([name, bins.map(({ group }) => group)]).toEqual([name, [null]]);
  }
});

test('usage by more groups in bins than an answer may have is refused', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  const { id } = setting.server.organisation;
  // As flushes write them: 26,000 events would take the test too long.
  await use(feature, [{}], customer);
  await setting.server.sql.begin(async (sql) => {
    await sql`
      insert into transfers (id, debit, credit, amount, at, value, consumed_after, limit_after, kind, reason, slot, node, guarded, metadata)
      select uuidv7(), t.debit, t.credit, null, t.event_at + n * interval '1 hour' / 250, 1000000, 0, 0, 'single', 'ok', t.slot, t.node, false,
        jsonb_build_object('g', n % 250)
      from transfers t join accounts a on a.slot = t.slot and a.id = t.debit, generate_series(0, 26000) n
      where a.customer_id = ${customer} and a.organisation_id = ${id}`;
    await sql`
      insert into usage_deltas (node, seq, slots, accounts, quarters, sums, events)
      select 0, 1, array_agg(slot), array_agg(debit), array_agg(quarter), array_agg(sum), array_agg(count)
      from (select t.slot, t.debit, date_bin('15 minutes', t.at, '2000-01-01') as quarter, sum(t.value)::bigint as sum, count(*)::int as count
        from transfers t join accounts a on a.slot = t.slot and a.id = t.debit
        where a.customer_id = ${customer} and t.event_at is null group by 1, 2, 3)`;
  });
  const asked = {
    feature,
    from: START,
    to: START + 110 * HOUR,
    bin: 'hour',
    group_by: 'metadata.g',
  };
  expect(refusal(await ask(setting, asked))).toEqual(invalidAt(['group_by']));
  const days = await binsOf(setting, { ...asked, bin: 'day' });
  expect(days.reduce((sum, { events }) => sum + events, 0)).toBe(26_002);
  // As many as fit, and the event without a group.
  expect(await binsOf(setting, { ...asked, to: START + 40 * HOUR })).toHaveLength(10_001);
  // Of more nothing is read, so that nothing is built of it.
  const { sql } = setting.server;
  const scope = { organisationId: id, mode: 'test' } as const;
  const meter = must(await findMeterBySlug(sql, scope, feature), 'the meter');
  const edges = Array.from({ length: 43 }, (_, hour) => START + hour * HOUR);
  const series = { source: { meter, customer: null }, edges, groupBy: 'g' };
  expect(await readUsageSeries(sql, ids, series)).toBe('too_many_groups');
});

test('usage by group as CSV is safe in a spreadsheet', async () => {
  const feature = await metered();
  const customer = await setting.customer();
  const of = (group: unknown, value: number) => ({ value, metadata: { g: group } });
  await use(
    feature,
    [
      of('=1+1', 9),
      of('a,"b"\n', 8),
      of(1, 7),
      of('-2', 6),
      of(-2, 5),
      of(true, 4),
      { value: 0.5 },
    ],
    customer,
  );
  const asked = { feature, ...range(2), format: 'csv' };
  const plain = await ask(setting, asked);
  const [a, b, c] = [0, 1, 2].map((hour) => new Date(START + hour * HOUR).toISOString());
  expect(plain.text).toBe(`start,end,value,events\r\n${a},${b},39.5,7\r\n${b},${c},0,0\r\n`);
  expect(plain.headers.get('content-type')).toBe('text/csv; charset=utf-8');
  expect(plain.headers.get('content-disposition')).toBe(
    `attachment; filename="usage-${feature}.csv"`,
  );
  const { text } = await ask(setting, { ...asked, group_by: 'metadata.g' });
  expect(text).toBe(
    [
      'start,end,value,events,group',
      `${a},${b},9,1,'=1+1`,
      `${a},${b},8,1,"a,""b""\n"`,
      `${a},${b},7,1,1`,
      `${a},${b},6,1,'-2`,
      `${a},${b},5,1,-2`,
      `${a},${b},4,1,true`,
      `${a},${b},0.5,1,`,
      `${b},${c},0,0,`,
      '',
    ].join('\r\n'),
  );
});

test('groups that are more than an answer holds are refused, as JSON and as CSV', async () => {
  const [long, short] = [await metered(), await metered()];
  const HOURS = 40;
  const jobsOf = (hour: number, name: string) =>
    Array.from({ length: 240 }, (_, n) => ({
      at: START + hour * HOUR,
      metadata: { job: `${n} ${name}` },
    }));
  for (let hour = 0; hour < HOURS; hour += 4) await use(long, jobsOf(hour - 20, 'x'.repeat(490)));
  for (let hour = 0; hour < HOURS; hour += 1) await use(short, jobsOf(hour - 20, 'x'.repeat(20)));
  const all = {
    group_by: 'metadata.job',
    bin: 'hour',
    from: START - 20 * HOUR,
    to: START + 20 * HOUR,
  };
  for (const format of ['json', 'csv']) {
    const reply = await ask(setting, { feature: long, ...all, format });
    expect(refusal(reply)).toEqual(invalidAt(['group_by']));
  }
  expect(refusal(await ask(setting, { feature: short, ...all }))).toEqual(invalidAt(['group_by']));
  const { json } = await ask(setting, { feature: short, ...all, to: START });
  expect(json.data).toHaveLength(20 * 240);
});
