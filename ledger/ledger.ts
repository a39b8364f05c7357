import { Actor } from './actor/actor.ts';
import { AlarmsApi } from './actor/alarms-api.ts';
import type { CustomerRef } from './actor/directory.ts';
import type { AlertLook } from './actor/alerts.ts';
import type {
  BalancePart,
  BalancesAsked,
  GrantPart,
  GrantsAsked,
  MeterBalance,
  MeterPlace,
} from './actor/balances.ts';
import { checkHere } from './actor/metering.ts';
import type { ReservedOutcome, Resolved } from './actor/reservations.ts';
import type { CustomerTopUp, SetTopUp } from './actor/auto-topups.ts';
import type { ShownSpendCap } from './actor/spend-cap.ts';
import { recordOne, type UsageItem } from './actor/recording.ts';
import type { GrantOutcome, VoidOutcome } from './metering/grant-decisions.ts';
import { type Item, recordEverywhere } from './cluster/batch.ts';
import { Customers, type Found } from './cluster/customers.ts';
import { recordEachEverywhere } from './cluster/each.ts';
import { PaymentsApi, SubscriptionsApi, TopUpsApi } from './cluster/apis.ts';
import { Member, type MemberDeps } from './cluster/member.ts';
import { Broadcast } from './cluster/broadcast.ts';
import { Router } from './cluster/router.ts';
import type { CallItem } from './cluster/shares.ts';
import type { Grant } from './metering/grants.ts';
import type { Resolution } from './metering/reservation.ts';
import type { Meter, RenderedCheck } from './metering/meter.ts';
import type { ReservationRequest } from './metering/reservation-decisions.ts';
import type { CallOutcome, EachOutcome, RecordOutcome, UsageRequest } from './outcome.ts';
import type { Tenant } from './kernel/tenant.ts';
import { slotOf } from './kernel/slot.ts';

/**
 * The ledger's API, the same on every node. All money and usage passes through it.
 *
 * How: each operation runs on the node that owns its customer or payment (`cluster/`).
 * Holds: every answer is durable. It throws `LedgerUnavailable` where it cannot answer now; every
 * other refusal is a value.
 */
export class Ledger {
  readonly #deps: LedgerDeps;
  readonly #member: Member;
  readonly #router: Router;
  readonly #customers: Customers;
  readonly alarms: AlarmsApi;
  readonly broadcast: Broadcast;
  readonly payments: PaymentsApi;
  readonly subscriptions: SubscriptionsApi;
  readonly topUps: TopUpsApi;

