// The time of each organisation: the wall clock, and in test mode as far ahead of it as the organisation has moved its own.
//
// Who calls: whoever stamps or compares what is an organisation's business, /check and /track for each call: without a promise,
// and where no clock was ever moved for the price of a comparison. Leases, keys, rate limits and deliveries keep the wall clock.
// Holds: an organisation's time never goes back. So of two things that are known about a clock the one further ahead is newer.
// While a clock is stopped its time is exactly what it was stopped at.
import type { Clock, OrgClock, Tenant } from '../../ledger/ports.ts';
import type { Changes, ChangeKind, Subscriber } from './changes.ts';

/** How far an organisation's test mode is ahead of the wall clock. */
export type TestClock = { readonly organisationId: string; readonly aheadMs: number };

export type OrgClocks = OrgClock & {
  aheadMs(organisationId: string): number;
  /** Stops it, or moves it on while it stands. */
  stop(organisationId: string, at: number): void;
  /** Lets it run on from where it stands. */
  run(organisationId: string): void;
};

export type OrgClocksOptions = {
  readonly list: () => Promise<readonly TestClock[]>;
  readonly clock: Clock;
  readonly changes: Changes;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

/** @throws where the database does not answer */
export async function openOrgClocks(options: OrgClocksOptions): Promise<OrgClocks> {
  const clocks = new Clocks(options);
  options.changes.subscribe(clocks);
  await clocks.read();
  return clocks;
}

class Clocks implements OrgClocks, Subscriber {
  readonly #options: OrgClocksOptions;
  /** Of those that were moved. */
  readonly #moved = new Map<string, { aheadMs: number; stoppedAt: number | null }>();

  constructor(options: OrgClocksOptions) {
    this.#options = options;
  }

  now({ organisationId, mode }: Tenant): number {
    const now = this.#options.clock.now();
    if (this.#moved.size === 0 || mode === 'live') return now;
    const moved = this.#moved.get(organisationId);
    return moved === undefined ? now : (moved.stoppedAt ?? now + moved.aheadMs);
  }

  aheadMs(organisationId: string): number {
    return this.#moved.get(organisationId)?.aheadMs ?? 0;
  }

  stop(organisationId: string, at: number): void {
    this.#set(organisationId, at - this.#options.clock.now(), at);
  }

  run(organisationId: string): void {
    const at = this.#moved.get(organisationId)?.stoppedAt ?? null;
    if (at !== null) this.#set(organisationId, at - this.#options.clock.now(), null);
  }

  changed(kind: ChangeKind): void {
    if (kind === 'test_clock') this.reset();
  }

  reset(): void {
    this.read().catch((error: unknown) =>
      this.#options.warn({ err: error }, 'test clocks could not be read'),
    );
  }

  async read(): Promise<void> {
    for (const { organisationId, aheadMs } of await this.#options.list()) {
      this.#set(organisationId, aheadMs, this.#moved.get(organisationId)?.stoppedAt ?? null);
    }
  }

  #set(organisationId: string, aheadMs: number, stoppedAt: number | null): void {
    const furthest = Math.max(this.aheadMs(organisationId), aheadMs);
    this.#moved.set(organisationId, { aheadMs: furthest, stoppedAt });
  }
}
