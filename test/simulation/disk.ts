// The `Storage` port of one process: its connections to the database, which may be slow, be cut, or
// end while an answer is in flight.
import { NO_ALERTS } from '../../ledger/metering/alert.ts';
import type { Fence, FlushResult, FlushRows, Storage } from '../../ledger/storage.ts';
import type { Database } from './database.ts';
import { flush } from './flush.ts';
import { hardestOf } from './hard.ts';
import { ConnectionLost, DATABASE, isConnectionLost, type Network } from './network.ts';
import * as reads from './reads.ts';
import type { Machine } from './schedule.ts';
import * as seats from './seats.ts';

/** The database of a run, and its current faults. */
export type Server = {
  db: Database;
  readonly network: Network;
  readonly leaseMs: number;
  /** Whether it answers at all. */
  isUp: boolean;
  /** The longest duration in milliseconds, of a flush and of anything else. */
  slowMsMax: number;
  slowReadMsMax: number;
  /** The number of the last flush that each process knows to be durable. */
  readonly acknowledged: Map<string, Fence>;
  /** Called for each flush when it is sent. */
  readonly onTried: (rows: FlushRows) => void;
  /** Called for each flush when it has been executed. */
  readonly onFlush: (flush: {
    readonly rows: FlushRows;
    readonly fence: Fence;
    readonly result: FlushResult;
    readonly holder: string;
  }) => void;
  /** Called when it was found to be behind what a process has written. */
  readonly onBehind: () => void;
};

/** Statements of a process beside those of its ledger. */
export function askOf(
  server: Server,
  machine: Machine,
): <T>(statement: (db: Database) => T) => Promise<T> {
  const disk = new Disk(server, machine);
  return (statement) => disk.ask(() => statement(server.db));
}

export function diskOf(
  server: Server,
  process: { machine: Machine; address: string | null },
): Storage {
  const disk = new Disk(server, process.machine);
  const { leaseMs } = server;
  const who = { holder: process.machine.name, address: process.address, leaseMs };
  const now = (): number => server.network.schedule.now;
  const ask = <T>(statement: () => T): Promise<T> => disk.ask(statement);
  const { holder } = who;
  return {
    flush: async (rows, fence) => {
      server.onTried(rows);
      const hard = hardestOf(rows);
      if (hard === 'slow' || hard === 'lost') return disk.never(hard);
      const flushed = await disk.bounded((began) => {
        const result = flush(server.db, rows, { fence, began, now: now(), leaseMs });
        server.onFlush({ rows, fence, result, holder });
        return result;
      });
      if (flushed.kind === 'committed') {
        server.acknowledged.set(holder, { ...fence, seq: fence.seq + 1n });
      }
      return flushed;
    },
    recover: async (fence) => {
      const found = await ask(() => {
        const result = seats.recover(server.db, { fence, holder });
        if (result === 'behind') server.onBehind();
        return result;
      });
      if (typeof found === 'object') server.acknowledged.set(holder, found);
      return found;
    },
    claim: () => ask(() => seats.claim(server.db, who, now())),
    survey: () => ask(() => seats.survey(server.db, now())),
    takeOver: (dead, to) => ask(() => seats.takeOver(server.db, { dead, to, now: now() })),
    leave: (fence) => ask(() => seats.leave(server.db, fence)),
    release: (fence) => ask(() => seats.release(server.db, fence, now())),
    mayPass: isConnectionLost,
    loadCustomers: async (ids) => {
      const load = new reads.CustomerLoad(server.db, ids);
      await Promise.all(load.queries.map((query) => ask(query)));
      return load.result();
    },
    identifyCustomers: (ids) => ask(() => reads.identify(server.db, ids)),
    resolveCustomers: (keys) => ask(() => reads.resolve(server.db, keys)),
    loadHistory: (key, since) => ask(() => reads.history(server.db, key, since)),
    loadMembers: ({ accountId }, members) =>
      ask(() => members.filter((member) => server.db.members.has(`${accountId} ${member}`))),
    loadAlerts: () => Promise.resolve(NO_ALERTS),
    findUsage: (ids) => ask(() => reads.usage(server.db, ids)),
    findFormerUsage: () => Promise.resolve([]),
    usedIds: (ids) => ask(() => ids.filter((id) => server.db.byId.has(id))),
    grantExists: (id) => ask(() => server.db.grants.has(id)),
    subscriptionExists: (id) => ask(() => server.db.subscriptions.has(id)),
    findSubscription: (id) => ask(() => server.db.subscriptions.get(id)?.subscription ?? null),
    findChargeable: () => Promise.reject(new Error('nobody pays an invoice here')),
    findBack: () => Promise.resolve(null),
    loadPayments: (ids) => ask(() => reads.payments(server.db, ids)),
    findReservation: (id) => ask(() => reads.storedReservation(server.db, id)),
    findRefund: (id) => ask(() => reads.storedRefund(server.db, id)),
    dueAlarms: (query) => ask(() => reads.dueAlarms(server.db, query)),
    nextAlarms: () => Promise.reject(new Error('no test clock is simulated')),
  };
}