  constructor(deps: LedgerDeps) {
    this.#deps = deps;
    const member = new Member(deps);
    this.#member = member;
    this.#router = new Router({ ...deps, member });
    this.#customers = new Customers({ ...deps, member });
    this.broadcast = new Broadcast({ ...deps, member });
    this.alarms = new AlarmsApi(deps, {
      session: () => member.session,
      tick: (customerId, meterId) =>
        this.#router.run(slotOf(customerId), 'tick', customerId, meterId),
    });
    this.payments = new PaymentsApi(this.#router, deps.storage);
    this.subscriptions = new SubscriptionsApi(this.#router);
    this.topUps = new TopUpsApi(this.#router);
  }

  /**
   * Claims a seat now, and again until it has one. Throws where the database cannot be reached at
   * first.
   */
  async open(): Promise<void> {
    await this.#member.open();
    this.alarms.start();
  }

  /** Whether it can serve; if not, why. */
  readiness(): { readonly ready: boolean; readonly reason?: string } {
    return this.#member.readiness();
  }

  /** Whether it will not serve again before an operator has decided. */
  get isStopped(): boolean {
    return this.#member.isStopped;
  }

  get isLeaving(): boolean {
    return this.#member.isLeaving;
  }

  get stats(): Readonly<Record<string, number>> {
    return { ...this.#member.stats, ...this.#customers.stats, ...this.#router.stats };
  }

  /** The reply to another node (`Peers`). */
  answer(request: unknown): unknown {
    return this.#router.answer(request);
  }

  /** The tenant's customer, or null. Synchronous where it is in memory. */
  find(tenant: Tenant, ref: CustomerRef): Found | null | Promise<Found | null> {
    return this.#customers.find(tenant, ref);
  }

  /** Whether there is another node to ask. */
  get hasOthers(): boolean {
    return this.#member.hasOthers;
  }

  /** The number of this node, which it keeps while it lives; null while it has no seat. */
  get number(): number | null {
    return this.#member.number;
  }

  /** The number of the node that owns the customer, where both are known here. Looks nothing up. */
  ownerOf(tenant: Tenant, ref: CustomerRef): number | null {
    const known = this.#customers.peek(tenant, ref);
    return known === undefined || known === null ? null : this.#member.ownerOf(known.slot);
  }

  /** Any customer's row may have been changed. */
  forgetAll(): void {
    this.#customers.forgetAll();
  }

  /** The customer's row changed: read it again. */
  forget(customerId: string): void {
    this.#customers.forget(customerId);
  }

  /**
   * Whether `units` may be used now, as `render` writes it. Synchronous where this node owns the
   * customer.
   */
  check(found: Found, meter: Meter, units: bigint): RenderedCheck | Promise<RenderedCheck> {
    if (found instanceof Actor && !found.dropped) {
      const location = this.#member.locate(found.slot);
      if (location.kind === 'here') return checkHere(location.session, found, meter, units);
    }
    return this.#router.run(found.slot, 'check', found.id, meter, units);
  }

  /** Records one usage, once for each key. */
  record(found: Found, meter: Meter, request: UsageRequest): Promise<RecordOutcome> {
    if (!(found instanceof Actor)) return this.#recordElsewhere(found, meter, request);
    const location = this.#member.locate(found.slot);
    if (location.kind !== 'here') return this.#recordElsewhere(found, meter, request);
    return recordOne(location.session, { actor: found, meter, request }, this.#recordMoved);
  }

  /** A customer has moved to another node while it was waited for. */
  readonly #recordMoved = ({ actor, meter, request }: UsageItem): Promise<RecordOutcome> =>
    this.#recordElsewhere(actor, meter, request);

  async #recordElsewhere(
    { id, slot }: Found,
    meter: Meter,
    request: UsageRequest,
  ): Promise<RecordOutcome> {
    // It may be sent twice, where a reply between nodes is lost, so it gets a key in any case.
    const sent = { ...request, keyId: request.keyId ?? this.#deps.ids.next() };
    const outcome = await this.#router.run(slot, 'record', id, meter, sent);
    // An id of ours belongs to this call alone: it was sent twice.
    const isOurs = request.keyId === null && 'replayed' in outcome;
    return isOurs ? { ...outcome, replayed: false } : outcome;
  }

  /**
   * Records all items or, where one is refused, none. A partial call records all but the refused
   * events. Keys that earlier calls used are left out and named.
   */
  recordAll(items: readonly Item[], { isPartial = false } = {}): Promise<CallOutcome> {
    const { ids, wants, storage } = this.#deps;
    const deps = { member: this.#member, router: this.#router, ids, wants, storage };
    return recordEverywhere(deps, items, isPartial);
  }

  /** Records each item by itself, in order. Throws for a bug only: see `unavailable`. */
  recordEach(items: readonly CallItem[]): Promise<readonly EachOutcome[]> {
    const { ids, wants, storage } = this.#deps;
    const deps = { member: this.#member, router: this.#router, ids, wants, storage };
    return recordEachEverywhere(deps, items);
  }

  /** Adds a grant, once for each id. */
  grant(
    { id, slot }: Found,
    meter: Meter,
    grant: Grant,
  ): Promise<GrantOutcome | { readonly kind: 'duplicate' }> {
    return this.#router.run(slot, 'addGrant', id, meter, grant);
  }

  /** null where the customer has nothing on that meter. */
  voidGrant(
    { id, slot }: Found,
    grant: { readonly meterId: string; readonly grantId: string },
  ): Promise<VoidOutcome | null> {
    return this.#router.run(slot, 'voidGrant', id, grant);
  }

  /** Holds units of a meter, once for each id. */
  reserve(
    { id, slot }: Found,
    meter: Meter,
    request: ReservationRequest,
  ): Promise<ReservedOutcome> {
    return this.#router.run(slot, 'reserve', id, meter, request);
  }

  /** Commits, releases or extends a reservation; null where the customer has no such one. */
  resolve(
    { id, slot }: Found,
    meter: Meter,
    of: { readonly id: string; readonly act: Resolution },
  ): Promise<Resolved | null> {
    return this.#router.run(slot, 'resolveReservation', id, meter, of);
  }

  /** The customer's meters as they are durable now, by slug, as many as one turn has room for. */
  balances({ id, slot }: Found, asked: BalancesAsked = {}): Promise<BalancePart> {
    return this.#router.run(slot, 'balancesOf', id, asked);
  }

  /** All of them, in as many turns as that takes. */
  async allBalances(
    found: Found,
    asked: Omit<BalancesAsked, 'after'> = {},
  ): Promise<readonly MeterBalance[]> {
    const all: MeterBalance[] = [];
    let after: MeterPlace | null = null;
    do {
      const { balances, next } = await this.balances(found, { ...asked, after });
      all.push(...balances);
      after = next;
    } while (after !== null);
    return all;
  }

  /** The customer's live grants, by the slug of their meter, as many as one turn has room for. */
  grants({ id, slot }: Found, asked: GrantsAsked): Promise<GrantPart> {
    return this.#router.run(slot, 'grantsOf', id, asked);
  }

  /** Looks whether the customer is past an alert that is new, or forgets one that was deleted. */
  async lookAtAlert(customerId: string, look: AlertLook): Promise<void> {
    await this.#router.run(slotOf(customerId), 'lookAtAlert', customerId, look);
  }

  /** From now on it hands its slots to the other nodes, if there are any. It still answers. */
  leave(): void {
    this.#member.leave();
  }

  /**
   * Hands over the rest of its slots, takes no new work, writes what is queued, and releases the
   * seat.
   */
  async close(): Promise<void> {
    this.alarms.stop();
    await this.#member.left();
    await this.#member.close();
  }

  /** Refuses all unanswered calls: the process must end, and the database does not answer. */
  abandon(): void {
    this.#member.abandon();
  }
}

export type LedgerDeps = MemberDeps & {
  /** Takes in what another node publishes (`broadcast`); its return value is the reply. */
  readonly onTold: (what: unknown) => unknown;
};
export type { AlertLook, CustomerTopUp, Found };
export type { MeterBalance };
export type { ReservedOutcome, SetTopUp, ShownSpendCap };
export type { Resolved };
