// What may become of an invoice of a subscription to which several things happen at once or in a
// row, by the specification alone (docs/spec/subscriptions.md). `subscribed-life.ts` compares the
// service with it.
import { orders } from '../../support/orders.ts';

export const ACTIONS = [
  'pay',
  'void',
  'finalize',
  'capture',
  'fail',
  'refund',
  'method',
  'cancel',
  'day',
] as const;
export type Action = (typeof ACTIONS)[number];

export const SITUATIONS = ['under way', 'declined', 'draft', 'left open'] as const;
export type Situation = (typeof SITUATIONS)[number];

/** Days after the first failure (docs/spec/subscriptions.md#dunning). */
const RETRY_DAYS = [1, 3, 7, 13, 20];

/** What a reader of the API can tell. */
export type Seen = {
  readonly status: 'draft' | 'open' | 'paid' | 'void';
  readonly isUnderWay: boolean;
  /** Payments that were begun. */
  readonly charges: number;
  readonly isRefunded: boolean;
  readonly hasEnded: boolean;
};

export type Reference = Seen & {
  readonly day: number;
  /** Whether its subscription retries it. */
  readonly isChased: boolean;
  /** The method has changed while a charge was under way: it is tried once that has failed. */
  readonly again: boolean;
  readonly failedOn: number | null;
  readonly retryOn: number | null;
};

const STARTS: Readonly<Record<Situation, Partial<Reference>>> = {
  'under way': { isUnderWay: true, charges: 1, isChased: true },
  declined: { charges: 1, isChased: true, failedOn: 0, retryOn: 1 },
  draft: { status: 'draft' },
  'left open': { hasEnded: true },
};

const START: Reference = {
  status: 'open',
  isUnderWay: false,
  charges: 0,
  isRefunded: false,
  hasEnded: false,
  day: 0,
  isChased: false,
  again: false,
  failedOn: null,
  retryOn: null,
};

/** The bank decides a debit once. */
export const DECIDED = 0;

/** The answer, null where there is nothing to ask, and what it leaves. */
type Done = readonly [answer: number | null, after: Reference];

const begun = (one: Reference): Reference => ({
  ...one,
  isUnderWay: true,
  charges: one.charges + 1,
  isChased: one.isChased || !one.hasEnded,
  again: false,
  retryOn: null,
});

const RULES: Readonly<Record<Action, (one: Reference) => Done>> = {
  pay(one) {
    if (one.status === 'paid') return [200, one];
    if (one.status !== 'open') return [409, one];
    return [202, one.isUnderWay ? one : begun(one)];
  },
  void(one) {
    if (one.status === 'paid' || one.isUnderWay) return [409, one];
    return [200, { ...one, status: 'void', isChased: false, again: false }];
  },
  finalize(one) {
    if (one.status === 'draft') return [200, { ...one, status: 'open' }];
    return [one.status === 'open' ? 200 : 409, one];
  },
  capture(one) {
    if (!one.isUnderWay) return [null, one];
    return [DECIDED, { ...one, isUnderWay: false, isChased: false, again: false, status: 'paid' }];
  },
  fail(one) {
    if (!one.isUnderWay) return [null, one];
    const idle = { ...one, isUnderWay: false };
    // What was under way at the end is void; what was left open stays so.
    if (one.hasEnded) {
      return [DECIDED, one.isChased ? { ...idle, isChased: false, status: 'void' } : idle];
    }
    const failedOn = one.failedOn ?? one.day;
    // What comes before its try meets an invoice that nobody is charged for.
    if (one.again) return [DECIDED, { ...idle, failedOn, retryOn: null }];
    const retryOn = RETRY_DAYS.map((days) => failedOn + days).find((day) => day > one.day) ?? null;
    return [DECIDED, { ...idle, failedOn, retryOn }];
  },
  refund(one) {
    if (one.status !== 'paid') return [null, one];
    return [one.isRefunded ? 400 : 200, { ...one, isRefunded: true }];
  },
  method(one) {
    if (!one.isChased || one.hasEnded) return [303, one];
    return [303, one.isUnderWay ? { ...one, again: true } : begun(one)];
  },
  cancel(one) {
    if (one.hasEnded) return [200, one];
    const ended = { ...one, hasEnded: true, again: false, retryOn: null };
    const isGivenUp = one.isChased && !one.isUnderWay;
    return [200, isGivenUp ? { ...ended, isChased: false, status: 'void' } : ended];
  },
  day(one) {
    const later = { ...one, day: one.day + 1 };
    const isDue = one.retryOn !== null && one.retryOn <= later.day && !one.hasEnded;
    return [200, isDue && one.isChased ? begun(later) : later];
  },
};

export const startOf = (situation: Situation): Reference => ({ ...START, ...STARTS[situation] });

/** Whether it is about to be tried with a changed method. */
const isOwedTry = ({ again, isUnderWay }: Reference): boolean => again && !isUnderWay;
const tried = (one: Reference): Reference => (isOwedTry(one) ? begun(one) : one);

/** What the actions at once and their answers leave, which is what was seen: in any order. */
export function explain(
  may: readonly Reference[],
  met: ReadonlyMap<Action, number | null>,
  seen: Seen,
): Reference[] {
  const isSeen = (one: Reference): boolean =>
    (Object.keys(seen) as (keyof Seen)[]).every((key) => one[key] === seen[key]);
  return may.flatMap((before) =>
    [...orders([...met.keys()])].flatMap((order) =>
      inOrder(before, order, met).map(tried).filter(isSeen),
    ),
  );
}

/** Where a try is owed, it begins before the next action or after it. */
function inOrder(
  before: Reference,
  order: readonly Action[],
  met: ReadonlyMap<Action, number | null>,
): readonly Reference[] {
  let all: readonly Reference[] = [before];
  for (const action of order) {
    if (isTooLate(met, action)) continue;
    all = all
      .flatMap((one) => (isOwedTry(one) ? [one, tried(one)] : [one]))
      .flatMap((one) => {
        const [answer, after] = RULES[action](one);
        return isAnswer(met, action, answer) ? [after] : [];
      });
  }
  return all;
}

/** The bank had said the other of that debit: it says nothing of a charge that begins then. */
function isTooLate(met: ReadonlyMap<Action, number | null>, action: Action): boolean {
  const other = action === 'capture' ? 'fail' : 'capture';
  const isBank = action === 'capture' || action === 'fail';
  return isBank && met.get(action) === null && met.get(other) === DECIDED;
}

/** A charge that is decided while the caller waits is told at once. */
function isAnswer(
  met: ReadonlyMap<Action, number | null>,
  action: Action,
  expected: number | null,
): boolean {
  const answer = met.get(action);
  if (answer === expected) return true;
  if (action !== 'pay' || expected !== 202) return false;
  if (answer === 200) return met.has('capture');
  if (answer === 402) return met.has('fail');
  return answer === 409 && met.has('fail') && met.has('cancel');
}
