import { assert } from '../kernel/assert.ts';
import type { MeterEffects } from '../metering/meter-effects.ts';
import { OWN_ACCOUNTS_KEPT_MAX } from '../limits.ts';
import type { Effects } from '../effects.ts';
import type { Meter, Period } from '../metering/meter.ts';
import type { PaymentAccount, PaymentEffects } from '../payments/payment.ts';
import type { SubscriptionEffects } from '../subscriptions/subscription.ts';
import type {
  AccountChange,
  AccountKind,
  AccountOpening,
  AccountOwner,
  AccountTotals,
  FlushRows,
} from '../storage.ts';
import { type Transfer, movement } from '../kernel/transfers.ts';

/**
 * Folds the effects of many decisions into the rows of one flush: each account is written once,
 * however many transfers touched it. An account's change is the sum of its transfers, taken here
 * from the transfers themselves, so the stored totals are their fold by construction (I2); what the
 * actor believes the result to be is asserted against it.
 *
 * Lives for one process: it remembers which of this node's own accounts, the other sides, exist.
 */
export class RowBuilder {
  readonly #known = new Set<string>();

  /** The rows of these effects, in the order in which they were decided. */
  build(all: readonly Effects[]): FlushRows {
    const rows = new Fold();
    for (const effects of all) {
      if (effects.kind === 'meter') rows.addMeter(effects);
      else if (effects.kind === 'payment') rows.addPayment(effects);
      else if (effects.kind === 'subscription') rows.addSubscription(effects);
      else rows.handovers.push(...effects.handovers);
    }
    const { opened, touched } = this.#split(rows.accounts);
    return {
      transfers: rows.transfers,
      opened,
      touched,
      states: [...rows.states.values()],
      grants: [...rows.grants.values()],
      members: rows.members,
      pooled: rows.pooled,
      events: rows.events,
      payments: [...rows.payments.values()],
      refunds: [...rows.refunds.values()],
      disputes: [...rows.disputes.values()],
      followups: rows.followups,
      subscriptions: [...rows.subscriptions.values()],
      subscriptionFollowups: rows.subscriptionFollowups,
      spans: [...rows.spans.values()],
      marks: [...rows.marks.values()],
      reservations: [...rows.reservations.values()],
      billingAccounts: [...rows.billingAccounts.values()],
      topUps: [...rows.topUps.values()],
      topUpOrders: rows.topUpOrders,
      handovers: rows.handovers,
    };
  }

  /** Remembers which accounts exist now. */
  committed(rows: FlushRows): void {
    // To open one that is there is the same as to touch it.
    if (this.#known.size > OWN_ACCOUNTS_KEPT_MAX) this.#known.clear();
    for (const account of rows.opened) {
      if (account.kind !== 'meter' && account.kind !== 'payment') this.#known.add(account.id);
    }
  }

  #split(accounts: ReadonlyMap<string, Draft>): {
    opened: AccountOpening[];
    touched: AccountChange[];
  } {
    const opened: AccountOpening[] = [];
    const touched: AccountChange[] = [];
    for (const draft of accounts.values()) {
      const { id, delta, expected, period, paid } = draft;
      if (expected !== null) {
        if (period !== null) assertFold(delta, expected, believedPeriod(period));
        if (paid !== null) assertFold(delta, expected, believedPayment(paid));
      }
      const exists = expected === null ? this.#known.has(id) : expected.opened;
      if (exists) touched.push(draft);
      else opened.push(draft);
    }
    return { opened, touched };
  }
}

/** An actor's account as it believes it to be. */
type Believed = {
  readonly opened: boolean;
  readonly creditsPosted: bigint;
  readonly debitsPosted: bigint;
  readonly debitsPending: bigint;
};

/** An account that the flush changes. It is the row itself, of either kind. */
type Draft = Omit<AccountOpening, 'delta' | 'period'> & {
  readonly delta: { -readonly [K in keyof AccountTotals]: bigint };
  /** Before the flush. null on the other sides, which nobody has beliefs about. */
  readonly expected: Believed | null;
  /** What its actor believes it to be after the flush. */
  period: Period | null;
  paid: PaymentAccount | null;
};

