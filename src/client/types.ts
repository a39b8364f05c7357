// Generated from the OpenAPI document by `bun run client:types`.

/** What each operation is called with, and what it answers: one answer, or a list of items. */
export type Operations = {
  /**
   * Create a meter
   *
   * With `creditCosts` it is a pool of credits, which pays for the use of other features. A
   * customer uses up its own allowance of such a feature first; beyond it each unit takes so
   * many credits of the pool. Customers are granted the pool like any feature, by a product or
   * a grant.
   *
   * Only meters that sum are pools, and they pay for meters that sum or count. A feature is in
   * one pool at most, former lists included, and is no pool itself. The decimals of a cost and
   * those of its feature are together at most those of the pool. What products give of the
   * pool and of its features has the same `resetInterval`, and a usage price belongs on the
   * pool: what does not go together is 409, whichever comes last. A pool has at most 50 costs.
   * How many lists of them an organisation has (`LIMIT_CREDIT_COST_LISTS`), and how many
   * features are in the lists of a pool (`LIMIT_FEATURES_PER_POOL`), former lists too, is
   * bounded: 409.
   */
  createMeter: { args: [params: MeterCreate]; answer: Meter };
  /** List meters, newest first */
  listMeters: { args: [params?: ListMetersQuery]; item: Meter };
  /** Get a meter */
  getMeter: { args: [id: string]; answer: Meter };
  /**
   * Create a meter, or change it where it is there
   *
   * By the slug alone, which may be sent again, and at once: one makes the meter, 201, and
   * each other is 200. A field that is left out stays as it is; `null` clears it; metadata is
   * replaced as a whole. What cannot be changed may be said again as it is; otherwise it is
   * 400 and names the field, as in a PATCH. A slug in the body must be that of the path.
   */
  putMeter: { args: [id: string, params: MeterPut]; answer: Meter };
  /**
   * Change a meter
   *
   * Metadata is replaced as a whole, and so is the list of costs. `null` clears a field.
   */
  updateMeter: { args: [id: string, params: MeterChange]; answer: Meter };
  /**
   * Delete a meter
   *
   * Its history stays, its slug becomes free. Refused while a product gives or sells it, or a
   * customer has an allowance or an automatic top-up of it, or a pool of credits pays for it,
   * by a former list of its costs too. A pool that was granted once is archived.
   */
  deleteMeter: { args: [id: string]; answer: void };
  /** Create a customer */
  createCustomer: { args: [params: CustomerCreate]; answer: Customer };
  /** List customers, newest first */
  listCustomers: { args: [params?: ListCustomersQuery]; item: Customer };
  /** Get a customer */
  getCustomer: { args: [id: string]; answer: Customer };
  /**
   * Create a customer, or change it where it is there
   *
   * By the external_customer_id alone: a UUID in the path is one too, and never the id of a
   * customer. It may be sent again, and at once: one makes it, 201, and each other is 200. A
   * field that is left out stays as it is; `null` clears it; metadata is replaced as a whole.
   * What changes nothing is not announced. An external_customer_id in the body must be that of
   * the path.
   */
  putCustomer: { args: [id: string, params: CustomerChange]; answer: Customer };
  /**
   * Change a customer
   *
   * Metadata is replaced as a whole. `null` clears a field.
   */
  updateCustomer: { args: [id: string, params: CustomerChange]; answer: Customer };
  /**
   * Grant a customer units of a feature
   *
   * A top-up by default. With `resetInterval` an allowance, which is given afresh each
   * interval, counted from `effectiveAt`, also one that is past, in the time zone of the
   * organization; the period of the feature is that of the allowance with the lowest priority,
   * then the oldest. Burn order: lowest priority, soonest expiry, rollover before fresh,
   * oldest. An `idempotencyKey`, or an `Idempotency-Key` in its place, counts once for its
   * customer.
   */
  createGrant: { args: [id: string, params: GrantCreate]; answer: Grant };
  /**
   * What a customer may use of each feature, grant by grant
   *
   * By feature, and in the order in which they are used up: the first that is active, not
   * suspended and has something left pays for what is used next. Those that begin later come
   * behind them, those that have ended are not there. With `nextCursor` there are more.
   */
  listGrants: { args: [id: string, params?: ListGrantsQuery]; answer: LiveGrants };
  /**
   * Take back what is left of a grant
   *
   * What was used of it stays used. Again is the same answer.
   */
  voidGrant: { args: [id: string]; answer: Grant };
  /**
   * What a customer has of each feature in the current period
   *
   * By feature. With `nextCursor` there are more. A balance shows the first 100 of its grants
   * in the order in which they are used up: `GET /customers/{id}/grants` has them all.
   */
  listBalances: { args: [id: string, params?: ListBalancesQuery]; answer: Balances };
  /**
   * Set the spend cap of a customer
   *
   * The most that unbilled usage of the customer's subscriptions in this currency may come to,
   * each in its current period, exactly: before rounding and minimums. `/check` denies with
   * `reason: "spend_cap"` where `value` more units would cost more than is left of it; what is
   * included stays allowed. `/check` with `consume` and `/track` with `overage: "reject"`
   * (402) refuse it, too; other usage is a fact, and may go over the cap. A customer has one
   * cap: another one, also in another currency, replaces it and arms
   * `customer.spend_cap_reached` again. The same one again changes nothing.
   */
  putSpendCap: { args: [id: string, params: SpendCapPut]; answer: SpendCap };
  /**
   * Get the spend cap of a customer
   *
   * With what was spent of it. 404 without one.
   */
  getSpendCap: { args: [id: string]; answer: SpendCap };
  /**
   * Remove the spend cap of a customer
   *
   * Also where there is none.
   */
  deleteSpendCap: { args: [id: string]; answer: void };
  /**
   * Get the credit of a customer
   *
   * What later invoices of its subscriptions use before anything is charged, by currency, with
   * the newest entries. A currency in which there has never been any is not there.
   */
  getCredit: { args: [id: string]; answer: Credit };
  /**
   * List what changed the credit of a customer, newest first
   *
   * In one currency. With `nextCursor` there are more.
   */
  listCreditEntries: { args: [id: string, params: ListCreditEntriesQuery]; answer: CreditEntries };
  /**
   * Top a customer up automatically
   *
   * Whenever the level of the feature is below `threshold`, the customer's newest payment
   * method is charged the price, and `amount` is granted in the commit that records the
   * capture (a grant whose `source` is `top_up` and whose id is that of the payment). It looks
   * at the level after everything that changes it, and when this is put. Where that is still
   * too little it is done again, one after the other, within `limit`: it counts what was
   * captured in a calendar day, week from Monday, or month of your time zone. There is one
   * charge at a time, whatever happens at once.
   *
   * What was declined as `insufficient_funds` or `processing_error`, or not attempted (but
   * `amount_refused`), is tried again after 1, 6 and 24 hours, each counted from the decline
   * before. After the fourth, and after any other decline, it is suspended until the customer
   * has stored another payment method. To put the same again changes nothing; other settings
   * count from now on and lift no suspension but that of the limit. A charge under way gives
   * what it was ordered for.
   *
   * It is a `PURCHASE` with an invoice (`billingReason` is `auto_topup`) and a receipt. A
   * refund takes no units back. `sum` and `count` meters only.
   */
  putAutoTopup: { args: [id: string, featureKey: string, params: AutoTopupPut]; answer: AutoTopup };
  /**
   * Get the automatic top-up of a feature
   *
   * Of an archived feature too. 404 without one.
   */
  getAutoTopup: { args: [id: string, featureKey: string]; answer: AutoTopup };
  /**
   * Remove the automatic top-up of a feature
   *
   * Also where there is none, and of an archived feature. A charge under way is not called
   * back: it is granted when it is captured.
   */
  deleteAutoTopup: { args: [id: string, featureKey: string]; answer: void };
  /**
   * List the automatic top-ups of a customer
   *
   * One for each feature that has one.
   */
  listAutoTopups: { args: [id: string]; answer: AutoTopups };
  /**
   * Whether a customer may use a feature now
   *
   * Answered from memory; includes every acknowledged write. `consume: true` records the value
   * in the same step, durably, where it is allowed: concurrent callers never overrun. An
   * `idempotencyKey`, or an `Idempotency-Key` header in its place, counts once for its
   * customer, and repeated answers the first answer. `reserve: true` holds the value in the
   * same step instead, where it is allowed: `reservation` is what `POST /reservations`
   * answers, and null where it is not; repeated under its key it answers the reservation as it
   * is now. The header means nothing without one of the two.
   */
  checkEntitlement: { args: [params: CheckBody]; answer: CheckResult };
  /**
   * Up to 500 checks at once
   *
   * Up to 500 bodies of /check and 2 MiB (2,097,152 bytes). `results` has what /check would
   * answer to each, in order, or `error`: a check that cannot be answered leaves the others as
   * they are. Rows with `consume` are decided in their order, and answered when all of them
   * that were allowed are on disk. A question need not see what a row of the same call
   * records. An `Idempotency-Key` header stands in the place of the `idempotencyKey` of each
   * row with `consume` or `reserve` that has none, by its place in the call; it means nothing
   * to the others. A row that cannot be answered now is `service_unavailable`, and the others
   * stand. Where that is so of all, the call is 503.
   */
  checkEntitlements: { args: [params: CheckBatchBody]; answer: CheckBatchResult };
  /**
   * Hold units of a feature
   *
   * For work whose cost is learned afterwards: what is held is taken off `balance`, so that
   * nobody else uses it. Then `/commit` what the work came to: the rest is free again. What is
   * neither committed nor released is free again when it expires. 402 where a check of as much
   * would deny.
   *
   * A reservation belongs to the period in which it is made, and so does what is committed of
   * it, up to its amount. What is released of it after that period rolls over then, as far as
   * the rollover of that period leaves room. A grant that ends meanwhile still covers what is
   * committed; what is released of it is lost.
   *
   * An `idempotencyKey` counts once for its customer: repeated, it answers the reservation as
   * it is now, or the refusal as it was. For features that sum or count; on one that counts,
   * in whole units. A customer has at most 1,000 open reservations of a feature (409).
   */
  createReservation: { args: [params: ReservationCreate]; answer: Reservation };
  /**
   * Get a reservation
   *
   * With what is left of its feature now.
   */
  getReservation: { args: [id: string]; answer: Reservation };
  /**
   * Record what the work came to
   *
   * Below what is held, the rest is free again; above it, the excess is usage of now, as by
   * `/track`: usage is a fact. After it has expired the whole is usage of now, and `late` is
   * true. Where the subscription that sold what was held has ended, one more last invoice
   * bills it. The same value again answers the first answer; another one, or a released
   * reservation, is `invalid_state`.
   */
  commitReservation: { args: [id: string, params: ReservationCommit]; answer: Reservation };
  /**
   * Let go of what is held
   *
   * Nothing was used. Again is the first answer; of an expired one nothing changes. After a
   * commit: `invalid_state`.
   */
  releaseReservation: { args: [id: string]; answer: Reservation };
  /**
   * Hold more units, or for longer
   *
   * `amount` is the new whole, at least what is held; past the balance it is 402, and nothing
   * changes. `expiresIn` counts from now. A reservation is open for 30 days at most. One that
   * is not open, and more of one whose period is over, is `invalid_state`.
   */
  extendReservation: { args: [id: string, params: ReservationExtend]; answer: Reservation };
  /**
   * Record usage
   *
   * Answers when the event is on disk. Usage is a fact: it is recorded in full, past the limit
   * too, unless `overage` is `reject`. An `idempotencyKey` counts once for its customer:
   * repeated, it answers the first answer with `duplicate: true`; a repeated `Idempotency-Key`
   * header replays it to the byte. The header, too, counts once for its customer: the same one
   * with a call about another customer records that call, and beside an `idempotencyKey` that
   * key alone says whether the call is a repeated one. The metadata is part of what a key was
   * used for, and 1 is not "1" there.
   */
  trackUsage: { args: [params: TrackBody]; answer: TrackResult };
  /**
   * Record up to 500 usages, each by itself
   *
   * Up to 500 items and 2 MiB (2,097,152 bytes). Each item is a body of /track. It is recorded
   * or refused by itself, in order, as if it came alone, and answered when all that were
   * recorded are on disk: `results` has what /track would answer, or `error`. A key that
   * stands twice in a call counts once: the second is a `duplicate`. With an `Idempotency-Key`
   * header the whole call may be sent again: it gets the first answer, and another list under
   * that header, or the same in another order, is 422 with nothing recorded. A call that was
   * cut off is completed when it is sent again: an item without a key of its own gets its
   * first answer, and one with a key is a `duplicate` where it stood already. An item that
   * cannot be recorded now is `service_unavailable`, and the others stand: send the same call
   * again. Where that is so of all, the call is 503.
   */
  trackUsages: { args: [params: TrackBatchBody]; answer: TrackBatchResult };
  /**
   * Record up to 500 events
   *
   * All or nothing (but see `partial`), and answered when all are on disk. The name of an
   * event feeds every meter with that `eventName`. An `externalId` counts once for its
   * customer, here and on /track; with an `Idempotency-Key` header an event without one counts
   * once too, for its customer and its place in the list: the same list in the same order may
   * be sent again, and says `duplicate`. The list as a whole is not compared: of another list
   * or order under that header an event is a `duplicate` where its customer had one in its
   * place, whatever it says, and is recorded elsewhere. What is written at once has a bound of
   * 1 MiB of metadata: each event counts its own once, and once more for each customer and
   * meter that an endpoint hears of by `usage.recorded`; more is 413. With `partial: true`
   * what is good is recorded, whatever is wrong with the rest: `rejected` lists each other
   * event with at most 5 issues, and the others keep their `index`. Sent again, with keys, it
   * records nothing twice, and what is still wrong is listed again. What is wrong with the
   * call itself is 400 or 413 as ever.
   */
  ingestEvents: { args: [params: IngestBody]; answer: IngestResult };
  /**
   * Why usage was allowed or denied
   *
   * Give one of `requestId`, `eventId`, `idempotencyKey` (with the customer) or `at` (with the
   * customer). Answers the decisions, and what was in force then. A check that was allowed
   * leaves nothing; each no leaves a row within a second, for 30 days unless the operator says
   * otherwise. Ids and keys are found while the key counts once. `balanceBefore`,
   * `balanceAfter` and `grants` are of that instant; what is of now says so in its name.
   */
  listDecisions: { args: [params?: ListDecisionsQuery]; answer: Decisions };
  /**
   * Usage of a feature over time
   *
   * In bins of a calendar: hours, days or months of a time zone, at most 1000. `from` and `to`
   * are any instants: bins have the calendar's start and end all the same, and the usage of
   * the range. Each event is in the bin of its own time, late ones too; a bin without any has
   * a 0. What /track, /events/ingest and the others have acknowledged is counted at once. With
   * `group_by` each bin has a row for each group that it has, and one with `group: null` for
   * the rest; more than 1 MiB of them is 400: some 10,000 rows, fewer with long names, also as
   * CSV. Groups are read from the events, at most 250,000 of them, and so is a quarter of an
   * hour that `from` or `to` cuts: where retention has dropped those events this is 400.
   * `format=csv` answers `start,end,value,events` and with groups `group`, as text. Only `sum`
   * and `count` meters have bins.
   */
  getUsage: { args: [params: GetUsageQuery]; answer: UsageSeries };
  /**
   * List events of usage, newest first
   *
   * Each as it was reported, in the order of its own time: a late one is where it belongs.
   * With `nextCursor` the list goes on, without a gap or a repeat while others arrive. Without
   * a filter, of all meters that there are. An event is kept as long as retention says
   * (`RETENTION_USAGE_MONTHS`).
   */
  listUsageEvents: { args: [params?: ListUsageEventsQuery]; answer: UsageEvents };
  /**
   * Make an alert for a threshold of usage
   *
   * Of one customer, or without one for each customer, also those who come later. The event
   * `alert.triggered` is written with the usage that reaches the threshold, or the
   * reservation: once for each crossing, and one for each threshold that a call jumps over. A
   * grant or a new period that leads back from it is told as `alert.recovered` and arms the
   * alert again; a correction does neither, and nor does late usage of a period that is over.
   * Whoever is past the threshold already is told once with `initial: true`: the one customer
   * before this answer, of each customer within a minute. Both events are written only where a
   * webhook endpoint names them or has `*`.
   *
   * An alert never changes: delete it and make another. The same one again, with this type and
   * threshold for the same customer or for each, is 409 `conflict`. How many a feature and an
   * organisation have for each customer, and a customer of its own, is bounded
   * (`LIMIT_ALERTS_…`); beyond it 409 `conflict`. With its meter an alert is deleted. What
   * products give as a boolean feature has no alerts: 400.
   */
  createAlert: { args: [params: AlertCreate]; answer: Alert };
  /** List alerts, newest first */
  listAlerts: { args: [params?: ListAlertsQuery]; item: Alert };
  /** Get an alert */
  getAlert: { args: [id: string]; answer: Alert };
  /**
   * Delete an alert
   *
   * Nothing is told of it any more: what has fired is not told as recovered.
   */
  deleteAlert: { args: [id: string]; answer: void };
  /**
   * What alerts a customer has, and which have fired
   *
   * Its own, and those for each customer of the features that it was granted or has used. By
   * feature, then in the order in which usage reaches them.
   */
  listCustomerAlerts: {
    args: [id: string, params?: ListCustomerAlertsQuery];
    answer: CustomerAlerts;
  };
  /**
   * Create a product, with its prices
   *
   * Without a slug it gets one from its name.
   */
  createProduct: { args: [params: ProductCreate]; answer: Product };
  /** List products, newest first */
  listProducts: { args: [params?: ListProductsQuery]; item: Product };
  /** Get a product with all its prices */
  getProduct: { args: [id: string]; answer: Product };
  /**
   * Change a product
   *
   * Metadata is replaced as a whole. A slug that is given up stays the organization's: no
   * other one gets it, and buy links with it lead nowhere else.
   */
  updateProduct: { args: [id: string, params: ProductChange]; answer: Product };
  /**
   * Archive a product
   *
   * It can no longer be bought. Again is the same.
   */
  archiveProduct: { args: [id: string]; answer: Product };
  /**
   * Publish a product
   *
   * It is active, whatever it was before. Again is the same.
   */
  publishProduct: { args: [id: string]; answer: Product };
  /**
   * Add a price to a product
   *
   * Recurring where an `interval` is given, else one-time; a `type` that is given must agree.
   * A price never changes: archive it and add another. How many a product has, archived ones
   * too, is bounded (`LIMIT_PRICES_PER_PRODUCT`). It renews no more often than the features
   * whose usage is sold are given: else it is 409.
   */
  createPrice: { args: [id: string, params: PriceCreate]; answer: Price };
  /**
   * Archive a price
   *
   * It is offered to nobody any more. Again is the same.
   */
  archivePrice: { args: [id: string, priceId: string]; answer: Price };
  /**
   * Attach a feature to a product
   *
   * Whoever subscribes to the product, or changes to it, from now on gets it; whoever has it
   * already, from the next period on. A product has a feature once. Where the product has a
   * usage price for it, its allowance is one that usage can be sold beyond.
   */
  attachFeature: { args: [id: string, params: EntitlementCreate]; answer: Entitlement };
  /** List the features of a product, in the order in which they were attached */
  listFeatures: { args: [id: string, params?: ListFeaturesQuery]; item: Entitlement };
  /**
   * Detach a feature from a product
   *
   * What customers were given by it stays theirs until their period ends.
   */
  detachFeature: { args: [id: string, entitlementId: string]; answer: void };
  /**
   * Add a usage price to a product
   *
   * What usage of a feature costs beyond its allowance. A subscription takes the active usage
   * prices of its product in its own currency at its start, at each renewal and at a change,
   * and keeps them for that period. `/check` then allows past the limit (`overageAllowed` is
   * true); in a trial it does not, and nothing is charged. A usage price never changes:
   * archive it and add another. A product has one active for each feature and currency. How
   * many it has, how many are active in one currency and how many tiers those have is bounded
   * (`LIMIT_USAGE_…`).
   *
   * Units are counted beyond the allowance. `per_unit`: 150 units at `0.002` cost 0.30.
   * `graduated` with tiers up to 100 at `1.00` and then at `0.50`: 100 × 1.00 + 50 × 0.50 =
   * 125.00. `volume` with the same tiers: 150 × 0.50 = 75.00. The `flatAmount` of a tier is
   * added once: of each tier that is reached, or by `volume` of the one. `package` of 100 for
   * `5.00`: two are begun, 10.00. Then come `minimumAmount`, which is charged without usage
   * too, and `maximumAmount`. All of it is exact, and rounded half up once for each line of an
   * invoice.
   *
   * What is priced by itself is a span: what the price sells in one period of the allowance.
   * It ends with the period or the subscription, or where another price, or none, comes into
   * force; not with a change that keeps the price. What is past the limit at its end is on the
   * next renewal invoice, and at the end of the subscription on a final one (`billingReason`
   * is `usage`). The invoice of a change bills what the span costs so far, less what was
   * billed of it. The minimum is billed when the span ends, for the share of the period in
   * which the price was in force. Where the allowance is given more often than the product
   * renews, each span is priced by itself and together they are one line. Events that come
   * late are a `usage_adjustment` on the next invoice. Discounts do not cover usage. Top-ups
   * and other grants are used before anything is charged.
   *
   * A feature without an entitlement has nothing included, and the periods of the
   * subscription. An allowance is limited, given at least as often as each recurring price of
   * the product renews (archived prices too), and at most 1,000 times until then (all of a
   * product together at most 5,000 times): what does not go together is 409, whichever comes
   * last. Where two subscriptions of a customer price the same feature, one of them bills: the
   * one whose entitlement has the lowest `priority`, and among equals the oldest.
   */
  createUsagePrice: { args: [id: string, params: UsagePriceCreate]; answer: UsagePrice };
  /** List the usage prices of a product, newest first */
  listUsagePrices: { args: [id: string, params?: ListUsagePricesQuery]; item: UsagePrice };
  /**
   * Archive a usage price
   *
   * A subscription that has it keeps it until its period ends. Again is the same.
   */
  archiveUsagePrice: { args: [id: string, usagePriceId: string]; answer: UsagePrice };
  /**
   * Create a discount code
   *
   * Either `percentOff`, or `amountOff` with its `currency`, which then goes with prices in
   * that currency only.
   */
  createDiscount: { args: [params: DiscountCreate]; answer: Discount };
  /** List discounts, newest first */
  listDiscounts: { args: [params?: ListDiscountsQuery]; item: Discount };
  /**
   * Delete a discount
   *
   * It takes nothing off any more, what was paid with it stays, its code becomes free.
   */
  deleteDiscount: { args: [id: string]; answer: void };
  /**
   * Create a hosted checkout
   *
   * Send the buyer to its `url`. It can be paid once, within 24 hours. The same
   * Idempotency-Key returns the earlier checkout, whatever the body. `payment.succeeded` says
   * that it was paid.
   */
  createCheckout: { args: [params: CheckoutCreate]; answer: Checkout };
  /** List checkouts, newest first */
  listCheckouts: { args: [params?: ListCheckoutsQuery]; item: Checkout };
  /**
   * Get a checkout
   *
   * For dashboards and backfills. Do not poll it: `payment.succeeded` says that it was paid.
   */
  getCheckout: { args: [id: string]; answer: Checkout };
  /**
   * Expire a checkout
   *
   * It cannot be paid any more. Again is the same answer.
   */
  expireCheckout: { args: [id: string]; answer: Checkout };
  /** List payments, newest first */
  listPayments: { args: [params?: ListPaymentsQuery]; item: Payment };
  /**
   * Get a payment
   *
   * A pending refund counts in `amountRefundPending` and does not change `status`. Nor does a
   * dispute: a payment that has any says so in `disputes`.
   */
  getPayment: { args: [id: string]; answer: Payment };
  /**
   * Refund a payment, in full or in part
   *
   * Without an `amount` all that is left is refunded. Pending refunds count as refunded, so
   * that no interleaving gives back more than was captured. With an `Idempotency-Key` a retry
   * answers the original refund.
   */
  refundPayment: { args: [id: string, params?: RefundCreate]; answer: Refund };
  /** List a payment's refunds, newest first */
  listRefunds: { args: [id: string, params?: ListRefundsQuery]; item: Refund };
  /** Get a refund */
  getRefund: { args: [id: string]; answer: Refund };
  /**
   * How the day goes, beside the same weekday a week before
   *
   * Revenue, usage and denials by hour in the organization's time zone; subscriptions and
   * webhooks as they stand. Each number is read by itself, at most a moment apart: revenue,
   * subscriptions and failed payments may be a second old, the others include all that was
   * acknowledged.
   */
  getOverview: { args: []; answer: Overview };
  /**
   * List payouts of the connected accounts, newest first
   *
   * What the processor has paid to the bank, and what each payout consists of. They are read
   * each night, with the reconciliation.
   */
  listPayouts: { args: [params?: ListPayoutsQuery]; item: Payout };
  /**
   * List how deliveries fare, by webhook endpoint, newest first
   *
   * What became of the deliveries of today and of the last seven days: of those that were made
   * then, not of those that were sent then.
   */
  listWebhookHealth: { args: [params?: ListWebhookHealthQuery]; item: WebhookHealth };
  /**
   * Start a subscription by hand
   *
   * What the customer has left to pay with is charged. Without it, or where it is declined,
   * the first invoice stays open and dunning runs; what the product gives is there at once. A
   * trial is charged when it ends.
   */
  createSubscription: { args: [params: SubscriptionCreate]; answer: Subscription };
  /** List subscriptions, newest first */
  listSubscriptions: { args: [params?: ListSubscriptionsQuery]; item: Subscription };
  /** Get a subscription */
  getSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Preview the next invoice of a subscription
   *
   * What the renewal would bill, or the final invoice of one that is being canceled, if the
   * period ended with what is recorded now: the plan, usage beyond the allowances with
   * minimums of what is still to come, corrections of usage that was billed, and the credit
   * that it uses. Nothing is written.
   *
   * Advancing the test clock to `periodEnd` with nothing else happening bills exactly that.
   * Usage is added as it is recorded, so ask again when it matters.
   *
   * Where it is still paused then: its draft, or no lines where it makes none; blocked, no
   * lines. After the end: `invalid_state`.
   */
  getUpcomingInvoice: { args: [id: string]; answer: UpcomingInvoice };
  /**
   * Change the price or the quantity of a subscription
   *
   * At once, by the millisecond. What is left of the old plan comes back and what is left of
   * the period is charged for the new one: a dearer plan begins with its payment and not
   * without (402), a cheaper one leaves a credit for the next invoices. Another interval
   * begins a new period.
   */
  changeSubscription: { args: [id: string, params: SubscriptionChange]; answer: Subscription };
  /**
   * Cancel a subscription
   *
   * At the end of its period unless it says `immediate`, which may follow the other. Again is
   * the same. A change that waits for its payment (`pendingChange`) is taken back: what is
   * paid of it all the same is refunded in full.
   */
  cancelSubscription: { args: [id: string, params?: SubscriptionCancel]; answer: Subscription };
  /**
   * Take back a scheduled cancellation
   *
   * Where there is none, nothing changes.
   */
  uncancelSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Take back a change that waits
   *
   * Of `pendingChange`, which waits for its payment. It does not begin, and what is paid of it
   * all the same is refunded in full: the invoice stays open until the bank has decided,
   * unless the processor lets go of the charge at once. Where none waits: `invalid_state`.
   * Events are `subscription.updated` with `changes: ["pendingChange"]` when a change begins
   * to wait and when it does not any more.
   */
  unscheduleSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Pause a subscription
   *
   * At once: `/check` says `subscription_paused`. Without `resumesAt` until it is resumed.
   * Again with other values replaces them. A period that begins at `resumesAt` begins as at a
   * renewal, paid or not. What is overdue goes on being collected, to its expiry.
   */
  pauseSubscription: { args: [id: string, params?: SubscriptionPause]; answer: Subscription };
  /**
   * Resume a subscription
   *
   * Inside the paid period it goes on. After it a new period begins with its payment:
   * declined, it stays paused (402). Blocked past its period it is charged nothing: the next
   * one begins when what is owed is paid.
   */
  resumeSubscription: { args: [id: string]; answer: Subscription };
  /**
   * End a trial now
   *
   * The first paid period begins, and is charged.
   */
  endTrial: { args: [id: string]; answer: Subscription };
  /**
   * Preview a change of a subscription
   *
   * What the change would bill and do if it were made now, by the same decision. Nothing is
   * written, nothing is charged. What the change would refuse is refused here, but that its
   * payment fails.
   *
   * The lines are those of its invoice; a cheaper plan makes none where no usage is owed, and
   * `credited` comes off the next invoices. `subscription` is what it would be then; where it
   * `waitsForPayment`, after that payment. Until the change is made the remaining time goes on
   * passing, and usage is added: ask again when it matters.
   */
  previewSubscriptionChange: {
    args: [id: string, params: SubscriptionChange];
    answer: SubscriptionPreview;
  };
  /**
   * Preview the cancellation of a subscription
   *
   * What it would bill at once and do, as the preview of a change: `immediate` bills the usage
   * that is left. At the end of the period nothing is billed now: `/upcoming-invoice` has what
   * is billed then.
   */
  previewSubscriptionCancel: {
    args: [id: string, params?: SubscriptionCancel];
    answer: SubscriptionPreview;
  };
  /**
   * Preview the resume of a subscription
   *
   * Whether it goes on in the paid period, or begins a new one with its payment, as the
   * preview of a change.
   */
  previewSubscriptionResume: { args: [id: string]; answer: SubscriptionPreview };
  /**
   * Preview the end of a trial
   *
   * What the first paid period would bill if it began now, as the preview of a change.
   */
  previewTrialEnd: { args: [id: string]; answer: SubscriptionPreview };
  /**
   * Bill a customer
   *
   * Issued at once, unless it is to be a draft. Where there is nothing to pay it is paid.
   */
  createInvoice: { args: [params: InvoiceCreate]; answer: Invoice };
  /** List invoices, newest first */
  listInvoices: { args: [params?: ListInvoicesQuery]; item: Invoice };
  /** Get an invoice */
  getInvoice: { args: [id: string]; answer: Invoice };
  /**
   * List the lines of an invoice, in their order
   *
   * An invoice has the first of them itself, and says with `linesHasMore` whether there are
   * more.
   */
  listInvoiceLines: { args: [id: string, params?: ListInvoiceLinesQuery]; item: InvoiceLine };
  /**
   * Download the usage behind an invoice
   *
   * CSV (RFC 4180, UTF-8) with a row for each recorded event in the time that the lines of
   * usage bill, what is included with the allowance too: `line_id`, `featureKey`, `eventId`,
   * `event_time`, `recorded_time`, `value`, `metadata` (JSON). The rows of a line stand
   * together, the oldest event first. An adjustment has all events of what it adjusts, the
   * late ones and those that were billed before. An invoice without usage has the first row
   * alone.
   *
   * Keys are not kept: the id of an event with a key follows from it. An apostrophe stands
   * before text that a spreadsheet would take for a formula. Usage is kept for as long as the
   * operator says (`RETENTION_USAGE_MONTHS`): what is dropped by then is missing here.
   *
   * An organisation's mode may have 4 downloads at a time on a node (429), and one may take 10
   * minutes. A download that is cut off fails: it does not look complete.
   */
  downloadInvoiceUsage: { args: [id: string]; answer: string };
  /**
   * Issue a draft
   *
   * It gets its number and is due. Again is the same.
   */
  finalizeInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Charge an invoice now
   *
   * With what the customer has left to pay with. A charge that takes its time is 202; again
   * with its `Idempotency-Key` it is what became of that. Paid already is 200. An invoice of a
   * subscription is paid as one of its payments, also after its end. A draft of a pause is not
   * charged while the resume that takes its place waits for its payment.
   */
  payInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Void an invoice that is not paid
   *
   * A number that it has is kept. Again is the same.
   */
  voidInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Get an invoice to print
   *
   * HTML for A4, without a script.
   */
  printInvoice: { args: [id: string, params?: PrintInvoiceQuery]; answer: string };
  /**
   * Open the portal to a customer
   *
   * The answer holds an address that shows this customer its subscriptions, usage and invoices
   * and lets it act on them, until it expires or is revoked. It ends with the key that made
   * it, where that is revoked or expires, and with the member who made it, who is removed or
   * may make none any more; a key that is rotated leaves it to the new one. Whoever has the
   * address is the customer. Nothing but a hash of the token is kept.
   */
  createPortalToken: { args: [id: string, params?: PortalTokenCreate]; answer: PortalToken };
  /**
   * Close the portal that a token opens
   *
   * It opens nothing from now on. Again is the same.
   */
  revokePortalToken: { args: [id: string]; answer: void };
  /**
   * List events, newest first
   *
   * Each as a webhook carries it. They are kept for at least 30 days.
   */
  listEvents: { args: [params?: ListEventsQuery]; item: Event };
  /**
   * Follow events as they happen
   *
   * Server-sent events: each is an event as `GET /events` shows it, and its `id` is the id of
   * that. They come in the order in which they were committed, each once. Samples for a
   * webhook endpoint are not among them, and `usage.recorded`, `customer.spend_cap_reached`,
   * `alert.*` and `auto_topup.*` are where an endpoint subscribes to them.
   *
   * It goes on after the event in `Last-Event-ID`, or in `after`, without a gap and on any
   * node; without either it begins now. An id that is unknown, of another mode, or no longer
   * kept is refused. The first message has an `id` and no data: the place where the stream
   * begins, so that a caller that is cut off before the first event can go on from there, too.
   *
   * It ends when a node is stopped, when the key ends, and when the caller is too slow:
   * connect again with the last `id`, after the time in `retry`. A comment comes every 15 s.
   * Each node serves an organisation's mode 1,000 streams unless it is configured otherwise
   * (409), and 5,000 in all (503).
   */
  streamEvents: { args: [params?: StreamEventsQuery]; answer: Event };
  /** Get an event */
  getEvent: { args: [id: string]; answer: Event };
  /**
   * Register a webhook endpoint
   *
   * Events are delivered to it as signed POST requests. The answer holds the secret to verify
   * them with, this once.
   */
  createWebhookEndpoint: { args: [params: EndpointCreate]; answer: EndpointWithSecret };
  /** List webhook endpoints, newest first */
  listWebhookEndpoints: { args: [params?: ListWebhookEndpointsQuery]; item: Endpoint };
  /** Get a webhook endpoint */
  getWebhookEndpoint: { args: [id: string]; answer: Endpoint };
  /**
   * Change a webhook endpoint
   *
   * Events for a disabled endpoint are held. To enable it sends what was held, each with a
   * schedule of its own, and forgets how the endpoint failed. Other types of event count from
   * the next event on.
   */
  updateWebhookEndpoint: { args: [id: string, params: EndpointChange]; answer: Endpoint };
  /**
   * Delete a webhook endpoint
   *
   * Nothing more is sent to it. What was sent can still be read, by the ids of the deliveries.
   */
  deleteWebhookEndpoint: { args: [id: string]; answer: void };
  /**
   * Replace the secret of a webhook endpoint
   *
   * Deliveries are signed with the replaced secret too, for 24 hours. To replace the secret
   * again ends that for the first one.
   */
  rotateWebhookEndpointSecret: { args: [id: string]; answer: RotatedSecret };
  /**
   * Send a sample event to a webhook endpoint
   *
   * Of the given type, or else of one that the endpoint subscribes to; `data.test` is true. No
   * other endpoint gets it.
   */
  sendSampleEvent: { args: [id: string, params?: SampleRequest]; answer: Delivery };
  /** List what was and is owed to a webhook endpoint, newest first */
  listDeliveries: { args: [id: string, params?: ListDeliveriesQuery]; item: Delivery };
  /**
   * Send a range of events to a webhook endpoint again
   *
   * Every event of these types and times, whether it was delivered before or not, and also
   * where the endpoint did not subscribe to it or was not there yet. `count` is how many that
   * are; what is being sent at that moment is not among them, nor what was told a moment ago
   * and is on its way to all endpoints. A range of very many takes a while: with an
   * Idempotency-Key the count can be asked for again.
   */
  replayEvents: { args: [id: string, params: ReplayRequest]; answer: Replayed };
  /** Get a delivery, with all its attempts */
  getDelivery: { args: [id: string]; answer: Delivery };
  /**
   * Send a delivery now
   *
   * In any state: one that was delivered is sent once more. Not while it is being sent, and
   * not to an endpoint that is disabled or deleted.
   */
  retryDelivery: { args: [id: string]; answer: Delivery };
  /**
   * Register a group's webhook endpoint
   *
   * Events of every organisation in the group are delivered to it; `data.organizationId` says
   * of which. The answer holds the secret to verify them with, this once.
   */
  createPartnerWebhookEndpoint: {
    args: [params: PartnerEndpointCreate];
    answer: PartnerEndpointWithSecret;
  };
  /** List the group's webhook endpoints, newest first */
  listPartnerWebhookEndpoints: {
    args: [params?: ListPartnerWebhookEndpointsQuery];
    item: PartnerEndpoint;
  };
  /** Get a group's webhook endpoint */
  getPartnerWebhookEndpoint: { args: [id: string]; answer: PartnerEndpoint };
  /**
   * Change a group's webhook endpoint
   *
   * Events for a disabled endpoint are held. To enable it sends what was held, each with a
   * schedule of its own, and forgets how the endpoint failed. Other types of event count from
   * the next event on.
   */
  updatePartnerWebhookEndpoint: {
    args: [id: string, params: PartnerEndpointChange];
    answer: PartnerEndpoint;
  };
  /**
   * Delete a group's webhook endpoint
   *
   * Nothing more is sent to it.
   */
  deletePartnerWebhookEndpoint: { args: [id: string]; answer: void };
  /**
   * Replace the secret of a group's webhook endpoint
   *
   * Deliveries are signed with the replaced secret too, for 24 hours. To replace the secret
   * again ends that for the first one.
   */
  rotatePartnerWebhookEndpointSecret: { args: [id: string]; answer: RotatedSecret };
  /**
   * Get the organization and its settings
   *
   * In the mode of the key.
   */
  getOrganization: { args: []; answer: Organization };
  /**
   * Change the settings of the organization
   *
   * In the mode of the key alone: a test key cannot reach what live invoices say. A new name
   * is that of both modes, but by a test key. Of `seller`, `dunning` and `branding` what is
   * left out stays as it is; `null` clears a field of the seller or the branding. Invoices
   * that were issued keep the seller that they have, and show the branding of now. Each part
   * that changed fires one `organization.config_changed`.
   */
  updateOrganization: { args: [params: OrganizationChange]; answer: Organization };
  /**
   * Give the organization a logo
   *
   * In the mode of the key, in place of the one before: it stands on the pages, invoices and
   * mails for its customers. Mails that were sent show the one that they were sent with: the
   * last ten are kept. What is not PNG, JPEG or WebP by its bytes is refused.
   */
  putLogo: { args: [params: LogoPut]; answer: Logo };
  /**
   * Get what the logo is
   *
   * In the mode of the key. 404 where there is none.
   */
  getLogo: { args: []; answer: Logo };
  /**
   * Remove the logo of the organization
   *
   * In the mode of the key. Mails that were sent show a name in place of it, and of those
   * before it.
   */
  deleteLogo: { args: []; answer: void };
  /**
   * Connect a Stripe account, or replace its key
   *
   * In the mode of the API key: new payments go to this account from now on; in test mode the
   * sandbox takes them until then. The key is tried at Stripe first. Another key of the same
   * account takes the place of the first without a gap. Another account takes what is new:
   * refunds, disputes and renewals of what the one before took stay with that one. 503 where
   * Stripe does not answer: nothing was changed.
   */
  connectProcessor: { args: [params: ProcessorConnect]; answer: ProcessorAccount };
  /**
   * Get the connected Stripe account
   *
   * In the mode of the API key. 404 where none is connected.
   */
  getProcessor: { args: []; answer: ProcessorAccount };
  /**
   * Disconnect the Stripe account
   *
   * In the mode of the API key: nothing new is paid there. Its key stays encrypted here, for
   * refunds, disputes and renewals of what it took: revoke it at Stripe when there is nothing
   * left of these.
   */
  disconnectProcessor: { args: []; answer: void };
  /**
   * Make an API key
   *
   * For the organization and the mode of the key that asks. In the dashboard an admin makes no
   * live key with the scope `all`. The key is in this answer and never again; nothing but a
   * hash of it is kept.
   */
  createApiKey: { args: [params?: ApiKeyCreate]; answer: ApiKeyWithText };
  /**
   * List API keys, newest first
   *
   * The live ones, and the last 1,000 that were revoked or have expired.
   */
  listApiKeys: { args: [params?: ListApiKeysQuery]; item: ApiKey };
  /**
   * Revoke an API key
   *
   * It opens nothing from now on, and what it has open ends within a second. Open invitations
   * and links to the portal that it made end. Again is the same. A key cannot revoke itself.
   */
  revokeApiKey: { args: [id: string]; answer: void };
  /**
   * Replace an API key
   *
   * Makes a key with the same name and scopes, which does not expire. The replaced one works
   * on for the overlap, or until its own end where that is sooner, and so do open invitations
   * that it made; its links to the portal stay, and end with the new key. A key may rotate
   * itself. The key is in this answer and never again; nothing but a hash of it is kept.
   */
  rotateApiKey: { args: [id: string, params?: ApiKeyRotate]; answer: ApiKeyWithText };
  /**
   * List members, newest first
   *
   * Who may sign in to the dashboard of the organization, and as what.
   */
  listMembers: { args: [params?: ListMembersQuery]; item: Member };
  /** Get a member */
  getMember: { args: [id: string]; answer: Member };
  /**
   * Change the role of a member
   *
   * It holds from the member's next request on. Open invitations and links to the portal that
   * the member made end, where the new role may not make them. The last owner stays one. Both
   * modes have the same members: a key of test mode is refused.
   */
  updateMember: { args: [id: string, params: MemberChange]; answer: Member };
  /**
   * Remove a member
   *
   * Its sessions see nothing of the organization from now on, and the open invitations and
   * links to the portal that it made, and the invitations for its address, end. The last owner
   * stays. Both modes have the same members: a key of test mode is refused.
   */
  removeMember: { args: [id: string]; answer: void };
  /**
   * Invite somebody by e-mail
   *
   * For 7 days, and no longer than the key or the member that invites may; it takes the place
   * of one that the address has, which an admin does with none for an owner: that is 403. The
   * link is in the mail alone; where no mails are sent, in this answer alone. Both modes have
   * the same members: a key of test mode is refused.
   */
  createInvitation: { args: [params: InvitationCreate]; answer: NewInvitation };
  /** List invitations, newest first */
  listInvitations: { args: [params?: ListInvitationsQuery]; item: Invitation };
  /**
   * Withdraw an invitation
   *
   * Its link opens nothing from now on. Again is the same. Both modes have the same members: a
   * key of test mode is refused.
   */
  revokeInvitation: { args: [id: string]; answer: void };
  /**
   * Get what is asked of members
   *
   * The same in both modes.
   */
  getSecurity: { args: []; answer: Security };
  /**
   * Change what is asked of members
   *
   * What is left out stays as it is. It holds from the next request of each member on. A key
   * of test mode is refused.
   */
  updateSecurity: { args: [params: SecurityChange]; answer: Security };
  /**
   * List who did what, newest first
   *
   * What users did, signing in and out included; what keys did but for routine calls (usage,
   * customers, checkouts, links to the portal, tags and custom fields); what customers did in
   * the portal; and what an operator did on the command line. A row is there before the call
   * is answered, and stays as it is for good.
   *
   * `before` and `after` have the fields that changed. Secrets are left out of them, and what
   * is long. A row of both modes is in the list of each. Of the roles, owners and admins may
   * read it.
   */
  listAuditLog: { args: [params?: ListAuditLogQuery]; item: AuditLogEntry };
  /**
   * Download who did what
   *
   * The same as CSV (RFC 4180, UTF-8), newest first, with `before` and `after` as JSON. An
   * apostrophe stands before text that a spreadsheet would take for a formula. An
   * organisation's mode may have 4 downloads at a time on a node (429), and one may take 10
   * minutes. A download that is cut off fails: it does not look complete.
   */
  downloadAuditLog: { args: [params?: DownloadAuditLogQuery]; answer: string };
  /**
   * Put a tag on a customer, a subscription or an invoice
   *
   * A label: it changes nothing that the service does. The same one on the same object again
   * is a conflict. What an object may have of them is bounded (`LIMIT_TAGS_PER_OBJECT`).
   */
  createTag: { args: [params: TagCreate]; answer: Tag };
  /** List tags, newest first */
  listTags: { args: [params?: ListTagsQuery]; item: Tag };
  /** Remove a tag */
  deleteTag: { args: [id: string]; answer: void };
  /**
   * Add a custom field to a customer, a subscription or an invoice
   *
   * A field never changes: remove it and add another. A name that the object has is a
   * conflict. What an object may have of them is bounded (`LIMIT_CUSTOM_FIELDS_PER_OBJECT`).
   */
  createCustomField: { args: [params: CustomFieldCreate]; answer: CustomField };
  /** List custom fields, newest first */
  listCustomFields: { args: [params?: ListCustomFieldsQuery]; item: CustomField };
  /** Remove a custom field */
  deleteCustomField: { args: [id: string]; answer: void };
  /**
   * Get the test clock
   *
   * What time it is for what the organization has in test mode: the real time until it was
   * moved. 404 with a live key.
   */
  getTestClock: { args: []; answer: TestClock };
  /**
   * Move the test clock
   *
   * By a duration or to a time, forward only, at most five years in one call, up to the year
   * 3000. All that is due by then is done before it answers, in due order and each at its own
   * time: periods end, subscriptions renew, payments settle, discounts and checkouts expire.
   * Then the clock runs on. One call at a time; `409` while another one moves it. Keys, rate
   * limits and deliveries stay on the real time. Whoever does not wait for the answer leaves
   * it on its way: read it, and send the time that is wanted. 404 with a live key.
   */
  moveTestClock: { args: [params: TestClockMove]; answer: TestClock };
};

