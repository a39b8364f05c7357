// A meter made or changed with its list of costs: both or neither.
//
// Holds: of a refusal nothing is written. The caller has the lock where it gives costs
// (`lockCreditCosts`).
import type { Tenant } from '../../ledger/kernel/tenant.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import type { Transaction } from '../platform/postgres/postgres.ts';
import { insertList } from '../records/credit-costs.ts';
import {
  findMeterBySlug,
  insertMeter,
  type MeterPatch,
  type MeterRecord,
  type NewMeter,
  updateMeter,
} from '../records/meters.ts';
import { type GivenCost, judgeCosts, type RefusedCosts } from './credit-costs.ts';

export type Costs = readonly GivenCost[] | undefined;

export async function makeMeter(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly meter: NewMeter;
    readonly costs: Costs;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<MeterRecord | 'slug_taken' | Full | RefusedCosts> {
  const { meter, costs = [], bounds, now } = options;
  const asked = { pool: { ...meter, creditCosts: null }, given: costs, bounds, now };
  const judged = await judgeCosts(sql, scope, asked);
  if (judged.kind !== 'good') {
    // A call that is repeated finds its meter, whose members are taken.
    const isThere = (await findMeterBySlug(sql, scope, meter.slug)) !== null;
    return isThere ? 'slug_taken' : judged;
  }
  const made = await insertMeter(sql, scope, options);
  if (made === 'slug_taken' || made instanceof Full) return made;
  if (judged.list !== null) await insertList(sql, scope, judged.list);
  return { ...made, creditCosts: judged.creditCosts };
}

/** null where it is deleted. Whatever was given counts as a change. */
export async function patchMeter(
  sql: Transaction,
  scope: Tenant,
  options: {
    readonly meter: MeterRecord;
    readonly patch: MeterPatch;
    readonly costs: Costs;
    readonly bounds: Bounds;
    readonly now: number;
  },
): Promise<MeterRecord | RefusedCosts | null> {
  const { meter, patch, costs, bounds, now } = options;
  if (costs !== undefined) {
    const judged = await judgeCosts(sql, scope, { pool: meter, given: costs, bounds, now });
    if (judged.kind !== 'good') return judged;
    if (judged.list !== null) await insertList(sql, scope, judged.list);
  }
  return updateMeter(sql, scope, { id: meter.id, patch, now });
}