/** The kinds and the owner of the accounts of no actor, on either side of a transfer. */
type OtherSides = {
  readonly owner: AccountOwner;
  readonly debit: AccountKind;
  readonly credit: AccountKind;
};

/**
 * Accounts of no actor are this node's own and stand in slot 0: no other node writes them, whatever
 * slots it owns.
 */
const NODE_ACCOUNTS_SLOT = 0;

class Fold {
  readonly transfers: Transfer[] = [];
  readonly accounts = new Map<string, Draft>();
  readonly #otherSides = new Map<string, OtherSides>();
  readonly states = new Map<string, FlushRows['states'][number]>();
  readonly grants = new Map<string, FlushRows['grants'][number]>();
  readonly spans = new Map<string, FlushRows['spans'][number]>();
  readonly marks = new Map<string, FlushRows['marks'][number]>();
  readonly reservations = new Map<string, FlushRows['reservations'][number]>();
  readonly billingAccounts = new Map<string, FlushRows['billingAccounts'][number]>();
  readonly topUps = new Map<string, FlushRows['topUps'][number]>();
  readonly topUpOrders: FlushRows['topUpOrders'][number][] = [];
  readonly members: FlushRows['members'][number][] = [];
  readonly pooled: FlushRows['pooled'][number][] = [];
  readonly events: FlushRows['events'][number][] = [];
  readonly payments = new Map<string, FlushRows['payments'][number]>();
  readonly refunds = new Map<string, FlushRows['refunds'][number]>();
  readonly disputes = new Map<string, FlushRows['disputes'][number]>();
  readonly followups: FlushRows['followups'][number][] = [];
  readonly subscriptions = new Map<string, FlushRows['subscriptions'][number]>();
  readonly subscriptionFollowups: FlushRows['subscriptionFollowups'][number][] = [];
  readonly handovers: FlushRows['handovers'][number][] = [];