export type ListMetersQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListCustomersQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  externalCustomerId?: string;
  email?: string;
  /**
   * What the address begins with, in any case. Of those, the first 1000 in alphabetical order
   * are listed.
   */
  emailPrefix?: string;
};

export type ListGrantsQuery = {
  featureKey?: string;
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
};

export type ListBalancesQuery = {
  featureKey?: string;
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
};

export type ListCreditEntriesQuery = {
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
};

export type ListDecisionsQuery = {
  /** The x-request-id of a call that was denied, or that changed something. */
  requestId?: string;
  /** The id that /track answered. Of any other object: `object` says what it is. */
  eventId?: string;
  /** A key of the customer, from a body or from a header. */
  idempotencyKey?: string;
  /** An instant by the organization's clock: the decisions about the customer around it. */
  at?: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  /** Only with `at`. */
  featureKey?: string;
  /** Only with `at`: without what was recorded in between. */
  only?: 'denied';
  /** Decisions on each side of `at`. */
  limit?: number;
};

export type GetUsageQuery = {
  /** The slug of a `sum` or `count` meter. */
  featureKey: string;
  /** Without a customer: of all together. */
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  /** Usage from then on. Without it: the last 24 hours, 30 days or 12 months. */
  from?: string;
  /** Usage before then. Without it: through the end of the present bin. */
  to?: string;
  bin?: 'hour' | 'day' | 'month';
  /** The name of an IANA zone, as `Europe/Berlin`. */
  timezone?: string;
  /** A bin for each value that the events have under a name: `metadata.region`. */
  groupBy?: string;
};

