// The suites of the long run: what is said about one node for three, the payments at the fake of
// Stripe, all cases of what the short run tries some of, and the files that run for long or need the machine for themselves.
import { byStripe, withoutSandboxOnly } from './by-stripe.ts';
import type { Graph } from './graph.ts';
import { LOADED_ONCE, PROCESSORS, type Suite } from './suite.ts';

/** Run by one node, and in the long run by three nodes as well. */
const BY_THREE_NODES = /^test\/(contract|http|payments)\//;

/**
 * Of these, what is refused before it is known whose it is, what any node reads alike, and what
 * starts its own nodes whatever TEST_NODES says.
 */
const BY_ONE_NODE = new RegExp(
  [
    '^test/http/(?:people|audit-log|reports|annotations)/',
    '^test/http/(?:admin|csv|documented|documents|openapi|processor-page)\\.',
    '^test/http/(?:api-keys|checkouts|customers|discounts|entitlements|events|invoices|meters|organization)/40[04]\\.',
    '^test/http/(?:payments/list|payments/one|products|spend-cap|usage-prices|webhook-endpoints)/40[04]\\.',
    '^test/http/(?:alerts/durable|api-keys/told|decisions/nodes|edge/revocation|invoices/meetings|metrics)\\.',
    '^test/http/(?:events/stream-(?:drain|many|slow)|spend-cap/(?:durable|pending)|webhook-endpoints/replay)\\.',
    '^test/http/metering/(?:former-keys|hints|track-batch/restart|usage-events-again)\\.',
    '^test/payments/(?:challenge|dead-letter)\\.',
    '^test/http/edge/(?:answers|every-post|forms|hostile-strings|json|lenient|metadata|times|without-fields)\\.',
  ].join('|'),
);

/** Long files that hold on a busy machine, and those that mostly wait: several at once. */
const BESIDE_OTHERS = new RegExp(
  [
    '^test/(?:simulation|dashboard|pages|client|reconciliation)/',
    '/(?:relay-)?planted\\.',
    '^test/chaos/(?:client-kills|prepaid|stripe-away|usage-bins|usage-sales|webhooks)\\.',
    '^test/http/test-clock/',
  ].join('|'),
);

/** It says how many cases of a property a run tries. */
const CASES = 'test/support/cases.ts';

/** It runs for long, or needs the machine for itself. */
export const isLong = (file: string): boolean => file.endsWith('.long.test.ts');

/** Of files relative to the root. */
export function longSuites(
  { short, long }: { readonly short: readonly string[]; readonly long: readonly string[] },
  graph: Graph,
): readonly Suite[] {
  return [
    {
      name: 'three nodes',
      files: [...short, ...long]
        .filter((file) => BY_THREE_NODES.test(file) && !BY_ONE_NODE.test(file))
        .toSorted(),
      // A file keeps more than one processor busy by itself.
      workers: PROCESSORS,
      ...LOADED_ONCE,
      env: { ...LOADED_ONCE.env, TEST_NODES: '3' },
    },
    withoutSandboxOnly(byStripe(short)),
    {
      name: 'all cases',
      files: short.filter((file) => graph.reach(file).has(CASES)),
      workers: PROCESSORS,
      ...LOADED_ONCE,
      env: { ...LOADED_ONCE.env, TEST_CASES: 'all' },
    },
    {
      name: 'long, several at once',
      files: long.filter((file) => BESIDE_OTHERS.test(file)),
      workers: PROCESSORS,
    },
    {
      name: 'long, one at a time',
      files: long.filter((file) => !BESIDE_OTHERS.test(file)),
      // They start processes of their own, and some have time bounds.
      workers: 1,
    },
  ];
}
