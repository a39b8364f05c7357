// What differs between our record of a charge or a refund and the processor's. Pure.
import { unreachable } from '../../ledger/kernel/assert.ts';
import { formatMoney } from '../../ledger/kernel/money.ts';
import type { Compared, DifferenceKind, Found } from '../records/reconciliation-differences.ts';
import type { OurCharge, OurDispute, OurRefund } from '../records/processor-transactions.ts';

export type MoneyState = 'pending' | 'succeeded' | 'failed';

/** One side's record. */
export type Side = {
  /** In the smallest coin; null where it is not a whole number of coins. */
  readonly amount: bigint | null;
  /** In upper case. */
  readonly currency: string;
  readonly state: MoneyState;
};

/**
 * What has moved no money on either side differs in nothing. An amount is compared where both sides
 * count in one currency.
 */
export function differencesOf(
  subject: Compared['subject'],
  ours: Side | null,
  theirs: Side | null,
): readonly Found[] {
  const found = (kind: DifferenceKind): Found => ({
    kind,
    ours: ours === null ? null : toldOf(subject, ours),
    theirs: theirs === null ? null : toldOf(subject, theirs),
  });
  if (ours === null) {
    return theirs === null || theirs.state === 'failed' ? [] : [found('extra')];
  }
  if (theirs === null) return ours.state === 'succeeded' ? [found('missing')] : [];
  const kinds: DifferenceKind[] = [];
  const hasMoved = ours.state === 'succeeded' || theirs.state === 'succeeded';
  if (hasMoved && ours.state !== theirs.state) kinds.push('state');
  if (theirs.state === 'failed') return kinds.map(found);
  if (ours.currency !== theirs.currency) kinds.push('currency');
  else if (ours.amount !== theirs.amount) kinds.push('amount');
  return kinds.map(found);
}

const OF_DISPUTE = { pending: 'opened', succeeded: 'lost', failed: 'won' } as const;

function toldOf(subject: Compared['subject'], { amount, currency, state }: Side): string {
  const word = subject === 'dispute' ? OF_DISPUTE[state] : state;
  return `${amount === null ? 'a part of a coin' : formatMoney(amount, currency)} ${currency} ${word}`;
}

export function sideOfCharge({ status, amount, captured, currency }: OurCharge): Side {
  switch (status) {
    case 'requires_action':
    case 'processing':
      return { amount, currency, state: 'pending' };
    case 'succeeded':
    case 'partially_refunded':
    case 'refunded':
      return { amount: captured, currency, state: 'succeeded' };
    case 'failed':
    case 'errored':
    case 'canceled':
      return { amount, currency, state: 'failed' };
    default:
      return unreachable(status);
  }
}

export function sideOfRefund({ status, amount, currency }: OurRefund): Side {
  return { amount, currency, state: status };
}

const OF_DISPUTE_STATUS = { opened: 'pending', lost: 'succeeded', won: 'failed' } as const;

export function sideOfDispute({ status, amount, currency }: OurDispute): Side {
  return { amount, currency, state: OF_DISPUTE_STATUS[status] };
}
