// The time of each organisation: the wall clock, and in test mode as far ahead of it as the
// organisation has moved its own.
//
// Who calls: whoever stamps or compares what is an organisation's business, /check and /track for
// each call: without a promise, and where no clock was ever moved for the price of a comparison.
// Leases, keys, rate limits and deliveries keep this process's clock. The ledger tells it what time
// it is on other nodes (HybridClock).
// Holds: an organisation's time never goes back. While a clock is stopped its time is what it was
// stopped at, or where this process was further already, that. What is known of a clock is a row of
// the database, however it came here: the newer version counts. A clock is stopped for as long as
// whoever moves it lives. Whoever moves it tells all nodes; where that is lost, the row is read
// within READ_AGAIN_MS.
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { HybridClock, type HybridClockStats } from '../../ledger/kernel/hybrid-clock.ts';
import type { Clock, SharedClock, Timers } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from './postgres/changes.ts';

/** Where an organisation's test mode is. */
export type TestClock = {
  readonly organisationId: string;
  /** How far it is ahead of the wall clock, where it runs. */
  readonly aheadMs: number;
  /** Where it stands; null where it runs. */
  readonly stoppedAt: number | null;
  /** How often it was changed. */
  readonly version: number;
};

export type OrgClocks = SharedClock & {
  readonly stats: HybridClockStats;
  /** As the database has it. What is older than what is known is not taken. */
  set(clock: TestClock): void;
};

export type OrgClocksOptions = {
  /** Those that were ever moved, or that one of them. Stopped are those whose mover lives. */
  readonly list: (organisationId: string | null) => Promise<readonly TestClock[]>;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly changes: Changes;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

/** While a clock is stopped: how soon it is noticed that whoever moves it has died. */
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
  /** Of those that were moved; `notBefore` is what its time was when that became known. */
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
    // The same version that runs: whoever moved it is gone.
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

  /** While one stands. */
  #watch(): void {
    if (this.#isWatching || this.stopped.size === 0) return;
    this.#isWatching = true;
    this.#options.timers.after(READ_AGAIN_MS, () => {
      this.#isWatching = false;
      this.#readSoon();
    });
  }
}
