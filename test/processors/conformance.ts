// What every payment processor must do. `conforms` makes the tests; a rig brings the processor, and
// the means to cause each outcome.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import type {
  ChargeRequest,
  ChargeResult,
  RefundRequest,
  RefundResult,
} from '../../src/processors/processor.ts';
import { tellsOfDisputes } from './conformance-disputes.ts';
import { savesInstruments } from './conformance-saved.ts';
import type { Behaviour, Rig } from './rig.ts';

const AMOUNT = 10_000n;
const CURRENCY = 'USD';
const CALLERS = Array.from({ length: 100 }, (_, index) => index);

const KINDS_AT_ONCE: [Behaviour, ChargeResult['kind'], ChargeResult['kind'] | null][] = [
  // to                 answers            and the processor then knows it as
  ['succeeds', 'succeeded', null],
  ['succeeds_at_first', 'succeeded', null],
  ['settles', 'pending', null],
  ['bounces', 'pending', null],
  ['challenges', 'requires_action', null],
  ['declines', 'declined', null],
  ['errors', 'not_attempted', null],
  ['loses_the_answer', 'unknown', 'succeeded'],
  ['loses_the_request', 'unknown', 'not_attempted'],
  ['refund_settles', 'succeeded', null],
  ['refund_fails_late', 'succeeded', null],
];

