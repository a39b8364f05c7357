// What must be true of a pool and its members after each flush, and at the end: computed from the
// rows alone, without the code that decides.
import type { Pool } from '../../ledger/metering/pool.ts';
import type { FlushRows } from '../../ledger/storage.ts';
import type { Auditor } from './auditor.ts';
import type { AccountRow, Database, StateColumns } from './database.ts';
import { membersOf } from './pool.ts';

/**
 * A flush brings both sides of each decision: whoever dies then, what a pool has paid and holds for
 * a period of a member follows from the totals of that period.
 */
export class CreditAudit {
  readonly #auditor: Auditor;
  readonly #db: Database;
  readonly #pool: Pool;
  readonly #members: ReadonlySet<string>;

  constructor(auditor: Auditor, db: Database, pool: Pool) {
    this.#auditor = auditor;
    this.#db = db;
    this.#pool = pool;
    this.#members = membersOf(pool);
  }

  /** After a flush that was committed. */
  flushed({ opened, touched, states }: FlushRows): void {
    const customers = new Set<string>();
    for (const { customer, state } of states) {
      if (this.#concerns(state.meterId)) customers.add(customer.id);
    }
    for (const { id } of [...opened, ...touched]) {
      const account = this.#db.accounts.get(id);
      if (account?.customerId && this.#concerns(account.owner.meterId)) {
        customers.add(account.customerId);
      }
    }
    for (const id of customers) this.#checkCustomer(id);
  }

  close(): void {
    for (const { id } of this.#db.customers) this.#checkCustomer(id);
    this.#checkDraws();
  }

  #concerns(meterId: string | null): boolean {
    return meterId === this.#pool.meter.id || this.#members.has(meterId ?? '');
  }

  #checkCustomer(customerId: string): void {
    const its = this.#db.accounts.values().filter((one) => one.customerId === customerId);
    const ofPool = its.filter(({ owner }) => owner.meterId === this.#pool.meter.id);
    const ofMembers = its.filter(({ owner }) => this.#members.has(owner.meterId ?? ''));
    if (ofMembers.length === 0) return;
    const held = this.#heldOf(customerId);
    for (const account of ofMembers) {
      this.#checkPeriod(account, held.get(account.id) ?? 0n);
      this.#checkRate(account, ofPool);
    }
    for (const meterId of new Set(ofMembers.map(({ owner }) => owner.meterId ?? ''))) {
      this.#checkEnd(customerId, meterId);
    }
  }

  /** What the pool holds, by the account that it holds it for. */
  #heldOf(customerId: string): ReadonlyMap<string, bigint> {
    const held = new Map<string, bigint>();
    for (const { customer, reservation } of this.#db.reservations.values()) {
      const { memberAccountId: of, status, amount } = reservation;
      if (of === null || customer.id !== customerId || status !== 'open') continue;
      held.set(of, (held.get(of) ?? 0n) + amount);
    }
    return held;
  }

  #checkPeriod(account: AccountRow, held: bigint): void {
    const { id } = account;
    const rate = this.#db.pooled.get(id) ?? 0n;
    const { used, reserved } = this.#beyondLimit(account);
    const drawn = this.#db.drawn.get(id) ?? 0n;
    const [paid, kept] = [rate * used, rate * reserved];
    this.#auditor.demand(drawn === paid, `a pool has paid ${drawn} for account ${id}, not ${paid}`);
    this.#auditor.demand(held === kept, `a pool holds ${held} for account ${id}, not ${kept}`);
  }

