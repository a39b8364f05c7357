// Clients: each sends one call after the other, to any place. Without an answer a client never
// learns the outcome.
import type { Ledger } from '../../ledger/ledger.ts';
import { LedgerUnavailable } from '../../ledger/ports.ts';
import { isConnectionLost } from './network.ts';
import type { Place, Process } from './process.ts';
import type { World } from './world.ts';

/** The outcome of a call, as its client sees it. */
export type Reply<T> =
  | { readonly kind: 'answer'; readonly value: T }
  /** Refused for now, or never answered: it may have been done, or be done later. */
  | { readonly kind: 'unknown' };

const PATIENCE_MS = 10_000;
/** How long a call waits where the only faults are refused units. */
const WAITED_LEASES_MAX = 4;
/** And for one that is the same: they have one key, and the second waits for the first. */
const WAITED_LEASES_FOR_ONE_MORE = 1;

/**
 * Runs `call` on any place that has a process. `atNode` sees the answer when it leaves the node:
 * whatever it says must be durable by then.
 */
export async function send<T>(
  world: World,
  {
    what,
    place = world.random.pick(world.places),
  }: { readonly what: string; readonly place?: Place | undefined },
  call: (ledger: Ledger, process: Process) => Promise<T>,
  atNode: (value: T) => void,
): Promise<Reply<T>> {
  const { schedule, network, auditor } = world;
  const { process } = place;
  const { promise, resolve } = Promise.withResolvers<Reply<T>>();
  const giveUp = schedule.after(PATIENCE_MS, null, () => resolve({ kind: 'unknown' }));
  const asked = schedule.now;
  const alike = world.underWay.get(what) ?? 0;
  world.underWay.set(what, alike + 1);
  const leases = WAITED_LEASES_MAX + (alike > 0 ? WAITED_LEASES_FOR_ONE_MORE : 0);
  const reply = (answer: Reply<T>): void => {
    const waited = schedule.now - asked;
    const most = world.leaseMs * leases;
    world.underWay.set(what, (world.underWay.get(what) ?? 1) - 1);
    if (world.isCalm)
      auditor.demand(
        waited <= most,
        `${what} waited ${waited.toFixed(0)} ms, and nothing is wrong`,
      );
    schedule.after(network.latency(), null, () => {
      giveUp();
      resolve(answer);
    });
  };
  if (process === null || !process.isOpen) {
    reply({ kind: 'unknown' });
    return promise;
  }
  const { machine, ledger } = process;
  world.trace(`${machine.name} is asked: ${what}`);
  const run = async (): Promise<void> => {
    try {
      const value = await call(ledger, process);
      world.trace(`${machine.name} answers: ${what}`);
      atNode(value);
      reply({ kind: 'answer', value });
    } catch (error) {
      const isExpected = error instanceof LedgerUnavailable || isConnectionLost(error);
      world.trace(`${machine.name} fails: ${what}: ${String(error)}`);
      if (!isExpected) auditor.said(machine.name, `${what} failed`, error);
      reply({ kind: 'unknown' });
    }
  };
  schedule.after(network.latency(), machine, () => {
    run().catch((error: unknown) => auditor.said(machine.name, what, error));
  });
  return promise;
}
