// The time of each organisation: the wall clock, plus the offset of its test clock in test mode.
//
// Who calls: all code that stamps or compares an organisation's business times, for each /check and
// /track: without a promise, and at the price of one comparison where no clock was ever moved.
// Leases, keys, rate limits and deliveries use this process's clock. The ledger reports the time of
// other nodes (HybridClock).
// Holds: an organisation's time never goes back. A stopped clock shows the time at which it was
// stopped, or this process's own where that was later. The state of a clock is a row of the
// database: the newer version wins, however it arrives. A clock is stopped while its mover lives.
// The mover tells all nodes; where a message is lost, the row is read within READ_AGAIN_MS.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { HybridClock, type HybridClockStats } from '../../ledger/kernel/hybrid-clock.ts';
import type { Clock, SharedClock, Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from './postgres/changes.ts';

/** The test clock of an organisation. */
export type TestClock = {
  readonly organisationId: string;
  /** Its offset to the wall clock while it runs. */
  readonly aheadMs: number;
  /** The time at which it is stopped; null while it runs. */
  readonly stoppedAt: number | null;
  /** The number of changes. */
  readonly version: number;
};

export type OrgClocks = SharedClock & {
  readonly stats: HybridClockStats;
  /** Takes the state of the database; an older version is ignored. */
  set(clock: TestClock): void;
};

export type OrgClocksOptions = {
  /**
   * The clocks that were ever moved, or that of one organisation. Stopped ones have a living mover.
   */
  readonly list: (organisationId: string | null) => Promise<readonly TestClock[]>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

/** How soon the death of a clock's mover is noticed. */
const READ_AGAIN_MS = 1000;

/** @throws where the database does not answer */
export async function openOrgClocks(options: OrgClocksOptions): Promise<OrgClocks> {
  const clocks = new Clocks(options);
  options.changes.subscribe(clocks);
  await clocks.catchUp();
  return clocks;
}

class Clocks implements OrgClocks, Subscriber {
  readonly #options: OrgClocksOptions;
  readonly #hybrid: HybridClock;
  /** The moved clocks; `notBefore` is the organisation's time when the state became known. */
  readonly #moved = new Map<string, TestClock & { readonly notBefore: number }>();
  readonly stopped = new Set<string>();
  #isWatching = false;

  constructor(options: OrgClocksOptions) {
    this.#options = options;
    this.#hybrid = new HybridClock(options.clock, (aheadMs) =>
      options.warn({ aheadMs }, 'the clock of another node is wrong, or this one: far ahead'),
    );
  }

  get stats(): HybridClockStats {
    return this.#hybrid.stats;
  }

  now({ organisationId, mode }: Tenant): number {
    const now = this.#hybrid.now();
    if (this.#moved.size === 0 || mode === 'live') return now;
    const moved = this.#moved.get(organisationId);
    if (moved === undefined) return now;
    return Math.max(moved.stoppedAt ?? now + moved.aheadMs, moved.notBefore);
  }

  wall(): number {
    return this.#hybrid.now();
  }

  observe(wall: number): void {
    this.#hybrid.observe(wall);
  }

  set(clock: TestClock): void {
    const { organisationId, version, stoppedAt } = clock;
    const known = this.#moved.get(organisationId);
    // The same version, running: its mover died.
    const isNews = known === undefined || version > known.version;
    if (!isNews && (version < known.version || stoppedAt !== null)) return;
    const notBefore = this.now({ organisationId, mode: 'test' });
    this.#moved.set(organisationId, { ...clock, notBefore });
    if (stoppedAt === null) this.stopped.delete(organisationId);
    else this.stopped.add(organisationId);
    this.#watch();
  }

  async changed(kind: ChangeKind, id: string): Promise<void> {
    if (kind === 'test_clock') await this.#tryRead(id);
  }

  reset(): void {
    this.#readSoon();
  }

  catchUp(): Promise<void> {
    return this.#read(null);
  }

  async #read(organisationId: string | null): Promise<void> {
    for (const clock of await this.#options.list(organisationId)) this.set(clock);
  }

  async #tryRead(organisationId: string | null): Promise<void> {
    try {
      await this.#read(organisationId);
    } catch (error) {
      this.#options.warn({ err: error }, 'test clocks could not be read');
    }
  }

  #readSoon(): void {
    this.#tryRead(null).then(
      () => this.#watch(),
      () => undefined,
    );
  }

  /** Reads again while a clock is stopped. */
  #watch(): void {
    if (this.#isWatching || this.stopped.size === 0) return;
    this.#isWatching = true;
    this.#options.timers.after(READ_AGAIN_MS, () => {
      this.#isWatching = false;
      this.#readSoon();
    });
  }
}
