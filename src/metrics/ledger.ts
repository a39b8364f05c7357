// How the ledger fares: its journal, its actors, its lease.
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
  ['overloaded',                 'overloaded',         'Calls that were refused because too much was waiting.'],
  ['evicted',                    'evicted_actors',     'Customers that were dropped from memory to make room.'],
] as const;

// prettier-ignore
const GAUGES = [
  ['queuedUnits',      'queued_units',      'Decisions that wait for the next flush.'],
  ['queuedTransfers',  'queued_transfers',  'Transfers that wait for the next flush.'],
  ['loading',          'loading_calls',     'Calls that wait for a customer or a payment to be loaded.'],
  ['actors',           'customer_actors',   'Customers in memory.'],
  ['paymentActors',    'payment_actors',    'Payments in memory.'],
] as const;

/** What the ledger does not have, between two terms, is 0. */
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
    help: '1 while this process holds the seat and may answer.',
    read: () => (ledger.readiness().ready ? 1 : 0),
  });
  gauge(registry, {
    name: name('lease_seconds'),
    help: 'For how long it may still answer if it cannot renew its lease.',
    read: () => read('leaseMs')() / 1000,
  });
}

/** What the ledger tells of each flush that is on disk. */
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
