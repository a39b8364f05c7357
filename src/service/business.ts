// What moves money, recurs, and follows a test clock; and delivery, where this process does it.
import { openDelivery } from '../../workers/delivery.ts';
import { openMailer } from '../../workers/mail/open.ts';
import { attemptObserver } from '../metrics/deliveries.ts';
import { mailObserver } from '../metrics/mails.ts';
import { openPayments } from '../payments/open.ts';
import { Openings } from '../payments/openings.ts';
import type { Payments } from '../payments/payments.ts';
import { timers } from '../platform/clock.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import type { Late } from '../platform/late.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { RateLimiter } from '../platform/redis/rate-limit.ts';
import type { BackgroundWork } from '../platform/background/background-work.ts';
import { runTestClock, stopTestClock } from '../records/test-clocks.ts';
import { openSubscriptions } from '../subscriptions/open.ts';
import type { Subscriptions } from '../subscriptions/subscriptions.ts';
import { openTopUps } from '../topups/open.ts';
import type { TopUps } from '../topups/topups.ts';
import { type OutboxWork, TestClocks } from '../test-clock/test-clocks.ts';
import { type OpenedProcessors, openServiceProcessors } from './processors.ts';
import { type Connected, openConnected } from './connected.ts';
import type { Connections } from './connections.ts';
import type { Node } from './node.ts';
import type { ServiceOptions } from './options.ts';
import type { PeerMessage } from './peer-message.ts';
import { openReconciliation } from './reconciliation.ts';

/** The third stage. Payments and subscriptions tell each other what was decided. */
export type Business = {
  readonly payments: Payments;
  readonly openings: Openings;
  readonly subscriptions: Subscriptions;
  readonly topUps: TopUps;
  readonly testClocks: TestClocks;
  readonly reconciler: BackgroundWork;
} & OpenedProcessors &
  Connected;

type Given = {
  readonly connections: Connections;
  readonly node: Node;
  readonly limiter: RateLimiter;
  readonly secrets: Secrets;
};

/** Binds the parts that the ledger calls. */
export async function openBusiness(
  options: ServiceOptions,
  { connections, node, limiter, secrets }: Given,
  late: {
    readonly payments: Late<Payments>;
    readonly subscriptions: Late<Subscriptions>;
    readonly topUps: Late<TopUps>;
    readonly testClocks: Late<TestClocks>;
  },
): Promise<Business> {
  const { settings, log } = options;
  const { ledger } = node;
  const opened = await openServiceProcessors(options, connections, secrets);
  const { processors } = opened;
  const sendsMail = settings.mail !== undefined;
  const port = { ...connections, ids, timers, log };
  const deps = { ...port, ledger, limiter, processors, settings, sendsMail };
  const payments = openPayments({
    ...deps,
    onSubscriptionPayment: (scope, id) => late.subscriptions.get().paymentSettled(scope, id),
    onUsageGivenBack: (id) => late.subscriptions.get().usageGivenBack(id),
    onTopUpPayment: (scope, id) => late.topUps.get().paymentSettled(scope, id),
  });
  const collect = (id: string) => payments.collect(id);
  const topUps = openTopUps({ ...deps, collect });
  const carryOutTopUps = (customerId: string) => topUps.carryOutOf(customerId);
  const subscriptions = openSubscriptions({
    ...deps,
    collect,
    release: (id) => payments.release(id),
    giveBack: (scope, id) => payments.giveBack(scope, id),
    carryOutTopUps,
  });
  const owed = [payments, subscriptions, topUps];
  const testClocks = openTestClocks(connections, node, owed);
  late.payments.bind(payments);
  late.subscriptions.bind(subscriptions);
  late.topUps.bind(topUps);
  late.testClocks.bind(testClocks);
  const openings = new Openings({ ...deps, newToken });
  const connected = openConnected(options, connections, { secrets, payments, subscriptions });
  const reconciler = openReconciliation(options, connections, { secrets, payments });
  const moving = { payments, openings, subscriptions, topUps, testClocks, reconciler };
  return { ...moving, ...opened, ...connected };
}

function openTestClocks(
  { sql, orgClock: clocks }: Connections,
  { ledger, holder: mover }: Node,
  owed: readonly OutboxWork[],
): TestClocks {
  return new TestClocks({
    clocks,
    owed,
    due: ledger.alarms,
    rows: {
      stop: (to) => stopTestClock(sql, { ...to, mover }),
      run: (organisationId) => runTestClock(sql, { organisationId, mover }),
    },
    tellAll: async (clock) =>
      (await ledger.broadcast.publishToAll({ clock } satisfies PeerMessage)) as number[],
    timers,
  });
}

/** Webhooks and mails delivered by this process, beside the API; null where others do it. */
export async function openOwnDelivery(
  options: ServiceOptions,
  { clock, metrics: { registry } }: Connections,
) {
  const [onAttempt, onMail] = [attemptObserver(registry), mailObserver(registry)];
  if (!options.deliver) return null;
  const { allowLoopbackUrls: allowLoopback, mail, appUrl, bounds } = options.settings;
  const delivery = await openDelivery({ ...options, clock, allowLoopback, onAttempt });
  const mailer =
    mail && (await openMailer({ ...options, clock, bounds, mail, appUrl, onAttempt: onMail }));
  return {
    async close() {
      await Promise.all([delivery.close(), mailer?.close()]);
    },
  };
}
