// A follow-up task that always fails: it is postponed, then left to an operator. It delays no other
// task, and the log quotes nothing of its row.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { audit } from '../../src/database/audit.ts';
import { runAdmin } from '../support/admin.ts';
import { until } from '../support/until.ts';
import { type Payment, Shop } from './shop.ts';

setDefaultTimeout(60_000);

const EMAIL = 'ada.private@example.com';

let shop: Shop;
let poisoned: Payment;
beforeAll(async () => {
  shop = await Shop.open({ alone: true });
  poisoned = await shop.buy({ checkout: { customer_email: EMAIL, customer_name: 'Ada Private' } });
  const { invoice_id: id } = poisoned;
  // PostgreSQL's message quotes the whole row.
  await shop.server.sql.unsafe(`alter table invoices
    add constraint poison check (id <> '${id}' or amount_refunded = 0)`);
});
afterAll(() => shop.close());

const rowOf = async ({ id }: Payment) => {
  const [row] = await shop.server.sql`
    select *, next_at > now() as put_off from followups where payment_id = ${id}`;
  return row;
};
const metric = async (name: string): Promise<number> => {
  const { text } = await shop.server.call('GET', '/metrics', { key: null });
  return Number(new RegExp(`^tollhouse_${name} (.*)$`, 'm').exec(text)?.[1]);
};
const admin = async (...args: string[]) => {
  const asked = ['followups', ...args, '--json'];
  const { exitCode, stdout, stderr } = await runAdmin(asked, shop.server.databaseUrl);
  expect([exitCode, stderr]).toEqual([0, '']);
  return JSON.parse(stdout);
};

test('a task that fails is postponed, and the other tasks are done', async () => {
  const reply = await shop.refund(poisoned.id, { amount: '10.00' });
  expect([reply.status, reply.json.status]).toEqual([200, 'succeeded']);
  await until('it has failed', async () => (await rowOf(poisoned))?.['tries'] >= 1);
  expect(await rowOf(poisoned)).toMatchObject({ put_off: true, dead_at: null });
  const other = await shop.buy();
  await shop.refund(other.id);
  await until(
    'the other invoice has heard',
    async () => (await shop.read(`/invoices/${other.invoice_id}`)).amount_refunded === '100.00',
  );
  const clock = await shop.server.call('POST', '/test-clock', { body: { advance: 'PT1H' } });
  expect(clock.status).toBe(200);
  expect([await metric('followups_failing'), await metric('followups_dead')]).toEqual([1, 0]);
  expect((await admin('list')).data).toMatchObject([
    { payment_id: poisoned.id, kind: 'refund_settled', status: 'failing' },
  ]);
});

test('a task that fails for an hour goes to the dead letters with an event, and those behind it wait', async () => {
  const { sql, logged } = shop.server;
  await sql`
    update followups set failing_since = now() - interval '61 min', next_at = now(), written_at = now() - interval '62 min'
    where payment_id = ${poisoned.id}`;
  await until('it is dead', async () => (await rowOf(poisoned))?.['dead_at'] !== null);
  const { tries } = (await rowOf(poisoned))!;
  expect(
    logged.some((line) => line.includes('"level":"error"') && line.includes(poisoned.id)),
  ).toBe(true);
  expect(await metric('followups_dead')).toBe(1);
  expect((await shop.refund(poisoned.id, { amount: '1.00' })).status).toBe(200);
  // It is not tried any more.
  const clock = await shop.server.call('POST', '/test-clock', { body: { advance: 'PT1H' } });
  expect([clock.status, (await rowOf(poisoned))!['tries']]).toEqual([200, tries]);
  expect((await audit(sql)).map(({ check }) => check)).toEqual(['nothing is owed for an hour']);
  const { data } = await admin('list');
  expect(data).toMatchObject([{ status: 'dead', tries, next_attempt_at: null }]);
  expect(data[0].error).toContain('poison');
});

test('a dead letter shows nothing of the buyer, neither in the log nor to the operator', async () => {
  const seen = [...shop.server.logged, JSON.stringify(await admin('list'))].join('\n');
  expect(seen).toContain('"constraint_name":"poison"');
  for (const text of [EMAIL, 'Private', 'Failing row']) expect(seen).not.toContain(text);
});

test('a dead letter tried again after its cause is fixed is done, and so is what waited behind it', async () => {
  await shop.server.sql`alter table invoices drop constraint poison`;
  const [{ id }] = (await admin('list')).data;
  expect(await admin('retry', id)).toEqual({ retried: 1 });
  await until('it is done', async () => (await rowOf(poisoned)) === undefined);
  expect((await shop.read(`/invoices/${poisoned.invoice_id}`)).amount_refunded).toBe('11.00');
  expect(await admin('retry')).toEqual({ retried: 0 });
  const again = await runAdmin(['followups', 'retry', id], shop.server.databaseUrl);
  expect([again.exitCode, again.stderr]).toEqual([1, `no follow-up ${id} fails\n`]);
});
