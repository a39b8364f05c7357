// Disputes: the buyer's bank takes a payment back, or tries to.
//
//     opened ──▶ won ◀──▶ lost
//        └────────────────▲
//
// How: an open dispute is a hold on the payment's account, so that the disputed money is not
// refunded too. Lost, the hold is posted: money that is gone counts against the refund ceiling.
// Won, it is void. What the processor says of a dispute now is applied, not what happened in
// between.
// Holds: the same news again changes nothing. `opened` after an end is an older answer, and changes
// nothing either; between won and lost the last answer counts. A dispute that the account does not
// cover, since refunds were first, takes what a refund gives back when it fails.
import { DAY_MS } from '../kernel/durations.ts';
import { assert, unreachable } from '../kernel/assert.ts';
import { formatMoney } from '../kernel/money.ts';
import {
  type Dispute,
  type PaymentEffects,
  type PaymentState,
  isCaptured,
  refundable,
} from './payment.ts';
import { PaymentDraft, type PaymentContext } from './payment-draft.ts';

/** What the processor says of a dispute now. */
export type DisputeNews = Pick<Dispute, 'reference' | 'amount' | 'reason' | 'status'> & {
  readonly currency: string;
  /** When it was opened, milliseconds. */
  readonly at: number;
  /** When to ask again. Without it: a day later while it is open, and never after its end. */
  readonly askAfterMs?: number | undefined;
};

/** The processor's answer to what is disputed of a charge: all disputes of it. */
export type DisputesAnswer =
  | { readonly kind: 'found'; readonly disputes: readonly DisputeNews[] }
  | { readonly kind: 'unknown' };

/**
 * Why a dispute is not recorded. `no_charge`: nothing was captured, or not yet. `full`: the payment
 * has as many as it may.
 */
export type DisputeRefusal = 'no_charge' | 'invalid_amount' | 'other_currency' | 'full';

export type DisputesOutcome = {
  /** Those that are new or have changed. */
  readonly changed: readonly Dispute[];
  readonly refused: readonly { readonly reference: string; readonly refusal: DisputeRefusal }[];
};

/** More than banks allow for one charge. */
export const DISPUTES_MAX = 50;

const VAIN_FIRST_MS = 60_000;

/** Applies the answer. `effects` is null where it changes nothing. */
export function decideDisputes(
  context: PaymentContext,
  state: PaymentState,
  answer: DisputesAnswer,
): { readonly outcome: DisputesOutcome; readonly effects: PaymentEffects | null } {
  const draft = new PaymentDraft(context, state);
  const refused: DisputesOutcome['refused'][number][] = [];
  if (answer.kind === 'found') {
    for (const news of answer.disputes) {
      const refusal = learnDispute(draft, news);
      if (refusal !== null) refused.push({ reference: news.reference, refusal });
    }
  }
  askLater(draft, answer.kind);
  const effects = draft.effects();
  const changed = effects.disputes.filter(({ id, status, amount }) => {
    const before = state.disputes.get(id);
    return before?.status !== status || before.amount !== amount;
  });
  return { outcome: { changed, refused }, effects: effects.disputes.length === 0 ? null : effects };
}

/** Applies what is known of one dispute. Returns why not; null where it is, or was before. */
export function learnDispute(draft: PaymentDraft, news: DisputeNews): DisputeRefusal | null {
  const { state, context } = draft;
  const { payment, disputes } = state;
  const id = context.ids.derive('dispute', payment.id, news.reference);
  const known = disputes.get(id) ?? null;
  const refusal = refusalOf(state, news, known);
  if (refusal !== null) return refusal;
  const before = known ?? opening(id, news);
  const isOld = news.status === 'opened' && before.status !== 'opened';
  const isSame = news.status === before.status && news.amount === before.amount;
  const askAt = askAtOf(news, context.now);
  if (known !== null && (isOld || isSame)) {
    if (isDue(known, context.now)) draft.putDispute({ ...known, asks: 0, askAt });
    return null;
  }
  const { amount, status, reason } = news;
  const closedAt = status === 'opened' ? null : context.now;
  const changed = { ...before, amount, status, reason, asks: 0, askAt, closedAt };
  const moved = bring(draft, changed);
  coverDisputes(draft);
  announce(draft, moved, moved.moves > before.moves);
  return null;
}

/** Takes what has become free for disputes that are not covered yet, in the order of their ids. */
export function coverDisputes(draft: PaymentDraft): void {
  for (const dispute of [...draft.state.disputes.values()].toSorted(byId)) {
    if (uncovered(dispute) > 0n && refundable(draft.state.account) > 0n) bring(draft, dispute);
  }
}

/** What of it the payment's account does not hold or did not lose. */
export function uncovered({ status, amount, hold, chargedBack }: Dispute): bigint {
  return status === 'won' ? 0n : amount - (hold?.amount ?? 0n) - chargedBack;
}

function byId(a: Dispute, b: Dispute): number {
  return a.id < b.id ? -1 : 1;
}

function refusalOf(
  state: PaymentState,
  { amount, currency }: DisputeNews,
  known: Dispute | null,
): DisputeRefusal | null {
  if (!isCaptured(state) || state.account.captured === 0n) return 'no_charge';
  if (currency !== state.payment.currency) return 'other_currency';
  if (amount <= 0n) return 'invalid_amount';
  return known === null && state.disputes.size >= DISPUTES_MAX ? 'full' : null;
}

