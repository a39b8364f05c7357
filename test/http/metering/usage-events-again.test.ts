// Keyed usage that is sent again to a process that does not remember its key, while an endpoint
// subscribes to `usage.recorded`: the event of the first call is of the same object.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { URL_OF_NOBODY } from '../webhook-endpoints/owed.ts';
import { type Fields, postTo, restart, Setting, testBooksClose } from './setting.ts';

const METERS = ['track', 'header', 'check', 'batch', 'items', 'event', 'whole', 'part'];

let setting: Setting;
let customer: string;
let url: string;
let service: Awaited<ReturnType<typeof restart>>;
beforeAll(async () => {
  setting = await Setting.open({ alone: true });
  url = setting.server.url;
  for (const slug of METERS) await setting.meter(slug, { event_name: slug });
  // An event is recorded on two meters, under two ids.
  await setting.meter('event-too', { event_name: 'event' });
  customer = await setting.customer();
  await setting.grant(customer, 'check', { amount: 100 });
  const body = { url: URL_OF_NOBODY, event_types: ['usage.recorded'] };
  expect((await setting.post('/webhook-endpoints', body)).status).toBe(201);
});
afterAll(async () => {
  await service.stop();
  await setting.stop();
});

type Sent = { readonly path: string; readonly body: object; readonly headers?: Fields };

const send = ({ path, body, headers }: Sent) =>
  postTo(url, setting.server.organisation.testKey, {
    path,
    body,
    ...(headers && { headers: headers as Record<string, string> }),
  });

const usage = (feature: string, fields: Fields = {}) => ({
  customer_id: customer,
  feature_key: feature,
  ...fields,
});
const tracks = (feature: string, keys: readonly string[]) => ({
  tracks: keys.map((key) => usage(feature, { idempotency_key: `${feature} ${key}` })),
});
const events = (name: string, keys: readonly string[]) =>
  keys.map((key) => ({ customer_id: customer, name, external_id: `${name} ${key}` }));

const again = ({ duplicate }: { duplicate: boolean }): boolean => duplicate;
const ofResults = (json: { results: { duplicate: boolean }[] }) => json.results.map(again);
const ofEvents = ({ inserted, duplicates }: Fields) => [inserted, duplicates];
const ITEMS = { 'idempotency-key': 'items' };
const items = () => ({ tracks: [usage('items'), usage('items')] });

type Case = {
  readonly meter: string;
  readonly first: () => Sent;
  /** With something new where a call takes many. */
  readonly second?: () => Sent;
  readonly said: (json: never) => unknown;
  readonly is: unknown;
  readonly consumed: number;
};

const CASES: readonly Case[] = [
  {
    meter: 'track',
    first: () => ({ path: '/track', body: usage('track', { idempotency_key: 'track' }) }),
    said: again,
    is: true,
    consumed: 1,
  },
  {
    meter: 'header',
    first: () => ({
      path: '/track',
      body: usage('header'),
      headers: { 'idempotency-key': 'header' },
    }),
    said: ({ consumed }: { consumed: number }) => consumed,
    is: 1,
    consumed: 1,
  },
  {
    meter: 'check',
    first: () => ({
      path: '/check',
      body: usage('check', { consume: true, idempotency_key: 'check' }),
    }),
    said: ({ allowed, consumed }: Fields) => [allowed, consumed],
    is: [true, 1],
    consumed: 1,
  },
  {
    meter: 'batch',
    first: () => ({ path: '/track/batch', body: tracks('batch', ['a', 'b']) }),
    second: () => ({ path: '/track/batch', body: tracks('batch', ['new', 'b', 'a']) }),
    said: ofResults,
    is: [false, true, true],
    consumed: 3,
  },
  {
    meter: 'items',
    first: () => ({ path: '/track/batch', body: items(), headers: ITEMS }),
    said: ({ results }: { results: { consumed: number }[] }) =>
      results.map(({ consumed }) => consumed),
    is: [1, 2],
    consumed: 2,
  },
  {
    meter: 'event',
    first: () => ({ path: '/events/ingest', body: { events: events('event', ['a', 'b']) } }),
    second: () => ({
      path: '/events/ingest',
      body: { events: events('event', ['new', 'b', 'a']) },
    }),
    said: ofEvents,
    is: [1, 2],
    consumed: 3,
  },
  {
    meter: 'part',
    first: () => ({ path: '/events/ingest', body: { events: events('part', ['a', 'b']) } }),
    second: () => ({
      path: '/events/ingest',
      body: { partial: true, events: [...events('part', ['new', 'b']), { name: 'nobody' }] },
    }),
    said: ({ inserted, duplicates, rejected }: { rejected: unknown[] } & Fields) => [
      inserted,
      duplicates,
      rejected.length,
    ],
    is: [1, 1, 1],
    consumed: 3,
  },
  {
    meter: 'whole',
    first: () => ({
      path: '/events/ingest',
      body: { events: [{ customer_id: customer, name: 'whole' }] },
      headers: { 'idempotency-key': 'whole' },
    }),
    said: ofEvents,
    is: [0, 1],
    consumed: 1,
  },
];

const told = async (feature: string): Promise<number[]> => {
  const rows = await setting.server.sql<{ count: number }[]>`
    select (data ->> 'count')::int as count from events
    where type = 'usage.recorded' and data ->> 'featureKey' = ${feature} order by at, id`;
  return rows.map(({ count }) => count);
};

describe('sent again after a restart', () => {
  beforeAll(async () => {
    for (const { meter, first } of CASES) {
      const { status } = await send(first());
      expect([meter, status]).toEqual([meter, 200]);
    }
    service = await restart(setting);
    ({ url } = service);
  });

  test.each(CASES.map((one) => [one.meter, one] as const))(
    'by %s: recorded events are duplicates, and the rest is recorded',
    async (meter, { first, second = first, said, is, consumed }) => {
      const known = (await told(meter)).length;
      const { status, json } = await send(second());
      expect([status, json.error]).toEqual([200, undefined]);
      expect(said(json as never)).toEqual(is);
      expect(await setting.consumed(customer, meter)).toEqual([consumed]);
      // Of what was new.
      expect((await told(meter)).length).toBe(known + (second === first ? 0 : 1));
    },
  );
});

testBooksClose(() => setting);
