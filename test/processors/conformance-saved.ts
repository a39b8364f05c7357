// What every payment processor must do with an instrument that it is asked to save.
import { describe, expect, test } from 'bun:test';
import type {
  ChargeRequest,
  ChargeResult,
  Method,
  SavedChargeRequest,
} from '../../src/processors/processor.ts';
import type { Behaviour, Rig } from './rig.ts';

const AMOUNT = 10_000n;
const CURRENCY = 'USD';
const CALLERS = Array.from({ length: 100 }, (_, index) => index);
const MANDATE_LOST = { kind: 'declined', code: 'mandate_lost' } as const;

type Kind = ChargeResult['kind'];

// Pending charges are settled, and the buyer has confirmed what was asked.
const SAVED: [Behaviour, ChargeResult['kind']][] = [
  ['succeeds', 'succeeded'],
  ['succeeds_at_first', 'succeeded'],
  ['settles', 'succeeded'],
  ['challenges', 'succeeded'],
  ['loses_the_answer', 'succeeded'],
  ['refund_settles', 'succeeded'],
  ['declines', 'declined'],
  ['errors', 'not_attempted'],
];

const OFF_SESSION: [Behaviour, Kind, Kind][] = [
  // saved of              answers      and once settled is
  ['succeeds', 'succeeded', 'succeeded'],
  ['succeeds_at_first', 'declined', 'declined'],
  ['challenges', 'succeeded', 'succeeded'],
  ['settles', 'pending', 'succeeded'],
  ['bounces', 'pending', 'declined'],
  ['loses_the_answer', 'unknown', 'succeeded'],
];