export type ListUsageEventsQuery = {
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  /** The slug of the meter. */
  featureKey?: string;
  /** Events with a time from then on. */
  from?: string;
  /** Events with a time before then. */
  to?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** Events of a page. It has fewer where the next one would take the answer past 1 MiB. */
  limit?: number;
};

export type ListAlertsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** The slug of the meter. */
  featureKey?: string;
  /** Its own alerts. Those for each customer are not among them. */
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
};

export type ListCustomerAlertsQuery = {
  /** The slug of the meter. */
  featureKey?: string;
};

export type ListProductsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** Only an active product can be bought. */
  status?: ProductStatus;
  /**
   * What the name begins with, in any case. Of those, the first 1000 in alphabetical order are
   * listed.
   */
  namePrefix?: string;
};

export type ListFeaturesQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListUsagePricesQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListDiscountsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListCheckoutsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  status?: CheckoutStatus;
};

export type ListPaymentsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  customerId?: string;
  subscriptionId?: string;
  checkoutId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  status?: PaymentStatus;
};

export type ListRefundsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListPayoutsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** Payouts that were made from then on. */
  from?: string;
  /** Payouts that were made before then. */
  to?: string;
};

export type ListWebhookHealthQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** This endpoint alone. */
  endpointId?: string;
};

