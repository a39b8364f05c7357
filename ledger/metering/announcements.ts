import { iso } from '../kernel/iso.ts';
import { exhaustionData, grantData } from './event-data.ts';
import { type Grant, isLapsed, leaderOf } from './grants.ts';
import type { MeterDraft } from './meter-draft.ts';
import { balance, type MeterState, snapshotOf } from './meter.ts';
import { crossed } from './usage-answer.ts';

// The events of a decision on a meter.

/** `entitlement.granted`, which also arms the exhaustion event again. Of nothing it tells nobody. */
export function announceGrant(
  draft: MeterDraft,
  grant: Grant,
  {
    amount,
    source,
    at,
  }: { readonly amount: bigint | null; readonly source: string; readonly at: number },
): void {
  if (isLapsed(grant)) return;
  const data = grantData(draft.context.meter, draft.state, { grant, amount, source });
  draft.event('entitlement.granted', { at, by: grant }, data);
  draft.arm();
}

/** `entitlement.exhausted`, once for each crossing. */
export function announceExhaustion(draft: MeterDraft, at: number): void {
  const data = exhaustionData(draft.context.meter, draft.state);
  draft.event('entitlement.exhausted', { at, by: leaderOf(draft.state.grants) }, data);
  draft.change({ exhausted: true });
}

/**
 * What usage of a period that is over leads to: where it leaves less of the one that runs, that tells as its
 * own usage does. `before`: the state before it.
 */
export function announceLate(draft: MeterDraft, before: MeterState): void {
  const [was, rest] = [balance(snapshotOf(before)), balance(snapshotOf(draft.state))];
  if (was === null || rest === null || rest >= was) return;
  draft.firesSince(before);
  if (crossed(draft.state, rest)) announceExhaustion(draft, draft.context.now);
}

/** `customer.spend_cap_reached`, in the period of the subscription whose usage it was. */
export function announceSpendCap(
  draft: MeterDraft,
  { start, end }: { readonly start: number; readonly end: number },
  data: Readonly<Record<string, unknown>>,
): void {
  draft.event(
    'customer.spend_cap_reached',
    { at: draft.context.now, by: leaderOf(draft.state.grants) },
    { ...data, periodStart: iso(start), periodEnd: iso(end) },
  );
}

/** What became of an automatic top-up. */
export function announceTopUp(
  draft: MeterDraft,
  type: 'auto_topup.succeeded' | 'auto_topup.failed',
  data: Readonly<Record<string, unknown>>,
): void {
  draft.event(type, { at: draft.context.now, by: null }, data);
}
