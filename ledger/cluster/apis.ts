import { must } from '../kernel/assert.ts';
import type { ChargeAnswer } from '../payments/charge.ts';
import type { PaymentState, Refund } from '../payments/payment.ts';
import type { DisputesAnswer, DisputesOutcome } from '../payments/dispute.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { RefundDecision, RefundOutcome, RefundRequest } from '../payments/refund.ts';
import { slotOf } from '../kernel/slot.ts';
import type { Storage, StoredRefund } from '../storage.ts';
import type { NewSubscription } from '../subscriptions/start.ts';
import type { Collected } from '../subscriptions/collecting.ts';
import type { Command, CommandOutcome } from '../subscriptions/commands.ts';
import type { CustomerTopUp, TopUpChange } from '../actor/auto-topups.ts';
import type { TopUpOutcome } from '../metering/auto-topup-decisions.ts';
import type { Meter } from '../metering/meter.ts';
import type { AutoTopUp, TopUpSettings } from '../topups/auto-topup.ts';
import type { ShownSpendCap } from '../actor/spend-cap.ts';
import type { SpendCap, Subscription } from '../subscriptions/subscription.ts';
import type { PreviewOutcome } from '../subscriptions/preview.ts';
import type { UpcomingInvoice } from '../subscriptions/upcoming.ts';
import type { Router } from './router.ts';

/** Payments on any node. Every answer is durable. @throws LedgerUnavailable */
export class PaymentsApi {
  readonly #router: Router;
  readonly #storage: Storage;

  constructor(router: Router, storage: Storage) {
    this.#router = router;
    this.#storage = storage;
  }

  /** The tenant's payment as the last decision left it; null where it has none of this id. */
  async find({ organisationId, mode }: Tenant, id: string): Promise<PaymentState | null> {
    const state = await this.#router.run(slotOf(id), 'findPayment', id);
    const { payment } = state ?? {};
    return payment?.organisationId === organisationId && payment.mode === mode ? state : null;
  }

  /** For any tenant: for alarms, and for callers that made it. */
  async load(id: string): Promise<PaymentState> {
    return must(await this.#router.run(slotOf(id), 'findPayment', id), 'a payment that exists');
  }

  /** Records the processor's answer about the charge. Returns the payment after it. */
  charge(id: string, answer: ChargeAnswer): Promise<PaymentState> {
    return this.#router.run(slotOf(id), 'chargePayment', id, answer);
  }

  /** Reserves a refund. `duplicate`: its id was used before. */
  refund(id: string, request: RefundRequest): Promise<RefundDecision | 'duplicate'> {
    return this.#router.run(slotOf(id), 'reserveRefund', id, request);
  }

  /** The refund after it; null where its state was final already. */
  settleRefund(
    id: string,
    answer: { readonly refundId: string; readonly outcome: RefundOutcome },
  ): Promise<Refund | null> {
    return this.#router.run(slotOf(id), 'settleRefund', id, answer);
  }

  /** Records what the processor says of the payment's disputes, once. */
  dispute(id: string, answer: DisputesAnswer): Promise<DisputesOutcome> {
    return this.#router.run(slotOf(id), 'settleDisputes', id, answer);
  }

  /** The refund or refusal of the key; null where the key is unused. */
  findRefund(id: string): Promise<StoredRefund | null> {
    return this.#storage.findRefund(id);
  }
}

/** Subscriptions on any node. Every answer is durable. @throws LedgerUnavailable */
export class SubscriptionsApi {
  readonly #router: Router;

  constructor(router: Router) {
    this.#router = router;
  }

  /** Starts it once for each id. `exists` also if it has ended since. */
  start(customerId: string, wanted: NewSubscription): Promise<'started' | 'exists' | 'full'> {
    return this.#router.run(slotOf(customerId), 'startSubscription', customerId, wanted);
  }

  /** A command of the customer, the merchant or a processor. */
  command(customerId: string, id: string, command: Command): Promise<CommandOutcome> {
    const said = { id, command };
    return this.#router.run(slotOf(customerId), 'commandSubscription', customerId, said);
  }

  /** Charges one of its invoices now, if it may be charged. */
  collect(
    customerId: string,
    id: string,
    invoiceId: string,
  ): Promise<Collected | 'not_chargeable'> {
    const asked = { id, invoiceId };
    return this.#router.run(slotOf(customerId), 'collectInvoice', customerId, asked);
  }

  /** Its state after the last decision; null where it is final. */
  find(customerId: string, id: string): Promise<Subscription | null> {
    return this.#router.run(slotOf(customerId), 'findSubscription', customerId, id);
  }

  /** What its next invoice would bill as of now; null where it has ended. */
  upcoming(customerId: string, id: string): Promise<UpcomingInvoice | null> {
    return this.#router.run(slotOf(customerId), 'upcomingInvoice', customerId, id);
  }

  /** What a command would answer, bill and do now. Nothing is written. */
  preview(customerId: string, id: string, command: Command): Promise<PreviewOutcome> {
    return this.#router.run(slotOf(customerId), 'previewCommand', customerId, { id, command });
  }

  /** Replaces the customer's spend cap, or removes it. */
  setSpendCap(
    customerId: string,
    cap: Pick<SpendCap, 'amount' | 'currency'> | null,
  ): Promise<ShownSpendCap | null> {
    return this.#router.run(slotOf(customerId), 'setSpendCap', customerId, cap);
  }

  /** null without a spend cap. */
  spendCap(customerId: string): Promise<ShownSpendCap | null> {
    return this.#router.run(slotOf(customerId), 'findSpendCap', customerId);
  }
}

/** Automatic top-ups on any node. Every answer is durable. @throws LedgerUnavailable */
export class TopUpsApi {
  readonly #router: Router;

  constructor(router: Router) {
    this.#router = router;
  }

  put(
    customerId: string,
    meter: Meter,
    wanted: { readonly settings: TopUpSettings; readonly zone: string },
  ): Promise<AutoTopUp | 'too_many_meters'> {
    return this.#router.run(slotOf(customerId), 'putTopUp', customerId, meter, wanted);
  }

  /** null where there is none, or it was removed. An answer counts once. */
  change(customerId: string, meterId: string, change: TopUpChange): Promise<TopUpOutcome> {
    return this.#router.run(slotOf(customerId), 'changeTopUp', customerId, meterId, change);
  }

  /** Those of the customer that are set. */
  of(customerId: string): Promise<readonly CustomerTopUp[]> {
    return this.#router.run(slotOf(customerId), 'topUpsOf', customerId);
  }
}
