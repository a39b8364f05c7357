// Step-up: what is risky needs a second factor that was given shortly before.
//
// Who calls: the dashboard, before an action. The keys of programs have no second factor.
import type { Mode } from '../../ledger/kernel/tenant.ts';

/** How long a code counts for what is risky. */
export const FRESH_MS = 10 * 60_000;

export type RiskyAction =
  /** `amount` is what is refunded, a decimal in the major unit of its currency. */
  | { readonly kind: 'refund'; readonly amount: string }
  /** Making, rotating or revoking a key. */
  | { readonly kind: 'api_key' }
  /** Connecting or removing a payment processor. */
  | { readonly kind: 'processor' }
  /** Changing what this rule goes by. It has no mode: test mode is no way around. */
  | { readonly kind: 'security' };

/** `enrol`: the user has no second factor, and is led to enrol one. */
export type StepUp = 'none' | 'code' | 'enrol';

export function needsStepUp(
  action: RiskyAction,
  of: {
    readonly mode: Mode;
    readonly hasSecondFactor: boolean;
    /** Of this session's last code, in ms since the epoch. */
    readonly secondFactorAt: number | null;
    /** The organisation's: a refund up to it needs none. */
    readonly refundStepUpAmount: string;
    readonly now: number;
  },
): StepUp {
  const { mode, hasSecondFactor, secondFactorAt, refundStepUpAmount, now } = of;
  if (mode === 'test' && action.kind !== 'security') return 'none';
  if (action.kind === 'refund' && !isAbove(action.amount, refundStepUpAmount)) return 'none';
  if (!hasSecondFactor) return 'enrol';
  return secondFactorAt !== null && now - secondFactorAt < FRESH_MS ? 'none' : 'code';
}

/** What is no decimal is above any amount. */
function isAbove(amount: string, limit: string): boolean {
  const [mine, bound] = [unitsOf(amount), unitsOf(limit)];
  return mine === null || bound === null || mine > bound;
}

const DECIMALS = 4;

/** In ten-thousandths: no currency has finer ones. */
function unitsOf(decimal: string): bigint | null {
  const [, whole, fraction = ''] = /^(\d{1,18})(?:\.(\d{1,4}))?$/.exec(decimal) ?? [];
  return whole === undefined ? null : BigInt(whole + fraction.padEnd(DECIMALS, '0'));
}
