// Up to 0.1.0 a key belonged to its organisation, and gave another id. Usage recorded then counts
// once after the upgrade, too.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { ids } from '../../../src/platform/ids.ts';
import { postTo, restart, Setting } from './setting.ts';

let setting: Setting;
let service: Awaited<ReturnType<typeof restart>>;
let one: string;
let other: string;
const first = new Map<string, unknown>();

const HEADER = { 'idempotency-key': 'by header' };
const tracked = { feature_key: 'api', value: 3, idempotency_key: 'tracked' };
const refused = { feature_key: 'api', value: 500, overage: 'reject', idempotency_key: 'refused' };
const byHeader = { feature_key: 'api', value: 4 };
const ingested = [{ name: 'call', value: 5, external_id: 'ingested' }];

async function send(url: string, path: string, body: object, headers = {}) {
  const { testKey } = setting.server.organisation;
  return postTo(url, testKey, { path, body, headers });
}
const withCustomer = (id: string) => (event: object) => ({ ...event, customer_id: id });

/** All calls for one customer; the answers by call. */
async function sendAll(url: string, id: string): Promise<Map<string, unknown>> {
  const of = withCustomer(id);
  const replies = {
    tracked: await send(url, '/track', of(tracked)),
    refused: await send(url, '/track', of(refused)),
    byHeader: await send(url, '/track', of(byHeader), HEADER),
    ingested: await send(url, '/events/ingest', { events: ingested.map(of) }),
  };
  return new Map(Object.entries(replies).map(([what, { json }]) => [what, json]));
}

/** Moves recorded rows to the ids of 0.1.0, which follow from the key alone. */
async function rename(meters: readonly string[]): Promise<void> {
  const { id: organisationId } = setting.server.organisation;
  const derive = (name: string, customer: string | null, ...key: string[]) =>
    ids.derive(name, organisationId, 'test', ...(customer === null ? [] : [customer]), ...key);
  const keys = [
    ['event', 'tracked'],
    ['event', 'refused'],
    ['request', 'track', 'by header'],
    ['event', 'ingested'],
  ] as const;
  for (const [name, ...key] of keys) {
    const [now, before] = [derive(name, one, ...key), derive(name, null, ...key)];
    const pairs = [
      [now, before],
      ...meters.map((id) => [ids.derive(now, id), ids.derive(before, id)]),
    ];
    for (const [is, was] of pairs) {
      await setting.server.sql`update transfers set id = ${was!} where id = ${is!}`;
      await setting.server.sql`update balances set latest_id = ${was!} where latest_id = ${is!}`;
    }
  }
}

beforeAll(async () => {
  setting = await Setting.open({ alone: true });
  const meters = [
    await setting.meter('api', { event_name: 'call' }),
    await setting.meter('second', { event_name: 'call' }),
  ];
  [one, other] = [await setting.customer(), await setting.customer()];
  for (const id of [one, other]) await setting.grant(id, 'api', { amount: 100 });
  for (const [what, json] of await sendAll(setting.server.url, one)) first.set(what, json);
  await rename(meters);
  await setting.server.sql`insert into usage_keys values (now())`;
  service = await restart(setting);
});
afterAll(async () => {
  await service.stop();
  await setting.stop();
});

test('an event sent before an upgrade and again after it gets the same answer, counted once', async () => {
  const again = await sendAll(service.url, one);
  const { id } = first.get('tracked') as { id: string };
  const {
    tracked: track,
    ingested: ingest,
    byHeader: header,
  } = Object.fromEntries(again) as Record<
    string,
    { id: string; duplicate: boolean; inserted: number; events: { id: string }[] }
  >;
  expect(track).toMatchObject({ duplicate: true, value: 3, consumed: 3 });
  expect(header).toMatchObject({ duplicate: false, value: 4, consumed: 7 });
  expect(track!.id).not.toBe(id);
  expect(again.get('refused')).toMatchObject({ error: { type: 'insufficient_balance' } });
  expect(ingest).toMatchObject({ inserted: 0, duplicates: 1 });
  const stored = await setting.server.sql`
    select id from transfers where id = any(${[track!.id, header!.id, ingest!.events[0]!.id]}::uuid[])`;
  expect(stored).toHaveLength(3);
  expect(await setting.consumed(one, 'api')).toEqual([12]);
  expect(await setting.consumed(one, 'second')).toEqual([5]);
});

test('a former key with another body is refused, and so is a batch with one refused before', async () => {
  const reused = await send(service.url, '/track', withCustomer(one)({ ...tracked, value: 9 }));
  expect([reused.status, reused.json.error.type]).toEqual([422, 'idempotency_key_reused']);
  const events = [...ingested, { ...ingested[0], external_id: 'refused' }].map(withCustomer(one));
  const batch = await send(service.url, '/events/ingest', { events });
  expect(batch.json.error.issues[0].path).toEqual(['events', '1', 'external_id']);
});

test('each event of a batch sent before an upgrade is answered again as by itself', async () => {
  const tracks = [tracked, refused, { ...tracked, value: 9 }].map(withCustomer(one));
  const { json } = await send(service.url, '/track/batch', { tracks });
  const [again, stays, reused] = json.results;
  const alone = await send(service.url, '/track', withCustomer(one)(tracked));
  expect([again, alone.json.duplicate]).toEqual([alone.json, true]);
  expect(stays.error.type).toBe('insufficient_balance');
  expect(reused.error.type).toBe('idempotency_key_reused');
  expect(await setting.consumed(one, 'api')).toEqual([12]);
});

test('former keys of another customer are other events, counted once each', async () => {
  for (const duplicate of [false, true]) {
    const sent = await sendAll(service.url, other);
    expect(sent.get('tracked')).toMatchObject({ duplicate });
    expect(sent.get('ingested')).toMatchObject({ inserted: duplicate ? 0 : 1 });
  }
  expect(await setting.consumed(other, 'api')).toEqual([12]);
  expect(await audit(setting.server.sql)).toEqual([]);
});

test('former keys are not looked up any more once retention has moved them all', async () => {
  await setting.server.sql`insert into retention values ('transfers', now() + interval '1 minute')`;
  await service.stop();
  service = await restart(setting);
  const again = await sendAll(service.url, one);
  expect(again.get('tracked')).toMatchObject({ duplicate: false });
});
