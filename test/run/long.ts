// The suites of the long run: what is said about one node for three, the payments at the fake of
// Stripe, all cases of what the short run tries some of, and the files that run for long or need
// the machine for themselves.
import { byStripe, withoutSandboxOnly } from './by-stripe.ts';
import type { Graph } from './graph.ts';
import { LOADED_ONCE, PROCESSORS, type Suite } from './suite.ts';

/** Run by one node, and in the long run by three nodes as well. */
const BY_THREE_NODES = /^test\/(contract|http|payments)\//;

/**
 * Of these, what is refused before it is known whose it is, shapes and texts, what any node reads
 * alike, bounds of one node, and what starts its own nodes whatever TEST_NODES says.
 */
const BY_ONE_NODE = new RegExp(
  [
    '^test/http/(?:people|audit-log|reports|annotations)/',
    '^test/http/(?:admin|csv|documented|documents|openapi|processor-page)\\.',
    '^test/http/(?:api-keys|checkouts|customers|discounts|entitlements|events|invoices|meters|organization)/40[04]\\.',
    '^test/http/(?:payments/list|payments/one|products|spend-cap|usage-prices|webhook-endpoints)/40[04]\\.',
    '^test/http/(?:alerts/durable|api-keys/told|decisions/nodes|edge/revocation|invoices/(?:subscribed-)?meetings|metrics)\\.',
    '^test/http/(?:events/stream-(?:drain|many|slow)|spend-cap/(?:durable|pending)|webhook-endpoints/replay)\\.',
    '^test/http/metering/(?:former-keys|hints|track-batch/restart|usage-events-again)\\.',
    '^test/payments/(?:challenge|dead-letter|nothing-to-charge|returns-at-once)\\.',
    '^test/http/edge/(?:answers|every-post|forms|hostile-strings|json|lenient|metadata|times|without-fields)\\.',
    '^test/contract/authentication\\.',
    '^test/http/edge/(?:auth|key-turns|key-watch|no-query|refusals|scopes|walls|writers)\\.',
    '^test/http/(?:alerts|auto-topups|credit-costs|metering/.*|portal)/40[014]\\.',
    '^test/http/(?:alarm-turns|alerts|meter-catalogue)\\.',
    '^test/http/(?:alerts/many|api-keys/scopes|buy-links/(?:client-address|regions)|checkouts/(?:together|urls))\\.',
    '^test/http/(?:credit-costs/book|decisions/written|events/(?:bytes|catalogue|echo|paths))\\.',
    '^test/http/(?:invoices/usage-(?:csv|large|lines)|metering/scalars|organization/(?:branded-pages|logo-rate|processor-admin))\\.',
    '^test/http/(?:portal/pages|usage-prices/pages|usage-series/(?:calendar|refusals)|webhook-endpoints/sample)\\.',
    '^test/payments/(?:eviction|numbers-together)\\.',
    '^test/http/(?:bounds/(?:answers|bounds)|credit/many|lists/after|usage-prices/409)\\.',
    '^test/contract/(?:answers|refusals)\\.',
    '^test/http/(?:docs-types|edge/nullable|checkouts/quote|organization/branding|test-clock/refusals)\\.',
    '^test/http/metering/(?:aggregations|not-found|reservations/refusals|track/422)\\.',
    '^test/http/payments/refund/40[04]\\.',
    '^test/http/subscriptions/(?:40[04]|allowance|periods|preview|upcoming)\\.',
    '^test/http/test-clock/subscriptions\\.long\\.',
    '^test/http/usage-series/(?:groups|retention|series)\\.',
    '^test/payments/stripe-refusals\\.',
  ].join('|'),
);

/** Long files that bound or measure time: they need the machine for themselves. */
const ALONE = new RegExp(
  [
    '^test/attacks/(?!previews\\.)',
    '^test/chaos/(?:cluster|cluster-move|database|frozen)\\.',
    '^test/cluster/clocks\\.',
    '^test/http/(?:edge/revocation|events/stream-many)\\.',
    '^test/readme/walk\\.',
    '^test/store/weight\\.',
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
      files: [...short, ...long].filter(
        (file) => BY_THREE_NODES.test(file) && !BY_ONE_NODE.test(file),
      ),
      // A file keeps more than one processor busy by itself.
      workers: PROCESSORS,
      ...LOADED_ONCE,
      env: { ...LOADED_ONCE.env, TEST_NODES: '3' },
    },
    withoutSandboxOnly(byStripe(short)),
    {
      name: 'all cases',
      // The runner's own tests reach it by this line alone.
      files: short.filter((file) => graph.reach(file).has(CASES) && !file.startsWith('test/run/')),
      workers: PROCESSORS,
      ...LOADED_ONCE,
      env: { ...LOADED_ONCE.env, TEST_CASES: 'all' },
    },
    {
      name: 'long, several at once',
      files: long.filter((file) => !ALONE.test(file)),
      // They wait for processes, leases and clocks for half of their time, and count it.
      workers: PROCESSORS + 1,
    },
    {
      name: 'long, one at a time',
      files: long.filter((file) => ALONE.test(file)),
      workers: 1,
    },
  ];
}
