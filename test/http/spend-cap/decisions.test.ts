// What a spend cap denies: checks, usage that is consumed, and usage that may be rejected.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { PATIENCE_MS } from '../../payments/shop.ts';
import { CAP, Capped, OK, OVERAGE } from './setting.ts';

setDefaultTimeout(PATIENCE_MS);

let capped: Capped;
beforeAll(async () => {
  capped = await Capped.open();
});
afterAll(() => capped.close());

test('a check is denied from the first unit that costs more than the spend cap leaves', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.05', plan);
  expect(await capped.check(customer, plan, 10)).toEqual(OK);
  expect(await capped.check(customer, plan, 15)).toEqual(OVERAGE);
  expect(await capped.check(customer, plan, 16)).toEqual(CAP);
  const body = { customer_id: customer, feature_key: plan.feature, value: 16 };
  const { json } = await capped.club.post('/check', body);
  expect(json).toMatchObject({ limit: 10, consumed: 0, balance: 10, overage_allowed: true });
  const { json: batch } = await capped.club.post('/check/batch', { checks: [body, body] });
  expect(batch.results).toEqual([json, json]);
  await capped.track(customer, plan, 10);
  expect(await capped.check(customer, plan, 5)).toEqual(OVERAGE);
  expect(await capped.check(customer, plan, 6)).toEqual(CAP);
  // A fact, which a correction takes back.
  await capped.track(customer, plan, 20);
  expect(await capped.check(customer, plan)).toEqual(CAP);
  await capped.track(customer, plan, -18);
  expect(await capped.check(customer, plan, 3)).toEqual(OVERAGE);
  expect(await capped.check(customer, plan, 4)).toEqual(CAP);
});

test('included usage stays allowed, also with a spend cap of 0 or one exceeded', async () => {
  const [one, other] = [await capped.plan(), await capped.plan()];
  const customer = await capped.customer('0', one, other);
  expect(await capped.check(customer, one, 10)).toEqual(OK);
  expect(await capped.check(customer, one, 11)).toEqual(CAP);
  expect((await capped.consume(customer, one, 10)).json.allowed).toBe(true);
  await capped.track(customer, one, 99);
  expect(await capped.check(customer, one)).toEqual(CAP);
  expect(await capped.check(customer, other, 10)).toEqual(OK);
  expect((await capped.reject(customer, other, 10)).status).toBe(200);
  expect(await capped.check(customer, other)).toEqual(CAP);
});

test('a check of one feature sees at once what another has spent, and the spend cap', async () => {
  const [one, other] = [await capped.plan(), await capped.plan()];
  const customer = await capped.customer('0.10', one, other);
  await capped.track(customer, one, 10);
  await capped.track(customer, other, 10);
  for (let left = 10; left > 0; left -= 1) {
    expect(await capped.check(customer, one, left)).toEqual(OVERAGE);
    expect(await capped.check(customer, one, left + 1)).toEqual(CAP);
    await capped.track(customer, other);
  }
  expect(await capped.check(customer, one)).toEqual(CAP);
  // The same question, on the same state of its own feature.
  await capped.track(customer, other, -1);
  expect(await capped.check(customer, one)).toEqual(OVERAGE);
  await capped.track(customer, other);
  expect(await capped.check(customer, one)).toEqual(CAP);
  await capped.put(customer, '0.11');
  expect(await capped.check(customer, one)).toEqual(OVERAGE);
  await capped.put(customer, '0.10');
  expect(await capped.check(customer, one)).toEqual(CAP);
  await capped.put(customer, '0.10', 'EUR');
  expect(await capped.check(customer, one)).toEqual(OVERAGE);
  await capped.put(customer, '0.10');
  await capped.call('DELETE', customer);
  expect(await capped.check(customer, one)).toEqual(OVERAGE);
  await capped.put(customer, '0.10');
  expect(await capped.check(customer, one)).toEqual(CAP);
});

test('a consume denied by the spend cap stays denied on retry, whatever was allowed since', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.05', plan);
  const keyed = { idempotency_key: 'work' };
  const refused = await capped.consume(customer, plan, 16, keyed);
  expect([refused.status, refused.json.allowed, refused.json.reason]).toEqual([200, ...CAP]);
  await capped.put(customer, '9.00');
  expect((await capped.consume(customer, plan, 16, keyed)).json).toEqual(refused.json);
  expect((await capped.consume(customer, plan, 16)).json.reason).toBe('overage_allowed');
  expect(await capped.spent(customer)).toBe('0.06');
});

test('a track with `reject` beyond the spend cap is 402, and one without is recorded', async () => {
  const plan = await capped.plan();
  const customer = await capped.customer('0.05', plan);
  const keyed = { idempotency_key: 'work' };
  for (let times = 0; times < 2; times += 1) {
    const { status, json } = await capped.reject(customer, plan, 16, keyed);
    expect([status, json.error?.type, json.error?.message]).toEqual([
      402,
      'insufficient_balance',
      'the usage would cost more than is left of the spend cap',
    ]);
  }
  expect((await capped.reject(customer, plan, 15)).status).toBe(200);
  const item = { customer_id: customer, feature_key: plan.feature };
  const tracks = [{ ...item, overage: 'reject' }, item, { ...item, value: -1 }];
  const { json } = await capped.club.post('/track/batch', { tracks });
  expect(json.results.map((one: { error?: { type: string } }) => one.error?.type)).toEqual([
    'insufficient_balance',
    undefined,
    undefined,
  ]);
  const events = [{ name: plan.feature, customer_id: customer, value: 100 }];
  expect((await capped.club.post('/events/ingest', { events })).status).toBe(200);
  expect(await capped.spent(customer)).toBe('1.05');
});

test('a spend cap counts packages, and tiers with a flat amount, by what they cost', async () => {
  const packages = await capped.plan(
    {},
    { model: 'package', unit_amount: undefined, package_size: 5, package_amount: '0.50' },
  );
  const tiered = await capped.plan(
    {},
    {
      model: 'graduated',
      unit_amount: undefined,
      tiers: [
        { up_to: 2, unit_amount: '0' },
        { up_to: null, flat_amount: '0.40' },
      ],
    },
  );
  const customer = await capped.customer('0.60', packages, tiered);
  await capped.track(customer, packages, 11);
  expect(await capped.check(customer, packages, 4)).toEqual(OVERAGE);
  expect(await capped.check(customer, packages, 5)).toEqual(CAP);
  expect(await capped.check(customer, tiered, 12)).toEqual(OVERAGE);
  expect(await capped.check(customer, tiered, 13)).toEqual(CAP);
});