export function savesInstruments(rigOf: () => Rig): void {
  const request = (behaviour: Behaviour, more: Partial<ChargeRequest> = {}): ChargeRequest => ({
    key: rigOf().newKey(),
    amount: AMOUNT,
    currency: CURRENCY,
    instrument: rigOf().instruments[behaviour],
    save: true,
    returnUrl: 'https://shop.example/back?a=b#c',
    ...more,
  });
  const later = (name: string, more: Partial<SavedChargeRequest> = {}): SavedChargeRequest => ({
    key: rigOf().newKey(),
    saved: name,
    amount: AMOUNT,
    currency: CURRENCY,
    ...more,
  });
  const refund = (chargeKey: string, amount: bigint) =>
    rigOf().processor.refund({ key: rigOf().newKey(), chargeKey, amount, currency: CURRENCY });

  /** The final outcome, after the buyer and the bank have acted. */
  async function decided(made: ChargeRequest): Promise<ChargeResult> {
    const { processor } = rigOf();
    const { kind } = await processor.charge(made);
    if (kind === 'requires_action') {
      await rigOf().answer(made.key, true);
      await processor.confirmCharge(made.key);
    }
    rigOf().settle();
    return processor.findCharge(made.key);
  }
  async function saved(behaviour: Behaviour): Promise<{ saved: string; method: Method }> {
    const result = await decided(request(behaviour, { amount: 0n }));
    if (result.kind !== 'succeeded' || result.saved === null) throw new Error('not saved');
    return { saved: result.saved, method: result.method };
  }
  const nameOf = async (behaviour: Behaviour): Promise<string> => (await saved(behaviour)).saved;

  describe('saving a payment method', () => {
    describe.each([
      ['with a charge', AMOUNT],
      ['without a charge', 0n],
    ])('by %s', (_what, amount) => {
      test.each(SAVED)('what %s is %s', async (behaviour, kind) => {
        const made = request(behaviour, { amount });
        const result = await decided(made);
        expect(result.kind).toBe(kind);
        if (result.kind !== 'succeeded') return;
        expect(result.saved).toEqual(expect.stringMatching(/\w/));
        const { instrument } = made;
        const typed = instrument?.type === 'card' ? instrument.number : (instrument?.iban ?? '');
        expect(result.saved).not.toContain(typed);
        expect(await rigOf().processor.charge(made)).toEqual(result);
      });

      test('asks the buyer where its bank does, and is off where it does not confirm', async () => {
        const rig = rigOf();
        const { processor } = rig;
        const made = request('challenges', { amount });
        expect((await processor.charge(made)).kind).toBe('requires_action');
        await rig.answer(made.key, false);
        const found = await processor.findCharge(made.key);
        expect(found).toMatchObject({ kind: 'declined', code: 'authentication_failed' });
      });

      test('given up in time, saves nothing', async () => {
        const rig = rigOf();
        const { processor } = rig;
        const made = request('challenges', { amount });
        await processor.charge(made);
        expect((await processor.cancelCharge(made.key)).kind).toBe('not_attempted');
        await rig.answer(made.key, true);
        expect((await processor.findCharge(made.key)).kind).toBe('not_attempted');
      });

      test('sent 100 times at once with one key saves once', async () => {
        const made = request('succeeds', { amount });
        const results = await Promise.all(CALLERS.map(() => rigOf().processor.charge(made)));
        expect(new Set(results.map((result) => 'saved' in result && result.saved)).size).toBe(1);
      });
    });

    test('happens only where it is asked for', async () => {
      for (const behaviour of ['succeeds', 'settles'] as const) {
        const result = await rigOf().processor.charge(request(behaviour, { save: false }));
        expect('saved' in result && result.saved).toBeNull();
      }
    });

    test('to verify it moves no money', async () => {
      const made = request('succeeds', { amount: 0n });
      await rigOf().processor.charge(made);
      expect((await refund(made.key, 1n)).kind).toBe('declined');
    });

    test.each<[string, Partial<ChargeRequest>]>([
      ['nothing, where nothing is to be saved', { amount: 0n, save: false }],
      ['less than nothing', { amount: -1n }],
      ['no instrument', { instrument: null }],
      ['neither', { amount: 0n, instrument: null }],
    ])('of %s is not attempted', async (_what, more) => {
      const made = request('succeeds', more);
      expect((await rigOf().processor.charge(made)).kind).toBe('not_attempted');
      expect((await rigOf().processor.findCharge(made.key)).kind).toBe('not_attempted');
    });
  });

  describe('a charge of a saved payment method', () => {
    test.each(OFF_SESSION)('of what %s is %s, then %s', async (behaviour, kind, then) => {
      const rig = rigOf();
      const { processor } = rig;
      const kept = await saved(behaviour);
      const made = later(kept.saved);
      const result = await processor.chargeSaved(made);
      expect(result.kind).toBe(kind);
      if (result.kind === 'pending') expect(result.askAfterMs).toBeGreaterThan(0);
      rig.settle();
      const found = await processor.findCharge(made.key);
      expect(found.kind).toBe(then);
      expect(await processor.chargeSaved(made)).toEqual(found);
      if (found.kind === 'succeeded') expect(found).toMatchObject(kept);
      else expect(found).toMatchObject({ code: expect.stringMatching(/^[a-z_]+$/) });
      // A declined instrument may be tried again, with another charge.
      expect((await processor.chargeSaved(later(kept.saved))).kind).toBe(kind);
    });

    test('sent 100 times at once with one key moves the money once', async () => {
      const made = later(await nameOf('succeeds'));
      const results = await Promise.all(CALLERS.map(() => rigOf().processor.chargeSaved(made)));
      expect(results).toEqual(CALLERS.map(() => results[0]!));
      expect((await refund(made.key, AMOUNT + 1n)).kind).toBe('declined');
      expect((await refund(made.key, AMOUNT)).kind).toBe('succeeded');
      expect((await refund(made.key, 1n)).kind).toBe('declined');
    });

    test('sent 100 times at once, the answer lost, moves the money once', async () => {
      const made = later(await nameOf('loses_the_answer'));
      await Promise.all(CALLERS.map(() => rigOf().processor.chargeSaved(made)));
      expect((await refund(made.key, AMOUNT)).kind).toBe('succeeded');
      expect((await refund(made.key, 1n)).kind).toBe('declined');
    });

    test('sent by two processes at once moves the money once', async () => {
      const { processor, another } = rigOf();
      for (const behaviour of ['succeeds', 'succeeds_at_first'] as const) {
        const made = later(await nameOf(behaviour));
        const results = await Promise.all([processor.chargeSaved(made), another.chargeSaved(made)]);
        const found = await another.findCharge(made.key);
        expect(found.kind).toBe(behaviour === 'succeeds' ? 'succeeded' : 'declined');
        for (const { kind } of results) expect([found.kind, 'unknown']).toContain(kind);
        if (behaviour === 'succeeds') {
          expect((await refund(made.key, AMOUNT)).kind).toBe('succeeded');
          expect((await refund(made.key, 1n)).kind).toBe('declined');
        }
      }
    });

    test('given up by another process while it is sent: all get the same answer', async () => {
      const { processor, another } = rigOf();
      const name = await nameOf('succeeds');
      for (const _ of CALLERS.slice(0, 20)) {
        const made = later(name);
        const [, canceled] = await Promise.all([
          processor.chargeSaved(made),
          another.cancelCharge(made.key),
        ]);
        expect((await processor.findCharge(made.key)).kind).toBe(canceled.kind);
        expect((await another.chargeSaved(made)).kind).toBe(canceled.kind);
      }
    });

    test('stays what it is under its key, whatever comes with it', async () => {
      const { processor } = rigOf();
      const [good, failing] = [await nameOf('succeeds'), await nameOf('succeeds_at_first')];
      const made = later(good);
      const result = await processor.chargeSaved(made);
      expect(await processor.chargeSaved({ ...made, saved: failing, amount: 1n })).toEqual(result);
      expect(await processor.charge(request('declines', { key: made.key }))).toEqual(result);
      const declined = later(failing);
      await processor.chargeSaved(declined);
      expect((await processor.chargeSaved({ ...declined, saved: good })).kind).toBe('declined');
      const present = request('succeeds');
      const first = await processor.charge(present);
      expect(await processor.chargeSaved({ ...made, key: present.key })).toEqual(first);
    });

    test('that was given up before it arrived does not charge when it does', async () => {
      const { processor } = rigOf();
      const late = later(await nameOf('succeeds'));
      expect((await processor.cancelCharge(late.key)).kind).toBe('not_attempted');
      expect((await processor.chargeSaved(late)).kind).toBe('not_attempted');
      expect((await processor.findCharge(late.key)).kind).toBe('not_attempted');
    });

    test.each<[Behaviour, Kind]>([
      ['succeeds', 'succeeded'],
      ['settles', 'pending'],
      ['succeeds_at_first', 'declined'],
      ['loses_the_answer', 'succeeded'],
    ])('that has arrived at what %s is given up too late: %s', async (behaviour, kind) => {
      const made = later(await nameOf(behaviour));
      await rigOf().processor.chargeSaved(made);
      expect((await rigOf().processor.cancelCharge(made.key)).kind).toBe(kind);
    });

    test.each([0n, -1n])('of %p is not attempted', async (amount) => {
      const made = later(await nameOf('succeeds'), { amount });
      expect((await rigOf().processor.chargeSaved(made)).kind).toBe('not_attempted');
      expect((await rigOf().processor.findCharge(made.key)).kind).toBe('not_attempted');
    });
  });

  describe('forgetting a saved payment method', () => {
    test('ends its charges to come, and none that was made', async () => {
      const { processor } = rigOf();
      const [name, other] = [await nameOf('succeeds'), await nameOf('succeeds')];
      const before = later(name);
      const result = await processor.chargeSaved(before);
      for (const _ of [1, 2]) expect(await processor.forget(name)).toEqual({ kind: 'forgotten' });
      const after = later(name);
      expect(await processor.chargeSaved(after)).toMatchObject(MANDATE_LOST);
      expect(await processor.findCharge(after.key)).toMatchObject(MANDATE_LOST);
      expect(await processor.chargeSaved({ ...after, saved: other })).toMatchObject(MANDATE_LOST);
      expect(await processor.chargeSaved(before)).toEqual(result);
      expect((await refund(before.key, AMOUNT)).kind).toBe('succeeded');
      expect((await processor.chargeSaved(later(other))).kind).toBe('succeeded');
    });

    test('holds when the charge that saved it is sent again', async () => {
      const { processor } = rigOf();
      const made = request('succeeds');
      const result = await processor.charge(made);
      const name = result.kind === 'succeeded' ? (result.saved ?? '') : '';
      await processor.forget(name);
      expect(await processor.charge(made)).toEqual(result);
      expect(await processor.chargeSaved(later(name))).toMatchObject(MANDATE_LOST);
    });

    test('while it is charged: every later question gets the same answer', async () => {
      const { processor } = rigOf();
      for (const _ of CALLERS.slice(0, 20)) {
        const made = later(await nameOf('succeeds'));
        const [result] = await Promise.all([
          processor.chargeSaved(made),
          processor.forget(made.saved),
        ]);
        expect(await processor.findCharge(made.key)).toEqual(result);
        expect(await processor.chargeSaved(later(made.saved))).toMatchObject(MANDATE_LOST);
      }
    });

    test('is no error for an unknown name, nor is charging by it', async () => {
      const { processor } = rigOf();
      for (const name of ['', 'x', "'; drop table payments", '\u{1F4B8}', 'k'.repeat(300)]) {
        expect(await processor.forget(name)).toEqual({ kind: 'forgotten' });
        const made = later(name);
        const result = await processor.chargeSaved(made);
        expect(result).toMatchObject({ ...MANDATE_LOST, method: null });
        expect(await processor.findCharge(made.key)).toEqual(result);
      }
    });
  });
}