export type ListSubscriptionsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  productId?: string;
  status?: SubscriptionStatus;
};

export type ListInvoicesQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  subscriptionId?: string;
  status?: InvoiceStatus;
  /** As it is printed: `INV-2026-000123`. */
  number?: string;
};

export type ListInvoiceLinesQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last line of the page before: the list goes on behind it. Not together with
   * `offset`.
   */
  after?: string;
};

export type PrintInvoiceQuery = {
  /**
   * Of an invoice with more than 100 lines: which part of them. The first one leads to the
   * others.
   */
  sheet?: number;
};

export type ListEventsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  type?: EventType;
  objectId?: string;
  /** From then on. */
  since?: string;
  /** Before then. */
  until?: string;
};

export type StreamEventsQuery = {
  /**
   * The stream goes on after the event with this id. The organisation's own id stands for
   * before its first event.
   */
  after?: string;
};

export type ListWebhookEndpointsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListDeliveriesQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** `held` while the endpoint is disabled; `exhausted` when all attempts failed. */
  status?: DeliveryStatus;
  eventType?: EventType;
};

export type ListPartnerWebhookEndpointsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListApiKeysQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListMembersQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListInvitationsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
};

export type ListAuditLogQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  /** The id of the user, the key or the customer. */
  actor?: string;
  actorKind?: 'user' | 'key' | 'customer' | 'command_line';
  /**
   * An operation of this document, a command, or what a user did at the door: `updateProduct`,
   * `key create`, `signIn`.
   */
  operation?: string;
  objectId?: string;
  /** What was done from then on. */
  from?: string;
  /** What was done before then. */
  to?: string;
};

export type DownloadAuditLogQuery = {
  /** The id of the user, the key or the customer. */
  actor?: string;
  actorKind?: 'user' | 'key' | 'customer' | 'command_line';
  /**
   * An operation of this document, a command, or what a user did at the door: `updateProduct`,
   * `key create`, `signIn`.
   */
  operation?: string;
  objectId?: string;
  /** What was done from then on. */
  from?: string;
  /** What was done before then. */
  to?: string;
};

export type ListTagsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  objectType?: AnnotatedType;
  objectId?: string;
  name?: string;
};

export type ListCustomFieldsQuery = {
  /**
   * Rows of a page. It has fewer where the next one would take the answer past 1 MiB:
   * `hasMore` is true, and `limit` in the answer says how many it has.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list goes on behind it, however far. Not
   * together with `offset`.
   */
  after?: string;
  objectType?: AnnotatedType;
  objectId?: string;
  name?: string;
};

/** How the events of a period become its consumption. */
export type Aggregation = 'sum' | 'count' | 'max' | 'last' | 'unique';

export type Alert = {
  id: string;
  meterId: string;
  featureKey: string;
  customerId: string | null;
  externalCustomerId: string | null;
  type: AlertType;
  /**
   * In units of the meter, or for the two percentages in percent with at most four decimals.
   * Above 0 for usage, percentages up to 1000; from 0 on for what is left, percentages up to
   * 100.
   */
  threshold: number;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type AlertCreate = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  type: AlertType;
  /**
   * In units of the meter, or for the two percentages in percent with at most four decimals.
   * Above 0 for usage, percentages up to 1000; from 0 on for what is left, percentages up to
   * 100.
   */
  threshold: number | string;
};

export type AlertRecoveredData = {
  /** The event's id, again. */
  id: string;
  eventType: 'alert.recovered';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  alertId: string;
  alertType: AlertType;
  /** In units of the meter, or for a percentage in percent. */
  threshold: number;
  consumed: number;
  limit: number | null;
  balance: number | null;
  periodStart: string | null;
  periodEnd: string | null;
};

export type AlertRecoveredEvent = {
  id: string;
  type: 'alert.recovered';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: AlertRecoveredData;
};

export type AlertTriggeredData = {
  /** The event's id, again. */
  id: string;
  eventType: 'alert.triggered';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  alertId: string;
  alertType: AlertType;
  /** In units of the meter, or for a percentage in percent. */
  threshold: number;
  consumed: number;
  limit: number | null;
  balance: number | null;
  periodStart: string | null;
  periodEnd: string | null;
  /**
   * Whether the customer was past it before: when the alert was made, or by something else
   * than usage.
   */
  initial: boolean;
};

export type AlertTriggeredEvent = {
  id: string;
  type: 'alert.triggered';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: AlertTriggeredData;
};

/**
 * `usage`: `consumed` is at the threshold or above it. `usage_percentage`: so many percent
 * of `limit` are consumed, or more. `remaining`: what is left (`max(0, balance)`,
 * reservations taken off) is at the threshold or below it. `remaining_percentage`: so many
 * percent of `limit` are left, or less. Of a limit of 0 there is no percentage, and an
 * unlimited feature reaches no threshold.
 */
export type AlertType = 'usage' | 'usage_percentage' | 'remaining' | 'remaining_percentage';

export type AmountByHour = {
  /** A decimal, with exactly the decimals of its currency. Negative where more was refunded. */
  total: string;
  /** One for each hour of that day. */
  hours: string[];
};

export type AnnotatedType = 'customer' | 'subscription' | 'invoice';

