// What every processor must do about disputes of its charges.
import { describe, expect, test } from 'bun:test';
import type { Dispute } from '../../src/processors/processor.ts';
import type { Behaviour, Rig } from './rig.ts';

const AMOUNT = 5000n;
const CURRENCY = 'USD';

export function tellsOfDisputes(rigOf: () => Rig): void {
  async function charged(behaviour: Behaviour): Promise<string> {
    const key = rigOf().newKey();
    await rigOf().processor.charge({
      key,
      amount: AMOUNT,
      currency: CURRENCY,
      instrument: rigOf().instruments[behaviour],
      save: false,
      returnUrl: 'https://shop.example/back',
    });
    return key;
  }

  const refund = (chargeKey: string) =>
    rigOf().processor.refund({ key: rigOf().newKey(), chargeKey, amount: 1n, currency: CURRENCY });

  async function disputesOf(chargeKey: string): Promise<readonly Dispute[]> {
    const found = await rigOf().processor.findDisputes(chargeKey);
    if (found.kind !== 'found') throw new Error('no answer');
    return found.disputes;
  }

  describe('disputes', () => {
    test.each<Behaviour>(['succeeds', 'settles', 'declines', 'errors'])(
      'of a charge to what %s are none',
      async (behaviour) => {
        expect(await disputesOf(await charged(behaviour))).toEqual([]);
      },
    );

    test('of an unknown charge are none, whatever the key', async () => {
      for (const key of [rigOf().newKey(), '', "'; drop table payments", 'k'.repeat(300)]) {
        expect(await disputesOf(key)).toEqual([]);
      }
    });

    test.each([
      ['disputed_lost', 'lost', 'fraudulent', 'declined'],
      ['disputed_won', 'won', 'product_not_received', 'succeeded'],
    ] as const)(
      'of a charge that is %s are opened, and in the end %s',
      async (behaviour, ends, reason, refunds) => {
        const { processor } = rigOf();
        const key = await charged(behaviour);
        const [opened, ...others] = await disputesOf(key);
        const said = { amount: AMOUNT, currency: CURRENCY, reason };
        expect(opened).toMatchObject({ ...said, status: 'opened', at: expect.any(Number) });
        expect(others).toEqual([]);
        // It is the charge's no more than before: it succeeded.
        expect((await processor.findCharge(key)).kind).toBe('succeeded');
        expect((await refund(key)).kind).toBe('declined');
        rigOf().settle();
        const [ended] = await disputesOf(key);
        const { reference } = opened ?? {};
        expect(ended).toMatchObject({ ...said, reference, at: opened?.at, status: ends });
        expect(await disputesOf(key)).toEqual(ended === undefined ? [] : [ended]);
        expect((await processor.findCharge(key)).kind).toBe('succeeded');
        expect((await refund(key)).kind).toBe(refunds);
      },
    );
  });
}