class Disk {
  readonly #server: Server;
  readonly #machine: Machine;

  constructor(server: Server, machine: Machine) {
    this.#server = server;
    this.#machine = machine;
  }

  /**
   * The result of the statement. Rejects where the connection is lost: before the execution, or
   * after.
   */
  ask<T>(
    statement: (began: number) => T,
    slowMsMax: () => number = () => this.#server.slowReadMsMax,
  ): Promise<T> {
    const { network } = this.#server;
    const { schedule } = network;
    const name = this.#machine.name;
    const { promise, resolve, reject } = Promise.withResolvers<T>();
    const lost = (): void => {
      // A reset connection fails at once; a silent one fails at the timeout.
      const ms = schedule.random.chance(0.5) ? network.latency() : this.#server.leaseMs;
      schedule.after(ms, this.#machine, () => reject(new ConnectionLost('connection lost')));
    };
    const carryOut = (began: number): void => {
      if (!this.#server.isUp) return lost();
      const result = statement(began);
      const back = { from: DATABASE, to: name, at: this.#machine };
      network.send(back, () => resolve(result), lost);
    };
    const arrive = (): void => {
      if (!this.#server.isUp) return lost();
      const began = schedule.now;
      const ms = slowMsMax();
      if (ms === 0) carryOut(began);
      else schedule.after(schedule.between(0, ms), null, () => carryOut(began));
    };
    network.send({ from: name, to: DATABASE, at: null }, arrive, lost);
    return promise;
  }

  /** A flush that is never executed: the database cancels it, or the connection is lost again. */
  async never(how: 'slow' | 'lost'): Promise<FlushResult> {
    const cancelled = async (): Promise<FlushResult> => {
      await this.#server.network.schedule.wait(this.#server.leaseMs / 3, this.#machine);
      return { kind: how === 'slow' ? 'slow' : 'unknown', error: new ConnectionLost(how) };
    };
    const reached = await this.bounded(() => ({ kind: 'fenced' }));
    return reached.kind === 'unknown' ? reached : cancelled();
  }

  /**
   * A flush: without an answer within the lease its outcome is unknown. It may still be executed.
   */
  async bounded(statement: (began: number) => FlushResult): Promise<FlushResult> {
    const late = Promise.withResolvers<never>();
    const { schedule } = this.#server.network;
    const cancel = schedule.after(this.#server.leaseMs, this.#machine, () =>
      late.reject(new ConnectionLost('no answer within the lease')),
    );
    try {
      return await Promise.race([this.ask(statement, () => this.#server.slowMsMax), late.promise]);
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      return { kind: 'unknown', error };
    } finally {
      cancel();
    }
  }
}