export type ApiKey = {
  id: string;
  name: string | null;
  mode: Mode;
  /**
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest and
   * balances. `x-scopes` of each operation has it.
   */
  scopes: ApiKeyScope[];
  last4: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  createdBy: ApiKeyMaker | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

export type ApiKeyCreate = {
  name?: string;
  /**
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest and
   * balances. `x-scopes` of each operation has it.
   */
  scopes?: readonly ApiKeyScope[];
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt?: string;
};

/** null: the command line. */
export type ApiKeyMaker = {
  kind: 'key' | 'user';
  id: string;
  label: string | null;
};

export type ApiKeyRotate = {
  /** How long the replaced key still works; never beyond its own end. */
  overlapSeconds?: number;
};

export type ApiKeyScope = 'all' | 'read' | 'metering';

export type ApiKeyWithText = {
  id: string;
  /** Shown this once. */
  key: string;
  name: string | null;
  mode: Mode;
  /**
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest and
   * balances. `x-scopes` of each operation has it.
   */
  scopes: ApiKeyScope[];
  last4: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  createdBy: ApiKeyMaker | null;
  expiresAt: string | null;
  lastUsedAt: string | null;
  revokedAt: string | null;
};

export type AuditLogActor = {
  kind: 'user' | 'key' | 'customer' | 'command_line';
  id: string | null;
  /**
   * As it was then: the e-mail address of a user, the name and the last four characters of a
   * key, the e-mail address or the external id of a customer, the account and the host of a
   * command line.
   */
  label: string;
  sessionId: string | null;
};

export type AuditLogEntry = {
  id: string;
  /** By the wall clock, also where a test clock was moved. */
  at: string;
  mode: Mode | null;
  actor: AuditLogActor;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /**
   * An operation of this document, a command, or what a user did at the door: `signIn`,
   * `signOut`.
   */
  operation: string;
  object: AuditLogObject;
  status: number | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

export type AuditLogObject = {
  /** As in the name of the operation: `product`, `api_key`. */
  type: string;
  id: string | null;
};

export type AutoTopup = {
  customerId: string;
  externalCustomerId: string | null;
  featureKey: string;
  enabled: boolean;
  /** Below this level it is topped up. The level is the balance, holds taken off. */
  threshold: number;
  /** The units that are granted for the price. */
  amount: number;
  /** A one-time price of yours: what one top-up costs. */
  priceId: string;
  /**
   * How many there may be at most in a day, a week from Monday, or a month of your time zone.
   * null: any number.
   */
  limit: AutoTopupLimit | null;
  /**
   * `charging`: a charge is under way, or was declined for now and is tried again.
   * `suspended`: see `reason`.
   */
  status: 'armed' | 'charging' | 'suspended';
  /**
   * Why it is suspended. `limit`: until the next day, week or month. Otherwise until another
   * payment method is stored.
   */
  reason: 'declined' | 'authentication_required' | 'no_payment_method' | 'limit' | null;
  /** The payment that is under way; without one the last that was. */
  paymentId: string | null;
  /** When it looks at the level again: after a decline, or when the limit begins anew. */
  nextAttemptAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type AutoTopupFailedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'auto_topup.failed';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  periodStart: string | null;
  periodEnd: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  /** The units that it gives. */
  amount: number;
  paymentId: string | null;
  reason: 'declined' | 'authentication_required' | 'no_payment_method';
  /** `charging`: it is tried again. `suspended`: not before another payment method is stored. */
  status: 'armed' | 'charging' | 'suspended';
  nextAttemptAt: string | null;
};

export type AutoTopupFailedEvent = {
  id: string;
  type: 'auto_topup.failed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: AutoTopupFailedData;
};

export type AutoTopupLimit = {
  count: number;
  interval: 'day' | 'week' | 'month';
};

export type AutoTopupPut = {
  enabled: boolean;
  /** Below this level it is topped up. The level is the balance, holds taken off. */
  threshold: number | string;
  /** The units that are granted for the price. */
  amount: number | string;
  /** A one-time price of yours: what one top-up costs. */
  priceId: string;
  limit?: AutoTopupLimit | null;
};

export type AutoTopupSucceededData = {
  /** The event's id, again. */
  id: string;
  eventType: 'auto_topup.succeeded';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  periodStart: string | null;
  periodEnd: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  /** The units that it gives. */
  amount: number;
  paymentId: string;
  reason: null;
};

export type AutoTopupSucceededEvent = {
  id: string;
  type: 'auto_topup.succeeded';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: AutoTopupSucceededData;
};

export type AutoTopups = {
  data: AutoTopup[];
};

export type Balance = {
  customerId: string;
  externalCustomerId: string | null;
  meterId: string;
  featureKey: string;
  balance: number | null;
  limit: number | null;
  consumed: number;
  remaining: number | null;
  /**
   * What money has paid of `consumed`: usage that was sold and billed within the period, as by
   * a change of plan. It is in `balance`: `limit` + `billed` - `consumed` - `reserved`. Absent
   * for nothing.
   */
  billed?: number;
  reserved: number;
  overage: number;
  unlimited: boolean;
  periodStart: string | null;
  periodEnd: string | null;
  resetsAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
  /** In the order in which they are used up. */
  breakdown: BalanceBreakdown[];
  /** Whether there are grants behind them: `GET /customers/{id}/grants` has them. */
  breakdownHasMore: boolean;
};

export type BalanceBreakdown = {
  grantId: string;
  source: GrantOrigin;
  productId: string | null;
  subscriptionId: string | null;
  granted: number | null;
  remaining: number | null;
  priority: number;
  expiresAt: string | null;
};

export type BalanceThen = {
  balance: number | null;
  limit: number | null;
  consumed: number;
};

export type Balances = {
  data: Balance[];
  nextCursor: string | null;
};

export type BillingAddress = {
  line1: string | null;
  line2: string | null;
  city: string | null;
  state: string | null;
  postalCode: string | null;
  country: string | null;
};

/** As invoices print it. Replaced as a whole. */
export type BillingAddressCreate = {
  line1?: string | null;
  line2?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  country?: string | null;
};

export type BillingAddressData = {
  line1: string | null;
  line2: string | null;
  city: string | null;
  state: string | null;
  postalCode: string | null;
  country: string | null;
};

export type BillingInterval = 'day' | 'week' | 'month' | 'year';

export type BillingReason =
  | 'purchase'
  | 'subscription_create'
  | 'subscription_cycle'
  | 'subscription_update'
  | 'subscription_resume'
  | 'usage'
  | 'manual'
  | 'auto_topup';

export type Branding = {
  /**
   * Of buttons, links and marks: `#rrggbb`. What is on it and beside it is made readable, in
   * light and in dark.
   */
  color: string | null;
  /** Who answers questions of customers, and their answers to mails. */
  supportEmail: string | null;
  /** An https URL for questions of customers. */
  supportUrl: string | null;
  /** Open to everybody. Another image has another address. */
  logoUrl: string | null;
};

export type BrandingChange = {
  /**
   * Of buttons, links and marks: `#rrggbb`. What is on it and beside it is made readable, in
   * light and in dark.
   */
  color?: string | null;
  /** Who answers questions of customers, and their answers to mails. */
  supportEmail?: string | null;
  /** An https URL for questions of customers. */
  supportUrl?: string | null;
};

export type CancelMode = 'at_period_end' | 'immediate';

export type CheckBatchBody = {
  checks: readonly CheckBody[];
};

export type CheckBatchResult = {
  /** In the order of the call: an answer each, or why there is none. */
  results: (CheckResult | ItemError)[];
};

export type CheckBody = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  value?: number | string;
  /** Record the value too, in the same step, where it is allowed. */
  consume?: boolean;
  /** Hold the value, in the same step, where it is allowed: see `POST /reservations`. */
  reserve?: boolean;
  /** Seconds from now. */
  expiresIn?: number;
  idempotencyKey?: string;
};

export type CheckReason =
  | 'ok'
  | 'unlimited'
  | 'overage_allowed'
  | 'boolean'
  | 'insufficient_balance'
  | 'not_entitled'
  | 'subscription_paused'
  | 'blocked'
  | 'expired'
  | 'spend_cap';

export type CheckResult = {
  allowed: boolean;
  balance: number | null;
  limit: number | null;
  consumed: number;
  remaining: number | null;
  reason: CheckReason;
  featureKey: string;
  requested: number;
  unlimited: boolean;
  overageAllowed: boolean;
  /**
   * What money has paid of `consumed`: usage that was sold and billed within the period, as by
   * a change of plan. It is in `balance`: `limit` + `billed` - `consumed` - `reserved`. Absent
   * for nothing.
   */
  billed?: number;
  reserved: number;
  /**
   * Of a feature that a pool of credits pays for: units of its own allowance, then credits of
   * the pool. No parts of 0; empty where it is not allowed. Other features do not have it.
   */
  paidBy?: PaidPart[];
  periodStart: string | null;
  periodEnd: string | null;
  resetsAt: string | null;
  /** With `reserve`: what is held now; null where it is not allowed. */
  reservation?: Reservation | null;
};

export type Checkout = {
  id: string;
  /** Ends in the token. */
  url: string;
  productId: string;
  customerId: string | null;
  customerEmail: string | null;
  customerName: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  successUrl: string | null;
  cancelUrl: string | null;
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  status: CheckoutStatus;
  type: CheckoutType;
  expiresAt: string | null;
  paidAt: string | null;
};

export type CheckoutCreate = {
  productId: string;
  customerEmail: string;
  customerName?: string;
  /**
   * Whose it is. Without it, the customer of `externalCustomerId`; without that, the one of
   * `customerEmail`, unless only a buyer has typed that address; or a new one.
   */
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  /** The merchant's own reference, echoed. */
  clientReferenceId?: string;
  /**
   * An https URL. A paid buyer is sent there with `status=paid` and `payment_link_id`
   * appended; the literal text `{CHECKOUT_TOKEN}` in its path, query or fragment stands for
   * the token of the session. Pages of its origin may show the checkout in a frame
   * (`/embed.js`); there nobody is sent on, and the page is told.
   */
  successUrl?: string;
  /**
   * An https URL: where the link back to the merchant leads. Pages of its origin may show the
   * checkout in a frame (`/embed.js`); they are told when the buyer cancels, with this
   * address, and render a cancel flow of their own.
   */
  cancelUrl?: string;
  discountCode?: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency?: string;
  metadata?: Metadata;
};

export type CheckoutStatus = 'active' | 'processing' | 'paid' | 'expired' | 'canceled';

export type CheckoutType = 'one_time' | 'recurring';

export type CountByHour = {
  total: number;
  /** One for each hour of that day. */
  hours: number[];
};

export type CountOfDay = {
  today: number;
  lastWeek: number;
};

export type Credit = {
  data: CreditBalance[];
};

export type CreditBalance = {
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** What later invoices in the currency may use. */
  balance: string;
  /**
   * The newest 50: `GET /customers/{id}/credit/entries` lists all. All of them come to the
   * balance.
   */
  entries: CreditEntry[];
};

export type CreditCost = {
  /** The slug of the meter. */
  featureKey: string;
  /** Credits a unit: a decimal above 0. */
  cost: string;
};

export type CreditCostCreate = {
  /** The slug of the meter. */
  featureKey: string;
  /** Credits a unit: a decimal above 0. */
  cost: string;
};

export type CreditEntries = {
  data: CreditEntry[];
  nextCursor: string | null;
};

export type CreditEntry = {
  id: string;
  /** With the decimals of the currency; negative where it was used. */
  amount: string;
  /**
   * `change`: what a change of plan left over. `adjustment`: what another invoice did, or what
   * there was before entries were kept. `applied`: an invoice used it. `void`: it is back, as
   * that invoice is void or its change was taken back.
   */
  reason: 'change' | 'adjustment' | 'void' | 'applied';
  invoiceId: string | null;
  note: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type CustomField = {
  id: string;
  objectType: AnnotatedType;
  objectId: string;
  /** Case matters. An object has each name once. */
  name: string;
  value: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type CustomFieldCreate = {
  objectType: AnnotatedType;
  objectId: string;
  /** Case matters. An object has each name once. */
  name: string;
  value: string;
};

export type CustomFieldCreatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'custom_field.created';
  /** What it is about. */
  objectId: string;
  objectType: 'CUSTOM_FIELD';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customFieldId: string;
  name: string;
  value: string;
  fieldObjectType: 'CUSTOMER' | 'SUBSCRIPTION' | 'INVOICE';
  fieldObjectId: string;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type CustomFieldCreatedEvent = {
  id: string;
  type: 'custom_field.created';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: CustomFieldCreatedData;
};

export type CustomFieldDeletedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'custom_field.deleted';
  /** What it is about. */
  objectId: string;
  objectType: 'CUSTOM_FIELD';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customFieldId: string;
  name: string;
  value: string;
  fieldObjectType: 'CUSTOMER' | 'SUBSCRIPTION' | 'INVOICE';
  fieldObjectId: string;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type CustomFieldDeletedEvent = {
  id: string;
  type: 'custom_field.deleted';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: CustomFieldDeletedData;
};

export type Customer = {
  id: string;
  externalCustomerId: string | null;
  email: string | null;
  name: string | null;
  billingAddress: BillingAddress | null;
  metadata: Metadata;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type CustomerAlert = {
  id: string;
  meterId: string;
  featureKey: string;
  customerId: string | null;
  externalCustomerId: string | null;
  type: AlertType;
  /**
   * In units of the meter, or for the two percentages in percent with at most four decimals.
   * Above 0 for usage, percentages up to 1000; from 0 on for what is left, percentages up to
   * 100.
   */
  threshold: number;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** Whether it has fired, and no grant or new period has led back from it. */
  triggered: boolean;
};

export type CustomerAlerts = {
  data: CustomerAlert[];
};

export type CustomerChange = {
  email?: string | null;
  name?: string | null;
  billingAddress?: BillingAddressCreate | null;
  externalCustomerId?: string | null;
  metadata?: Metadata;
};

export type CustomerCreate = {
  email?: string;
  name?: string;
  billingAddress?: BillingAddressCreate;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  metadata?: Metadata;
};

export type CustomerCreatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'customer.created';
  /** What it is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  externalCustomerId: string | null;
  metadata: Metadata;
  email: string | null;
  name: string | null;
};

export type CustomerCreatedEvent = {
  id: string;
  type: 'customer.created';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: CustomerCreatedData;
};

export type CustomerSpendCapReachedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'customer.spend_cap_reached';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  /** The cap. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** An exact decimal, with at least the decimals of its currency. */
  spent: string;
  /** Which sells the usage. */
  subscriptionId: string;
  /** Of the subscription. */
  periodStart: string;
  /** Of the subscription. */
  periodEnd: string;
};

export type CustomerSpendCapReachedEvent = {
  id: string;
  type: 'customer.spend_cap_reached';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: CustomerSpendCapReachedData;
};

export type CustomerUpdatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'customer.updated';
  /** What it is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  externalCustomerId: string | null;
  metadata: Metadata;
  email: string | null;
  name: string | null;
  billingAddress: BillingAddressData | null;
  /** The fields that changed. */
  changes: ('externalCustomerId' | 'email' | 'name' | 'billingAddress')[];
};

export type CustomerUpdatedEvent = {
  id: string;
  type: 'customer.updated';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: CustomerUpdatedData;
};

export type DayOfHours = {
  /** ISO 8601 in UTC, with milliseconds. */
  start: string;
  /** ISO 8601 in UTC, with milliseconds. */
  end: string;
  /** When each begins. Most days have 24. */
  hours: string[];
};

export type Decision = {
  id: string;
  /**
   * `check`, `consume` (a check with consume) and `track` were denied; `usage` was recorded,
   * or refused so long ago that no more is known.
   */
  kind: 'check' | 'consume' | 'track' | 'reserve' | 'usage';
  allowed: boolean;
  reason: CheckReason;
  /** The reason as a sentence, with its numbers. */
  rule: string;
  /** When it counts, by the organization's clock. A late event counts earlier. */
  at: string;
  /** ISO 8601 in UTC, with milliseconds. */
  decidedAt: string;
  recordedAt: string | null;
  /** How often the same was asked and answered, until `lastAt`. */
  count: number;
  /** ISO 8601 in UTC, with milliseconds. */
  lastAt: string;
  customerId: string;
  externalCustomerId: string | null;
  featureKey: string;
  /** What was asked for, or reported. */
  value: number;
  balanceBefore: BalanceThen;
  balanceAfter: BalanceThen;
  periodStart: string | null;
  periodEnd: string | null;
  eventId: string | null;
  /** Whether it repeats a refusal under the same key. */
  replayed: boolean;
  /** The first of them. */
  requestIds: string[];
};

/** What was in force at the denial, or else the decision, nearest to the instant. */
export type DecisionState = {
  /** ISO 8601 in UTC, with milliseconds. */
  at: string;
  customerId: string;
  featureKey: string;
  decisionId: string | null;
  /**
   * Those in force in the order in which they are used up, then the nearest that were over, or
   * were to come.
   */
  grants: GrantOfThen[];
  /** Of these grants. */
  subscriptions: SubscriptionOfThen[];
  /** Denials of the feature within a minute, of any customer, of which no row was kept. */
  leftOut: number;
};

export type Decisions = {
  /** Newest first. */
  data: Decision[];
  state: DecisionState | null;
  object: NamedObject | null;
};

export type Delivery = {
  id: string;
  eventId: string;
  eventType: EventType;
  endpointId: string;
  status: DeliveryStatus;
  attempts: DeliveryAttempt[];
  nextAttemptAt: string | null;
};

export type DeliveryAttempt = {
  /** ISO 8601 in UTC, with milliseconds. */
  at: string;
  statusCode: number | null;
  error: string | null;
  durationMs: number;
  responseHead: string | null;
};

/** `held` while the endpoint is disabled; `exhausted` when all attempts failed. */
export type DeliveryStatus = 'pending' | 'delivered' | 'held' | 'exhausted';

export type DenialsByHour = {
  today: CountByHour;
  lastWeek: CountByHour;
};

export type Discount = {
  id: string;
  /** What a buyer types. Case does not matter. */
  code: string;
  percentOff: number | null;
  amountOff: string | null;
  currency: string | null;
  maxRedemptions: number | null;
  /** Payments that were made with it, or are being made and do not wait at a bank. */
  redemptions: number;
  expiresAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type DiscountCreate = {
  /** What a buyer types. Case does not matter. */
  code: string;
  /** With at most 4 decimals. */
  percentOff?: number;
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amountOff?: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency?: string;
  maxRedemptions?: number;
  /** ISO 8601, with Z or an offset. In the future. */
  expiresAt?: string;
};

export type Dispute = {
  id: string;
  status: DisputeStatus;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** Of an open one: it cannot be refunded. */
  amountHeld: string;
  /** Of a lost one: less than `amount` where the rest had been refunded before. */
  amountChargedBack: string;
  reason: DisputeReason;
  /** The processor's own name for it. */
  reference: string;
  /** ISO 8601 in UTC, with milliseconds. */
  openedAt: string;
  closedAt: string | null;
};

export type DisputeReason =
  | 'bank_cannot_process'
  | 'check_returned'
  | 'credit_not_processed'
  | 'customer_initiated'
  | 'debit_not_authorized'
  | 'duplicate'
  | 'fraudulent'
  | 'general'
  | 'incorrect_account_details'
  | 'insufficient_funds'
  | 'noncompliant'
  | 'product_not_received'
  | 'product_unacceptable'
  | 'subscription_canceled'
  | 'unrecognized';

export type DisputeStatus = 'opened' | 'won' | 'lost';

export type Dunning = {
  /** When a failed payment is tried again, in days after it failed first; ascending. */
  retryDays: number[];
  /** When access is denied. */
  blockAfterDays: number;
  /** When the subscription ends: not before it is blocked, after all retries. */
  expireAfterDays: number;
};

export type DunningChange = {
  /** When a failed payment is tried again, in days after it failed first; ascending. */
  retryDays?: readonly number[];
  /** When access is denied. */
  blockAfterDays?: number;
  /** When the subscription ends: not before it is blocked, after all retries. */
  expireAfterDays?: number;
};

export type Endpoint = {
  id: string;
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /**
   * `["*"]` for all of them. Omitted: every type but usage.recorded,
   * customer.spend_cap_reached, alert.triggered, alert.recovered, auto_topup.succeeded,
   * auto_topup.failed, payment.disputed.
   */
  eventTypes: SubscribedType[];
  description: string | null;
  status: EndpointStatus;
  /**
   * `gone`: it answered 410. `failing`: for a day nothing but failures. null: its owner did,
   * or it is enabled.
   */
  disabledReason: 'gone' | 'failing' | null;
  failingSince: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type EndpointChange = {
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url?: string;
  /**
   * `["*"]` for all of them. Omitted: every type but usage.recorded,
   * customer.spend_cap_reached, alert.triggered, alert.recovered, auto_topup.succeeded,
   * auto_topup.failed, payment.disputed.
   */
  eventTypes?: readonly SubscribedType[];
  description?: string | null;
  status?: EndpointStatus;
};

export type EndpointCreate = {
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /**
   * `["*"]` for all of them. Omitted: every type but usage.recorded,
   * customer.spend_cap_reached, alert.triggered, alert.recovered, auto_topup.succeeded,
   * auto_topup.failed, payment.disputed.
   */
  eventTypes?: readonly SubscribedType[];
  description?: string;
  status?: EndpointStatus;
};

export type EndpointStatus = 'enabled' | 'disabled';

export type EndpointWithSecret = {
  id: string;
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /**
   * `["*"]` for all of them. Omitted: every type but usage.recorded,
   * customer.spend_cap_reached, alert.triggered, alert.recovered, auto_topup.succeeded,
   * auto_topup.failed, payment.disputed.
   */
  eventTypes: SubscribedType[];
  description: string | null;
  status: EndpointStatus;
  /**
   * `gone`: it answered 410. `failing`: for a day nothing but failures. null: its owner did,
   * or it is enabled.
   */
  disabledReason: 'gone' | 'failing' | null;
  failingSince: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
  /** Signs every delivery: `whsec_` and base64. It is shown this once. */
  secret: string;
};

export type Entitlement = {
  id: string;
  productId: string;
  meterId: string;
  /** The slug of the meter. */
  featureKey: string;
  type: FeatureType;
  limit: number | null;
  resetInterval: ResetInterval;
  overageAllowed: boolean;
  rollover: Rollover | null;
  priority: number;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type EntitlementCreate = {
  /** The slug of the meter. */
  featureKey: string;
  type?: FeatureType;
  /** `null` for no limit. A metered feature says one or the other. */
  limit?: number | string | null;
  resetInterval?: ResetInterval;
  overageAllowed?: boolean;
  rollover?: RolloverCreate | null;
  /** Lower burns first. */
  priority?: number;
};

export type EntitlementExhaustedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'entitlement.exhausted';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  limit: number;
  consumed: number;
  remaining: 0;
  /** Negative where more was used than granted. */
  balance: number;
  periodStart: string | null;
  periodEnd: string | null;
};

export type EntitlementExhaustedEvent = {
  id: string;
  type: 'entitlement.exhausted';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: EntitlementExhaustedData;
};

export type EntitlementGrantedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'entitlement.granted';
  /** What it is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  amount: number | null;
  limit: number | null;
  balance: number | null;
  source: 'subscription_start' | 'plan_change' | 'manual_top_up' | 'renewal';
  grantId: string;
  subscriptionId: string | null;
  expiresAt: string | null;
  periodStart: string | null;
  periodEnd: string | null;
};

export type EntitlementGrantedEvent = {
  id: string;
  type: 'entitlement.granted';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: EntitlementGrantedData;
};

export type ErrorDetail = {
  type: ErrorType;
  /** For people; it may change. */
  message: string;
  /** With `invalid_request`: what is wrong, and where. */
  issues?: Issue[];
};

export type ErrorType =
  | 'unauthorized'
  | 'forbidden'
  | 'not_found'
  | 'invalid_request'
  | 'checkout_create_failed'
  | 'validation_error'
  | 'insufficient_balance'
  | 'payment_failed'
  | 'conflict'
  | 'invalid_state'
  | 'idempotency_in_progress'
  | 'idempotency_key_reused'
  | 'rate_limited'
  | 'payload_too_large'
  | 'unsupported_media_type'
  | 'method_not_allowed'
  | 'internal_error'
  | 'service_unavailable';

export type Event =
  | PaymentSucceededEvent
  | PaymentFailedEvent
  | PaymentErroredEvent
  | PaymentRefundedEvent
  | PaymentRefundFailedEvent
  | InvoiceCreatedEvent
  | InvoiceUpdatedEvent
  | SubscriptionCreatedEvent
  | SubscriptionUpdatedEvent
  | SubscriptionCanceledEvent
  | SubscriptionExpiredEvent
  | SubscriptionTrialEndedEvent
  | CustomerCreatedEvent
  | CustomerUpdatedEvent
  | SubscriptionOverdueChangedEvent
  | SubscriptionBlockedEvent
  | TagCreatedEvent
  | TagDeletedEvent
  | CustomFieldCreatedEvent
  | CustomFieldDeletedEvent
  | OrganizationConfigChangedEvent
  | EntitlementGrantedEvent
  | EntitlementExhaustedEvent
  | UsageRecordedEvent
  | CustomerSpendCapReachedEvent
  | PaymentDisputedEvent
  | AlertTriggeredEvent
  | AlertRecoveredEvent
  | AutoTopupSucceededEvent
  | AutoTopupFailedEvent;

export type EventType =
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.errored'
  | 'payment.refunded'
  | 'payment.refund_failed'
  | 'invoice.created'
  | 'invoice.updated'
  | 'subscription.created'
  | 'subscription.updated'
  | 'subscription.canceled'
  | 'subscription.expired'
  | 'subscription.trial_ended'
  | 'customer.created'
  | 'customer.updated'
  | 'subscription.overdue_changed'
  | 'subscription.blocked'
  | 'tag.created'
  | 'tag.deleted'
  | 'custom_field.created'
  | 'custom_field.deleted'
  | 'organization.config_changed'
  | 'entitlement.granted'
  | 'entitlement.exhausted'
  | 'usage.recorded'
  | 'customer.spend_cap_reached'
  | 'payment.disputed'
  | 'alert.triggered'
  | 'alert.recovered'
  | 'auto_topup.succeeded'
  | 'auto_topup.failed';

export type FailureCode =
  | 'card_declined'
  | 'insufficient_funds'
  | 'lost_card'
  | 'stolen_card'
  | 'expired_card'
  | 'invalid_expiry'
  | 'incorrect_cvc'
  | 'incorrect_number'
  | 'incorrect_iban'
  | 'authentication_failed'
  | 'authentication_required'
  | 'authentication_abandoned'
  | 'mandate_lost'
  | 'discount_spent'
  | 'amount_refused'
  | 'processing_error'
  | 'not_found'
  | 'canceled';

export type FeatureByHour = {
  featureKey: string;
  today: QuantityByHour;
  lastWeek: QuantityByHour;
};

/** A boolean feature is had or not: it has no limit and is not used up. */
export type FeatureType = 'metered' | 'boolean';

export type Grant = {
  id: string;
  customerId: string;
  meterId: string;
  featureKey: string;
  source: GrantOrigin;
  amount: number | null;
  remaining: number | null;
  unlimited: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveAt: string;
  expiresAt: string | null;
  priority: number;
  resetInterval: GrantInterval | null;
  rollover: Rollover | null;
  overageAllowed: boolean;
  reason: string | null;
  status: GrantStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  endedAt: string | null;
};

export type GrantCreate = {
  featureKey: string;
  amount?: number | string;
  /** Instead of an amount. */
  unlimited?: true;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveAt?: string;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt?: string;
  /** Lower burns first. */
  priority?: number;
  reason?: string;
  idempotencyKey?: string;
  /** Makes it an allowance: given afresh each interval, counted from `effectiveAt`. */
  resetInterval?: GrantInterval;
  rollover?: RolloverCreate;
  overageAllowed?: boolean;
};

export type GrantInterval = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

export type GrantOfThen = {
  id: string;
  /** At that instant. */
  state: 'in_force' | 'over' | 'to_come';
  suspended: 'paused' | 'blocked' | null;
  source: 'subscription' | 'top_up' | 'rollover' | 'manual';
  amount: number | null;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveAt: string;
  expiresAt: string | null;
  endedAt: string | null;
  endedHow: 'expired' | 'voided' | 'used_up' | null;
  priority: number;
  overageAllowed: boolean;
  /** Whether usage beyond it has a price. */
  isSold: boolean;
  resetInterval: string | null;
  productId: string | null;
  subscriptionId: string | null;
  reason: string | null;
};

export type GrantOrigin = 'subscription' | 'top_up' | 'rollover' | 'manual';

export type GrantStatus = 'scheduled' | 'active' | 'expired' | 'voided' | 'used_up';

export type IngestBody = {
  events: readonly IngestEvent[];
  /** Record what is good, and list what is not in `rejected`. Default: all or nothing. */
  partial?: boolean;
};

export type IngestEvent = {
  name: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  value?: number | string;
  metadata?: UsageMetadata;
  /** ISO 8601, with Z or an offset. */
  timestamp?: string;
  externalId?: string;
};

export type IngestResult = {
  inserted: number;
  duplicates: number;
  events: IngestedEvent[];
  /** Of a partial call: each event that was not recorded, and why. A path begins at the event. */
  rejected?: RejectedEvent[];
};

export type IngestedEvent = {
  index: number;
  id: string;
  externalId: string | null;
  status: 'inserted' | 'duplicate';
};

export type Invitation = {
  id: string;
  email: string;
  role: 'owner' | 'admin' | 'support' | 'read_only';
  status: 'open' | 'accepted' | 'revoked' | 'expired';
  invitedBy: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
};

export type InvitationCreate = {
  email: string;
  role: 'owner' | 'admin' | 'support' | 'read_only';
};

export type Invoice = {
  id: string;
  number: string | null;
  status: InvoiceStatus;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** A decimal, with exactly the decimals of its currency. */
  subtotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  discountTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  total: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountPaid: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountDue: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountRefunded: string;
  /** What lost disputes took. Absent where none did. The invoice stays `paid`. */
  amountChargedBack?: string;
  billingReason: BillingReason;
  customerId: string | null;
  subscriptionId: string | null;
  paymentId: string | null;
  periodStart: string | null;
  periodEnd: string | null;
  issuedAt: string | null;
  dueAt: string | null;
  paidAt: string | null;
  /** How often it was tried to collect it. */
  attempts: number;
  /** The first 100. */
  lines: InvoiceLine[];
  /** Whether there are lines behind them: `GET /invoices/{id}/lines` has them all. */
  linesHasMore: boolean;
  /** The document to print. */
  hostedUrl: string;
};

export type InvoiceCreate = {
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  lines: readonly InvoiceLineCreate[];
  /** ISO 8601, with Z or an offset. In the future. When it is issued, by default. */
  dueAt?: string;
  /** Leaves it a draft, without a number. */
  draft?: boolean;
};

export type InvoiceCreatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'invoice.created';
  /** What it is about. */
  objectId: string;
  objectType: 'INVOICE';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  invoiceId: string;
  number: string | null;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  subscriptionId: string | null;
  /** The total. */
  amount: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountDue: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  billingReason:
    | 'purchase'
    | 'subscription_create'
    | 'subscription_cycle'
    | 'subscription_update'
    | 'subscription_resume'
    | 'usage'
    | 'manual'
    | 'auto_topup';
  periodStart: string | null;
  periodEnd: string | null;
  dueAt: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type InvoiceCreatedEvent = {
  id: string;
  type: 'invoice.created';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: InvoiceCreatedData;
};

export type InvoiceLine = PlainInvoiceLine | UsageInvoiceLine;

export type InvoiceLineCreate = {
  description: string;
  quantity?: number;
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  unitAmount: string;
};

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';

export type InvoiceUpdatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'invoice.updated';
  /** What it is about. */
  objectId: string;
  objectType: 'INVOICE';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  invoiceId: string;
  number: string | null;
  status: 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';
  subscriptionId: string | null;
  /** The total. */
  amount: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountDue: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  billingReason:
    | 'purchase'
    | 'subscription_create'
    | 'subscription_cycle'
    | 'subscription_update'
    | 'subscription_resume'
    | 'usage'
    | 'manual'
    | 'auto_topup';
  periodStart: string | null;
  periodEnd: string | null;
  dueAt: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  change: 'credited' | 'adjusted' | 'refunded' | 'voided';
  creditNoteId: string | null;
  refundId: string | null;
  disputeId: string | null;
  amountDelta: string | null;
};

export type InvoiceUpdatedEvent = {
  id: string;
  type: 'invoice.updated';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: InvoiceUpdatedData;
};

export type Issue = {
  path: string[];
  message: string;
};

export type ItemError = {
  /** The paths of its issues begin at the item. */
  error: ErrorDetail;
};

export type LiveGrant = {
  id: string;
  meterId: string;
  featureKey: string;
  source: GrantOrigin;
  amount: number | null;
  /** Of an allowance: in its present period. */
  used: number;
  remaining: number | null;
  unlimited: boolean;
  /** A feature that one has or has not. */
  boolean: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveAt: string;
  expiresAt: string | null;
  renewsAt: string | null;
  priority: number;
  resetInterval: GrantInterval | null;
  rollover: Rollover | null;
  /** Whether usage beyond the limit is let pass. */
  overageAllowed: boolean;
  suspended: 'paused' | 'blocked' | null;
  productId: string | null;
  subscriptionId: string | null;
  reason: string | null;
  status: 'scheduled' | 'active';
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type LiveGrants = {
  data: LiveGrant[];
  nextCursor: string | null;
};

export type Logo = {
  /** The same as `branding.logo_url` of the organization. */
  url: string;
  type: 'image/png' | 'image/jpeg' | 'image/webp';
  /** Pixels. */
  width: number;
  /** Pixels. */
  height: number;
};

export type LogoPut = {
  /**
   * A PNG, JPEG or WebP that stands still, in base64: at most 65536 bytes, and 1024 pixels a
   * side.
   */
  data: string;
};

export type Member = {
  id: string;
  userId: string;
  email: string;
  name: string;
  role: 'owner' | 'admin' | 'support' | 'read_only';
  /** Whether the user has enrolled one. */
  secondFactor: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type MemberChange = {
  role: 'owner' | 'admin' | 'support' | 'read_only';
};

export type Metadata = Readonly<Record<string, string>>;

export type Meter = {
  id: string;
  slug: string;
  name: string;
  description: string | null;
  eventName: string;
  aggregation: Aggregation;
  valueProperty: string | null;
  uniqueProperty: string | null;
  unit: string | null;
  scale: number;
  metadata: Metadata;
  status: MeterStatus;
  /**
   * Of a pool of credits: what it asks for a unit of each feature that it pays for. Empty for
   * every other meter.
   */
  creditCosts: CreditCost[];
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type MeterChange = {
  name?: string;
  description?: string | null;
  unit?: string | null;
  metadata?: Metadata;
  status?: MeterStatus;
  /**
   * Of a pool of credits: what it asks for a unit of each feature that it pays for. Another
   * list counts for each customer from the next period of the pool on.
   */
  creditCosts?: readonly CreditCostCreate[];
};

export type MeterCreate = {
  slug: string;
  name?: string;
  description?: string;
  /** Default: the slug. */
  eventName?: string;
  aggregation?: Aggregation;
  /** Where the value stands in the metadata of usage: a number or a decimal string. */
  valueProperty?: string;
  /** What `unique` counts in the metadata of usage, by its text: 7 and "7" are one. */
  uniqueProperty?: string;
  /** Decimals of a quantity. Default of a pool of credits: 9. */
  scale?: number;
  unit?: string;
  metadata?: Metadata;
  /**
   * Of a pool of credits: what it asks for a unit of each feature that it pays for. Another
   * list counts for each customer from the next period of the pool on.
   */
  creditCosts?: readonly CreditCostCreate[];
};

export type MeterPut = {
  slug?: string;
  /** Default: the slug. */
  eventName?: string;
  aggregation?: Aggregation;
  /** Where the value stands in the metadata of usage: a number or a decimal string. */
  valueProperty?: string;
  /** What `unique` counts in the metadata of usage, by its text: 7 and "7" are one. */
  uniqueProperty?: string;
  /** Decimals of a quantity. Default of a pool of credits: 9. */
  scale?: number;
  name?: string;
  description?: string | null;
  unit?: string | null;
  metadata?: Metadata;
  status?: MeterStatus;
  /**
   * Of a pool of credits: what it asks for a unit of each feature that it pays for. Another
   * list counts for each customer from the next period of the pool on.
   */
  creditCosts?: readonly CreditCostCreate[];
};

export type MeterStatus = 'active' | 'archived';

export type Mode = 'test' | 'live';

/** What else the given id names, or the request has changed. */
export type NamedObject = {
  type: string;
  id: string;
};

export type NewInvitation = {
  id: string;
  email: string;
  role: 'owner' | 'admin' | 'support' | 'read_only';
  status: 'open' | 'accepted' | 'revoked' | 'expired';
  invitedBy: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
  /** false where the service sends no mails (`SMTP_URL`). */
  mailed: boolean;
  url: string | null;
};

export type Organization = {
  id: string;
  mode: Mode;
  name: string;
  /** The name of an IANA zone, as `Europe/Berlin`. */
  timezone: string;
  seller: Seller;
  dunning: Dunning;
  branding: Branding;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type OrganizationChange = {
  name?: string;
  /** The name of an IANA zone, as `Europe/Berlin`. */
  timezone?: string;
  seller?: SellerChange;
  dunning?: DunningChange;
  branding?: BrandingChange;
};

export type OrganizationConfigChangedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'organization.config_changed';
  /** What it is about. */
  objectId: string;
  objectType: 'ORGANIZATION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  key: 'name' | 'timezone' | 'seller' | 'dunning' | 'branding' | 'processor';
  /** The names of what changed, never what they hold. */
  changes: (
    | 'timezone'
    | 'name'
    | 'addressLine1'
    | 'addressLine2'
    | 'city'
    | 'state'
    | 'postalCode'
    | 'country'
    | 'taxId'
    | 'email'
    | 'phone'
    | 'retryDays'
    | 'blockAfterDays'
    | 'expireAfterDays'
    | 'color'
    | 'logo'
    | 'supportEmail'
    | 'supportUrl'
    | 'account'
    | 'secretKey'
    | 'webhookSecret'
  )[];
  /** Who changed it: the API key, by its id; `admin` for the command line. */
  actor: string;
};

export type OrganizationConfigChangedEvent = {
  id: string;
  type: 'organization.config_changed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: OrganizationConfigChangedData;
};

export type OverdueState = 'clear' | 'warning' | 'blocked';

export type Overview = {
  /** The organization's clock. */
  at: string;
  /** In which the days begin at midnight. */
  timezone: string;
  today: DayOfHours;
  /** The same weekday, a week before. */
  lastWeek: DayOfHours;
  /** What was captured, less what was refunded, by the hour when it was. */
  revenue: RevenueByHour[];
  subscriptions: SubscriptionsByState;
  usage: FeatureByHour[] | null;
  denials: DenialsByHour;
  failedPayments: CountOfDay;
  webhooks: WebhooksOfDay;
};

export type PaidPart = {
  /** The slug of the meter. */
  featureKey: string;
  amount: number;
};

export type PartnerEndpoint = {
  id: string;
  groupId: string;
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /** `["*"]` for all of them. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes: SubscribedType[];
  environment: Mode;
  status: EndpointStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type PartnerEndpointChange = {
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url?: string;
  /** `["*"]` for all of them. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes?: readonly SubscribedType[];
  status?: EndpointStatus;
};

export type PartnerEndpointCreate = {
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /** `["*"]` for all of them. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes?: readonly SubscribedType[];
};

export type PartnerEndpointWithSecret = {
  id: string;
  groupId: string;
  /**
   * https, and a public host. For a test key, and where it is allowed, this machine too:
   * http://localhost.
   */
  url: string;
  /** `["*"]` for all of them. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes: SubscribedType[];
  environment: Mode;
  status: EndpointStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** Signs every delivery: `whsec_` and base64. It is shown this once. */
  secret: string;
};

export type Payment = {
  id: string;
  status: PaymentStatus;
  /**
   * What was asked for. Of a part that you have captured at Stripe by hand, the payment's
   * invoice, its event and `refundableAmount` say how much it is.
   */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountRefunded: string;
  /** A decimal, with exactly the decimals of its currency. */
  amountRefundPending: string;
  /** A decimal, with exactly the decimals of its currency. */
  refundableAmount: string;
  transactionType: TransactionType;
  paymentMethod: PaymentMethod | null;
  checkoutId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /**
   * Also of a payment that is not made, where the customer was known when the buyer tried to
   * pay.
   */
  customerId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  productId: string | null;
  failureCode: FailureCode | null;
  failureMessage: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  paidAt: string | null;
  /** Oldest first. Absent where nothing was ever disputed. */
  disputes?: Dispute[];
};

export type PaymentDisputedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.disputed';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'DISPUTE';
  disputeId: string;
  reason:
    | 'bank_cannot_process'
    | 'check_returned'
    | 'credit_not_processed'
    | 'customer_initiated'
    | 'debit_not_authorized'
    | 'duplicate'
    | 'fraudulent'
    | 'general'
    | 'incorrect_account_details'
    | 'insufficient_funds'
    | 'noncompliant'
    | 'product_not_received'
    | 'product_unacceptable'
    | 'subscription_canceled'
    | 'unrecognized';
  status: 'opened' | 'won' | 'lost';
  /** What a lost dispute took off what can be refunded. */
  amountChargedBack: string;
  /** What can still be refunded. */
  refundableAmount: string;
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type PaymentDisputedEvent = {
  id: string;
  type: 'payment.disputed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentDisputedData;
};

export type PaymentErroredData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.errored';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';
  failureCode:
    | 'card_declined'
    | 'insufficient_funds'
    | 'lost_card'
    | 'stolen_card'
    | 'expired_card'
    | 'invalid_expiry'
    | 'incorrect_cvc'
    | 'incorrect_number'
    | 'incorrect_iban'
    | 'authentication_failed'
    | 'authentication_required'
    | 'authentication_abandoned'
    | 'mandate_lost'
    | 'discount_spent'
    | 'amount_refused'
    | 'processing_error'
    | 'not_found'
    | 'canceled';
  /** For people. */
  failureMessage: string;
  /** 1 for the first try to be paid for the same thing. */
  attempt: number;
  nextAttemptAt: string | null;
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  retryable: boolean;
};

export type PaymentErroredEvent = {
  id: string;
  type: 'payment.errored';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentErroredData;
};

export type PaymentFailedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.failed';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';
  failureCode:
    | 'card_declined'
    | 'insufficient_funds'
    | 'lost_card'
    | 'stolen_card'
    | 'expired_card'
    | 'invalid_expiry'
    | 'incorrect_cvc'
    | 'incorrect_number'
    | 'incorrect_iban'
    | 'authentication_failed'
    | 'authentication_required'
    | 'authentication_abandoned'
    | 'mandate_lost'
    | 'discount_spent'
    | 'amount_refused'
    | 'processing_error'
    | 'not_found'
    | 'canceled';
  /** For people. */
  failureMessage: string;
  /** 1 for the first try to be paid for the same thing. */
  attempt: number;
  nextAttemptAt: string | null;
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type PaymentFailedEvent = {
  id: string;
  type: 'payment.failed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentFailedData;
};

export type PaymentMethod = {
  type: PaymentMethodType;
  brand: string | null;
  last4: string;
};

export type PaymentMethodType = 'card' | 'bank_debit';

export type PaymentRefundFailedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.refund_failed';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'REFUND';
  refundId: string;
  reason: 'duplicate' | 'fraudulent' | 'requested_by_customer';
  status: 'failed';
  /** Whether this refund is of less than was captured. */
  partial: boolean;
  /** Of all refunds that succeeded. */
  amountRefundedTotal: string;
  /** What can still be refunded. */
  refundableAmount: string;
  failureReason:
    | 'declined'
    | 'expired_or_canceled_card'
    | 'lost_or_stolen_card'
    | 'insufficient_funds'
    | 'disputed'
    | 'processor_error'
    | 'unknown';
  paymentStatus: 'succeeded' | 'partially_refunded' | 'refunded';
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type PaymentRefundFailedEvent = {
  id: string;
  type: 'payment.refund_failed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentRefundFailedData;
};

export type PaymentRefundedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.refunded';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'REFUND';
  refundId: string;
  reason: 'duplicate' | 'fraudulent' | 'requested_by_customer';
  status: 'succeeded';
  /** Whether this refund is of less than was captured. */
  partial: boolean;
  /** Of all refunds that succeeded. */
  amountRefundedTotal: string;
  /** What can still be refunded. */
  refundableAmount: string;
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type PaymentRefundedEvent = {
  id: string;
  type: 'payment.refunded';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentRefundedData;
};

export type PaymentStatus =
  | 'requires_action'
  | 'processing'
  | 'succeeded'
  | 'partially_refunded'
  | 'refunded'
  | 'failed'
  | 'errored'
  | 'canceled';

export type PaymentSucceededData = {
  /** The event's id, again. */
  id: string;
  eventType: 'payment.succeeded';
  /** What it is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  transactionType: 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';
  paymentLinkId: string | null;
  paymentLinkToken: string | null;
  productId: string | null;
  customerEmail: string | null;
  externalCustomerId: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type PaymentSucceededEvent = {
  id: string;
  type: 'payment.succeeded';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: PaymentSucceededData;
};

export type Payout = {
  id: string;
  /** As the processor names it. */
  payoutId: string;
  /** The connected account that was paid out. */
  account: string;
  /** Gross, less fees, refunds and disputes, and other. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** As the processor says: pending, in_transit, paid, failed, canceled. */
  status: string;
  /** When it reaches the bank, or should. */
  arrivalDate: string;
  gross: string | null;
  fees: string | null;
  refunds: string | null;
  disputes: string | null;
  other: string | null;
  count: number | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

/**
 * A change, or a resume, that waits for its payment: a bank debit takes days. It begins when
 * that is paid, and not without. Until then nothing changes; a cancellation, or
 * `unschedule`, takes it back.
 */
export type PendingChange = {
  priceId: string;
  quantity: number;
  invoiceId: string;
  paymentId: string;
  /** ISO 8601 in UTC, with milliseconds. */
  since: string;
};

/** A change, or a resume, that waits for its payment. */
export type PendingChangeData = {
  priceId: string;
  quantity: number;
  invoiceId: string;
  paymentId: string;
  /** ISO 8601 in UTC, with milliseconds. */
  since: string;
};

export type Period = {
  /** ISO 8601 in UTC, with milliseconds. */
  start: string;
  /** ISO 8601 in UTC, with milliseconds. */
  end: string;
};

export type PlainInvoiceLine = {
  id: string;
  type: PlainInvoiceLineType;
  description: string;
  quantity: number;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  unitAmount: string;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  amount: string;
  period: Period | null;
};

export type PlainInvoiceLineType = 'fixed' | 'recurring' | 'proration' | 'credit' | 'adjustment';

export type PortalToken = {
  id: string;
  customerId: string;
  /** Shown this once. */
  token: string;
  /** Where to send the customer. */
  url: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
};

export type PortalTokenCreate = {
  /** How long it opens the portal. */
  ttlSeconds?: number;
};

/** What each of those fields was before, and nothing else. */
export type PreviousSubscription = {
  subscriptionId?: string;
  bundleId?: string;
  planName?: string;
  phaseName?: string | null;
  priceListName?: string;
  productId?: string;
  priceId?: string;
  /** Of a whole period: the price times the quantity. */
  amount?: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency?: string;
  quantity?: number;
  status?: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd?: boolean;
  cancellationEffectiveAt?: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd?: string;
  resumesAt?: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices?: boolean;
  pendingChange?: PendingChangeData | null;
  externalCustomerId?: string | null;
  customerEmail?: string | null;
  clientReferenceId?: string | null;
  metadata?: Metadata;
};

export type Price = {
  id: string;
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  type: PriceType;
  interval?: BillingInterval;
  /** On recurring prices only. */
  intervalCount?: number;
  /** On recurring prices only. */
  trialDays?: number;
  status: PriceStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type PriceCreate = {
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  type?: PriceType;
  interval?: BillingInterval;
  /** A period is so many intervals. At most 365 days, 156 weeks, 36 months, 3 years. */
  intervalCount?: number;
  trialDays?: number;
};

export type PriceStatus = 'active' | 'archived';

export type PriceType = 'one_time' | 'recurring';

export type ProcessorAccount = {
  type: 'stripe';
  /** The account, by Stripe's id of it. */
  account: string;
  mode: Mode;
  /** The end of the key. */
  last4: string;
  status: ProcessorAccountStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  checkedAt: string;
};

/**
 * `webhook_secret_required`: payments work, but what changes at Stripe by itself is learned
 * late, because Stripe does not tell: make an endpoint there and send its `webhookSecret`.
 * `failing`: Stripe refuses the key; send another.
 */
export type ProcessorAccountStatus = 'active' | 'webhook_secret_required' | 'failing';

export type ProcessorConnect = {
  type: 'stripe';
  /**
   * A secret key (`sk_...`) or a restricted one (`rk_...`) of the account, of the mode of the
   * API key. It is stored encrypted and never shown.
   */
  secretKey: string;
  /**
   * The signing secret (`whsec_...`) of an endpoint that you have made at Stripe. Omitted: an
   * endpoint is made there, where the key may; one that you have named before stays.
   */
  webhookSecret?: string;
};

export type Product = {
  id: string;
  name: string;
  description: string;
  /** All of them, active ones first. */
  prices: Price[];
  /** Names the product in a buy link. Unique over all organisations. */
  slug: string;
  status: ProductStatus;
  metadata: Metadata;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type ProductChange = {
  name?: string;
  description?: string;
  /** Names the product in a buy link. Unique over all organisations. */
  slug?: string;
  status?: ProductStatus;
  metadata?: Metadata;
};

export type ProductCreate = {
  name: string;
  description?: string;
  /** Names the product in a buy link. Unique over all organisations. */
  slug?: string;
  status?: ProductStatus;
  metadata?: Metadata;
  prices?: readonly PriceCreate[];
};

/** Only an active product can be bought. */
export type ProductStatus = 'active' | 'archived' | 'unpublished';

export type QuantityByHour = {
  total: number | null;
  /** One for each hour of that day. */
  hours: (number | null)[];
};

export type Refund = {
  id: string;
  paymentId: string;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  status: RefundStatus;
  reason: RefundReason;
  failureReason: RefundFailure | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  settledAt: string | null;
};

export type RefundCreate = {
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amount?: string;
  reason?: RefundReason;
};

export type RefundFailure =
  | 'declined'
  | 'expired_or_canceled_card'
  | 'lost_or_stolen_card'
  | 'insufficient_funds'
  | 'disputed'
  | 'processor_error'
  | 'unknown';

export type RefundReason = 'duplicate' | 'fraudulent' | 'requested_by_customer';

export type RefundStatus = 'pending' | 'succeeded' | 'failed';

export type RejectedEvent = {
  index: number;
  issues: Issue[];
};

export type ReplayRequest = {
  /** From then on. ISO 8601 with a zone. */
  since: string;
  /** Before then. */
  until: string;
  /**
   * `["*"]` for all of them. Omitted: what the endpoint subscribes to. It may name what it
   * does not.
   */
  types?: readonly SubscribedType[];
  /** Count, and send nothing. */
  dryRun?: boolean;
};

export type Replayed = {
  /** Deliveries that are sent again, or for the first time. */
  count: number;
};

export type Reservation = {
  id: string;
  featureKey: string;
  customerId: string;
  externalCustomerId: string | null;
  /** What is held, or was. */
  amount: number;
  /** What the work came to; 0 until it is committed. */
  committed: number;
  status: 'open' | 'committed' | 'released' | 'expired';
  /** Whether it was committed after it had expired. */
  late: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  balance: number | null;
  remaining: number | null;
  /**
   * Of a feature that a pool of credits pays for: units of its own allowance, then credits of
   * the pool. No parts of 0; empty where it is not allowed. Other features do not have it.
   */
  paidBy?: PaidPart[];
};

export type ReservationCommit = {
  value: number | string;
};

export type ReservationCreate = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  amount: number | string;
  /** Seconds from now. */
  expiresIn?: number;
  idempotencyKey?: string;
};

export type ReservationExtend = {
  amount?: number | string;
  /** Seconds from now. */
  expiresIn?: number;
};

/**
 * How often the limit is given afresh. Default: the interval of the product's recurring
 * prices where they agree, else `month`.
 */
export type ResetInterval = 'never' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

export type RevenueByHour = {
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  today: AmountByHour;
  lastWeek: AmountByHour;
};

export type Rollover = {
  max: number;
  expiresAfterPeriods: number;
};

export type RolloverCreate = {
  max: number | string;
  expiresAfterPeriods: number;
};

export type RotatedSecret = {
  /** Signs every delivery: `whsec_` and base64. It is shown this once. */
  secret: string;
  /** Until then deliveries are signed with the replaced secret too. */
  previousSecretUntil: string;
};

export type SampleRequest = {
  type?: EventType;
};

export type Security = {
  /** Whether a member without a second factor may enrol one, and nothing else. */
  requireSecondFactor: boolean;
  /**
   * In the dashboard, in live mode, refunds of a member that come to more in an hour need a
   * code given within the last 10 minutes. In the major unit of any currency.
   */
  refundStepUpAmount: string;
};

export type SecurityChange = {
  /** Whether a member without a second factor may enrol one, and nothing else. */
  requireSecondFactor?: boolean;
  /**
   * In the dashboard, in live mode, refunds of a member that come to more in an hour need a
   * code given within the last 10 minutes. In the major unit of any currency.
   */
  refundStepUpAmount?: string;
};

export type Seller = {
  name: string | null;
  addressLine1: string | null;
  addressLine2: string | null;
  city: string | null;
  state: string | null;
  postalCode: string | null;
  country: string | null;
  taxId: string | null;
  email: string | null;
  phone: string | null;
};

export type SellerChange = {
  name?: string | null;
  addressLine1?: string | null;
  addressLine2?: string | null;
  city?: string | null;
  state?: string | null;
  postalCode?: string | null;
  country?: string | null;
  taxId?: string | null;
  email?: string | null;
  phone?: string | null;
};

export type SpendCap = {
  customerId: string;
  externalCustomerId: string | null;
  /** A decimal, with at most the decimals of its currency. It leaves with exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /**
   * What unbilled usage of the customer's subscriptions in this currency has come to, each in
   * its current period: an exact decimal, before rounding and minimums. It may be above the
   * cap: usage that is told with /track is recorded, unless its `overage` is `reject`.
   */
  spent: string;
  /** What is left of the cap; never below 0. */
  remaining: string;
};

export type SpendCapPut = {
  /**
   * A decimal, with at most the decimals of its currency. It leaves with exactly those. With 0
   * nothing beyond what is included may be used.
   */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
};

export type SubscribedType =
  | '*'
  | 'payment.succeeded'
  | 'payment.failed'
  | 'payment.errored'
  | 'payment.refunded'
  | 'payment.refund_failed'
  | 'invoice.created'
  | 'invoice.updated'
  | 'subscription.created'
  | 'subscription.updated'
  | 'subscription.canceled'
  | 'subscription.expired'
  | 'subscription.trial_ended'
  | 'customer.created'
  | 'customer.updated'
  | 'subscription.overdue_changed'
  | 'subscription.blocked'
  | 'tag.created'
  | 'tag.deleted'
  | 'custom_field.created'
  | 'custom_field.deleted'
  | 'organization.config_changed'
  | 'entitlement.granted'
  | 'entitlement.exhausted'
  | 'usage.recorded'
  | 'customer.spend_cap_reached'
  | 'payment.disputed'
  | 'alert.triggered'
  | 'alert.recovered'
  | 'auto_topup.succeeded'
  | 'auto_topup.failed';

export type Subscription = {
  id: string;
  bundleId: string;
  customerId: string;
  externalCustomerId: string | null;
  customerEmail: string | null;
  productId: string;
  priceId: string;
  planName: string;
  /** Ends in `-trial` during a trial. */
  phaseName: string;
  priceListName: string;
  status: SubscriptionStatus;
  overdueState: OverdueState;
  nextRetryAt: string | null;
  quantity: number;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodStart: string;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  /** Where the periods count from. */
  anchorAt: string;
  trialEnd: string | null;
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  canceledAt: string | null;
  endedAt: string | null;
  pausedAt: string | null;
  resumesAt: string | null;
  keepInvoices: boolean;
  pendingChange: PendingChange | null;
  metadata: Metadata;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type SubscriptionBlockedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.blocked';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  stateName: 'blocked' | 'clear';
  /** Who blocks. */
  service: 'dunning';
  blockChange: boolean;
  blockEntitlement: boolean;
  blockBilling: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveDate: string;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type SubscriptionBlockedEvent = {
  id: string;
  type: 'subscription.blocked';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionBlockedData;
};

export type SubscriptionCancel = {
  mode?: CancelMode;
};

export type SubscriptionCanceledData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.canceled';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** Of a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type SubscriptionCanceledEvent = {
  id: string;
  type: 'subscription.canceled';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionCanceledData;
};

export type SubscriptionChange = {
  priceId?: string;
  /** Multiplies the price and what the product gives. */
  quantity?: number;
};

export type SubscriptionCreate = {
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  productId: string;
  /** Omitted: the recurring price that was made first. */
  priceId?: string;
  /** Multiplies the price and what the product gives. */
  quantity?: number;
  /** Omitted: as the price says. */
  trialDays?: number;
  metadata?: Metadata;
};

export type SubscriptionCreatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.created';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** Of a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
};

export type SubscriptionCreatedEvent = {
  id: string;
  type: 'subscription.created';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionCreatedData;
};

export type SubscriptionExpiredData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.expired';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** Of a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  reason:
    | 'cancellation_effective'
    | 'immediate'
    | 'dunning_exhausted'
    | 'mandate_lost'
    | 'trial_expired';
};

export type SubscriptionExpiredEvent = {
  id: string;
  type: 'subscription.expired';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionExpiredData;
};

export type SubscriptionOfThen = {
  id: string;
  status: string | null;
  /** At that instant, by dunning. */
  blocked: boolean;
  since: string | null;
  statusNow: string;
  planNow: string;
};

export type SubscriptionOverdueChangedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.overdue_changed';
  /** What it is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  previousState: 'clear' | 'warning' | 'blocked';
  overdueState: 'clear' | 'warning' | 'blocked';
  isClearState: boolean;
  blockChanges: boolean;
  disableEntitlement: boolean;
  balance: string | null;
  currency: string | null;
  unpaidInvoiceIds: string[];
  earliestUnpaidAt: string | null;
  nextEvaluationAt: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  email: string | null;
};

export type SubscriptionOverdueChangedEvent = {
  id: string;
  type: 'subscription.overdue_changed';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionOverdueChangedData;
};

export type SubscriptionPause = {
  /** ISO 8601, with Z or an offset. In the future, at most a year ahead. */
  resumesAt?: string;
  /** Whether periods go on and leave draft invoices, which nobody charges. */
  keepInvoices?: boolean;
};

export type SubscriptionPreview = {
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** As those of an invoice, without ids. None where nothing would be billed. */
  lines: UpcomingInvoiceLine[];
  /** A decimal, with exactly the decimals of its currency. */
  subtotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  discountTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  total: string;
  /** What is charged at once. */
  amountDue: string;
  /** What comes back as credit for later invoices. */
  credited: string;
  /** Whether it takes effect with the payment of `amountDue`, and not without. */
  waitsForPayment: boolean;
  subscription: Subscription;
  /** When it was reckoned: by the millisecond. */
  asOf: string;
};

export type SubscriptionStatus = 'active' | 'paused' | 'canceled';

export type SubscriptionTrialEndedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.trial_ended';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** Of a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  outcome: 'converted' | 'expired';
  /** ISO 8601 in UTC, with milliseconds. */
  trialEndedAt: string;
};

export type SubscriptionTrialEndedEvent = {
  id: string;
  type: 'subscription.trial_ended';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionTrialEndedData;
};

export type SubscriptionUpdatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'subscription.updated';
  /** What it is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** Of a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods go on while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  /**
   * The fields that changed; `plan` before them where the product, the price or the quantity
   * did.
   */
  changes: (
    | 'plan'
    | 'subscriptionId'
    | 'bundleId'
    | 'planName'
    | 'phaseName'
    | 'priceListName'
    | 'productId'
    | 'priceId'
    | 'amount'
    | 'currency'
    | 'quantity'
    | 'status'
    | 'cancelAtPeriodEnd'
    | 'cancellationEffectiveAt'
    | 'currentPeriodEnd'
    | 'resumesAt'
    | 'keepInvoices'
    | 'pendingChange'
    | 'externalCustomerId'
    | 'customerEmail'
    | 'clientReferenceId'
    | 'metadata'
  )[];
  previous: PreviousSubscription;
};

export type SubscriptionUpdatedEvent = {
  id: string;
  type: 'subscription.updated';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: SubscriptionUpdatedData;
};

/** Each that has not ended is in one of these. */
export type SubscriptionsByState = {
  active: number;
  trialing: number;
  pastDue: number;
  paused: number;
  blocked: number;
};

export type Tag = {
  id: string;
  objectType: AnnotatedType;
  objectId: string;
  /** Case matters. An object has each name once. */
  name: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type TagCreate = {
  objectType: AnnotatedType;
  objectId: string;
  /** Case matters. An object has each name once. */
  name: string;
};

export type TagCreatedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'tag.created';
  /** What it is about. */
  objectId: string;
  objectType: 'TAG';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  tagId: string;
  tagName: string;
  /** Whether it steers the service, beyond being a label. */
  controlTag: boolean;
  taggedObjectType: 'CUSTOMER' | 'SUBSCRIPTION' | 'INVOICE';
  taggedObjectId: string;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type TagCreatedEvent = {
  id: string;
  type: 'tag.created';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: TagCreatedData;
};

export type TagDeletedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'tag.deleted';
  /** What it is about. */
  objectId: string;
  objectType: 'TAG';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  tagId: string;
  tagName: string;
  /** Whether it steers the service, beyond being a label. */
  controlTag: boolean;
  taggedObjectType: 'CUSTOMER' | 'SUBSCRIPTION' | 'INVOICE';
  taggedObjectId: string;
  externalCustomerId: string | null;
  metadata: Metadata;
};

export type TagDeletedEvent = {
  id: string;
  type: 'tag.deleted';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: TagDeletedData;
};

export type TestClock = {
  /** ISO 8601 in UTC, with milliseconds. */
  now: string;
  status: TestClockStatus;
};

export type TestClockMove = {
  /**
   * An ISO 8601 duration in whole numbers, as `P1M` or `P1DT12H`: from what the clock says, by
   * the calendar in UTC. 31 January and a month is the last day of February.
   */
  advance?: string;
  /** What it shall say; not what it is past. */
  now?: string;
};

/** `advancing` while what is due is being done, at the time that `now` says. */
export type TestClockStatus = 'ready' | 'advancing';

export type TrackBatchBody = {
  tracks: readonly TrackBody[];
};

export type TrackBatchResult = {
  /** In the order of the call: an answer each, or why there is none. */
  results: (TrackResult | ItemError)[];
};

export type TrackBody = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id of the customer. */
  externalCustomerId?: string;
  value?: number | string;
  idempotencyKey?: string;
  metadata?: UsageMetadata;
  /** Refuse with 402 what would go over the limit. Without it, usage is recorded in full. */
  overage?: 'reject';
};

