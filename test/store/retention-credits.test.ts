// What a pool drew and held for its members leaves the tables like all usage and reservations: the
// numbers stay, and so does what is still held.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { DAY_MS, Keeping } from './keeping.ts';

const START = Date.parse('2028-01-10T12:00:00Z');
const LONGEST = { expires_in: 86_400 };

let keeping: Keeping;
let customer: string;
beforeAll(async () => {
  keeping = await Keeping.open();
  const { setting } = keeping;
  await keeping.travel(START);
  await setting.meter('tokens', { scale: 0, value_property: 'n' });
  const credit_costs = [{ feature_key: 'tokens', cost: '2' }];
  await setting.meter('credits', { aggregation: 'sum', credit_costs });
  customer = await setting.customer();
  await setting.grant(customer, 'credits', { amount: 1000 });
  await setting.grant(customer, 'tokens', { amount: 100 });
}, 60_000);
afterAll(() => keeping.stop());

async function reserve(amount: number): Promise<string> {
  const body = { feature_key: 'tokens', customer_id: customer, amount, ...LONGEST };
  return (await keeping.setting.post('/reservations', body)).json.id;
}
const act = (id: string, what: string, body = {}) =>
  keeping.setting.post(`/reservations/${id}/${what}`, body);

/** What is used of the member and of the pool, and what is held of both. */
const numbers = async () =>
  Promise.all(
    ['tokens', 'credits'].map(async (feature) => {
      const row = await keeping.setting.balance(customer, feature);
      return [row?.['consumed'], row?.['reserved'], row?.['balance']];
    }),
  );
const draws = async (): Promise<[number, number]> => [
  await keeping.count(`transfers where answer ? 'drawnFor'`),
  await keeping.count(`transfers_archive where answer ? 'drawnFor'`),
];
const holds = () => keeping.count('reservations where member_account_id is not null');

test('retention moves draws and resolved holds, keeps open ones, and the audit finds nothing at each step', async () => {
  const { setting } = keeping;
  await setting.track(customer, 'tokens', { value: 150 });
  await setting.track(customer, 'tokens', { value: -10 });
  await act(await reserve(30), 'commit', { value: 20 });
  await act(await reserve(40), 'release');
  const open = await reserve(10);
  const all = [
    [160, 10, 0],
    [120, 20, 860],
  ];
  expect(await numbers()).toEqual(all);
  await act(open, 'extend', { amount: 15 });
  const more = [
    [160, 15, 0],
    [120, 30, 850],
  ];
  expect([await draws(), await numbers()]).toEqual([[3, 0], more]);
  const before = await holds();
  const later = { now: () => START + 41 * DAY_MS, monotonic: () => performance.now() };
  const { rows } = must(await keeping.retain({}, { clock: later }), 'what went');
  // Two of the member and all but one of the pool.
  expect(rows['reservations']).toBe(2 + before - 1);
  expect([await draws(), await holds(), await numbers()]).toEqual([[0, 3], 1, more]);
  await keeping.closes();
  // Its pool knows the cost of what was drawn so long ago.
  expect((await act(open, 'commit', { value: 15 })).status).toBe(200);
  await setting.track(customer, 'tokens', { value: -50 });
  const last = [
    [125, 0, 0],
    [50, 0, 950],
  ];
  expect([await draws(), await numbers()]).toEqual([[2, 3], last]);
  await keeping.closes();
  await keeping.travel(START + 300 * DAY_MS);
  const closed = must(await keeping.retain({ usageMonths: 1 }), 'what went');
  expect(closed.closed).toHaveLength(1);
  expect([await draws(), await holds(), await numbers()]).toEqual([[0, 0], 0, last]);
  await keeping.closes();
}, 60_000);
