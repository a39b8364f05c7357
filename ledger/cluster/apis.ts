import { must } from '../kernel/assert.ts';
import type { ChargeAnswer } from '../payments/charge.ts';
import type { PaymentState, Refund } from '../payments/payment.ts';
import type { Tenant } from '../kernel/tenant.ts';
import type { RefundDecision, RefundOutcome, RefundRequest } from '../payments/refund.ts';
import { slotOf } from '../kernel/slot.ts';
import type { Storage, StoredRefund } from '../storage.ts';
import type { NewSubscription } from '../subscriptions/start.ts';
import type { Command, CommandOutcome } from '../subscriptions/commands.ts';
import type { Subscription } from '../subscriptions/subscription.ts';
import type { Router } from './router.ts';

/** The payments' side of the ledger's API. Every answer is durable when it is given. @throws LedgerUnavailable */
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

  /** Whoever's it is, for alarms and whoever made it. */
  async load(id: string): Promise<PaymentState> {
    return must(await this.#router.run(slotOf(id), 'findPayment', id), 'a payment that exists');
  }

  /** Takes in what the processor said of the charge; the payment as it is then. */
  charge(id: string, answer: ChargeAnswer): Promise<PaymentState> {
    return this.#router.run(slotOf(id), 'chargePayment', id, answer);
  }

  /** Reserves a refund. `duplicate`: its id was used before. */
  refund(id: string, request: RefundRequest): Promise<RefundDecision | 'duplicate'> {
    return this.#router.run(slotOf(id), 'reserveRefund', id, request);
  }

  /** What the refund became; null where it could not change any more. */
  settleRefund(
    id: string,
    answer: { readonly refundId: string; readonly outcome: RefundOutcome },
  ): Promise<Refund | null> {
    return this.#router.run(slotOf(id), 'settleRefund', id, answer);
  }

  /** What a refund's key was used for; null where it was not. */
  findRefund(id: string): Promise<StoredRefund | null> {
    return this.#storage.findRefund(id);
  }
}

/** The subscriptions' side of the ledger's API. Every answer is durable when it is given. @throws LedgerUnavailable */
export class SubscriptionsApi {
  readonly #router: Router;

  constructor(router: Router) {
    this.#router = router;
  }

  /** Starts it, once for each id. It may have ended since. */
  start(customerId: string, wanted: NewSubscription): Promise<'started' | 'exists' | 'full'> {
    return this.#router.run(slotOf(customerId), 'startSubscription', customerId, wanted);
  }

  /** What the customer, the merchant or a processor says to one of them. */
  command(customerId: string, id: string, command: Command): Promise<CommandOutcome> {
    const said = { id, command };
    return this.#router.run(slotOf(customerId), 'commandSubscription', customerId, said);
  }

  /** As the last decision left it; null where nothing can happen to it any more. */
  find(customerId: string, id: string): Promise<Subscription | null> {
    return this.#router.run(slotOf(customerId), 'findSubscription', customerId, id);
  }
}
