// What the buyer reads on Stripe's page.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { ids } from '../../../src/platform/ids.ts';
import { type Adapter, openAdapter } from './rig.ts';

let adapter: Adapter;
beforeAll(async () => {
  adapter = await openAdapter();
});
afterAll(() => adapter.close());

const sent = () => new URLSearchParams(adapter.fake.requests().at(-1)!.body);

test.each([
  ['of a payment', 10_000n, false],
  ['that only saves', 0n, true],
])('the Stripe session %s begins with the address of the buyer', async (_what, amount, save) => {
  const charged = await adapter.open().charge({
    key: ids.next(),
    amount,
    currency: 'USD',
    instrument: null,
    save,
    returnUrl: 'https://shop.example/back',
    order: { name: 'Pro', email: 'ada@example.com' },
  });
  expect(charged.kind).toBe('requires_action');
  expect(sent().get('customer_email')).toBe('ada@example.com');
});

test.each([
  ['a long name', `<b>${'x'.repeat(400)}`, `<b>${'x'.repeat(247)}`],
  ['a name that would end in half a character', `${'x'.repeat(249)}\u{1F600}`, 'x'.repeat(249)],
  ['a name of emoji', '\u{1F600}'.repeat(125), '\u{1F600}'.repeat(125)],
])(
  'the Stripe session of a payment names the product, as far as Stripe takes it: %s',
  async (_what, name, shown) => {
    const charged = await adapter.open().charge({
      key: ids.next(),
      amount: 10_000n,
      currency: 'USD',
      instrument: null,
      save: false,
      returnUrl: 'https://shop.example/back',
      order: { name, email: 'ada@example.com' },
    });
    expect(charged.kind).toBe('requires_action');
    expect(sent().get('line_items[0][price_data][product_data][name]')).toBe(shown);
  },
);
