// Step-up: what is risky needs a second factor that was given shortly before, and to enrol one
// needs a sign-in shortly before.
//
// Who calls: the dashboard, before an action. The keys of programs have no second factor.
import { HOUR_MS } from '../../ledger/kernel/durations.ts';
import { scaledOrNull } from '../../ledger/kernel/decimal.ts';
import type { Mode } from '../../ledger/kernel/tenant.ts';

/** How long a code counts for what is risky. */
const FRESH_MS = 10 * 60_000;
/**
 * How long a sign-in counts for who enrols a second factor: as long as the link that it came by.
 */
const SIGNED_IN_MS = 15 * 60_000;
/** For how long the refunds of a member are added up. */
export const REFUNDS_MS = HOUR_MS;

export type RiskyAction =
  | {
      readonly kind: 'refund';
      /** A decimal in the major unit of its currency. */
      readonly amount: string;
      /** What the member has refunded in the last hour, whatever the currency. */
      readonly already: string;
      /** The organisation's: what is refunded in an hour needs none up to it. */
      readonly upTo: string;
    }
  /** Making, rotating or revoking a key. */
  | { readonly kind: 'api_key' }
  /** Connecting or removing a payment processor. */
  | { readonly kind: 'processor' }
  /**
   * Who may come in, and what this rule goes by: an invitation or a role that decides about others,
   * a member who is removed, the second factor itself. It has no mode: test mode is no way around.
   */
  | { readonly kind: 'security' };

/** An invitation or a role that decides about others. */
export function isPowerful(role: string): boolean {
  return role === 'owner' || role === 'admin';
}

/** `enrol`: the user has no second factor, and is led to enrol one. */
export type StepUp = 'none' | 'code' | 'enrol';

export function needsStepUp(
  action: RiskyAction,
  of: {
    readonly mode: Mode;
    readonly hasSecondFactor: boolean;
    /** Of this session's last code, in ms since the epoch. */
    readonly secondFactorAt: number | null;
    readonly now: number;
  },
): StepUp {
  const { mode, hasSecondFactor, secondFactorAt, now } = of;
  if (mode === 'test' && action.kind !== 'security') return 'none';
  if (action.kind === 'refund' && !isAbove(action)) return 'none';
  if (!hasSecondFactor) return 'enrol';
  return secondFactorAt !== null && now - secondFactorAt < FRESH_MS ? 'none' : 'code';
}

/**
 * Whether a session may enrol a second factor: its user has signed in, or given a code, shortly
 * before. Otherwise whoever has stolen the session of somebody without one would enrol its own, and
 * pass.
 */
export function mayEnrol({
  signedInAt,
  secondFactorAt,
  now,
}: {
  /** In ms since the epoch. */
  readonly signedInAt: number;
  readonly secondFactorAt: number | null;
  readonly now: number;
}): boolean {
  const hasGiven = secondFactorAt !== null && now - secondFactorAt < FRESH_MS;
  return hasGiven || now - signedInAt < SIGNED_IN_MS;
}

/** What is no decimal is above any amount. */
function isAbove(refund: Extract<RiskyAction, { kind: 'refund' }>): boolean {
  const [mine, before] = [unitsOf(refund.amount), unitsOf(refund.already)];
  const bound = unitsOf(refund.upTo);
  return mine === null || before === null || bound === null || before + mine > bound;
}

const DECIMALS = 4;

/** In ten-thousandths: no currency has finer ones. */
function unitsOf(decimal: string): bigint | null {
  const units = scaledOrNull(decimal, DECIMALS);
  return units === null || units < 0n ? null : units;
}
