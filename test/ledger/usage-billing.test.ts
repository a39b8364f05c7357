// Lines of usage on the invoices of a subscription: what is new, what has changed since it was
// billed, and what a void invoice had billed. A unit costs a cent.
import { describe, expect, test } from 'bun:test';
import { must } from '../../ledger/kernel/assert.ts';
import { PERIODS_KEPT_MS } from '../../ledger/limits.ts';
import type { BillableSpan } from '../../ledger/metering/spans.ts';
import { SubscriptionDraft } from '../../ledger/subscriptions/subscription-draft.ts';
import { NO_BILLING, type Subscription } from '../../ledger/subscriptions/subscription.ts';
import {
  owesUsage,
  unbill,
  uncut,
  usageLines,
  waive,
} from '../../ledger/subscriptions/usage-billing.ts';
import { MONTHLY, SubscriptionWorld } from './subscription-world.ts';
import { DAY, T0 } from './world.ts';

const CENT = 10n ** 10n;
const NOTHING = { aggregate: 0n, latest: null };

/** From one day after the start to another; null while it runs. */
function span(
  id: string,
  days: readonly [number, number | null],
  quantity: bigint,
  priceId = 'price',
  accountId = `period ${id}`,
): BillableSpan {
  const [start, end] = days.map((day) => (day === null ? null : T0 + day * DAY));
  return {
    id,
    subscriptionId: 'sub',
    price: {
      id: priceId,
      currency: 'USD',
      model: 'per_unit',
      unitAmount: CENT,
      minimum: null,
      maximum: null,
    },
    accountId,
    period: null,
    place: 0,
    isEmpty: false,
    start: start ?? T0,
    end: end ?? null,
    opening: NOTHING,
    closing: { aggregate: quantity, latest: null },
    limit: 0n,
    quantity,
    goesOn: end === undefined || end === null,
    isHeld: false,
    billedAs: null,
    meter: {
      id: 'meter',
      organisationId: 'organisation',
      mode: 'test',
      slug: 'calls',
      aggregation: 'sum',
      scale: 0,
      carry: false,
    },
  };
}

/** A subscription whose invoices are made one after the other. */
class Billed {
  readonly #world = new SubscriptionWorld();
  state: Subscription;
  spans: readonly BillableSpan[];
  now = T0;

