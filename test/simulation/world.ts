// One whole run: the database, the network, the places with their processes, and the auditor.
import { type Random, seeded } from '../support/random.ts';
import type { Pool } from '../../ledger/metering/pool.ts';
import { SIMULATED_ALERTS } from './alerts.ts';
import { Auditor } from './auditor.ts';
import { type Catalogue, catalogueOf, idsOf } from './catalogue.ts';
import { Database } from './database.ts';
import type { Server } from './disk.ts';
import { CreditAudit } from './credit-audit.ts';
import { HardUnits } from './hard.ts';
import { Network } from './network.ts';
import type { Listener } from './peers.ts';
import { poolOf } from './pool.ts';
import { Place, Process } from './process.ts';
import { Schedule } from './schedule.ts';
import { checkFlush } from './owned.ts';
import { resume } from './seats.ts';

/** Until an operator accepts that the promoted copy lacks some writes. */
const OPERATOR_MS_MAX = 1000;

export class World {
  readonly random: Random;
  readonly schedule: Schedule;
  readonly network: Network;
  readonly auditor: Auditor;
  readonly hard: HardUnits;
  /** How many calls of each kind wait for their answer. */
  readonly underWay = new Map<string, number>();
  readonly catalogue: Catalogue;
  readonly server: Server;
  readonly places: readonly Place[];
  /** Whether only one process serves, and the others wait for it. */
  readonly isSolo: boolean;
  readonly leaseMs = 1500;
  /** Faults in progress, which end when all faults end. */
  readonly stopgaps: (() => void)[] = [];
  /**
   * Not where machines sleep: with a stopped monotonic clock and a wall clock set back together, no
   * lease is safe.
   */
  mayStepBack = true;
  /** Whether the only faults are those of the marked units. */
  isCalm = false;
  /** The delay before a dead process is started again. */
  downMsMax: number;
  readonly trace: (line: string) => void;
  readonly #listeners = new Map<string, Listener>();
  readonly #room: { readonly actors: number; readonly bytes: number };
  readonly #wantsUsage: boolean;
  #starts = 0;

  /**
   * Whether customers subscribe to what sells usage. In every other run: what it writes renews the
   * leases that others test.
   */
  readonly sells: boolean;

  /** Whether customers have a meter that carries its level, and nothing that sells or pays. */
  readonly hasLevels: boolean;

  /** Pays, in half of the runs, for what customers use beyond their own limits. */
  readonly pool: Pool | null;
  /** Whether customers also get grants of its members that have no limit, for a while. */
  readonly isLavish: boolean;
  /**
   * Whether there are no alerts, and members of the pool are relieved of what they draw. What is
   * due of a meter whose alerts have fired is done apart; here it is done by the decision that
   * finds it.
   */
  readonly isUnwatched: boolean;
  readonly credits: CreditAudit | null;

  constructor(seed: number, trace: (line: string) => void) {
    this.random = seeded(seed);
    this.sells = seed % 2 === 0;
    this.hasLevels = seed % 8 === 7;
    const hasPool = seed % 4 === 1 || seed % 4 === 2;
    this.schedule = new Schedule(this.random);
    const now = (): number => this.schedule.now;
    this.trace = (line) => trace(`${now().toFixed(3)} ${line}`);
    this.network = new Network(this.schedule);
    this.auditor = new Auditor(now);
    this.hard = new HardUnits((holds, problem) => this.auditor.demand(holds, problem));
    this.catalogue = catalogueOf(this.random);
    this.isLavish = seed % 16 === 1 || seed % 16 === 14;
    this.isUnwatched = seed % 32 === 21 || seed % 32 === 26;
    this.pool = hasPool ? poolOf(this.random, this.catalogue) : null;
    const { customers, meters, payments } = this.catalogue;
    const db = new Database({ customers, meters: Object.values(meters), pool: this.pool });
    this.credits = this.pool === null ? null : new CreditAudit(this.auditor, db, this.pool);
    db.transaction(() => {
      for (const state of payments) db.payments.set(state.payment.id, state);
    });
    this.server = {
      db,
      network: this.network,
      leaseMs: this.leaseMs,
      isUp: true,
      acknowledged: new Map(),
      slowMsMax: 0,
      slowReadMsMax: 0,
      onTried: (rows) => this.hard.flushed(rows),
      onFlush: (flush) => {
        checkFlush(this.auditor, db, flush);
        if (flush.result.kind === 'committed') this.credits?.flushed(flush.rows);
      },
      onBehind: () => this.later(this.schedule.between(1, OPERATOR_MS_MAX), () => resume(db)),
    };
    this.isSolo = this.random.chance(0.2);
    const count = this.random.integer(2, 4);
    this.places = Array.from({ length: count }, (_, index) => {
      const rate = this.random.integer(97, 103) / 100;
      const place = new Place(this.isSolo ? null : `node-${index}:1`, rate);
      place.ahead = this.random.integer(-100, 100);
      return place;
    });
    this.downMsMax = this.leaseMs * 2;
    this.#room = {
      actors: this.random.integer(1, 8),
      bytes: this.random.pick([6000, 30_000, Infinity]),
    };
    this.#wantsUsage = this.random.chance(0.3);
  }

  readonly later = (ms: number, task: () => void): void => {
    this.schedule.after(ms, null, task);
  };

  /** Starts the program there, unless it runs. When it dies, a supervisor starts it again. */
  start(place: Place): void {
    if (place.process !== null) return;
    this.#starts += 1;
    const name = `p${this.places.indexOf(place) + 1}.${this.#starts}`;
    const deps = {
      server: this.server,
      auditor: this.auditor,
      ids: idsOf(this.random),
      listeners: this.#listeners,
      room: this.#room,
      wantsUsage: this.#wantsUsage,
      pool: this.pool,
      alerts: this.isUnwatched ? [] : SIMULATED_ALERTS,
      trace: this.trace,
      onDeath: () => {
        place.process = null;
        this.later(this.schedule.between(1, this.downMsMax), () => this.start(place));
      },
    };
    place.process = new Process(deps, place, name);
    place.process
      .start()
      .catch((error: unknown) => this.auditor.said(name, 'did not start', error));
  }
}
