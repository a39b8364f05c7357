import { DAY_MS } from '../kernel/durations.ts';

/**
 * Dunning: what follows while an invoice stays unpaid (docs/spec/subscriptions.md#dunning).
 *
 *     charge fails ──▶ warning: retried 1, 3, 7 … days later ──▶ blocked at 14 ──▶ canceled at 21
 *                         └──────────────── paid or void ────────────┴──▶ clear
 *
 * How it works: the first failed charge of an invoice starts its dunning. The policy that the
 * organisation has at that moment sets all times, and they are stored with the invoice. When one of
 * them is due, `renewal.ts` acts; when a charge fails, `invoicing.ts` asks for the next retry.
 *
 * What holds: a subscription is as overdue as its worst invoice, a customer as its worst
 * subscription. A later change of the policy does not move an invoice that is already in dunning.
 * Retries go on while the subscription is blocked. A failure that no retry can mend is not retried,
 * and still blocks and cancels at the same times.
 *
 * What it does not do: it is pure, so it charges nothing and writes nothing. `SubscriptionDraft`
 * writes the events, `commands.ts` begins a new period when a late payment unblocks.
 */
export type OverdueState = 'clear' | 'warning' | 'blocked';

/** Days after the first failure. */
export type DunningPolicy = {
  /** Strictly ascending. */
  readonly retryDays: readonly number[];
  readonly blockAfterDays: number;
  readonly expireAfterDays: number;
};

/** The dunning of one invoice, fixed at its first failure. */
export type Dunning = {
  readonly failedAt: number;
  readonly retryDays: readonly number[];
  readonly blockAt: number;
  readonly expireAt: number;
};

type Unpaid = {
  readonly retryAt: number | null;
  /** null until a charge has failed. */
  readonly dunning: Dunning | null;
};

type Chased = { readonly overdue: OverdueState; readonly open: readonly Unpaid[] };

/** Why a subscription ended although nobody asked for it: the customer gets a mail. */
export type UnpaidEnd = 'dunning_exhausted' | 'mandate_lost';

/** Starts dunning or goes on with it: when to retry after a failure at `at`; null for never. */
export function afterFailure(
  { dunning }: Pick<Unpaid, 'dunning'>,
  {
    at,
    policy,
    hard,
  }: { readonly at: number; readonly policy: DunningPolicy; readonly hard: boolean },
): { readonly dunning: Dunning; readonly retryAt: number | null } {
  const begun = dunning ?? {
    failedAt: at,
    retryDays: policy.retryDays,
    blockAt: at + policy.blockAfterDays * DAY_MS,
    expireAt: at + policy.expireAfterDays * DAY_MS,
  };
  const times = begun.retryDays.map((days) => begun.failedAt + days * DAY_MS);
  const next = hard ? undefined : times.find((time) => time > at);
  return { dunning: begun, retryAt: next ?? null };
}

/**
 * What the open invoices make of a subscription at `at`: blocked once the `blockAt` of any has
 * come. While a payment is `waiting`, time stands still: what came due since is done after its
 * answer.
 */
export function overdueStateAt(
  { open, waiting }: Pick<Chased, 'open'> & { readonly waiting: { readonly since: number } | null },
  at: number,
): OverdueState {
  const asOf = waiting?.since ?? at;
  const dunnings = open.flatMap(({ dunning }) => (dunning === null ? [] : [dunning]));
  if (dunnings.some(({ blockAt }) => blockAt <= asOf)) return 'blocked';
  return dunnings.length > 0 ? 'warning' : 'clear';
}

/** Whether it becomes blocked at `due`. */
export function blocksAt({ overdue, open }: Chased, due: number): boolean {
  return overdue !== 'blocked' && open.some(({ dunning }) => dunning?.blockAt === due);
}

/** Whether it is given up at `due`: the subscription ends. */
export function expiresAt({ open }: Pick<Chased, 'open'>, due: number): boolean {
  return open.some(({ dunning }) => dunning?.expireAt === due);
}

/** When an unpaid invoice is next charged again; null for never. */
export function nextRetryAt({ open }: Pick<Chased, 'open'>): number | null {
  const times = open.flatMap(({ retryAt }) => (retryAt === null ? [] : [retryAt]));
  return times.length === 0 ? null : Math.min(...times);
}

/** When dunning next does something: retries, blocks or gives up. Infinity for never. */
export function nextDunningAt({ overdue, open }: Chased): number {
  let next = Infinity;
  for (const { retryAt, dunning } of open) {
    next = Math.min(next, retryAt ?? Infinity, dunning?.expireAt ?? Infinity);
    if (overdue !== 'blocked') next = Math.min(next, dunning?.blockAt ?? Infinity);
  }
  return next;
}

const BY_SEVERITY: readonly OverdueState[] = ['clear', 'warning', 'blocked'];

type Customers = { readonly subscriptions: ReadonlyMap<string, Chased> };

/** Of a customer: the state of its worst subscription. */
export function overdueOf({ subscriptions }: Customers): OverdueState {
  let worst = 0;
  for (const { overdue } of subscriptions.values()) {
    worst = Math.max(worst, BY_SEVERITY.indexOf(overdue));
  }
  return BY_SEVERITY[worst] ?? 'clear';
}

/** When time alone next makes a customer's state worse: blocked, or canceled. null for never. */
export function nextOverdueAt({ subscriptions }: Customers): number | null {
  let next = Infinity;
  for (const { overdue, open } of subscriptions.values()) {
    for (const { dunning } of open) {
      if (dunning === null) continue;
      next = Math.min(next, overdue === 'blocked' ? dunning.expireAt : dunning.blockAt);
    }
  }
  return next === Infinity ? null : next;
}

/** Why the allowances of a subscription may not be used. Blocked comes before paused. */
export function suspensionOf({
  status,
  overdue,
}: Pick<Chased, 'overdue'> & { readonly status: string }): 'paused' | 'blocked' | null {
  if (overdue === 'blocked') return 'blocked';
  return status === 'paused' ? 'paused' : null;
}

/** Without a mandate nothing more can be collected (docs/spec/contract.md#subscription-states). */
export function isMandateLost(settlement: {
  readonly kind: string;
  readonly code?: string;
}): boolean {
  return settlement.code === 'mandate_lost';
}

export function isUnpaidEnd(reason: string): reason is UnpaidEnd {
  return reason === 'dunning_exhausted' || reason === 'mandate_lost';
}
