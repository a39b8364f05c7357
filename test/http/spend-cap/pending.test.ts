// What is not yet on disk, and what never gets there, leaves no more of a spend cap: checks ask
// what is durable and what is decided.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { until } from '../../support/until.ts';
import type { Plan } from '../subscriptions/subscribing.ts';
import { CAP, Capped, OVERAGE } from './setting.ts';

setDefaultTimeout(2 * PATIENCE_MS);

let capped: Capped;
let one: Plan;
let other: Plan;
beforeAll(async () => {
  capped = await Capped.open({ alone: true });
  [one, other] = [await capped.plan(), await capped.plan()];
});
afterAll(() => capped.close());

/** All that is included is used, and 0.03 of the cap. */
async function customerAt(amount: string): Promise<string> {
  const customer = await capped.customer(amount, one, other);
  await capped.track(customer, one, 10);
  await capped.track(customer, other, 13);
  return customer;
}

/** Decides the request, looks around while it is on its way to the disk, and lets it through. */
async function meanwhile(
  customer: string,
  request: () => Promise<unknown>,
  look: () => Promise<void>,
): Promise<void> {
  const { journal, ledger, organisation } = capped.club.shop.server;
  const { id: organisationId } = organisation;
  const actor = await ledger.find({ organisationId, mode: 'test' }, { id: customer });
  journal.freeze();
  try {
    const answer = request();
    await until('it is decided', () => Promise.resolve(actor!.pending > 0));
    await look();
    journal.thaw();
    await answer;
  } finally {
    journal.thaw();
  }
}

const bothAre = async (customer: string, is: [boolean, string]): Promise<void> => {
  expect(await capped.check(customer, one)).toEqual(is);
  expect(await capped.check(customer, other)).toEqual(is);
};

// prettier-ignore
test.each<[string, (customer: string) => Promise<unknown>]>([
  ['a correction of another feature', (customer) => capped.track(customer, other, -2)],
  ['a greater cap',                   (customer) => capped.put(customer, '9.99')],
  ['a cap of another currency',       (customer) => capped.put(customer, '0.03', 'EUR')],
  ['no cap',                          (customer) => capped.call('DELETE', customer)],
])('the spend cap counts %s once it is on disk', async (_what, request) => {
  const customer = await customerAt('0.03');
  await bothAre(customer, CAP);
  await meanwhile(customer, () => request(customer), () => bothAre(customer, CAP));
  await bothAre(customer, OVERAGE);
});

// prettier-ignore
test.each<[string, (customer: string) => Promise<unknown>]>([
  ['usage of another feature', (customer) => capped.track(customer, other, 2)],
  ['a smaller cap',            (customer) => capped.put(customer, '0.03')],
])('the spend cap counts %s at once', async (_what, request) => {
  const customer = await customerAt('0.05');
  await bothAre(customer, OVERAGE);
  await meanwhile(customer, () => request(customer), () => bothAre(customer, CAP));
  await bothAre(customer, CAP);
});

test('usage that the database refuses leaves the spend cap as it was', async () => {
  const { server } = capped.club.shop;
  const endpoint = { url: 'https://hooks.example/a', event_types: ['*'] };
  expect((await capped.club.post('/webhook-endpoints', endpoint)).status).toBe(201);
  const customer = await customerAt('0.05');
  const told = async () => {
    const [row] = await server.sql`
      select count(*)::int from events where account_id = ${customer} and type = 'customer.spend_cap_reached'`;
    return row!['count'] as number;
  };
  await server.sql`
    alter table billing_accounts add constraint planted
    check (customer_id <> ${server.sql.unsafe(`'${customer}'`)}) not valid`;
  try {
    const put = await capped.call('PUT', customer, { amount: '9.00', currency: 'USD' });
    expect(put.status).toBe(500);
    expect((await capped.call('DELETE', customer)).status).toBe(500);
    expect(await capped.check(customer, one, 3)).toEqual(CAP);
    expect((await capped.call('GET', customer)).json).toMatchObject({
      amount: '0.05',
      spent: '0.03',
    });
    // It reaches the cap, which cannot be remembered.
    expect((await capped.consume(customer, one, 2)).status).toBe(500);
    expect(await capped.spent(customer)).toBe('0.03');
    expect(await capped.check(customer, one, 2)).toEqual(OVERAGE);
    expect(await told()).toBe(0);
  } finally {
    await server.sql`alter table billing_accounts drop constraint planted`;
  }
  expect((await capped.consume(customer, one, 2)).status).toBe(200);
  expect(await told()).toBe(1);
  await bothAre(customer, CAP);
});
