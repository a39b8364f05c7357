// The suites about money, run with the fake of Stripe in the place of the sandbox, and what of them
// only the sandbox has.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './graph.ts';
import { AT_ONCE, LOADED_ONCE, type Suite } from './suite.ts';

/** Files whose path begins so. */
const ABOUT_MONEY: readonly string[] = [
  'test/http/auto-topups/',
  'test/http/checkouts/attempts',
  'test/http/checkouts/customer',
  'test/http/payments/',
  'test/http/portal/200',
  'test/http/portal/402',
  'test/http/subscriptions/',
  'test/http/usage-billing/ends',
  'test/http/usage-billing/renewal',
  'test/payments/currencies',
  'test/payments/customers',
  'test/payments/discounts',
  'test/payments/events',
  'test/payments/instruments',
  'test/payments/once',
  'test/payments/owed',
];

/** Of these, what says nothing to a processor: shapes, and what is reckoned before a charge. */
const WITHOUT_A_CHARGE = new RegExp(
  [
    '^test/http/auto-topups/(?:400|deleted)\\.',
    '^test/http/payments/(?:list/|one/|refund/40[04])',
    '^test/http/subscriptions/(?:40[049]|allowance|entitlements|periods|preview|upcoming)\\.',
  ].join('|'),
);

// prettier-ignore
const REASONS = {
  amounts: 'amounts and currencies that Stripe does not take',
  cards:   'what a card does at the sandbox alone: a request or an answer that is lost, an error of the processor',
  page:    "our own page asks for the number; Stripe's is shown before a discount is taken or a bank asks",
  tables:  "the sandbox's own tables",
  time:    'a bank that takes time, and follows the clock of the organisation',
} as const;

/** A test as its file names it; without one, the whole file. */
type Left = {
  readonly file: string;
  readonly test?: string;
  readonly because: keyof typeof REASONS;
};

// prettier-ignore
const LEFT_OUT: readonly Left[] = [
  { because: 'tables',  file: 'test/http/payments/refund/400.test.ts' },
  { because: 'tables',  file: 'test/http/subscriptions/pause.test.ts',            test: 'whose draft was declined begins a new one' },
  { because: 'tables',  file: 'test/http/subscriptions/pending.test.ts',          test: 'and fails after it was taken back' },
  { because: 'tables',  file: 'test/http/subscriptions/retries.test.ts',          test: 'it pays not after all' },
  { because: 'tables',  file: 'test/http/subscriptions/given-back.test.ts',       test: 'a disputed payment is not credited until' },
  { because: 'time',    file: 'test/http/subscriptions/given-back.test.ts',       test: 'what a change took that was taken back' },
  { because: 'cards',   file: 'test/http/auto-topups/lost.test.ts' },
  { because: 'cards',   file: 'test/http/subscriptions/lost.test.ts' },
  { because: 'amounts', file: 'test/http/subscriptions/allowance.test.ts',        test: 'to the smallest coin' },
  { because: 'amounts', file: 'test/http/subscriptions/for-nothing.test.ts',      test: 'a quantity that makes' },
  { because: 'amounts', file: 'test/payments/currencies.test.ts',                 test: 'a price is paid, and refunded in parts' },
  { because: 'amounts', file: 'test/payments/currencies.test.ts',                 test: 'a percentage discount is exact to the smallest unit' },
  { because: 'amounts', file: 'test/payments/currencies.test.ts',                 test: 'which no double holds' },
  { because: 'page',    file: 'test/http/payments/refund/idempotency.test.ts',    test: 'a refused refund of a payment with' },
  { because: 'page',    file: 'test/payments/discounts.test.ts',                  test: 'of fifty buyers at once one gets' },
  { because: 'page',    file: 'test/payments/discounts.test.ts',                  test: 'a discount on a payment that goes through the bank' },
  { because: 'page',    file: 'test/payments/discounts.test.ts',                  test: 'a payment that fails gives its discount back' },
  { because: 'page',    file: 'test/payments/once.test.ts',                       test: 'fails, and its card number is kept nowhere' },
  { because: 'time',    file: 'test/http/subscriptions/left-to-merchant.test.ts', test: 'the draft that a resume replaces' },
  { because: 'time',    file: 'test/http/usage-billing/ends.test.ts',             test: 'charge is under way when the subscription ends' },
  { because: 'page',    file: 'test/payments/customers.test.ts',                  test: 'a payment that is not made is found by its known customer' },
  { because: 'cards',   file: 'test/payments/events.test.ts',                     test: 'the event of a payment that fails' },
  { because: 'cards',   file: 'test/payments/instruments.test.ts',                test: 'a payment by a sandbox instrument' },
  { because: 'cards',   file: 'test/payments/once.test.ts',                       test: 'loading the page gives up no charge that may still be in flight' },
  { because: 'cards',   file: 'test/payments/once.test.ts',                       test: 'declined, then paid' },
];

/** Whether TEST_PROCESSOR asks for it. */
export const isByStripe = (): boolean => process.env['TEST_PROCESSOR'] === 'stripe';

const isAboutMoney = (file: string): boolean =>
  ABOUT_MONEY.some((start) => file.startsWith(start)) && !WITHOUT_A_CHARGE.test(file);

/** Those of all files that are about money. */
export function byStripe(all: readonly string[]): Suite {
  return {
    name: 'the fake of Stripe',
    files: all.filter(isAboutMoney),
    // As in the short run.
    workers: AT_ONCE,
    ...LOADED_ONCE,
    env: { ...LOADED_ONCE.env, TEST_PROCESSOR: 'stripe' },
  };
}

/**
 * Leaves out what only the sandbox has, and prints it.
 * @throws Error where such a test is not there any more
 */
export function withoutSandboxOnly(suite: Suite): Suite {
  const left = LEFT_OUT.filter(({ file }) => suite.files.includes(file));
  for (const { file, test = '', because } of left) {
    if (!readFileSync(join(ROOT, file), 'utf8').includes(test)) {
      throw new Error(`${file} has no test "${test}": see test/run/by-stripe.ts`);
    }
    console.log(`only with the sandbox: ${file} ${test}: ${REASONS[because]}`);
  }
  const whole = left.filter(({ test }) => test === undefined).map(({ file }) => file);
  const { flags = [] } = suite;
  const names = left.flatMap(({ test }) => (test === undefined ? [] : [RegExp.escape(test)]));
  return {
    ...suite,
    files: suite.files.filter((file) => !whole.includes(file)),
    ...(names.length > 0 && { flags: [...flags, '-t', `^(?!.*(?:${names.join('|')}))`] }),
  };
}
