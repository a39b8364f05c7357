// The record of denials, beside the answers.
//
//     a no ─▶ add: the same no to the same question is one entry ─▶ once a second: one statement
//
// Holds: an answer waits for nothing here. A second has a bounded number of rows, in all, of a
// tenant and of a customer; what is beyond is counted by its feature. What is not written yet is
// bounded too, and is tried again with the same ids, which count once.
// Does not: survive the process. A kill loses the denials that have not been written, so those of
// the last second; while the database is away, those since then.
import { assert } from '../../ledger/kernel/assert.ts';
import { parseQuantity } from '../../ledger/kernel/quantity.ts';
import { type Tenant, tenantOf } from '../../ledger/kernel/tenant.ts';
import type { Reason } from '../../ledger/kernel/transfers.ts';
import {
  type Clock,
  type Ids,
  type Log,
  type OrgClock,
  pause,
  type Timers,
} from '../../ledger/ports.ts';
import { mayPass } from '../platform/postgres/may-pass.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { type DenialKind, insertDenials, type NewDenial } from '../records/denials.ts';

const WRITE_MS = 1000;
/** Rows of a second. */
const ROWS_MAX = 1000;
const ROWS_PER_TENANT_MAX = 100;
const ROWS_PER_CUSTOMER_MAX = 10;
/** Features of a tenant, and in all, that are counted beyond those rows. */
const COUNTED_PER_TENANT_MAX = 20;
const COUNTED_MAX = 500;
const REQUEST_IDS_MAX = 5;
/** Rows that wait for a database that is away. */
const UNWRITTEN_MAX = 10_000;
/** How long a database that does not answer holds up the end of the process. */
const CLOSE_MS_MAX = 2000;

/** One no, as it was answered. */
export type Denied = {
  readonly tenant: Tenant;
  readonly customerId: string;
  readonly meter: { readonly id: string; readonly scale: number };
  readonly kind: DenialKind;
  /** The answer of /check as JSON, or what it would be. */
  readonly answer: string;
  /** Of a refusal with a key: its transfer, and whether it was decided before. */
  readonly keyed: { readonly transferId: string; readonly replayed: boolean } | null;
  readonly requestId: string;
};

/** The fields of an answer that are kept. */
type Answer = {
  readonly reason: Reason;
  readonly requested: number;
  readonly limit: number | null;
  readonly consumed: number;
  readonly reserved: number;
  readonly period_start: string | null;
  readonly period_end: string | null;
};

type Times = { readonly at: number; lastAt: number; readonly recordedAt: number; count: number };
type Entry = Times & { readonly denied: Denied; readonly requestIds: string[] };
type Counted = Times & { readonly meterId: string };

/** Of one tenant, in this second. */
type Seconds = {
  readonly tenant: Tenant;
  readonly customers: Map<string, Map<string, Entry>>;
  readonly counted: Map<string, Counted>;
  rows: number;
};

export type DenialsDeps = {
  /** One connection of its own. */
  readonly sql: Sql;
  /** The number of this node; null while it has no seat. */
  readonly node: () => number | null;
  readonly ids: Pick<Ids, 'next'>;
  readonly clock: Pick<Clock, 'now'>;
  readonly orgClock: OrgClock;
  readonly timers: Timers;
  readonly log: Log;
};

export class Denials {
  readonly #deps: DenialsDeps;
  #tenants = new Map<string, Seconds>();
  #rows = 0;
  #counted = 0;
  /** Oldest first. */
  #unwritten: NewDenial[] = [];
  #lost = 0;
  #cancel: (() => void) | null = null;
  /** Resolves when the writes that were begun have ended. */
  #written = Promise.resolve();
  #writes = 0;
  #closed = false;

  constructor(deps: DenialsDeps) {
    this.#deps = deps;
  }

