// Which features of a product may have usage sold beyond their allowance
// (docs/spec/usage-prices.md#usage-prices).
//
// Who asks: what adds a usage price, an entitlement or a recurring price, each after `lockProduct`,
// so that of two at once the second sees the first.
// Holds: an allowance that usage is sold beyond is limited, and given afresh at least as often as
// each recurring price of the product renews, an archived one too: subscriptions still have it. So
// usage is billed with the renewal after it. And it is given so many times within a renewal at most
// (`RESETS_PER_RENEWAL_MAX`, and all of a product together), which bounds what one renewal bills.
// Does not: ask about detaching an entitlement. The allowance is nothing then, and its periods are
// the subscription's.
import type { Interval } from '../../ledger/kernel/calendar.ts';
import { PRODUCT_RESETS_PER_RENEWAL_MAX, RESETS_PER_RENEWAL_MAX } from '../../ledger/limits.ts';
import type { Executor, Transaction } from '../platform/postgres/postgres.ts';

/** In words, as a refusal says it. */
export class UsageConflict {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

/** Against giving a pool and a member of it with different resets. */
export function otherReset(slug: string): UsageConflict {
  return new UsageConflict(
    `a pool of credits and its members are given with the same reset_interval: "${slug}" has another`,
  );
}

/** Against selling what a pool pays for. */
export function paidByPool(slug: string): UsageConflict {
  return new UsageConflict(
    `"${slug}" pays for this feature, so the usage price belongs on "${slug}"`,
  );
}

/** Of an entitlement. */
type Allowance = {
  readonly type: 'metered' | 'boolean';
  readonly limit: bigint | null;
  readonly resetInterval: Interval | 'never';
};
/** Of a price; null where it is a one-time price. */
type Renewal = {
  readonly interval: Interval | null;
  readonly intervalCount: number | null;
};
type Feature = { readonly productId: string; readonly meterId: string };

/** Nominal: a month is a twelfth of 365 days, so that 30 days are less and 31 days more. */
const HOURS: Readonly<Record<Interval, number>> = {
  hour: 1,
  day: 24,
  week: 168,
  month: 730,
  quarter: 2190,
  year: 8760,
};

/** Why usage beyond these allowances cannot be sold under prices that renew so, or null. */
function conflictOf(
  sold: readonly Allowance[],
  renewals: readonly Renewal[],
): UsageConflict | null {
  if (sold.some(({ type }) => type === 'boolean')) {
    return new UsageConflict('a boolean feature is not used up, so its usage is not sold');
  }
  if (sold.some(({ limit }) => limit === null)) {
    return new UsageConflict('nothing is beyond a feature without a limit');
  }
  const resets = sold.map(({ resetInterval: every }) =>
    every === 'never' ? Infinity : HOURS[every],
  );
  const lengths = renewals.flatMap(({ interval, intervalCount }) =>
    interval === null ? [] : [HOURS[interval] * (intervalCount ?? 1)],
  );
  if (resets.some((reset) => reset === Infinity || lengths.some((hours) => reset > hours))) {
    const message =
      'the allowance of a feature with a usage price must be given at least as often as the product renews, archived prices included';
    return new UsageConflict(message);
  }
  for (const hours of lengths) {
    const times = resets.map((reset) => hours / reset);
    if (times.some((count) => count > RESETS_PER_RENEWAL_MAX)) {
      return tooOften('the allowance of a feature', RESETS_PER_RENEWAL_MAX);
    }
    if (times.reduce((sum, count) => sum + count, 0) > PRODUCT_RESETS_PER_RENEWAL_MAX) {
      return tooOften('all allowances together', PRODUCT_RESETS_PER_RENEWAL_MAX);
    }
  }
  return null;
}

function tooOften(what: string, max: number): UsageConflict {
  const message = `where usage is sold, ${what} may be given at most ${max} times until the product renews`;
  return new UsageConflict(message);
}

/** Against adding a usage price for a feature. */
export async function conflictOfUsagePrice(
  sql: Transaction,
  { productId, meterId }: Feature,
): Promise<UsageConflict | 'boolean' | null> {
  const [allowance] = await sql<Allowance[]>`
    select ${allowanceColumns(sql)} from entitlements e
    where product_id = ${productId} and meter_id = ${meterId}`;
  if (allowance === undefined) return null;
  if (allowance.type === 'boolean') return 'boolean';
  const sold = await listSold(sql, { productId, meterId });
  return conflictOf([...sold, allowance], await listRenewals(sql, productId));
}

/** Against attaching a feature. */
export async function conflictOfEntitlement(
  sql: Transaction,
  { productId, meterId }: Feature,
  allowance: Allowance,
): Promise<UsageConflict | null> {
  const prices = await sql`
    select 1 from usage_prices where product_id = ${productId} and meter_id = ${meterId} and status = 'active' limit 1`;
  if (prices.length === 0) return null;
  const sold = await listSold(sql, { productId, meterId });
  return conflictOf([...sold, allowance], await listRenewals(sql, productId));
}

/** Against adding a price. */
export async function conflictOfPrice(
  sql: Transaction,
  productId: string,
  price: Renewal,
): Promise<UsageConflict | null> {
  if (price.interval === null) return null;
  return conflictOf(await listSold(sql, { productId, meterId: null }), [price]);
}

const allowanceColumns = (sql: Executor) => sql`
  e.type, e.amount as "limit", e.reset_interval as "resetInterval"`;

/** The allowances of the product that usage is sold beyond, but for one. */
async function listSold(
  sql: Executor,
  { productId, meterId }: { readonly productId: string; readonly meterId: string | null },
): Promise<Allowance[]> {
  return sql<Allowance[]>`
    select ${allowanceColumns(sql)} from entitlements e
    where e.product_id = ${productId} and e.meter_id is distinct from ${meterId}::uuid and exists (
      select from usage_prices u where u.product_id = e.product_id and u.meter_id = e.meter_id and u.status = 'active')`;
}

/** How often subscriptions of the product renew, by archived prices too. */
async function listRenewals(sql: Executor, productId: string): Promise<Renewal[]> {
  return sql<Renewal[]>`
    select distinct interval, interval_count as "intervalCount" from prices
    where product_id = ${productId} and interval is not null`;
}
