// PUT of a meter: created under its slug, or changed if it exists. Fields that its history depends
// on never change.
//
// Holds: of two concurrent calls one creates it, and the other finds it. An existing meter is found
// even when no more may be created.
import { type Bounds, Full } from '../platform/bounds.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { insertList, lockCreditCosts } from '../records/credit-costs.ts';
import {
  lockMeter,
  type MeterPatch,
  type MeterRecord,
  type NewMeter,
  updateMeter,
} from '../records/meters.ts';
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { judgeCosts, type RefusedCosts } from './credit-costs.ts';
import { type Costs, makeMeter } from './write-meter.ts';

/** A third try is needed only if the meter is deleted at the same moment. */
const TRIES_MAX = 4;

export type Fixed = Pick<
  MeterRecord,
  'eventName' | 'aggregation' | 'valueProperty' | 'uniqueProperty' | 'scale' | 'carry'
>;

export type PutMeter =
  | { readonly kind: 'made'; readonly meter: MeterRecord }
  | { readonly kind: 'there'; readonly meter: MeterRecord }
  /** These it has otherwise. */
  | { readonly kind: 'fixed'; readonly fields: readonly (keyof Fixed)[] }
  | { readonly kind: 'not_made' }
  | RefusedCosts
  | { readonly kind: 'full'; readonly why: string };

/** `meter` is what is made; `patch`, `fixed` and `costs` are of it what the caller gave. */
export async function putMeter(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly meter: NewMeter;
    readonly patch: MeterPatch;
    readonly fixed: Partial<Fixed>;
    readonly costs: Costs;
    /** Whether enough was given to make one. */
    readonly mayMake: boolean;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<PutMeter> {
  const { meter, patch, costs, bounds, now } = options;
  if (costs !== undefined) await lockCreditCosts(sql, scope);
  let full: Full | null = null;
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const there = await lockMeter(sql, scope, meter.slug);
    if (there !== null) return change(sql, scope, { ...options, there });
    if (!options.mayMake) return { kind: 'not_made' };
    // Another call may have just created this one.
    if (full !== null) return { kind: 'full', why: full.message };
    const made = await makeMeter(sql, scope, { meter, costs, bounds, now });
    if (made instanceof Full) full = made;
    else if (made !== 'slug_taken') {
      if ('kind' in made) return made;
      const changed =
        patch.status === 'archived'
          ? await updateMeter(sql, scope, { id: made.id, patch: { status: 'archived' }, now })
          : made;
      return { kind: 'made', meter: changed ?? made };
    }
  }
  return { kind: 'full', why: `the meter "${meter.slug}" is made and deleted by other calls` };
}

async function change(
  sql: Transaction,
  scope: Tenant,
  {
    there,
    patch,
    fixed,
    costs,
    bounds,
    now,
  }: {
    readonly there: MeterRecord;
    readonly patch: MeterPatch;
    readonly fixed: Partial<Fixed>;
    readonly costs: Costs;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<PutMeter> {
  const fields = differing(there, fixed);
  if (fields.length > 0) return { kind: 'fixed', fields };
  const judged =
    costs === undefined
      ? null
      : await judgeCosts(sql, scope, { pool: there, given: costs, bounds, now });
  if (judged !== null && judged.kind !== 'good') return judged;
  const isAnother = judged !== null && judged.list !== null;
  if (!isAnother && differing(there, patch).length === 0) return { kind: 'there', meter: there };
  if (isAnother) await insertList(sql, scope, judged.list);
  const changed = await updateMeter(sql, scope, { id: there.id, patch, now });
  return { kind: 'there', meter: changed ?? there };
}

/** The fields that were given and are otherwise. */
function differing<K extends keyof MeterRecord>(
  there: MeterRecord,
  given: { readonly [field in K]?: MeterRecord[field] | undefined },
): K[] {
  return (Object.keys(given) as K[]).filter(
    (field) => given[field] !== undefined && !Bun.deepEquals(given[field], there[field]),
  );
}