export type TrackResult = {
  id: string;
  featureKey: string;
  customerId: string;
  externalCustomerId: string | null;
  value: number;
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  balance: number | null;
  limit: number | null;
  consumed: number;
  remaining: number | null;
  overage: number;
  duplicate: boolean;
  /**
   * What money has paid of `consumed`: usage that was sold and billed within the period, as by
   * a change of plan. It is in `balance`: `limit` + `billed` - `consumed` - `reserved`. Absent
   * for nothing.
   */
  billed?: number;
};

export type TransactionType = 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';

export type UpcomingInvoice = {
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  /** As those of an invoice, without ids. None where nothing would be billed. */
  lines: UpcomingInvoiceLine[];
  /** A decimal, with exactly the decimals of its currency. */
  subtotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  discountTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  total: string;
  /** When it is billed, if nothing changes. */
  periodEnd: string;
  /** What was recorded by then is in it. */
  asOf: string;
};

export type UpcomingInvoiceLine = UpcomingPlainLine | UpcomingUsageLine;

export type UpcomingPlainLine = {
  type: PlainInvoiceLineType;
  description: string;
  quantity: number;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  unitAmount: string;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  amount: string;
  period: Period | null;
};

/**
 * `usage`: what was used beyond the allowance in the period; of a period that was billed in
 * part, what it costs more. `usage_adjustment`: what that costs now, after events that came
 * late and corrections, less what was billed of it before.
 */