  constructor(...spans: readonly BillableSpan[]) {
    this.#world.start({ plan: MONTHLY });
    this.state = { ...this.#world.state, open: [], waiting: null };
    this.spans = spans;
  }

  do<T>(decide: (draft: SubscriptionDraft) => T): T {
    const { now, state, spans } = this;
    const billing = { ...NO_BILLING, subscriptions: new Map([['sub', state]]) };
    const draft = new SubscriptionDraft({ ...this.#world.context, now, spans }, billing, 'sub');
    const answer = decide(draft);
    this.state = draft.state;
    this.spans = draft.spans;
    return answer;
  }

  /** Each line as `type quantity = amount (billed before)`. */
  invoice(invoiceId: string, day: number): string[] {
    this.now = T0 + day * DAY;
    const lines = this.do((draft) => usageLines(draft, { invoiceId, until: this.now }));
    return lines.map(
      ({ type, quantity, amount, billed }) => `${type} ${quantity} = ${amount} (${billed})`,
    );
  }

  owes(day: number): boolean {
    return this.do((draft) => owesUsage(draft, T0 + day * DAY));
  }

  /** Events that came late make it another quantity. */
  late(id: string, quantity: bigint): void {
    this.spans = this.spans.map((one) => (one.id === id ? { ...one, quantity } : one));
  }

  /** What each usage was billed with: `invoice quantity`, `*` where it is waived. */
  get parts(): string[][] {
    return this.state.usage.map(({ parts }) =>
      parts.map(
        ({ invoiceId, quantity, waived }) =>
          `${invoiceId} ${quantity}${waived === true ? '*' : ''}`,
      ),
    );
  }
}

type Step = (billed: Billed) => unknown;
const bill =
  (invoice: string, day: number): Step =>
  (billed) =>
    billed.invoice(invoice, day);
const late =
  (id: string, quantity: bigint): Step =>
  (billed) =>
    billed.late(id, quantity);
const waived =
  (invoice: string): Step =>
  (billed) =>
    billed.do((draft) => waive(draft, invoice));
const unbilled =
  (...invoices: string[]): Step =>
  (billed) =>
    expect(billed.do((draft) => unbill(draft, invoices))).toBe(true);

/** 7 units of the first ten days, and 5 of the next ten of another price. */
const two = (): Billed => new Billed(span('a', [0, 10], 7n), span('b', [10, 20], 5n, 'other'));

// prettier-ignore
const NEXT: [string, Step[], day: number, lines: string[], owes: boolean][] = [
  // what steps day lines on the next invoice owes
  ['nothing that has not closed',              [],                                                                     9,   [],                                                       false],
  ['what has closed by then',                  [],                                                                     10,  ['usage 7 = 7 (0)'],                                      true],
  ['a line for each price',                    [],                                                                     20,  ['usage 7 = 7 (0)', 'usage 5 = 5 (0)'],                   true],
  ['nothing twice',                            [bill('first', 10)],                                                    11,  [],                                                       false],
  ['what is new beside what was billed',       [bill('first', 10)],                                                    20,  ['usage 5 = 5 (0)'],                                      true],
  ['more that came late',                      [bill('first', 10), late('a', 9n)],                                     11,  ['usage_adjustment 2 = 2 (7)'],                           true],
  ['less that came late',                      [bill('first', 10), late('a', 4n)],                                     11,  ['usage_adjustment -3 = -3 (7)'],                         true],
  ['what came late, once',                     [bill('first', 10), late('a', 9n), bill('second', 11)],                 12,  [],                                                       false],
  ['what came late again',                     [bill('first', 10), late('a', 9n), bill('second', 11), late('a', 10n)], 12,  ['usage_adjustment 1 = 1 (9)'],                           true],
  ['nothing that was waived',                  [bill('first', 10), waived('first')],                                   11,  [],                                                       false],
  ['nothing waived, beside what is not',          [bill('first', 10), bill('second', 20), waived('first'), late('a', 4n)],             21,  [],                                                       false],
  ['only what is more than was waived',        [bill('first', 10), waived('first'), late('a', 8n)],                    11,  ['usage_adjustment 1 = 1 (7)'],                           true],
  ['nothing whose spans are gone',             [bill('first', 10), (billed) => (billed.spans = [])],                        11,  [],                                                       false],
  ['no less than nothing of what was waived',  [bill('first', 10), waived('first'), late('a', 4n)],                    11,  [],                                                       false],
  ['what a void invoice gave back, again',     [bill('first', 10), late('a', 4n), bill('second', 11), waived('second')], 12, ['usage_adjustment -3 = -3 (7)'],                        true],
  ['as if another invoice was void',           [bill('first', 10), late('a', 9n), waived('another')],                  11,  ['usage_adjustment 2 = 2 (7)'],                           true],
  ['all that is not billed any more',          [bill('first', 10), unbilled('first')],                                 11,  ['usage 7 = 7 (0)'],                                      true],
  ['an adjustment that is not billed any more', [bill('first', 10), late('a', 9n), bill('second', 11), unbilled('second')], 12, ['usage_adjustment 2 = 2 (7)'],                       true],
];

describe('the next invoice of a subscription', () => {
  test.each(NEXT)('has %s', (_what, steps, day, lines, owes) => {
    const billed = two();
    for (const step of steps) step(billed);
    expect(billed.owes(day)).toBe(owes);
    expect(billed.invoice('next', day)).toEqual(lines);
  });

  test('has what a period that was billed in part costs more, rated as one', () => {
    const cut = span('a', [0, 10], 7n, 'price', 'period');
    const price = {
      id: 'price',
      currency: 'USD',
      minimum: 20n,
      maximum: null,
      model: 'package',
      packageSize: 5n,
      packageAmount: 3n,
    } as const;
    const period = { start: T0, end: T0 + 40 * DAY };
    const parts = [cut, { ...span('b', [10, 30], 2n, 'price', 'period'), goesOn: true }];
    const billed = new Billed(...parts.map((one) => ({ ...one, price, period, goesOn: true })));
    expect(billed.invoice('first', 10)).toEqual(['usage 7 = 6 (0)']);
    // The second package was begun.
    expect(billed.invoice('second', 30)).toEqual(['usage 2 = 0 (6)']);
    expect(billed.spans.map(({ billedAs }) => billedAs)).toEqual(
      Array(2).fill('usage/first/price'),
    );
    expect(billed.state.usage).toMatchObject([{ periodStart: T0, periodEnd: T0 + 30 * DAY }]);
    // The price is in force for three quarters of the period: 15 of 20.
    billed.spans = billed.spans.map((one) => ({ ...one, goesOn: false }));
    expect(billed.owes(31)).toBe(true);
    expect(billed.invoice('third', 31)).toEqual(['usage_adjustment 0 = 9 (6)']);
  });

  test('has one line for all spans of a price, from the first to the last', () => {
    const billed = new Billed(
      span('b', [10, 20], 5n),
      span('a', [0, 10], 7n),
      span('c', [20, null], 9n),
    );
    expect(billed.invoice('first', 21)).toEqual(['usage 12 = 12 (0)']);
    expect(billed.state.usage).toMatchObject([{ periodStart: T0, periodEnd: T0 + 20 * DAY }]);
    expect(billed.spans.map(({ billedAs }) => billedAs)).toEqual([
      'usage/first/price',
      'usage/first/price',
      null,
    ]);
  });

  test('owes nothing for usage that costs nothing, and has its line', () => {
    const billed = new Billed(span('a', [0, 10], 0n));
    expect([billed.owes(10), billed.invoice('first', 10)]).toEqual([false, ['usage 0 = 0 (0)']]);
  });

  test('says that what is billed late is of before', () => {
    const billed = two();
    bill('first', 10)(billed);
    late('a', 9n)(billed);
    const lines = billed.do((draft) =>
      usageLines(draft, { invoiceId: 'second', until: T0 + 20 * DAY }),
    );
    expect(lines.map(({ description }) => description)).toEqual([
      'Late usage of calls',
      'Usage of calls',
    ]);
  });
});

describe('a level', () => {
  const MONTH = { start: T0, end: T0 + 40 * DAY };
  /** Its level at the start and at the end of the days, nothing of it included. */
  const level = (
    id: string,
    days: readonly [number, number],
    [from, to]: readonly [bigint, bigint],
    period: BillableSpan['period'],
  ): BillableSpan => {
    const one = span(id, days, to, 'price', 'period');
    const opening = { aggregate: from, latest: null };
    return { ...one, period, opening, meter: { ...one.meter, aggregation: 'last' } };
  };

  // prettier-ignore
  test.each<[string, BillableSpan[], string[]]>([
    ['that stays',                          [level('a', [0, 10], [0n, 8n], MONTH), level('b', [10, 40], [8n, 8n], MONTH)],  ['usage 8 = 2 (0)', 'usage 0 = 6 (2)']],
    ['that falls gives back',               [level('a', [0, 20], [0n, 8n], MONTH), level('b', [20, 40], [8n, 2n], MONTH)],  ['usage 8 = 4 (0)', 'usage_adjustment -6 = -2 (4)']],
    ['that comes back costs its own times', [level('a', [0, 10], [0n, 8n], MONTH), level('b', [20, 40], [8n, 4n], MONTH)],  ['usage 8 = 2 (0)', 'usage 4 = 2 (2)']],
    // What was billed of before the upgrade stays as it was.
    ['of before costs what it grew by',     [level('a', [0, 20], [0n, 8n], null), level('b', [20, 40], [8n, 9n], null)],    ['usage 8 = 8 (0)', 'usage 1 = 1 (8)']],
    ['of before that falls stays billed',   [level('a', [0, 20], [0n, 8n], null), level('b', [20, 40], [8n, 2n], null)],    ['usage 8 = 8 (0)']],
    ['of before that runs on costs its time', [level('a', [0, 20], [0n, 8n], null), level('b', [20, 40], [8n, 9n], MONTH)], ['usage 8 = 8 (0)', 'usage 1 = 1 (8)']],
  ])('%s', (_what, spans, lines) => {
    const billed = new Billed(...spans);
    const until = (spans[0]?.end ?? 0) - T0;
    expect([...billed.invoice('first', until / DAY), ...billed.invoice('second', 40)]).toEqual(lines);
  });
});

describe('a void invoice', () => {
  // prettier-ignore
  const VOID: [string, Step, parts: string[][]][] = [
    ['waives what it billed, of all prices',         waived('first'),            [['first 7*', 'second 2'], ['first 5*', 'second -1']]],
    ['waives what it billed late, and gives back',   waived('second'),           [['first 7', 'second 2*'], ['first 5']]],
    ['of something else waives nothing',             waived('another'),          [['first 7', 'second 2'], ['first 5', 'second -1']]],
    ['that nobody waived has billed nothing',        unbilled('second'),         [['first 7'], ['first 5']]],
    ['and others that nobody waived, too',           unbilled('first', 'second'), [[], []]],
  ];

  test.each(VOID)('%s', (_what, step, parts) => {
    const billed = two();
    for (const before of [bill('first', 20), late('a', 9n), late('b', 4n), bill('second', 21)])
      before(billed);
    step(billed);
    expect(billed.parts).toEqual(parts);
  });

  test('of something else writes nothing', () => {
    const billed = two();
    bill('first', 20)(billed);
    const before = billed.state;
    waived('another')(billed);
    expect(billed.do((draft) => unbill(draft, ['another']))).toBe(false);
    expect(billed.state).toBe(before);
  });

  test('of a change that was not paid leaves its usage as it was before', () => {
    const billed = new Billed(
      span('a', [0, 10], 7n, 'price', 'period'),
      span('b', [10, null], 5n, 'price', 'period'),
    );
    bill('change', 10)(billed);
    billed.do((draft) => uncut(draft, 'change', T0 + 10 * DAY));
    expect([billed.parts, billed.spans.map(({ id, billedAs }) => [id, billedAs])]).toEqual([
      [],
      [['a', null]],
    ]);
  });
});

describe('billed usage is let go of', () => {
  const KEPT = PERIODS_KEPT_MS / DAY;

  test('not while more of its period may be billed', () => {
    const billed = new Billed(
      span('a', [0, 10], 7n, 'price', 'year'),
      span('b', [10, null], 5n, 'price', 'year'),
    );
    bill('first', 10)(billed);
    bill('second', 100)(billed);
    expect([billed.state.usage.length, billed.spans.length]).toEqual([1, 2]);
  });

  test('not before the last event may have come for the rest of its period, which sold nothing', () => {
    const billed = new Billed(
      span('a', [0, 10], 7n, 'price', 'month'),
      span('b', [10, 30], 0n, 'price', 'month'),
    );
    bill('first', 10)(billed);
    expect(billed.invoice('second', 30)).toEqual([]);
    expect(billed.state.usage).toMatchObject([{ periodEnd: T0 + 30 * DAY }]);
    bill('third', 29 + KEPT)(billed);
    late('b', 2n)(billed);
    expect(billed.invoice('fourth', 29 + KEPT)).toEqual(['usage_adjustment 2 = 2 (7)']);
  });

  const firstOpen = () => {
    const world = new SubscriptionWorld();
    world.start();
    return must(world.state.open[0], 'an invoice that is unpaid');
  };
  const unpaid =
    (invoiceId: string): Step =>
    (billed) => {
      billed.state = { ...billed.state, open: [{ ...firstOpen(), invoiceId }] };
    };

  // prettier-ignore
  test.each<[string, Step[], day: number, left: number]>([
    ['not before the last event may have come',     [],                                     10 + KEPT - 1, 1],
    ['with the first invoice after that',           [],                                     10 + KEPT,     0],
    ['not while its invoice may become void',       [unpaid('first')],                     11 + KEPT,     1],
    ['where another invoice may become void',       [unpaid('another')],                   11 + KEPT,     0],
    ['not with the invoice that adjusts it',        [late('a', 9n)],                        11 + KEPT,     1],
  ])('%s', (_what, steps, day, left) => {
    const billed = new Billed(span('a', [0, 10], 7n));
    bill('first', 10)(billed);
    for (const step of steps) step(billed);
    bill('second', day)(billed);
    expect([billed.state.usage.length, billed.spans.length]).toEqual([left, left]);
  });
});