function opening(id: string, { reference, amount, reason, at }: DisputeNews): Dispute {
  const nothing = { hold: null, chargedBack: 0n, moves: 0, asks: 0, askAt: null, closedAt: null };
  return { id, reference, amount, reason, status: 'opened', openedAt: at, ...nothing };
}

function askAtOf({ status, askAfterMs }: DisputeNews, now: number): number | null {
  if (askAfterMs !== undefined) return now + askAfterMs;
  return status === 'opened' ? now + DAY_MS : null;
}

const isDue = ({ askAt }: Dispute, now: number): boolean => askAt !== null && askAt <= now;

/**
 * Those that were due and of which there is no news. A dispute that is not found is still open: it
 * is asked about again, with ever more time in between where there is no answer.
 */
function askLater(draft: PaymentDraft, kind: DisputesAnswer['kind']): void {
  const { now } = draft.context;
  for (const dispute of draft.state.disputes.values()) {
    if (!isDue(dispute, now)) continue;
    const asks = kind === 'unknown' ? dispute.asks + 1 : 0;
    const waits = kind === 'unknown' ? VAIN_FIRST_MS * 2 ** Math.min(dispute.asks, 11) : DAY_MS;
    draft.putDispute({ ...dispute, asks, askAt: now + Math.min(waits, DAY_MS) });
  }
}

/** Makes the payment's account what the dispute's status and amount say, as far as it has it. */
function bring(draft: PaymentDraft, dispute: Dispute): Dispute {
  const held = dispute.hold?.amount ?? 0n;
  const within = refundable(draft.state.account) + held + dispute.chargedBack;
  const share = dispute.amount < within ? dispute.amount : within;
  const moved = movedTo(new Moves(draft, dispute), share);
  const { account } = draft.state;
  const delta = moved.chargedBack - dispute.chargedBack;
  draft.account({
    held: account.held - held + (moved.hold?.amount ?? 0n),
    chargedBack: account.chargedBack + delta,
  });
  if (delta !== 0n) {
    const { id: disputeId, moves } = moved;
    const data = { disputeId, delta: String(delta) };
    draft.follow('dispute_settled', `${disputeId} ${moves}`, data);
  }
  draft.putDispute(moved);
  return moved;
}

function movedTo(moves: Moves, share: bigint): Dispute {
  const { status, hold } = moves.dispute;
  switch (status) {
    case 'opened':
      if (hold?.amount !== share) moves.hold(share);
      break;
    case 'lost':
      moves.take(share);
      break;
    case 'won':
      moves.release();
      break;
    default:
      unreachable(status);
  }
  return moves.dispute;
}

/** The transfers of one dispute. */
class Moves {
  readonly #draft: PaymentDraft;
  dispute: Dispute;

  constructor(draft: PaymentDraft, dispute: Dispute) {
    this.#draft = draft;
    this.dispute = dispute;
  }

  /** Holds the amount, instead of what it held before. */
  hold(amount: bigint): void {
    assert(this.dispute.chargedBack === 0n, 'an open dispute has taken nothing');
    this.release();
    if (amount === 0n) return;
    const id = this.#move('pending', amount);
    this.dispute = { ...this.dispute, hold: { id, amount } };
  }

  /** Has taken the amount in the end: from the hold as far as that goes. */
  take(amount: bigint): void {
    const { hold } = this.dispute;
    if (hold !== null) {
      const posted = amount < hold.amount ? amount : hold.amount;
      this.#move('post', posted, hold);
      this.dispute = { ...this.dispute, hold: null, chargedBack: posted };
    }
    const rest = amount - this.dispute.chargedBack;
    if (rest > 0n) this.#move('single', rest);
    if (rest < 0n) this.#move('reverse', -rest);
    this.dispute = { ...this.dispute, chargedBack: amount };
  }

  /** Lets go of what it holds, and gives back what it took. */
  release(): void {
    const { hold, chargedBack } = this.dispute;
    if (hold !== null) this.#move('void', 0n, hold);
    if (chargedBack > 0n) this.#move('reverse', chargedBack);
    this.dispute = { ...this.dispute, hold: null, chargedBack: 0n };
  }

  #move(
    kind: 'pending' | 'post' | 'void' | 'single' | 'reverse',
    amount: bigint,
    hold: Dispute['hold'] = null,
  ): string {
    const { id: dispute, moves } = this.dispute;
    const id = moveId(this.#draft, dispute, moves + 1);
    this.#draft.move('debit', { id, kind, amount, hold, dispute });
    this.dispute = { ...this.dispute, moves: moves + 1 };
    return id;
  }
}

function moveId({ context }: PaymentDraft, disputeId: string, nth: number): string {
  return context.ids.derive('dispute move', disputeId, String(nth));
}

function announce(draft: PaymentDraft, dispute: Dispute, hasMoved: boolean): void {
  const { payment, account } = draft.state;
  const { id, moves, amount, reason, status } = dispute;
  draft.announce('payment.disputed', amount, {
    transactionType: 'DISPUTE',
    transactionId: hasMoved ? moveId(draft, id, moves) : null,
    disputeId: id,
    reason,
    status,
    amountChargedBack: formatMoney(dispute.chargedBack, payment.currency),
    refundableAmount: formatMoney(refundable(account), payment.currency),
  });
}