export type UpcomingUsageLine = {
  type: UsageInvoiceLineType;
  description: string;
  featureKey: string;
  /** Units beyond the allowance; of an adjustment, the signed change of them. */
  quantity: number;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  amount: string;
  usagePriceId: string;
  /**
   * What makes up the amount before minimum, maximum and rounding, with what was billed of it
   * before.
   */
  tiers: UsageInvoiceLineTier[];
  period: Period;
};

export type UsageBin = {
  /** The calendar's, also where `from` is later: usage before `from` is not in it. */
  start: string;
  /** Not in it. The calendar's, also where `to` is earlier: usage from `to` on is not in it. */
  end: string;
  value: number | null;
  /**
   * The number of events; a correction is one, too. What is committed on a `count` meter is as
   * many as its units.
   */
  events: number;
  /**
   * With `group_by`: the value as it was sent, so 1 is not "1". Null: events without the name,
   * and those of all groups but the 250 largest.
   */
  group?: string | number | boolean | null;
};

export type UsageEvent = {
  id: string;
  featureKey: string;
  customerId: string;
  externalCustomerId: string | null;
  /** As it was reported: a correction is negative. */
  value: number;
  /** When the usage happened. */
  timestamp: string;
  /** ISO 8601 in UTC, with milliseconds. */
  recordedAt: string;
  metadata: UsageMetadata | null;
};

