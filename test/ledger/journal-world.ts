// A journal in virtual time, and a database that takes some units slowly, or not at all.
import { Journal } from '../../ledger/actor/journal.ts';
import type { Settled, Unit } from '../../ledger/actor/journal-unit.ts';
import type { MeterEffects } from '../../ledger/metering/meter-effects.ts';
import type { Fence, FlushResult, FlushRows, Storage } from '../../ledger/storage.ts';
import type { Transfer } from '../../ledger/kernel/transfers.ts';
import { Schedule } from '../simulation/schedule.ts';
import { seeded } from '../support/random.ts';

export const LEASE_MS = 3000;
export const FLUSH_MS = 2;
/** When the database cancels. */
export const SLOW_MS = LEASE_MS / 3;

/**
 * The outcome of a flush with this unit. `lost`: the connection, each time. `unlucky`: slow, the
 * first time only. `refused`: it has nothing to write, and is in none.
 */
export type Kind =
  | 'fine'
  | 'slow'
  | 'poisoned'
  | 'broken'
  | 'lost'
  | 'unlucky'
  | 'used'
  | 'refused';

export class Planted implements Unit {
  readonly tenant: string;
  readonly subject: string;
  readonly op = 'planted';
  readonly size: { readonly rows: number; readonly bytes: number };
  readonly keys: readonly string[];
  effects: MeterEffects[] = [];
  readonly kind: Kind;
  readonly id: string;
  settled: Settled | null = null;
  settledAt = Infinity;
  decided = 0;
  /** Flushes that it was part of. */
  flushed = 0;
  readonly #world: JournalWorld;
  readonly submittedAt: number;

  readonly #ms: number;

  constructor(
    world: JournalWorld,
    id: string,
    { kind, tenant, ms, bytes }: { kind: Kind; tenant: string; ms: number; bytes: number },
  ) {
    this.size = { rows: 8, bytes };
    this.#world = world;
    this.#ms = ms;
    this.id = id;
    this.kind = kind;
    this.tenant = tenant;
    this.subject = id;
    this.keys = kind === 'used' ? [id] : [];
    this.submittedAt = world.schedule.now;
  }

  decide(): void {
    this.decided += 1;
    this.#world.decidingMs += this.#ms;
    if (this.kind === 'refused') return;
    this.effects = [effectsOf(this)];
    this.#world.undurable.add(this);
  }

  isWaiting(): boolean {
    return this.kind !== 'refused';
  }

  commit(): void {
    this.#world.undurable.delete(this);
  }

  rollback(): void {
    this.effects = [];
    this.#world.undurable.delete(this);
  }

  settle(how: Settled): void {
    if (this.settled !== null) throw new Error(`${this.id} was settled twice`);
    this.settled = how;
    this.settledAt = this.#world.schedule.now;
    this.#world.onSettled(this);
  }
}

/** Effects that write one transfer, which names its owner. */
function effectsOf(unit: Planted): MeterEffects {
  const nothing = {
    periods: [],
    grants: [],
    events: [],
    members: [],
    spans: [],
    marks: [],
    reservations: [],
    pooled: [],
    beside: [],
    topUpChanged: false,
    topUpOrders: [],
    stateChanged: false,
  };
  const context = { customer: {}, meter: { id: 'meter' }, state: {} };
  const transfers = unit.kind === 'broken' ? [BROKEN] : [transferOf(unit.id)];
  return { kind: 'meter', ...context, ...nothing, transfers } as unknown as MeterEffects;
}

const transferOf = (id: string): Transfer => ({
  id,
  kind: 'single',
  slot: 0,
  debit: 'grants',
  credit: 'usage',
  amount: 1n,
  hold: null,
  at: 0,
  usage: null,
});

/** Effects of which no row can be built. */
const BROKEN: Transfer = { ...transferOf('broken'), amount: -1n };

