// Reservations that were resolved long ago go with their transfers, and no caller can tell: keys
// count once within their window, open ones and what was used stay.
import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { type Fields, refusal } from '../http/metering/setting.ts';
import { DAY_MS, Keeping } from './keeping.ts';

const MINUTE = 60_000;
const START = Date.parse('2028-01-10T12:00:00Z');

let keeping: Keeping;
let customer: string;
beforeAll(async () => {
  keeping = await Keeping.open();
  await keeping.setting.meter('sum');
  await keeping.setting.meter('count', { aggregation: 'count' });
}, 60_000);
afterEach(() => keeping.closes());
afterAll(() => keeping.stop());

/** A customer; of those before nothing is left that may go. */
async function holder(): Promise<void> {
  await keeping.retain();
  customer = await keeping.setting.customer();
  for (const feature of ['sum', 'count']) {
    await keeping.setting.grant(customer, feature, { amount: 1000 });
  }
}

const ask = (feature: string, amount: number, fields: Fields = {}) =>
  keeping.setting.post('/reservations', {
    feature_key: feature,
    customer_id: customer,
    amount,
    ...fields,
  });
const reserve = async (feature: string, amount: number, fields: Fields = {}) =>
  (await ask(feature, amount, fields)).json.id as string;
const act = (id: string, what: string, body: Fields = {}) =>
  keeping.setting.post(`/reservations/${id}/${what}`, body);
const read = (id: string) => keeping.setting.server.call('GET', `/reservations/${id}`);

const gone = async (): Promise<number> =>
  must(must(await keeping.retain(), 'what went').rows['reservations'], 'a number');

/** Transfers of holds in the table, and in the archive. */
async function holds(): Promise<[number, number]> {
  const of = (table: string) =>
    keeping.count(`${table} t where kind in ('pending', 'post', 'void')
      and debit in (select id from accounts where customer_id = '${customer}')`);
  return [await of('transfers'), await of('transfers_archive')];
}

const used = async () => [
  await keeping.setting.consumed(customer, 'sum'),
  await keeping.setting.consumed(customer, 'count'),
];

test('retention moves a resolved reservation after its window, with all of its transfers', async () => {
  await keeping.travel(START);
  await holder();
  const committed = await reserve('sum', 10, { idempotency_key: 'once' });
  await act(committed, 'extend', { amount: 20 });
  await act(committed, 'extend', { amount: 30 });
  await act(committed, 'commit', { value: 42 });
  await act(await reserve('count', 9), 'commit', { value: 5 });
  await act(await reserve('sum', 9), 'release');
  const late = await reserve('sum', 9, { expires_in: 60 });
  await keeping.travel(START + DAY_MS);
  expect((await act(late, 'commit', { value: 3 })).json).toMatchObject({ late: true });
  expect(await used()).toEqual([[45], [5]]);
  await keeping.travel(START + 40 * DAY_MS - MINUTE);
  expect(await gone()).toBe(0);
  expect((await ask('sum', 10, { idempotency_key: 'once' })).json).toMatchObject({
    id: committed,
    status: 'committed',
  });
  await keeping.travel(START + 40 * DAY_MS + MINUTE);
  expect(await gone()).toBe(3);
  expect((await read(late)).status).toBe(200);
  // Its hold, the void of its expiry, and those of its late commit.
  expect(await holds()).toEqual([4, 0]);
  await keeping.closes();
  await keeping.travel(START + 41 * DAY_MS + MINUTE);
  expect(await gone()).toBe(1);
  expect([await holds(), await keeping.count('reservations')]).toEqual([[0, 0], 0]);
  expect((await read(committed)).status).toBe(404);
  expect((await act(late, 'commit', { value: 3 })).status).toBe(404);
  expect(await used()).toEqual([[45], [5]]);
  const of = `customer_id=${customer}&from=2028-01-01T00:00:00Z&to=2028-03-01T00:00:00Z`;
  const { json } = await keeping.setting.server.call('GET', `/usage/events?${of}`);
  expect(json.data.map(({ value }: { value: number }) => value).toSorted()).toEqual([12, 3, 30, 5]);
  // The key counts anew, and all that may follow it does.
  const again = await reserve('sum', 10, { idempotency_key: 'once' });
  expect(again).toBe(committed);
  await act(again, 'extend', { amount: 20 });
  await act(again, 'extend', { amount: 30 });
  expect((await act(again, 'commit', { value: 42 })).status).toBe(200);
  expect(await used()).toEqual([[87], [5]]);
  await keeping.closes();
  await keeping.travel(START + 200 * DAY_MS);
  const closed = must(await keeping.retain({ usageMonths: 1 }), 'what went');
  expect(closed.rows['reservations']).toBe(1);
  expect(closed.closed.length).toBeGreaterThan(1);
  expect(await keeping.count('transfers_archive')).toBe(0);
  expect(await used()).toEqual([[87], [5]]);
});

