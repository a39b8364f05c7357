// The ledger: its journal, actors, lease, and this node in the cluster.
import { Histogram, type Registry } from 'prom-client';
import type { Ledger, LedgerDeps } from '../../ledger/ledger.ts';
import { counter, gauge } from './numbers.ts';

// prettier-ignore
const COUNTERS = [
  // in the ledger's own words   name                  help
  ['flushes',                    'flushes',            'Transactions of the journal, those that only renew the lease too.'],
  ['transfers',                  'flushed_transfers',  'Transfers that are durable.'],
  ['units',                      'flushed_units',      'Decisions that are durable.'],
  ['rollbacks',                  'rollbacks',          'Flushes that failed and were decided again.'],
  ['overloaded',                 'overloaded',         'Calls that were refused because too much of their organisation was waiting.'],
  ['failedSlow',                 'failed_slow_units',  'Decisions that were refused because the database did not take them in time.'],
  ['failedRejected',             'failed_units',       'Decisions that the database rejected.'],
  ['evicted',                    'evicted_actors',     'Customers that were dropped from memory to make room.'],
  ['forwarded',                  'forwarded_calls',    'Calls that the owner of the slot was asked for.'],
  ['answeredForOthers',          'answered_calls',     'Calls that other nodes asked for.'],
  ['movedAnswers',               'moved_calls',        'Forwarded calls whose slot was not there any more.'],
  ['heldCalls',                  'held_calls',         'Waits of a call until it was known who owns its slot.'],
] as const;

// prettier-ignore
const GAUGES = [
  ['queuedUnits',      'queued_units',      'Decisions that wait for the next flush.'],
  ['queuedRows',       'queued_rows',       'Rows that wait for a flush, undecided.'],
  ['queuedBytes',      'queued_bytes',      'Metadata that waits for a flush, undecided, in bytes.'],
  ['queueShare',       'queue_share',       'The largest part of what may wait that one organisation has, 0 to 0.5.'],
  ['loading',          'loading_calls',     'Calls that wait for a customer or a payment to be loaded.'],
  ['actors',           'customer_actors',   'Customers in memory.'],
  ['actorBytes',       'customer_actor_bytes', 'What customers in memory take of the heap, reckoned.'],
  ['paymentActors',    'payment_actors',    'Payments in memory.'],
  ['paymentBytes',     'payment_actor_bytes', 'What payments in memory take of the heap, reckoned.'],
  ['slots',            'slots',             'Slots that this node serves; of all nodes together there are 1024.'],
  ['liveNodes',        'live_nodes',        'Nodes that are alive, as this one last saw it.'],
] as const;

/** A value that does not exist, between two ownership sessions, is 0. */
export function watchLedger(registry: Registry, ledger: Ledger): void {
  const name = (what: string): string => `tollhouse_ledger_${what}`;
  const read = (stat: string) => () => ledger.stats[stat] ?? 0;
  for (const [stat, what, help] of COUNTERS) {
    counter(registry, { name: name(`${what}_total`), help, read: read(stat) });
  }
  for (const [stat, what, help] of GAUGES) {
    gauge(registry, { name: name(what), help, read: read(stat) });
  }
  gauge(registry, {
    name: name('lease_valid'),
    help: '1 while this node has a seat and may answer.',
    read: () => (ledger.readiness().ready ? 1 : 0),
  });
  gauge(registry, {
    name: name('leaving'),
    help: '1 while this node hands its slots to the others and ends.',
    read: () => (ledger.isLeaving ? 1 : 0),
  });
  gauge(registry, {
    name: name('stopped_for_good'),
    help: '1 where it found the database behind itself: it serves again only when an operator starts it again.',
    read: () => (ledger.isStopped ? 1 : 0),
  });
  gauge(registry, {
    name: name('lease_seconds'),
    help: 'For how long it may still answer if it cannot renew its lease.',
    read: () => read('leaseMs')() / 1000,
  });
}

/** The ledger's report of each durable flush. */
export function flushObserver(registry: Registry): LedgerDeps['onFlush'] {
  const seconds = new Histogram({
    name: 'tollhouse_ledger_flush_seconds',
    help: 'From when a flush was sent to when it was known to be on disk.',
    buckets: [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5],
    registers: [registry],
  });
  const transfers = new Histogram({
    name: 'tollhouse_ledger_flush_transfers',
    help: 'Transfers of one flush; none where it only renews the lease.',
    buckets: [0, 1, 4, 16, 64, 256, 1024, 4096],
    registers: [registry],
  });
  return (flush) => {
    seconds.observe(flush.ms / 1000);
    transfers.observe(flush.transfers);
  };
}
