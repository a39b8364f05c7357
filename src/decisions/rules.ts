// Why a decision was made, in plain words. The whole table: one sentence for each reason.
import { decimal } from '../../ledger/kernel/decimal.ts';
import type { Reason } from '../../ledger/kernel/transfers.ts';

/** What was asked for, and the balance after it. Scaled; `limit` and `left` null: unlimited. */
export type RuleNumbers = {
  readonly asked: bigint;
  readonly consumed: bigint;
  readonly limit: bigint | null;
  /** The limit less what was consumed and reserved. */
  readonly left: bigint | null;
  readonly scale: number;
};

type Texts = { readonly [Name in 'asked' | 'used' | 'left']: string };
type Rule = (texts: Texts, left: bigint | null) => string;

const ALWAYS = 'A grant without a limit was in force.';
const UNLIMITED: Rule = () => ALWAYS;

/** Of a no. */
const DENIED: Partial<Record<Reason, Rule>> = {
  insufficient_balance: ({ asked, used, left }, rest) =>
    rest !== null && rest > 0n
      ? `${left} left, and ${asked} asked for.`
      : `Nothing was left: ${used} used. ${asked} asked for.`,
  not_entitled: () => 'The customer had no grant of this feature.',
  expired: () => 'Every grant of this feature had expired.',
  subscription_paused: () =>
    'What was left came from a subscription that was paused: nothing of it may be used.',
  blocked: () =>
    'What was left came from a subscription that was blocked, because a payment was overdue.',
  spend_cap: ({ used, asked }) =>
    `${used} used. ${asked} asked for, which would have cost more than was left of the spend cap.`,
};

/** Of a yes. */
const ALLOWED: Partial<Record<Reason, Rule>> = {
  unlimited: UNLIMITED,
  boolean: () => 'The customer had the feature: it is not counted.',
  overage_allowed: ({ used }) => `Usage over the limit was allowed: ${used} used after it.`,
};

const RECORDED: Rule = ({ used, left }, rest) => {
  if (rest === null) return ALWAYS;
  return rest < 0n
    ? `Usage is recorded in full, also past the limit: ${used} used after it.`
    : `It was within the limit: ${left} left after it.`;
};

export function ruleOf(reason: Reason, isDenied: boolean, numbers: RuleNumbers): string {
  const { scale, limit, left: rest } = numbers;
  const was = (value: bigint, text: string): string =>
    `${text} ${value === 10n ** BigInt(scale) ? 'was' : 'were'}`;
  const shown = (value: bigint): string => decimal(value, scale);
  const ofLimit = (value: bigint): string =>
    limit === null ? shown(value) : `${shown(value)} of ${shown(limit)}`;
  const texts = {
    asked: was(numbers.asked, shown(numbers.asked)),
    used: was(numbers.consumed, ofLimit(numbers.consumed)),
    left: rest === null ? '' : was(rest, ofLimit(rest)),
  };
  const rule = isDenied ? (DENIED[reason] ?? UNLIMITED) : (ALLOWED[reason] ?? RECORDED);
  return rule(texts, rest);
}