export type UsageEvents = {
  /** A page may have fewer than `limit`, also none, while there are more. */
  data: UsageEvent[];
  nextCursor: string | null;
};

/**
 * `usage`: what was used beyond the allowance in the period; of a period that was billed in
 * part, what it costs more. `usage_adjustment`: what that costs now, after events that came
 * late and corrections, less what was billed of it before.
 */
export type UsageInvoiceLine = {
  id: string;
  type: UsageInvoiceLineType;
  description: string;
  featureKey: string;
  /** Units beyond the allowance; of an adjustment, the signed change of them. */
  quantity: number;
  /** A decimal with the decimals of the currency; negative where it is given back. */
  amount: string;
  usagePriceId: string;
  /**
   * What makes up the amount before minimum, maximum and rounding, with what was billed of it
   * before.
   */
  tiers: UsageInvoiceLineTier[];
  period: Period;
};

/**
 * A price without tiers has one. Of packages: `flatAmount` is that of one package,
 * `unitAmount` is null.
 */
export type UsageInvoiceLineTier = {
  /** The billable units in this tier. */
  quantity: number;
  unitAmount: string | null;
  flatAmount: string | null;
  /** A decimal, not rounded: with the decimals of the currency or more, up to 21. */
  amount: string;
};

export type UsageInvoiceLineType = 'usage' | 'usage_adjustment';

export type UsageMetadata = Readonly<Record<string, string | number | boolean>>;

/**
 * `per_unit`: each unit costs `unitAmount`. `graduated`: each unit costs what its tier says.
 * `volume`: all units cost what the tier says that the whole quantity is in. `package`: each
 * package that is begun costs `packageAmount`.
 */
export type UsageModel = 'per_unit' | 'graduated' | 'volume' | 'package';

export type UsagePrice = {
  id: string;
  productId: string;
  meterId: string;
  /** The slug of the meter. */
  featureKey: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  model: UsageModel;
  /** Of `per_unit`. */
  unitAmount?: string;
  /** Of `graduated` and `volume`. They ascend. */
  tiers?: UsageTierShown[];
  /** The units of a package. Of `package`. */
  packageSize?: number;
  /** Of `package`. */
  packageAmount?: string;
  /**
   * What each period of the allowance costs at least, also without usage: for the share of it
   * in which the price is in force.
   */
  minimumAmount?: string;
  /** What each period of the allowance costs at most. */
  maximumAmount?: string;
  status: UsagePriceStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type UsagePriceCreate = {
  /** The slug of the meter. */
  featureKey: string;
  /** An ISO 4217 code. Lower case is read, and kept as upper case. */
  currency: string;
  model: UsageModel;
  /** Of `per_unit`. */
  unitAmount?: string | null;
  tiers?: readonly UsageTierCreate[] | null;
  /** The units of a package. Of `package`. */
  packageSize?: number | string | null;
  /** Of `package`. */
  packageAmount?: string | null;
  /**
   * What each period of the allowance costs at least, also without usage: for the share of it
   * in which the price is in force.
   */
  minimumAmount?: string | null;
  /** What each period of the allowance costs at most. */
  maximumAmount?: string | null;
};

export type UsagePriceStatus = 'active' | 'archived';

export type UsageRecordedData = {
  /** The event's id, again. */
  id: string;
  eventType: 'usage.recorded';
  /** What it is about. */
  objectId: string;
  objectType: 'USAGE';
  accountId: string | null;
  organizationId: string;
  /** As on the envelope. Of the events of one object a later one has a later time. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A sample that was asked for: nothing of it happened. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  /**
   * How many usage events of the call it stands for. What follows of one event is of the last
   * of them.
   */
  count: number;
  value: number | null;
  /** In the period that the usage counts in, after it. */
  consumed: number;
  balance: number | null;
  /** As the call answered it. */
  usageEventId: string;
  idempotencyKey: string | null;
  externalId: string | null;
  metadata: UsageMetadata | null;
  /** ISO 8601 in UTC, with milliseconds. */
  occurredAt: string;
};

export type UsageRecordedEvent = {
  id: string;
  type: 'usage.recorded';
  /** ISO 8601 in UTC, with milliseconds. */
  timestamp: string;
  data: UsageRecordedData;
};

export type UsageSeries = {
  /** In order of time, the largest groups first. */
  data: UsageBin[];
  /**
   * An instant of the organization's clock: every event that was acknowledged up to it is
   * counted.
   */
  exactThrough: string;
};

export type UsageTierCreate = {
  /** The last unit of the tier, counted beyond the allowance; `null` in the last tier. */
  upTo: number | string | null;
  unitAmount?: string | null;
  /** Added once, as soon as a unit is in the tier. */
  flatAmount?: string | null;
};

export type UsageTierShown = {
  /** The last unit of the tier, counted beyond the allowance; `null` in the last tier. */
  upTo: number | null;
  /** A decimal in the currency, with at most 12 decimals. */
  unitAmount?: string;
  /** Added once, as soon as a unit is in the tier. */
  flatAmount?: string;
};

/** Of deliveries, by what became of them so far. */
export type WebhookCounts = {
  /** The receiver has them. */
  delivered: number;
  /** Not tried yet. */
  pending: number;
  /** Tried without success, and to be tried again. */
  retrying: number;
  /** They wait for the endpoint to be enabled. */
  held: number;
  /** Given up. */
  exhausted: number;
};

export type WebhookHealth = {
  /** The endpoint. */
  id: string;
  /** Since midnight in the organization's time zone. */
  today: WebhookCounts;
  /** Since midnight six days before. */
  week: WebhookCounts;
  /**
   * Whether these are all of the seven days: only the newest 1000 deliveries of an endpoint
   * are counted.
   */
  complete: boolean;
};

/** Deliveries that were made today: of each endpoint the newest 1,000. */
export type WebhooksOfDay = {
  endpoints: number;
  disabled: number;
  delivered: number;
  waiting: number;
  /** Given up. */
  failed: number;
};
