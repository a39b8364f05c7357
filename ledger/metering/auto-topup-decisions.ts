// Decisions on the automatic top-up of a meter. Each looks at the level when it is done, as every
// decision on the meter does (`MeterDraft.effects`).
import { announceTopUp } from './announcements.ts';
import { quantityNumber } from '../kernel/quantity.ts';
import { assert } from '../kernel/assert.ts';
import {
  arm,
  type AutoTopUp,
  put,
  remove,
  settle,
  statusOf,
  type StoredMethod,
  type TopUpAnswer,
  type TopUpCharge,
  type TopUpSettings,
} from '../topups/auto-topup.ts';
import { iso } from '../kernel/iso.ts';
import { advance, startGrant } from './advance.ts';
import { retireUsedUp } from './grant-decisions.ts';
import type { Grant } from './grants.ts';
import { type MeterContext, MeterDraft } from './meter-draft.ts';
import type { MeterEffects } from './meter-effects.ts';
import type { MeterState } from './meter.ts';
import { inRange } from '../kernel/quantity.ts';

export type TopUpCommand =
  | { readonly kind: 'put'; readonly settings: TopUpSettings; readonly zone: string }
  | { readonly kind: 'switch'; readonly enabled: boolean }
  | { readonly kind: 'remove' }
  /** Another payment method was stored. */
  | ({ readonly kind: 'arm' } & StoredMethod)
  /** `isHeard`: which of the events an endpoint hears. */
  | {
      readonly kind: 'settle';
      readonly answer: TopUpAnswer;
      readonly isHeard: { readonly succeeded: boolean; readonly failed: boolean };
    };

/** null where there is none, or there is none any more. */
export type TopUpOutcome = AutoTopUp | null;

/** The priority of a top-up, as `POST /customers/{id}/grants` gives it. */
const PRIORITY = 100;

export function decideTopUp(
  context: MeterContext,
  state: MeterState,
  command: TopUpCommand,
): { readonly outcome: TopUpOutcome; readonly effects: MeterEffects | null } {
  const { topUp: before } = state;
  if (before === null && command.kind !== 'put') return { outcome: null, effects: null };
  if (before?.settings === null && command.kind === 'switch') {
    return { outcome: null, effects: null };
  }
  const draft = new MeterDraft(context, state);
  advance(draft);
  execute(draft, command);
  const effects = draft.effects();
  const { topUp } = effects.state;
  const isUnchanged = effects.state === state;
  return {
    outcome: topUp === null || topUp.settings === null ? null : topUp,
    effects: isUnchanged ? null : effects,
  };
}

function execute(draft: MeterDraft, command: TopUpCommand): void {
  const { now } = draft.context;
  const { topUp } = draft.state;
  if (command.kind === 'put') {
    const { settings, zone } = command;
    return draft.changeTopUp(put(topUp, { settings, zone, now }));
  }
  assert(topUp !== null, 'what is changed is there');
  switch (command.kind) {
    case 'switch': {
      assert(topUp.settings !== null, 'what is switched has not been removed');
      const settings = { ...topUp.settings, enabled: command.enabled };
      return draft.changeTopUp(put(topUp, { settings, zone: topUp.zone, now }));
    }
    case 'remove':
      return draft.changeTopUp(remove(topUp));
    case 'arm':
      return draft.changeTopUp(arm(topUp, command));
    case 'settle':
      return take(draft, topUp, command);
    default:
      return command satisfies never;
  }
}

/** Takes the answer to the charge under way. What was captured is granted with it. */
function take(
  draft: MeterDraft,
  topUp: AutoTopUp,
  { answer, isHeard }: Extract<TopUpCommand, { kind: 'settle' }>,
): void {
  const { charge } = topUp;
  const next = settle(topUp, answer, draft.context.now);
  if (next === null || charge === null) return;
  draft.changeTopUp(next);
  const units = quantityNumber(charge.amount, draft.context.meter.scale);
  const { paymentId } = answer;
  if (answer.kind === 'captured') {
    grant(draft, charge);
    if (!isHeard.succeeded) return;
    return announceTopUp(draft, 'auto_topup.succeeded', { amount: units, paymentId, reason: null });
  }
  if (!isHeard.failed) return;
  announceTopUp(draft, 'auto_topup.failed', {
    amount: units,
    paymentId: answer.why === 'no_payment_method' ? null : paymentId,
    reason: answer.why,
    status: next.again || topUp.again ? 'charging' : statusOf(next),
    nextAttemptAt: iso(next.retryAt),
  });
}

/**
 * It was paid for, so the bound on the number of grants does not hold it up. Its id is that of its
 * payment: one payment is one grant.
 */
function grant(draft: MeterDraft, { paymentId: id, amount, productId }: TopUpCharge): void {
  const { now } = draft.context;
  assert(inRange(draft.state.current.granted + amount), 'the meter can hold what was paid for');
  retireUsedUp(draft);
  startGrant(draft, grantOf({ id, amount, productId, now }), now);
}

function grantOf({
  id,
  amount,
  productId,
  now,
}: Pick<TopUpCharge, 'amount' | 'productId'> & {
  readonly id: string;
  readonly now: number;
}): Grant {
  return {
    id,
    source: 'top_up',
    amount,
    used: 0n,
    spent: 0n,
    grown: 0n,
    cut: [],
    rests: [],
    startedAt: null,
    endedIn: 0,
    cap: null,
    effectiveAt: now,
    expiresAt: null,
    priority: PRIORITY,
    createdAt: now,
    overageAllowed: false,
    price: null,
    charges: false,
    recurs: null,
    renewsAt: null,
    started: false,
    suspended: null,
    boolean: false,
    productId,
    subscriptionId: null,
    reason: null,
    ended: null,
  };
}
