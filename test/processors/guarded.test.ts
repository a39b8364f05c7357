// An exception or a late answer is `unknown`, and is logged without what the buyer typed.
import { expect, test } from 'bun:test';
import type { Timers } from '../../ledger/ports.ts';
import { openLog } from '../../src/platform/log.ts';
import { guarded } from '../../src/processors/guarded.ts';
import type { Instrument, Processor } from '../../src/processors/processor.ts';

const INSTRUMENT = {
  type: 'card',
  number: '4242 4242 4242 4242',
  expiry: '12/34',
  cvc: '987',
} as const satisfies Instrument;
const CHARGE = {
  key: 'the-payment',
  amount: 1n,
  currency: 'USD',
  instrument: INSTRUMENT,
  save: true,
  returnUrl: 'https://shop.example',
};
const LATER = { key: 'the-renewal', saved: 'its-card', amount: 1n, currency: 'USD' };
const REFUND = { key: 'the-refund', chargeKey: 'the-payment', amount: 1n, currency: 'USD' };

type Ask = (processor: Processor) => Promise<{ readonly kind: string }>;

const CALLS: [string, string, Ask][] = [
  ['charge', 'the-payment', (processor) => processor.charge(CHARGE)],
  ['chargeSaved', 'the-renewal', (processor) => processor.chargeSaved(LATER)],
  ['forget', 'its-card', (processor) => processor.forget('its-card')],
  ['findCharge', 'the-payment', (processor) => processor.findCharge('the-payment')],
  ['confirmCharge', 'the-payment', (processor) => processor.confirmCharge('the-payment')],
  ['cancelCharge', 'the-payment', (processor) => processor.cancelCharge('the-payment')],
  ['refund', 'the-refund', (processor) => processor.refund(REFUND)],
  ['findRefund', 'the-refund', (processor) => processor.findRefund('the-refund')],
];

/**
 * A processor whose every call does this, behind a guard whose deadline passes when the test says
 * so.
 */
function open(behave: () => Promise<never>) {
  const lines: string[] = [];
  const waiting = new Set<() => void>();
  const timers: Timers = {
    after(_ms, task) {
      waiting.add(task);
      return () => waiting.delete(task);
    },
    soon: (task) => setImmediate(task),
  };
  const processor: Processor = {
    name: 'bad',
    page: 'fields',
    pageOrigin: 'https://bad.example',
    actionMs: 1000,
    firstAskMs: 1000,
    refusalOf: () => null,
    retryLostMs: 0,
    charge: behave,
    chargeSaved: behave,
    forget: behave,
    findCharge: behave,
    confirmCharge: behave,
    cancelCharge: behave,
    refund: behave,
    findRefund: behave,
    findDisputes: behave,
  };
  const log = openLog('debug', (line) => lines.push(line));
  return {
    processor: guarded(processor, { timers, deadlineMs: 10, log }),
    lines,
    waiting,
    pass: () => waiting.forEach((task) => task()),
  };
}

const failure = () =>
  Object.assign(new Error(`refused ${JSON.stringify(INSTRUMENT)} 4242424242424242 12/34`), {
    request: INSTRUMENT,
  });

test.each(CALLS)(
  "a guarded processor's %s that rejects is answered unknown",
  async (call, id, ask) => {
    const { processor, lines, waiting } = open(() => Promise.reject(failure()));
    expect(await ask(processor)).toEqual({ kind: 'unknown' });
    expect(waiting.size).toBe(0);
    expect(lines).toHaveLength(1);
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'error', processor: 'bad', call, id });
  },
);

test.each(CALLS)(
  "a guarded processor's %s that throws at once is answered unknown",
  async (_call, _id, ask) => {
    const { processor, lines } = open(() => {
      throw failure();
    });
    expect(await ask(processor)).toEqual({ kind: 'unknown' });
    expect(lines).toHaveLength(1);
  },
);

test.each(CALLS)(
  "a guarded processor's %s that is late is answered unknown, and its answer is ignored",
  async (call, id, ask) => {
    const { promise, reject } = Promise.withResolvers<never>();
    const { processor, lines, pass } = open(() => promise);
    const asked = ask(processor);
    pass();
    expect(await asked).toEqual({ kind: 'unknown' });
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 'warn', processor: 'bad', call, id });
    // The late failure is logged, and is no unhandled rejection.
    reject(failure());
    await Promise.resolve();
    await new Promise(setImmediate);
    expect(lines).toHaveLength(2);
  },
);

test("a guarded processor's answer in time is the answer, and no timer is left", async () => {
  const answer = { kind: 'not_attempted' };
  const { processor, lines, waiting } = open(() => Promise.resolve(answer as never));
  expect(await processor.findRefund('the-refund')).toEqual({ kind: 'not_attempted' });
  expect([lines.length, waiting.size]).toEqual([0, 0]);
});

test('a guarded processor logs nothing that the buyer typed', async () => {
  const { processor, lines } = open(() => Promise.reject(failure()));
  await processor.charge(CHARGE);
  const account = { type: 'bank_debit', iban: 'DE89 3704 0044 0532 0130 00' } as const;
  const quoted = open(() => Promise.reject(new Error(`no ${account.iban} DE89370400440532013000`)));
  await quoted.processor.charge({ ...CHARGE, instrument: account });
  const logged = [...lines, ...quoted.lines].join('\n');
  for (const typed of ['4242', '12/34', '987', 'DE89', '0532']) expect(logged).not.toContain(typed);
  expect(logged).toContain('refused');
});

test('a guarded processor may throw what is no error', async () => {
  // eslint-disable-next-line typescript/prefer-promise-reject-errors
  const { processor } = open(() => Promise.reject('no'));
  expect((await processor.findCharge('the-payment')).kind).toBe('unknown');
});
