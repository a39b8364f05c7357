// This node among the others: its ledger, its seat's storage, and the messages between nodes.
import { Ledger, type LedgerDeps } from '../../ledger/ledger.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import {
  flushMsMax,
  type PostgresStorage,
  postgresStorage,
} from '../../ledger/store/postgres-storage.ts';
import { journalName } from '../../ledger/store/nodes.ts';
import { renderCheck } from '../http/wire/metering.ts';
import { clock as ownClock, timers } from '../platform/clock.ts';
import { ids } from '../platform/ids.ts';
import type { Late } from '../platform/late.ts';
import { listenOn } from '../platform/net/listen.ts';
import { OpenPeers } from '../platform/peers/peers.ts';
import type { Changes } from '../platform/postgres/changes.ts';
import { openPool } from '../platform/postgres/postgres.ts';
import { tell } from '../platform/postgres/tell.ts';
import type { TestClocks } from '../test-clock/test-clocks.ts';
import type { Connections } from './connections.ts';
import type { ServiceOptions } from './options.ts';
import type { PeerMessage } from './peer-message.ts';

const READERS_POOL = 8;

/**
 * Every flush runs the same two plans, over tables that may have been empty when they were made.
 */
const FLUSH_PLANS = {
  enable_seqscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
};

/** The second stage: the ledger and what it stands on. */
export type Node = {
  readonly ledger: Ledger;
  readonly storage: PostgresStorage;
  readonly peers: OpenPeers | null;
  /** Names this node in the database: the holder of its seat, the mover of a test clock. */
  readonly holder: string;
};

/** `testClocks` takes in what other nodes publish; `ledger` is bound here. */
export function openNode(
  options: ServiceOptions,
  { sql, orgClock, changes, metrics }: Connections,
  {
    ledger: late,
    testClocks,
    ...callbacks
  }: Pick<
    LedgerDeps,
    'onPaymentDue' | 'onSubscriptionDue' | 'onTopUpsOrdered' | 'wants' | 'alertsOf' | 'poolOf'
  > & {
    readonly ledger: Late<Ledger>;
    readonly testClocks: Late<TestClocks>;
  },
): Node {
  const holder = ids.next();
  const peers = openPeers(options, (request) => late.get().answer(request));
  const storage = openStorage(options, holder, () => tell(sql, 'tollhouse_events'));
  const { metersPerCustomer, grantsPerCustomerMeter, grantsPerCustomer, subscriptionsPerCustomer } =
    options.settings.bounds;
  const ledger = new Ledger({
    storage,
    ids,
    // For leases and waits: the database and other nodes know nothing of another clock.
    clock: ownClock,
    orgClock,
    timers,
    log: options.log,
    peers,
    address: options.node?.address ?? null,
    leaseMs: options.leaseMs,
    bounds: {
      meters: metersPerCustomer || Infinity,
      grantsPerMeter: grantsPerCustomerMeter,
      grants: grantsPerCustomer || Infinity,
      subscriptions: subscriptionsPerCustomer || Infinity,
    },
    cacheBounds: { actors: options.actorsMax, bytes: options.actorBytesMax ?? Infinity },
    render: renderCheck,
    onFlush: metrics.onFlush,
    onTold: (what) => {
      const message = what as PeerMessage;
      if ('change' in message) return changes.receive(message.change);
      return testClocks.get().take(message.clock);
    },
    ...callbacks,
  });
  late.bind(ledger);
  forgetCustomers(changes, ledger);
  return { ledger, storage, peers, holder };
}

/** The connections to other nodes; null for a node that is alone. */
function openPeers({ node, log }: ServiceOptions, answer: (request: unknown) => unknown) {
  if (node === undefined) return null;
  const { address: self, secret } = node;
  const { hostname, port } = new URL(`ws://${node.listen}`);
  const listen = { hostname: hostname.replace(/^\[|\]$/g, ''), port: Number(port) };
  return listenOn(
    { port: listen.port, setBy: 'NODE_LISTEN' },
    () => new OpenPeers({ listen, secret, self, answer, clock: ownClock, timers, log }),
  );
}

function openStorage(
  options: ServiceOptions,
  holder: string,
  onEvents: () => void,
): PostgresStorage {
  const { databaseUrl, leaseMs } = options;
  return postgresStorage({
    openWriter: () =>
      openPool(options.journalUrl ?? databaseUrl, {
        max: 1,
        applicationName: journalName(holder),
        statementTimeoutMs: flushMsMax(leaseMs),
        settings: FLUSH_PLANS,
      }),
    openReader: () =>
      openPool(databaseUrl, { max: READERS_POOL, applicationName: 'tollhouse loads' }),
    leaseMs,
    holder,
    address: options.node?.address ?? null,
    slotOf,
    ids,
    timers,
    onEvents,
  });
}

function forgetCustomers(changes: Changes, ledger: Ledger): void {
  changes.subscribe({
    changed: (kind, id) => {
      if (kind === 'customer') ledger.forget(id);
    },
    reset: () => ledger.forgetAll(),
  });
}