  /** A period that needs the pool has the cost of the list that was there when the pool's began. */
  #checkRate(account: AccountRow, ofPool: readonly AccountRow[]): void {
    const { id, customerId, owner, period } = account;
    const rate = this.#db.pooled.get(id);
    const pool = this.#stateOf(customerId ?? '', this.#pool.meter.id);
    const first = pool?.firstGrantAt ?? null;
    const { used, reserved } = this.#beyondLimit(account);
    if (first === null) {
      return this.#auditor.demand(rate === undefined, `a pool that was never granted pays: ${id}`);
    }
    if (rate === undefined && used + reserved === 0n) return;
    const start = period?.start ?? 0;
    const end = period?.end ?? null;
    if (rate === undefined && end !== null && end <= first) return;
    // One with an allowance of its own may have begun in one period of the pool, and draw in
    // another.
    const paying = [...ofPool.map((one) => one.period), pool]
      .map((one) => ({ start: one?.start ?? 0, end: one?.end ?? null }))
      .filter((one) => (end === null || one.start < end) && (one.end === null || one.end > start));
    const asked = paying.map((one) => {
      const began = Math.max(first, one.start);
      const list = this.#pool.costs.findLast(({ since }) => since <= began);
      return list?.members.get(owner.meterId ?? '')?.rate;
    });
    this.#auditor.demand(
      asked.includes(rate),
      `account ${id} costs ${rate}, and not ${asked.join()}`,
    );
  }

  /** Without an allowance of its own, a member's period ends with the pool's. */
  #checkEnd(customerId: string, meterId: string): void {
    const leads = this.#db.grants.values().some((row) => {
      const { started, ended, recurs } = row.grant;
      const isIts = row.customer.id === customerId && row.meterId === meterId;
      return isIts && started && ended === null && recurs !== null;
    });
    if (leads) return;
    const own = this.#stateOf(customerId, meterId)?.end ?? null;
    const pool = this.#stateOf(customerId, this.#pool.meter.id)?.end ?? null;
    this.#auditor.demand(own === pool, `a member's period ends at ${own}, its pool's at ${pool}`);
  }

  #stateOf(customerId: string, meterId: string): StateColumns | undefined {
    return this.#db.states.get(`${customerId} ${meterId}`);
  }

  /** A pool has used what was used of it directly, and what it drew in that time. */
  #checkDraws(): void {
    const sums = new Map<string, bigint>();
    for (const { transfer } of this.#db.transfers.values()) {
      const { debit, kind, usage, drawnFor } = transfer;
      if (usage === null || kind === 'refused') continue;
      sums.set(debit, (sums.get(debit) ?? 0n) + usage.value);
      if (drawnFor !== undefined) this.#checkDraw(debit, drawnFor);
    }
    for (const { id, owner, period } of this.#db.accounts.values()) {
      if (owner.meterId !== this.#pool.meter.id || period === null) continue;
      const sum = sums.get(id) ?? 0n;
      this.#auditor.demand(period.aggregate === sum, `pool ${id} is ${period.aggregate}: ${sum}`);
    }
  }

  #checkDraw(from: string, drawnFor: string): void {
    const [paying, member] = [from, drawnFor].map((id) => this.#db.accounts.get(id));
    const isIts =
      paying?.owner.meterId === this.#pool.meter.id &&
      paying.customerId === member?.customerId &&
      this.#members.has(member.owner.meterId ?? '');
    this.#auditor.demand(isIts, `a draw for ${drawnFor} is of ${from}`);
    const [one, other] = [paying?.period, member?.period];
    if (!one || !other) return;
    const overlap = one.start < (other.end ?? Infinity) && other.start < (one.end ?? Infinity);
    this.#auditor.demand(overlap, `${from} has paid for ${drawnFor}, of another time`);
  }

  /** Units that the period's grants do not cover: used, and reserved beyond that. */
  #beyondLimit(account: AccountRow): { readonly used: bigint; readonly reserved: bigint } {
    if (isUnlimited(this.#db, account)) return { used: 0n, reserved: 0n };
    const { debitsPosted, debitsPending, creditsPosted } = account.totals;
    const past = (units: bigint): bigint => (units > creditsPosted ? units - creditsPosted : 0n);
    const used = past(debitsPosted);
    return { used, reserved: past(debitsPosted + debitsPending) - used };
  }
}

/** Whether a grant without a limit covers the period: it must be the current one. */
export function isUnlimited(db: Database, { customerId, owner, period }: AccountRow): boolean {
  const state = db.states.get(`${customerId} ${owner.meterId}`);
  return db.grants.values().some(({ customer, meterId, grant }) => {
    const isIts = customer.id === customerId && meterId === owner.meterId;
    const isLive = grant.started && grant.ended === null && grant.suspended === null;
    return isIts && isLive && grant.amount === null && period?.start === state?.start;
  });
}