export class JournalWorld {
  readonly schedule = new Schedule(seeded(1));
  readonly units = new Map<string, Planted>();
  /** Decided, and neither committed nor rolled back. */
  readonly undurable = new Set<Planted>();
  readonly written: string[] = [];
  readonly journal: Journal;
  /** Whether any flush is cancelled; or all but an empty one, which takes long. */
  isUnwell = false;
  isSluggish = false;
  isLost = false;
  /** What a turn of the event loop takes. */
  turnMs = 0;
  /** What decisions took so far. */
  decidingMs = 0;
  /** How many units each flush had, and when it was sent. */
  readonly flushes: number[] = [];
  readonly flushedAt: number[] = [];
  onSettled: (unit: Planted) => void = () => undefined;
  #seq = 0n;
  #epoch = 1n;

  constructor() {
    const { schedule } = this;
    const silent = { info: () => undefined, warn: () => undefined, error: () => undefined };
    this.journal = new Journal(
      {
        storage: this.#storage(),
        clock: { now: () => schedule.now, monotonic: () => schedule.now + this.decidingMs },
        timers: {
          after: (ms, task) => schedule.after(ms, null, task),
          soon: (task) => void schedule.after(this.turnMs, null, task),
        },
        log: silent,
        leaseMs: LEASE_MS,
        onFlush: () => undefined,
        onTopUpsOrdered: () => undefined,
        onLost: () => {
          this.isLost = true;
        },
      },
      { fence: this.#fence, askedAt: { monotonic: 0, wall: 0 } },
    );
  }

  /** `ms`: what its decision takes. `bytes`: of its metadata. */
  submit(kind: Kind, tenant = 'org', { ms = 0, bytes = 0 } = {}): Planted {
    const unit = new Planted(this, `unit ${this.units.size}`, { kind, tenant, ms, bytes });
    this.units.set(unit.id, unit);
    this.journal.submit(unit);
    return unit;
  }

  /** Until `ms` from now. */
  run(ms: number): void {
    this.schedule.run(this.schedule.now + ms);
  }

  get #fence(): Fence {
    return { node: 1, epoch: this.#epoch, seq: this.#seq };
  }

  #storage(): Storage {
    const storage: Pick<Storage, 'flush' | 'recover' | 'usedIds' | 'release'> = {
      flush: (rows) => this.#flush(rows),
      recover: async () => {
        await this.schedule.wait(FLUSH_MS, null);
        this.#epoch += 1n;
        return this.#fence;
      },
      usedIds: async (ids) => {
        await this.schedule.wait(FLUSH_MS, null);
        return ids.filter((id) => this.units.get(id)?.kind === 'used');
      },
      release: () => Promise.resolve(),
    };
    return storage as Storage;
  }

  async #flush({ transfers }: FlushRows): Promise<FlushResult> {
    const units = transfers.map(({ id }) => this.units.get(id)!);
    for (const unit of units) unit.flushed += 1;
    this.flushes.push(units.length);
    this.flushedAt.push(this.schedule.now);
    const has = (kind: Kind): boolean => units.some((unit) => unit.kind === kind);
    const error = new Error('planted');
    if (this.isUnwell || has('slow') || this.#isUnlucky(units)) {
      await this.schedule.wait(SLOW_MS, null);
      return { kind: 'slow', error };
    }
    if (this.isSluggish) {
      await this.schedule.wait(SLOW_MS / 2, null);
      if (units.length > 0) return { kind: 'slow', error };
    }
    await this.schedule.wait(FLUSH_MS, null);
    if (has('lost')) return { kind: 'unknown', error };
    if (has('poisoned')) return { kind: 'rejected', error };
    if (has('used')) return { kind: 'duplicate' };
    this.#seq += 1n;
    this.written.push(...units.map(({ id }) => id));
    return { kind: 'committed' };
  }

  #isUnlucky(units: readonly Planted[]): boolean {
    return units.some((unit) => unit.kind === 'unlucky' && unit.flushed === 1);
  }
}
