import { DAY_MS } from '../kernel/durations.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { LedgerUnavailable } from '../ports.ts';
import type { DueAlarm, NextAlarms } from '../storage.ts';
import { Alarms } from './alarms.ts';
import type { OwnershipSession, OwnershipSessionDeps } from './ownership-session.ts';

/** Alarms this close together fire together under a test clock. */
const TOGETHER_MS = 60_000;
/**
 * Those of meters, whose steps have each their own time: one decision does an hourly allowance's
 * 24, for some 30 rows.
 */
const METERS_TOGETHER_MS = DAY_MS;
const AT_ONCE = 500;

/**
 * The alarms of the ledger: every kind of them. A test clock uses it to fire the alarms of one
 * organisation itself, each at its due time.
 */
export class AlarmsApi {
  readonly #storage: OwnershipSessionDeps['storage'];
  readonly #orgClock: OwnershipSessionDeps['orgClock'];
  readonly #meters: Alarms<'meter'>;
  readonly #payments: Alarms<'payment'>;
  readonly #subscriptions: Alarms<'subscription'>;

  constructor(
    deps: OwnershipSessionDeps,
    ask: {
      session: () => OwnershipSession | null;
      /** Does what is due on a customer's meter, wherever the customer is. */
      tick: (customerId: string, meterId: string) => Promise<unknown>;
    },
  ) {
    this.#storage = deps.storage;
    this.#orgClock = deps.orgClock;
    const { session } = ask;
    this.#meters = new Alarms(deps, {
      session,
      kind: 'meter',
      ring: ({ actorId, subjectId }) => ask.tick(actorId, subjectId),
    });
    this.#payments = new Alarms(deps, {
      session,
      kind: 'payment',
      ring: ({ actorId }) => deps.onPaymentDue(actorId),
    });
    this.#subscriptions = new Alarms(deps, {
      session,
      kind: 'subscription',
      ring: ({ tenant, actorId, subjectId }) =>
        deps.onSubscriptionDue(tenant, { customerId: actorId, id: subjectId }),
    });
  }

  start(): void {
    for (const alarms of this.#all) alarms.start();
  }

  stop(): void {
    for (const alarms of this.#all) alarms.stop();
  }

  /** For a stopped clock: resolves when no alarm of the test mode is still firing by itself. */
  async quiet(organisationId: string): Promise<void> {
    await Promise.all(this.#all.map((alarms) => alarms.quiet(organisationId)));
  }

  /**
   * The next due alarms of an organisation with a stopped clock, until `until`, earliest first.
   * Without alarms that have just failed.
   */
  async next(organisationId: string, until: number): Promise<NextAlarms> {
    // The node that moves the clock was taken for dead: the clock runs, and alarms fire by
    // themselves.
    if (!this.#orgClock.stopped.has(organisationId))
      throw new LedgerUnavailable('the test clock is running again');
    const except = [
      ...this.#meters.resting,
      ...this.#payments.resting,
      ...this.#subscriptions.resting,
    ];
    const within = { withinMs: TOGETHER_MS, metersWithinMs: METERS_TOGETHER_MS };
    const query = { organisationId, until, ...within, atMost: AT_ONCE, except };
    const next = await this.#storage.nextAlarms(query);
    assert(
      next.at <= until && next.alarms.every(({ dueAt }) => dueAt <= next.at),
      'nothing rings before it is due',
    );
    return next;
  }

  /** Fires them, those of one actor in order. Resolves when all are decided. */
  async ring(due: readonly DueAlarm[]): Promise<void> {
    const ofActors = [...Map.groupBy(due, ({ actorId }) => actorId).values()];
    await Promise.all(
      ofActors.map(async (own) => {
        for (const alarm of own) await this.#ring(alarm);
      }),
    );
  }

  #ring({ kind, ...alarm }: DueAlarm): Promise<void> {
    switch (kind) {
      case 'meter':
        return this.#meters.ring({ ...alarm, kind });
      case 'payment':
        return this.#payments.ring({ ...alarm, kind });
      case 'subscription':
        return this.#subscriptions.ring({ ...alarm, kind });
      default:
        return unreachable(kind);
    }
  }

  get #all() {
    return [this.#meters, this.#payments, this.#subscriptions] as const;
  }
}