export function conforms(name: string, open: () => Promise<Rig>): void {
  describe(name, () => {
    let rig: Rig;
    beforeAll(async () => {
      rig = await open();
    });
    afterAll(() => rig.close());

    const request = (behaviour: Behaviour, more: Partial<ChargeRequest> = {}): ChargeRequest => ({
      key: rig.newKey(),
      amount: AMOUNT,
      currency: CURRENCY,
      instrument: rig.instruments[behaviour],
      save: false,
      returnUrl: 'https://shop.example/back?a=b#c',
      ...more,
    });
    async function charged(behaviour: Behaviour, amount = AMOUNT): Promise<string> {
      const made = request(behaviour, { amount });
      await rig.processor.charge(made);
      return made.key;
    }
    const refund = (chargeKey: string, more: Partial<RefundRequest> = {}): Promise<RefundResult> =>
      rig.processor.refund({
        key: rig.newKey(),
        chargeKey,
        amount: AMOUNT,
        currency: CURRENCY,
        ...more,
      });
    /** Exactly this much can still be refunded. */
    async function expectLeft(chargeKey: string, left: bigint): Promise<void> {
      expect((await refund(chargeKey, { amount: left + 1n })).kind).toBe('declined');
      if (left > 0n) {
        expect((await refund(chargeKey, { amount: left })).kind).toBe('succeeded');
        expect((await refund(chargeKey, { amount: 1n })).kind).toBe('declined');
      }
    }
    const kinds = (results: readonly { readonly kind: string }[]): string[] => [
      ...new Set(results.map(({ kind }) => kind)),
    ];

    describe('a charge', () => {
      test.each(KINDS_AT_ONCE)('to what %s is %s', async (behaviour, kind, then) => {
        const made = request(behaviour);
        expect((await rig.processor.charge(made)).kind).toBe(kind);
        const found = (await rig.processor.findCharge(made.key)).kind;
        expect(found).toBe(then ?? kind);
      });

      test('that was never made is not_attempted', async () => {
        expect((await rig.processor.findCharge(rig.newKey())).kind).toBe('not_attempted');
      });

      test('shows what may be shown of the instrument, and no more', async () => {
        const made = request('succeeds');
        const result = await rig.processor.charge(made);
        const found = await rig.processor.findCharge(made.key);
        expect(found).toEqual(result);
        const { instrument } = made;
        if (result.kind !== 'succeeded' || instrument?.type !== 'card') throw new Error('a card');
        expect(result.method).toEqual({
          type: 'card',
          brand: expect.any(String),
          last4: instrument.number.slice(-4),
        });
        expect(JSON.stringify(result)).not.toContain(instrument.number);
      });

      test('that is declined says why, to a machine and to the buyer', async () => {
        const result = await rig.processor.charge(request('declines'));
        expect(result).toMatchObject({
          kind: 'declined',
          code: expect.stringMatching(/^[a-z_]+$/),
          message: expect.stringMatching(/\w/),
        });
      });

      test.each<Behaviour>(['succeeds', 'settles', 'challenges', 'declines'])(
        'to what %s, sent 100 times at once with one key, is one',
        async (behaviour) => {
          const made = request(behaviour);
          const results = await Promise.all(CALLERS.map(() => rig.processor.charge(made)));
          expect(kinds(results)).toHaveLength(1);
          const references = results.map((result) => 'reference' in result && result.reference);
          expect(new Set(references).size).toBe(1);
        },
      );

      test('sent 100 times at once moves the money once', async () => {
        const made = request('succeeds');
        await Promise.all(CALLERS.map(() => rig.processor.charge(made)));
        await expectLeft(made.key, AMOUNT);
      });

      test('sent 100 times at once, the answer lost, moves the money once', async () => {
        const made = request('loses_the_answer');
        const results = await Promise.all(CALLERS.map(() => rig.processor.charge(made)));
        expect(results.filter(({ kind }) => kind !== 'unknown' && kind !== 'succeeded')).toEqual(
          [],
        );
        await expectLeft(made.key, AMOUNT);
      });

      test('sent by two processes at once moves the money once', async () => {
        const { processor, another } = rig;
        for (const behaviour of ['succeeds', 'declines', 'settles'] as const) {
          const made = request(behaviour);
          const results = await Promise.all([processor.charge(made), another.charge(made)]);
          const found = await processor.findCharge(made.key);
          expect(await another.findCharge(made.key)).toEqual(found);
          expect(await another.charge(made)).toEqual(found);
          for (const { kind } of results) expect([found.kind, 'unknown']).toContain(kind);
          if (found.kind === 'succeeded') await expectLeft(made.key, AMOUNT);
        }
      });

      test('given up by another process while it is sent: all get the same answer', async () => {
        for (const _ of CALLERS.slice(0, 20)) {
          const made = request('succeeds');
          const [, canceled] = await Promise.all([
            rig.processor.charge(made),
            rig.another.cancelCharge(made.key),
          ]);
          const { kind } = await rig.processor.findCharge(made.key);
          expect(kind).toBe(canceled.kind);
          expect((await rig.another.charge(made)).kind).toBe(kind);
        }
      });

      test('sent again with another instrument stays what it is', async () => {
        const made = request('succeeds');
        await rig.processor.charge(made);
        for (const instrument of Object.values(rig.instruments)) {
          expect((await rig.processor.charge({ ...made, instrument })).kind).toBe('succeeded');
        }
        const declined = request('declines');
        await rig.processor.charge(declined);
        const again = { ...declined, instrument: rig.instruments.succeeds };
        expect((await rig.processor.charge(again)).kind).toBe('declined');
      });

      test.each<[Behaviour, string]>([
        ['settles', 'succeeded'],
        ['bounces', 'declined'],
      ])('to what %s is decided later: %s', async (behaviour, decided) => {
        const made = request(behaviour);
        const result = await rig.processor.charge(made);
        expect(result.kind === 'pending' && result.askAfterMs).toBeGreaterThan(0);
        expect((await refund(made.key)).kind).toBe('declined');
        rig.settle();
        expect((await rig.processor.findCharge(made.key)).kind).toBe(decided as 'succeeded');
        expect((await rig.processor.charge(made)).kind).toBe(decided as 'succeeded');
        expect((await refund(made.key)).kind).toBe(decided as 'succeeded');
      });

      test.each<[string, () => Rig['most']]>([
        ['one yen', () => ({ amount: 1n, currency: 'JPY' })],
        ['the most that it takes', () => rig.most],
      ])('of %s is exact', async (_what, money) => {
        const { amount, currency } = money();
        const made = request('succeeds', { amount, currency });
        await rig.processor.charge(made);
        const of = { currency };
        expect((await refund(made.key, { ...of, amount: amount + 1n })).kind).toBe('declined');
        expect((await refund(made.key, { ...of, amount })).kind).toBe('succeeded');
        expect((await refund(made.key, { ...of, amount: 1n })).kind).toBe('declined');
      });
    });

    describe('a challenge of a charge', () => {
      test.each<[string, boolean, object]>([
        ['passed', true, { kind: 'requires_confirmation' }],
        ['failed', false, { kind: 'declined', code: 'authentication_failed' }],
      ])('that is %s is decided so', async (_what, passed, decided) => {
        const made = request('challenges');
        const result = await rig.processor.charge(made);
        expect(result.kind === 'requires_action' && URL.canParse(result.url)).toBe(true);
        expect(await rig.processor.findCharge(made.key)).toEqual(result);
        expect((await refund(made.key)).kind).toBe('declined');
        await rig.answer(made.key, passed);
        expect(await rig.processor.findCharge(made.key)).toMatchObject(decided);
        // The first answer counts.
        await rig.answer(made.key, !passed);
        expect(await rig.processor.findCharge(made.key)).toMatchObject(decided);
        expect(await rig.processor.charge(made)).toMatchObject(decided);
      });

      test('that is passed moves nothing until it is confirmed, and then once', async () => {
        const made = request('challenges');
        await rig.processor.charge(made);
        // Not before its buyer has agreed.
        expect((await rig.processor.confirmCharge(made.key)).kind).toBe('requires_action');
        await rig.answer(made.key, true);
        expect((await refund(made.key)).kind).toBe('declined');
        const confirmed = await Promise.all(
          CALLERS.map(() => rig.processor.confirmCharge(made.key)),
        );
        expect(kinds(confirmed)).toEqual(['succeeded']);
        expect(await rig.processor.findCharge(made.key)).toEqual(confirmed[0]!);
        await expectLeft(made.key, AMOUNT);
      });

      test('that is passed and given up before it is confirmed charges no more', async () => {
        const made = request('challenges');
        await rig.processor.charge(made);
        await rig.answer(made.key, true);
        expect((await rig.processor.cancelCharge(made.key)).kind).toBe('not_attempted');
        expect((await rig.processor.confirmCharge(made.key)).kind).toBe('not_attempted');
        expect((await rig.processor.findCharge(made.key)).kind).toBe('not_attempted');
      });

      test('that is confirmed and given up at once ends as one of the two', async () => {
        for (const _ of CALLERS.slice(0, 20)) {
          const key = await charged('challenges');
          await rig.answer(key, true);
          const [canceled, confirmed] = await Promise.all([
            rig.processor.cancelCharge(key),
            rig.processor.confirmCharge(key),
          ]);
          const { kind } = await rig.processor.findCharge(key);
          expect([canceled.kind, confirmed.kind]).toEqual([kind, kind]);
        }
      });

      test.each<[Behaviour, string]>([
        ['succeeds', 'succeeded'],
        ['settles', 'pending'],
        ['declines', 'declined'],
        ['loses_the_request', 'not_attempted'],
      ])(
        'that was never there: confirming what %s answers what is true: %s',
        async (behaviour, kind) => {
          const key = await charged(behaviour);
          expect((await rig.processor.confirmCharge(key)).kind).toBe(kind as 'succeeded');
        },
      );

      test('that is given up in time is over: no later answer charges', async () => {
        const made = request('challenges');
        await rig.processor.charge(made);
        expect((await rig.processor.cancelCharge(made.key)).kind).toBe('not_attempted');
        await rig.answer(made.key, true);
        expect((await rig.processor.findCharge(made.key)).kind).toBe('not_attempted');
        expect((await rig.processor.charge(made)).kind).toBe('not_attempted');
        expect((await refund(made.key)).kind).not.toBe('succeeded');
      });

      test('that is answered and given up at once ends as one of the two', async () => {
        for (const _ of CALLERS.slice(0, 20)) {
          const key = await charged('challenges');
          const [canceled] = await Promise.all([
            rig.processor.cancelCharge(key),
            rig.answer(key, true),
          ]);
          expect((await rig.processor.findCharge(key)).kind).toBe(canceled.kind);
        }
      });
    });

    describe('giving up a charge', () => {
      test.each<[Behaviour, string]>([
        ['succeeds', 'succeeded'],
        ['settles', 'pending'],
        ['declines', 'declined'],
        ['loses_the_answer', 'succeeded'],
        ['loses_the_request', 'not_attempted'],
      ])('to what %s answers what is true: %s', async (behaviour, kind) => {
        const key = await charged(behaviour);
        expect((await rig.processor.cancelCharge(key)).kind).toBe(kind as 'succeeded');
        expect((await rig.processor.findCharge(key)).kind).toBe(kind as 'succeeded');
      });

      test('that has not arrived keeps it from charging when it does', async () => {
        const late = request('succeeds');
        expect((await rig.processor.cancelCharge(late.key)).kind).toBe('not_attempted');
        expect((await rig.processor.charge(late)).kind).toBe('not_attempted');
        expect((await rig.processor.findCharge(late.key)).kind).toBe('not_attempted');
      });

      test('while it arrives: every later question gets the same answer', async () => {
        for (const _ of CALLERS.slice(0, 20)) {
          const made = request('succeeds');
          const [, canceled] = await Promise.all([
            rig.processor.charge(made),
            rig.processor.cancelCharge(made.key),
          ]);
          expect((await rig.processor.findCharge(made.key)).kind).toBe(canceled.kind);
        }
      });
    });

    describe('a refund', () => {
      test('that was never made is found as not_attempted', async () => {
        expect((await rig.processor.findRefund(rig.newKey())).kind).toBe('not_attempted');
      });

      test('succeeds, and is found', async () => {
        const chargeKey = await charged('succeeds');
        const key = rig.newKey();
        const result = await refund(chargeKey, { key, amount: 1n });
        expect(result).toMatchObject({ kind: 'succeeded', askAfterMs: null });
        expect(await rig.processor.findRefund(key)).toEqual(result);
        await expectLeft(chargeKey, AMOUNT - 1n);
      });

      test('sent 100 times at once with one key is one', async () => {
        const chargeKey = await charged('succeeds');
        const key = rig.newKey();
        const results = await Promise.all(
          CALLERS.map(() => refund(chargeKey, { key, amount: AMOUNT / 4n })),
        );
        expect(kinds(results)).toEqual(['succeeded']);
        await expectLeft(chargeKey, AMOUNT - AMOUNT / 4n);
        expect(await refund(chargeKey, { key, amount: AMOUNT / 4n })).toEqual(results[0]!);
      });

      test('sent by two processes at once is one', async () => {
        const chargeKey = await charged('succeeds');
        const sent = { key: rig.newKey(), chargeKey, amount: 1n, currency: CURRENCY };
        await Promise.all([rig.processor.refund(sent), rig.another.refund(sent)]);
        expect((await rig.another.findRefund(sent.key)).kind).toBe('succeeded');
        await expectLeft(chargeKey, AMOUNT - 1n);
      });

      test('of more than is left is declined, and stays so', async () => {
        const chargeKey = await charged('succeeds');
        const key = rig.newKey();
        const result = await refund(chargeKey, { key, amount: AMOUNT + 1n });
        expect(result).toEqual({ kind: 'declined', reason: 'declined' });
        expect(await rig.processor.findRefund(key)).toEqual(result);
        expect(await refund(chargeKey, { key, amount: 1n })).toEqual(result);
        await expectLeft(chargeKey, AMOUNT);
      });

      test('100 at once give back all of it and not a coin more', async () => {
        const chargeKey = await charged('succeeds');
        const amount = 331n;
        const results = await Promise.all(CALLERS.map(() => refund(chargeKey, { amount })));
        const succeeded = results.filter(({ kind }) => kind === 'succeeded').length;
        expect(BigInt(succeeded)).toBe(AMOUNT / amount);
        await expectLeft(chargeKey, AMOUNT % amount);
      });

      test.each<[string, string, Behaviour | null, Partial<RefundRequest>]>([
        ['of no charge', 'not_attempted', null, {}],
        ['of a declined charge', 'declined', 'declines', {}],
        ['in another currency', 'declined', 'succeeds', { currency: 'EUR' }],
        ['of nothing', 'not_attempted', 'succeeds', { amount: 0n }],
        ['of less than nothing', 'not_attempted', 'succeeds', { amount: -1n }],
      ])('%s is %s', async (_what, kind, behaviour, more) => {
        const key = rig.newKey();
        const chargeKey = behaviour === null ? rig.newKey() : await charged(behaviour);
        expect((await refund(chargeKey, { key, ...more })).kind).toBe(kind as 'declined');
        expect((await rig.processor.findRefund(key)).kind).toBe(kind as 'declined');
      });

      test('that settles slowly takes its amount at once', async () => {
        const chargeKey = await charged('refund_settles');
        const sent = { key: rig.newKey(), amount: AMOUNT - 1n };
        const result = await refund(chargeKey, sent);
        expect(result.kind === 'pending' && result.askAfterMs).toBeGreaterThan(0);
        expect((await rig.processor.findRefund(sent.key)).kind).toBe('pending');
        expect((await refund(chargeKey, { amount: 2n })).kind).toBe('declined');
        rig.settle();
        const settled = await rig.processor.findRefund(sent.key);
        expect(settled).toMatchObject({ kind: 'succeeded', askAfterMs: null });
        expect(await refund(chargeKey, sent)).toEqual(settled);
        expect((await refund(chargeKey, { amount: 2n })).kind).toBe('declined');
      });

      test('that fails late says when to look again, and gives its amount back', async () => {
        const chargeKey = await charged('refund_fails_late');
        const sent = { key: rig.newKey() };
        const result = await refund(chargeKey, sent);
        expect(result.kind === 'succeeded' && result.askAfterMs).toBeGreaterThan(0);
        expect((await refund(chargeKey, { amount: 1n })).kind).toBe('declined');
        rig.settle();
        const failed = { kind: 'declined', reason: 'expired_or_canceled_card' } as const;
        expect(await rig.processor.findRefund(sent.key)).toEqual(failed);
        expect(await refund(chargeKey, sent)).toEqual(failed);
        expect((await refund(chargeKey, { amount: AMOUNT + 1n })).kind).toBe('declined');
        expect((await refund(chargeKey, { amount: AMOUNT })).kind).toBe('succeeded');
      });
    });

    savesInstruments(() => rig);
    tellsOfDisputes(() => rig);

    test('no processor method throws, whatever the key', async () => {
      const { processor } = rig;
      for (const key of ['', 'x', "'; drop table payments", '\u{1F4B8}', 'k'.repeat(300)]) {
        const results = await Promise.all([
          processor.findCharge(key),
          processor.findRefund(key),
          refund(key),
          processor.charge(request('errors', { key })),
          processor.charge(request('succeeds', { key, amount: 0n })),
          processor.charge(request('succeeds', { key, instrument: null })),
        ]);
        expect(kinds(results)).toEqual(['not_attempted']);
      }
    });
  });
}