  /** `lost`: denials that are neither written nor counted. */
  get stats(): { readonly waiting: number; readonly lost: number } {
    return { waiting: this.#unwritten.length + this.#rows, lost: this.#lost };
  }

  add(denied: Denied): void {
    const { orgClock, clock } = this.#deps;
    const { tenant, customerId, requestId, meter } = denied;
    const seconds = this.#of(tenant);
    const now = orgClock.now(tenant);
    const entries = seconds.customers.get(customerId);
    const known = entries?.get(questionOf(denied));
    if (known !== undefined) {
      again(known, now);
      if (known.requestIds.length < REQUEST_IDS_MAX) known.requestIds.push(requestId);
      return;
    }
    const times = { at: now, lastAt: now, recordedAt: clock.now(), count: 1 };
    const isFull =
      this.#rows >= ROWS_MAX ||
      seconds.rows >= ROWS_PER_TENANT_MAX ||
      (entries?.size ?? 0) >= ROWS_PER_CUSTOMER_MAX;
    if (isFull) this.#count(seconds, { ...times, meterId: meter.id });
    else {
      const entry = { ...times, denied, requestIds: [requestId] };
      const ofCustomer = entries ?? new Map<string, Entry>();
      if (entries === undefined) seconds.customers.set(customerId, ofCustomer);
      ofCustomer.set(questionOf(denied), entry);
      seconds.rows += 1;
      this.#rows += 1;
    }
    this.#schedule();
  }

  /** Writes what there is now. Never rejects. */
  flush(): Promise<void> {
    this.#cancel?.();
    this.#cancel = null;
    this.#writes += 1;
    this.#written = this.#writeAfter(this.#written);
    return this.#written;
  }

  /** Writes what there is, once, and disconnects. */
  async close(): Promise<void> {
    const { sql, timers } = this.#deps;
    this.#closed = true;
    await Promise.race([this.flush(), pause(timers, CLOSE_MS_MAX)]);
    await sql.end({ timeout: 1 });
  }

  async #writeAfter(before: Promise<void>): Promise<void> {
    await before;
    try {
      await this.#write();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'denials were lost');
    }
    this.#writes -= 1;
    if (this.#tenants.size > 0 || this.#unwritten.length > 0) this.#schedule();
  }

  #schedule(): void {
    if (this.#closed || this.#writes > 0) return;
    this.#cancel ??= this.#deps.timers.after(WRITE_MS, () => void this.flush());
  }

  #of(tenant: Tenant): Seconds {
    const name = `${tenant.organisationId}${tenant.mode}`;
    let seconds = this.#tenants.get(name);
    if (seconds === undefined) {
      seconds = { tenant: tenantOf(tenant), customers: new Map(), counted: new Map(), rows: 0 };
      this.#tenants.set(name, seconds);
    }
    return seconds;
  }

  #count(seconds: Seconds, counted: Counted): void {
    const known = seconds.counted.get(counted.meterId);
    if (known !== undefined) again(known, counted.at);
    else if (this.#counted >= COUNTED_MAX || seconds.counted.size >= COUNTED_PER_TENANT_MAX) {
      this.#lost += 1;
    } else {
      seconds.counted.set(counted.meterId, counted);
      this.#counted += 1;
    }
  }

  async #write(): Promise<void> {
    const { sql, log } = this.#deps;
    this.#take();
    while (this.#unwritten.length > 0) {
      const batch = this.#unwritten.slice(0, ROWS_MAX);
      try {
        await insertDenials(sql, batch);
      } catch (error) {
        if (mayPass(error)) {
          log.warn(
            { err: error, waiting: this.#unwritten.length },
            'denials will be written later',
          );
          return;
        }
        this.#lose(batch);
        log.error({ err: error, rows: batch.length }, 'denials could not be written');
      }
      this.#unwritten.splice(0, batch.length);
    }
  }

  /** What was added becomes rows. */
  #take(): void {
    const tenants = this.#tenants;
    this.#tenants = new Map();
    this.#rows = 0;
    this.#counted = 0;
    for (const { tenant, customers, counted } of tenants.values()) {
      for (const entries of customers.values()) {
        for (const { denied, requestIds, ...times } of entries.values()) {
          this.#unwritten.push({
            ...this.#named(tenant),
            ...times,
            meterId: denied.meter.id,
            answer: answerOf(denied, requestIds),
          });
        }
      }
      for (const one of counted.values()) {
        this.#unwritten.push({ ...this.#named(tenant), ...one, answer: null });
      }
    }
    this.#lose(this.#unwritten.splice(UNWRITTEN_MAX));
  }

  #named(tenant: Tenant) {
    return { ...tenant, id: this.#deps.ids.next(), node: this.#deps.node() };
  }

  #lose(denials: readonly NewDenial[]): void {
    for (const { count } of denials) this.#lost += count;
  }
}

/** The question with its answer: of a check the text of the answer, which has both. */
function questionOf({ kind, keyed, answer }: Denied): string {
  if (kind === 'check') return answer;
  return keyed === null ? kind + answer : keyed.transferId;
}

function again(times: Times, now: number): void {
  times.count += 1;
  // A clock may step back.
  if (now > times.lastAt) times.lastAt = now;
}

function answerOf(denied: Denied, requestIds: readonly string[]): NonNullable<NewDenial['answer']> {
  const { customerId, kind, keyed, meter } = denied;
  const answer = JSON.parse(denied.answer) as Answer;
  const units = (shown: number): bigint => {
    const parsed = parseQuantity(shown, meter.scale);
    assert(typeof parsed === 'bigint', 'an answer has quantities of its meter');
    return parsed;
  };
  return {
    customerId,
    kind,
    reason: answer.reason,
    value: units(answer.requested),
    limit: answer.limit === null ? null : units(answer.limit),
    consumed: units(answer.consumed),
    reserved: units(answer.reserved),
    periodStart: answer.period_start,
    periodEnd: answer.period_end,
    transferId: keyed?.transferId ?? null,
    replayed: keyed?.replayed ?? false,
    requestIds,
  };
}
