// A batch is the same calls one after the other: what each is answered, what the customers have
// then, and what an endpoint hears of it. Random calls, against the real service.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import fc from 'fast-check';
import { holdsLater, seeded } from '../../../ledger/property.ts';
import { type Fields, Setting, testBooksClose } from '../setting.ts';

const RUNS = 12;

let setting: Setting;
beforeAll(async () => {
  setting = await Setting.open();
  await setting.meter('sum');
  await setting.meter('sized', { value_property: 'bytes', scale: 2 });
  await setting.meter('count', { aggregation: 'count' });
  await setting.meter('max', { aggregation: 'max' });
  await setting.meter('last', { aggregation: 'last' });
  await setting.meter('unique', { aggregation: 'unique', unique_property: 'user' });
  const hook = { url: 'https://example.com/hook', event_types: ['usage.recorded'] };
  expect((await setting.post('/webhook-endpoints', hook)).status).toBe(201);
});
afterAll(() => setting.stop());

const CUSTOMERS = 3;
const FEATURES = ['sum', 'sized', 'count', 'max', 'last', 'unique'];
/** A grant is small: some usage goes over it, and some is refused. */
const GRANTED = 20;

const optional = { requiredKeys: ['who', 'feature_key'] as ['who', 'feature_key'] };
const call = fc.record(
  {
    // The last of them is nobody.
    who: fc.integer({ min: 0, max: CUSTOMERS }),
    feature_key: fc.constantFrom(...FEATURES, ...FEATURES, 'nothing'),
    value: fc.oneof(
      { weight: 8, arbitrary: fc.constantFrom<unknown>(0, 1, 2, 5, 0.25, '3.5', -1, -4) },
      { weight: 1, arbitrary: fc.constantFrom<unknown>('999999999.999999', 1e-9, 'x', true, null) },
    ),
    idempotency_key: fc.constantFrom('a', 'b', 'c', 'd'),
    metadata: fc.record(
      { user: fc.constantFrom('u', 'v', 'w'), bytes: fc.constantFrom<unknown>(1, '2.5', 'many') },
      { requiredKeys: [] },
    ),
    overage: fc.constant('reject'),
    valeu: fc.constant(1),
  },
  optional,
);
const calls = fc.array(
  fc.oneof({ weight: 30, arbitrary: call }, { weight: 1, arbitrary: fc.constant(null) }),
  { minLength: 1, maxLength: 40 },
);
/** How many of the calls each batch has. */
const lengths = fc.array(fc.integer({ min: 1, max: 20 }), { minLength: 3, maxLength: 5 });

type Drawn = Readonly<Record<string, unknown>> & { readonly who: number };

async function newCustomers(): Promise<string[]> {
  const ids: string[] = [];
  for (let n = 0; n < CUSTOMERS; n += 1) {
    const id = await setting.customer();
    for (const feature of FEATURES) await setting.grant(id, feature, { amount: GRANTED });
    ids.push(id);
  }
  return ids;
}

const bodyOf = (drawn: Drawn | null, customers: readonly string[]): unknown => {
  // No field "undefined": a mistaken field is one that is there.
  if (drawn === null) return 7;
  const { who, ...body } = drawn;
  const named = customers[who];
  return named === undefined
    ? { ...body, external_customer_id: 'nobody' }
    : { ...body, customer_id: named };
};

/** The answers with names in place of what differs: ids by where they came first, no times. */
function comparable(answers: readonly Fields[], customers: readonly string[]): unknown[] {
  const ids = answers.map(({ id }) => id);
  return answers.map(({ id, timestamp: _time, customer_id, error, ...rest }) => ({
    ...rest,
    error: error === undefined ? undefined : { ...(error as Fields), message: undefined },
    id: id === undefined ? undefined : ids.indexOf(id),
    who: customers.indexOf(customer_id as string),
  }));
}

async function stateOf(customers: readonly string[]): Promise<unknown> {
  return Promise.all(
    customers.map(async (id) => {
      const told = await setting.server.sql<{ data: Fields }[]>`
        select data from events where account_id = ${id} and type = 'usage.recorded'
        order by data ->> 'featureKey', sequence`;
      const of = ({ featureKey, value, consumed, balance, idempotencyKey }: Fields) => {
        return { featureKey, value, consumed, balance, idempotencyKey };
      };
      const rows = await Promise.all(FEATURES.map((feature) => setting.balance(id, feature)));
      return {
        told: told.map(({ data }) => of(data)),
        balances: rows.map((row) => [row?.['consumed'], row?.['balance'], row?.['overage']]),
      };
    }),
  );
}

async function oneByOne(drawn: readonly (Drawn | null)[], customers: readonly string[]) {
  const answers: Fields[] = [];
  for (const one of drawn) {
    answers.push((await setting.post('/track', bodyOf(one, customers))).json as Fields);
  }
  return answers;
}

async function inBatches(
  drawn: readonly (Drawn | null)[],
  customers: readonly string[],
  sizes: readonly number[],
) {
  const answers: Fields[] = [];
  let from = 0;
  for (const size of [...sizes, drawn.length]) {
    const tracks = drawn.slice(from, from + size).map((one) => bodyOf(one, customers));
    from += size;
    const reply = await setting.post('/track/batch', { tracks });
    expect([reply.status, reply.json.error]).toEqual([200, undefined]);
    answers.push(...(reply.json.results as Fields[]));
  }
  return answers;
}

test(
  seeded('a track batch is answered and counted as the same calls one by one'),
  async () => {
    const property = fc.asyncProperty(calls, lengths, async (drawn, sizes) => {
      const [alone, together] = [await newCustomers(), await newCustomers()];
      const singles = await oneByOne(drawn, alone);
      const batches = await inBatches(drawn, together, sizes);
      expect(comparable(batches, together)).toEqual(comparable(singles, alone));
      expect(await stateOf(together)).toEqual(await stateOf(alone));
    });
    await holdsLater(property, RUNS);
  },
  60_000,
);

testBooksClose(() => setting);