  addMeter(effects: MeterEffects): void {
    const { customer, meter } = effects;
    const { slot, organisationId, mode } = customer;
    const others = this.#otherSidesOf(meter);
    const { owner } = others;
    for (const { before, after } of effects.periods) {
      const id = after.accountId;
      const draft =
        this.accounts.get(id) ??
        this.#draft(
          { slot, id, kind: 'meter', owner, customerId: customer.id },
          believedPeriod(before),
        );
      draft.period = after;
    }
    for (const transfer of effects.transfers) {
      this.transfers.push(transfer);
      // Every customer's account that a transfer touches came with its period; the rest are the
      // other sides.
      this.#move(transfer, others);
    }
    for (const grant of effects.grants) {
      this.grants.set(grant.id, { customer, meterId: meter.id, grant });
    }
    for (const { span, isLive } of effects.spans) {
      this.spans.set(span.id, { customer, meterId: meter.id, span, isLive });
    }
    for (const mark of effects.marks) {
      const key = `${mark.accountId} ${mark.start}`;
      this.marks.set(key, { customer, meterId: meter.id, mark });
    }
    for (const reservation of effects.reservations) {
      this.reservations.set(reservation.id, { customer, meterId: meter.id, reservation });
    }
    for (const { accountId, member } of effects.members) {
      this.members.push({ slot, accountId, member });
    }
    for (const event of effects.events) this.events.push({ organisationId, mode, event });
    for (const { accountId, rate } of effects.pooled) this.pooled.push({ slot, accountId, rate });
    for (const order of effects.topUpOrders) this.topUpOrders.push({ customer, order });
    if (effects.topUpChanged && effects.state.topUp !== null) {
      const { topUp, entitlementId } = effects.state;
      this.topUps.set(entitlementId, { customer, meterId: meter.id, topUp });
    }
    if (effects.stateChanged) {
      this.states.set(effects.state.entitlementId, { customer, state: effects.state });
    }
    for (const other of effects.beside) this.addMeter(other);
  }

  addPayment(effects: PaymentEffects): void {
    const { before, state } = effects;
    const { payment } = state;
    const { slot, id, organisationId, mode, currency } = payment;
    const owner = { organisationId, mode, meterId: null, currency };
    if (state.account.opened) {
      const draft =
        this.accounts.get(id) ??
        this.#draft(
          { slot, id, kind: 'payment', owner, customerId: null },
          believedPayment(before.account),
        );
      draft.paid = state.account;
    }
    for (const transfer of effects.transfers) {
      this.transfers.push(transfer);
      this.#move(transfer, { owner, debit: 'clearing', credit: 'clearing' });
    }
    this.payments.set(id, state);
    for (const refund of effects.refunds) this.refunds.set(refund.id, { payment, refund });
    for (const dispute of effects.disputes) this.disputes.set(dispute.id, { payment, dispute });
    for (const event of effects.events) this.events.push({ organisationId, mode, event });
    for (const followup of effects.followups) {
      this.followups.push({ slot, at: effects.at, followup });
    }
  }

  addSubscription(effects: SubscriptionEffects): void {
    const { customer, subscriptions, account, events, followups } = effects;
    const { organisationId, mode } = customer;
    if (account !== null) this.billingAccounts.set(customer.id, { customer, account });
    for (const subscription of subscriptions) {
      this.subscriptions.set(subscription.id, { customer, subscription });
    }
    for (const event of events) this.events.push({ organisationId, mode, event });
    for (const followup of followups) this.subscriptionFollowups.push({ customer, followup });
  }

  /** The same object for each decision on the meter. */
  #otherSidesOf({ id: meterId, organisationId, mode }: Meter): OtherSides {
    const known = this.#otherSides.get(meterId);
    if (known !== undefined) return known;
    const owner = { organisationId, mode, meterId, currency: null };
    const sides = { owner, debit: 'grants', credit: 'usage' } as const;
    this.#otherSides.set(meterId, sides);
    return sides;
  }

  #draft(
    { slot, id, kind, owner, customerId }: Omit<AccountOpening, 'delta' | 'period'>,
    expected: Believed | null,
  ): Draft {
    const delta = { debitsPosted: 0n, debitsPending: 0n, creditsPosted: 0n, creditsPending: 0n };
    const [period, paid] = [null, null];
    const draft: Draft = { slot, id, kind, owner, customerId, delta, expected, period, paid };
    this.accounts.set(id, draft);
    return draft;
  }

  /** Adds a transfer to both of its accounts. */
  #move(transfer: Transfer, others: OtherSides): void {
    if (transfer.kind === 'refused') return;
    const { posted, pending } = movement(transfer);
    const debit = this.#side(transfer.debit, others.owner, others.debit);
    debit.debitsPosted += posted;
    debit.debitsPending += pending;
    const credit = this.#side(transfer.credit, others.owner, others.credit);
    credit.creditsPosted += posted;
    credit.creditsPending += pending;
  }

  #side(id: string, owner: AccountOwner, kind: AccountKind): Draft['delta'] {
    const slot = NODE_ACCOUNTS_SLOT;
    const known = this.accounts.get(id);
    return (known ?? this.#draft({ slot, id, kind, owner, customerId: null }, null)).delta;
  }
}

function believedPeriod({ opened, granted, consumed, reserved }: Period): Believed {
  return { opened, creditsPosted: granted, debitsPosted: consumed, debitsPending: reserved };
}

function believedPayment({ opened, captured, ...out }: PaymentAccount): Believed {
  return {
    opened,
    creditsPosted: captured,
    debitsPosted: out.refunded + out.chargedBack,
    debitsPending: out.reserved + out.held,
  };
}

function assertFold(by: AccountTotals, before: Believed, after: Believed): void {
  const { debitsPosted, creditsPosted, debitsPending } = after;
  assert(before.debitsPosted + by.debitsPosted === debitsPosted, 'I2: debits are the fold');
  assert(before.creditsPosted + by.creditsPosted === creditsPosted, 'I2: credits are the fold');
  assert(before.debitsPending + by.debitsPending === debitsPending, 'I3: reserved is the fold');
}