test('retention keeps an open reservation, however old its hold is', async () => {
  await keeping.travel(START + 300 * DAY_MS);
  await holder();
  const id = await reserve('sum', 9);
  await act(id, 'extend', { amount: 10 });
  const later = { now: () => START + 400 * DAY_MS, monotonic: () => performance.now() };
  const { rows } = must(await keeping.retain({}, { clock: later }), 'what went');
  expect(rows['reservations']).toBe(0);
  expect(await holds()).toEqual([3, 0]);
  await keeping.closes();
  expect((await act(id, 'commit', { value: 2 })).status).toBe(200);
});

test('retention moves a reservation that its alarm resolved late, once that is long ago', async () => {
  await keeping.travel(START + 500 * DAY_MS);
  await holder();
  const id = await reserve('sum', 9, { expires_in: 60 });
  await keeping.travel(START + 545 * DAY_MS);
  expect((await read(id)).json).toMatchObject({ status: 'expired' });
  expect(await gone()).toBe(0);
  await keeping.travel(START + 586 * DAY_MS);
  expect(await gone()).toBe(1);
  expect(await holds()).toEqual([0, 0]);
});

test('a reservation is committed at most 30 days after expiry, before retention may move it', async () => {
  await keeping.travel(START + 700 * DAY_MS);
  await holder();
  const [early, never] = [await reserve('sum', 9), await reserve('sum', 9)];
  await keeping.travel(START + 730 * DAY_MS);
  expect((await act(early, 'commit', { value: 3 })).json).toMatchObject({ late: true });
  await keeping.travel(START + 731 * DAY_MS);
  expect(refusal(await act(never, 'commit', { value: 3 }))).toEqual([404, 'not_found']);
  expect((await read(never)).json).toMatchObject({ status: 'expired' });
  // The first answer, whenever it is asked for.
  expect((await act(early, 'commit', { value: 3 })).status).toBe(200);
});

test('a retention step that dies has done nothing, and is done the next time', async () => {
  const { sql } = keeping.setting.server;
  await keeping.travel(START + 800 * DAY_MS);
  await holder();
  await act(await reserve('sum', 9), 'commit', { value: 3 });
  await keeping.travel(START + 900 * DAY_MS);
  const before = await holds();
  // It dies after the transfers are gone.
  await sql.unsafe(`
    CREATE FUNCTION die() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'killed'; END $$;
    CREATE TRIGGER dies AFTER DELETE ON reservations EXECUTE FUNCTION die()`);
  expect(await keeping.retain().catch(String)).toContain('killed');
  await sql`drop trigger dies on reservations`;
  expect([before, await holds()]).toEqual([[2, 0], before]);
  await keeping.closes();
  expect(await gone()).toBe(1);
  expect(await holds()).toEqual([0, 0]);
});

test('a dry run of retention says which reservations would be moved', async () => {
  await keeping.travel(START + 1000 * DAY_MS);
  await holder();
  await act(await reserve('sum', 9), 'release');
  await keeping.travel(START + 1100 * DAY_MS);
  const dry = must(await keeping.retain({}, { dryRun: true }), 'what would go');
  expect(dry.rows['reservations']).toBe(1);
  expect(await holds()).toEqual([2, 0]);
  expect(await gone()).toBe(1);
});
