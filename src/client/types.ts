// Generated from the OpenAPI document by `bun run client:types`.

/** What each operation is called with, and what it answers: one answer, or a list of items. */
export type Operations = {
  /**
   * Create a meter
   *
   * A `last` meter with `carry` begins each period with the level of the one before, without
   * an event: seats or stored bytes that nobody reports anew. Usage that is sold bills the
   * level of a period without events, too. A late event counts for all later periods that have
   * none of their own. 400 with any other aggregation.
   *
   * With `creditCosts` the meter is a pool of credits that pays for other features. A
   * customer's own allowance of such a feature is used first. Beyond it each unit costs
   * credits of the pool. Customers are granted the pool as any feature, by a product or by a
   * grant.
   *
   * A pool has `aggregation` `sum`; the features that it pays for are `sum` or `count` meters.
   * A feature is in one pool at most, former lists included, and is no pool itself. The
   * decimals of a cost and of its feature together are at most those of the pool (400). The
   * allowances of a pool and of its features have the same `resetInterval`, and such a feature
   * has no usage price (409). A pool has at most 50 costs. The number of lists in an
   * organization (`LIMIT_CREDIT_COST_LISTS`) and of features in the lists of a pool
   * (`LIMIT_FEATURES_PER_POOL`) is bounded, former lists included (409).
   */
  createMeter: { args: [params: MeterCreate]; answer: Meter };
  /** List meters, newest first */
  listMeters: { args: [params?: ListMetersQuery]; item: Meter };
  /** Get a meter */
  getMeter: { args: [id: string]; answer: Meter };
  /**
   * Create or update a meter
   *
   * The slug in the path names the meter. The call may be repeated, also concurrently: the
   * first answers 201, the others 200. An omitted field keeps its value, `null` clears it, and
   * metadata is replaced as a whole. A field that cannot change may be sent with its current
   * value; another value is 400 with the path of the field. A slug in the body must be the
   * slug of the path.
   */
  putMeter: { args: [id: string, params: MeterPut]; answer: Meter };
  /**
   * Update a meter
   *
   * Metadata and the list of costs are each replaced as a whole. `null` clears a field.
   */
  updateMeter: { args: [id: string, params: MeterChange]; answer: Meter };
  /**
   * Delete a meter
   *
   * The history is kept, and the slug can be used again. 409 while a product gives or sells
   * the meter, a customer has an allowance or an automatic top-up of it, or a pool of credits
   * pays for it, by a former list too. A pool that was ever granted is archived instead.
   */
  deleteMeter: { args: [id: string]; answer: void };
  /** Create a customer */
  createCustomer: { args: [params: CustomerCreate]; answer: Customer };
  /** List customers, newest first */
  listCustomers: { args: [params?: ListCustomersQuery]; item: Customer };
  /** Get a customer */
  getCustomer: { args: [id: string]; answer: Customer };
  /**
   * Create or update a customer
   *
   * The `externalCustomerId` in the path names the customer, also where it looks like a UUID.
   * The call may be repeated, also concurrently: the first answers 201, the others 200. An
   * omitted field keeps its value, `null` clears it, and metadata is replaced as a whole. A
   * call that changes nothing sends no event. An `externalCustomerId` in the body must be that
   * of the path.
   */
  putCustomer: { args: [id: string, params: CustomerChange]; answer: Customer };
  /**
   * Update a customer
   *
   * Metadata is replaced as a whole. `null` clears a field.
   */
  updateCustomer: { args: [id: string, params: CustomerChange]; answer: Customer };
  /**
   * Grant a customer units of a feature
   *
   * A grant is a top-up by default. With `resetInterval` it is an allowance that is given
   * again each interval, counted from `effectiveAt`, also a past one, in the time zone of the
   * organization. The period of the feature is that of the allowance with the lowest priority,
   * then of the oldest. Burn order: lowest priority, soonest expiry, rollover before fresh,
   * oldest. An `idempotencyKey`, or an `Idempotency-Key` header instead, counts once for its
   * customer.
   */
  createGrant: { args: [id: string, params: GrantCreate]; answer: Grant };
  /**
   * List the live grants of a customer
   *
   * By feature, then in burn order: the first grant that is active, not suspended and has
   * something left pays for the next use. Scheduled grants come after these; ended ones are
   * not listed. `nextCursor` is set while there are more.
   */
  listGrants: { args: [id: string, params?: ListGrantsQuery]; answer: LiveGrants };
  /**
   * Void a grant
   *
   * Takes back what is left of the grant. What was used stays used. Repeating the call gives
   * the same answer.
   */
  voidGrant: { args: [id: string]; answer: Grant };
  /**
   * List the balances of a customer
   *
   * By feature. With `nextCursor` there are more. A balance shows the first 100 of its grants
   * in the order in which they are used up: `GET /customers/{id}/grants` has them all.
   */
  listBalances: { args: [id: string, params?: ListBalancesQuery]; answer: Balances };
  /**
   * Set the spend cap of a customer
   *
   * The most that unbilled usage of the customer's subscriptions in this currency may cost,
   * each in its current period: exact, before rounding and minimums. `/check` denies with
   * `reason: "spend_cap"` where `value` more units would cost more than is left. What is
   * included stays allowed. `/check` with `consume`, and `/track` with `overage: "reject"`
   * (402), refuse it as well. Other usage is recorded and may pass the cap. A customer has one
   * cap: another one, also in another currency, replaces it and arms
   * `customer.spend_cap_reached` again. Setting the same cap changes nothing.
   */
  putSpendCap: { args: [id: string, params: SpendCapPut]; answer: SpendCap };
  /**
   * Get the spend cap of a customer
   *
   * With what is spent of it. 404 without a cap.
   */
  getSpendCap: { args: [id: string]; answer: SpendCap };
  /**
   * Remove the spend cap of a customer
   *
   * 204 also where there is no cap.
   */
  deleteSpendCap: { args: [id: string]; answer: void };
  /**
   * Get the credit of a customer
   *
   * What later invoices of the customer's subscriptions use before anything is charged, by
   * currency, with the newest entries. A currency that never had credit is not listed.
   */
  getCredit: { args: [id: string]; answer: Credit };
  /**
   * List the credit entries of a customer, newest first
   *
   * In one currency. `nextCursor` is set while there are more.
   */
  listCreditEntries: { args: [id: string, params: ListCreditEntriesQuery]; answer: CreditEntries };
  /**
   * Set an automatic top-up
   *
   * When the balance of the feature is below `threshold`, the customer's newest payment method
   * is charged the price, and `amount` is granted in the commit that records the capture (the
   * grant has `source` `top_up` and the id of the payment). The balance is checked after
   * everything that changes it, and when this is set. If it is still too low, the next charge
   * follows, within `limit`: the captures of a calendar day, week from Monday, or month in the
   * organization's time zone. There is at most one charge at a time.
   *
   * After `insufficient_funds`, `processing_error` or an attempt that was not made (except
   * `amount_refused`), the charge is retried after 1, 6 and 24 hours, each counted from the
   * decline before. After the fourth decline, and after any other decline, the top-up is
   * suspended until the customer stores another payment method. Setting the same values
   * changes nothing. Other values apply from now on and lift a suspension only if it is that
   * of the limit. A charge under way grants what it was ordered for.
   *
   * The payment is a `PURCHASE` with an invoice (`billingReason` is `auto_topup`) and a
   * receipt. A refund does not take units back. `sum` and `count` meters only.
   */
  putAutoTopup: { args: [id: string, featureKey: string, params: AutoTopupPut]; answer: AutoTopup };
  /**
   * Get the automatic top-up of a feature
   *
   * Also of an archived feature. 404 without one.
   */
  getAutoTopup: { args: [id: string, featureKey: string]; answer: AutoTopup };
  /**
   * Remove the automatic top-up of a feature
   *
   * 204 also where there is none, and of an archived feature. A charge under way is not
   * canceled: it is granted when it is captured.
   */
  deleteAutoTopup: { args: [id: string, featureKey: string]; answer: void };
  /**
   * List the automatic top-ups of a customer
   *
   * At most one for each feature.
   */
  listAutoTopups: { args: [id: string]; answer: AutoTopups };
  /**
   * Check whether a customer may use a feature
   *
   * Answered from memory, with every acknowledged write included. `consume: true` also records
   * the value if it is allowed, durably and in the same step, so concurrent callers never
   * overrun. An `idempotencyKey`, or an `Idempotency-Key` header instead, counts once for its
   * customer: a repeated call gets the first answer. `reserve: true` holds the value if it is
   * allowed: `reservation` is what `POST /reservations` answers, or null if it is denied;
   * repeated under its key it answers the reservation as it is now. Without `consume` and
   * `reserve` the header has no effect.
   */
  checkEntitlement: { args: [params: CheckBody]; answer: CheckResult };
  /**
   * Check up to 500 times in one call
   *
   * Up to 500 bodies of /check and 2 MiB (2,097,152 bytes). `results` has the answer of /check
   * to each, in order, or `error`: one that fails does not affect the others. Items with
   * `consume` are decided in order, and the call answers when all that were allowed are on
   * disk. A plain check need not see what another item of the call records. An
   * `Idempotency-Key` header is the `idempotencyKey` of each item with `consume` or `reserve`
   * that has none, by its place in the call. An item that cannot be answered now is
   * `service_unavailable`. If all are, the call is 503.
   */
  checkEntitlements: { args: [params: CheckBatchBody]; answer: CheckBatchResult };
  /**
   * Hold units of a feature
   *
   * For work whose cost is known only afterwards. Held units are taken off `balance`, so
   * nobody else can use them. Then `/commit` what was used: the rest is released. Uncommitted
   * units are released at expiry. 402 if `/check` for that amount would deny.
   *
   * A reservation belongs to the period in which it is made, and so does what is committed of
   * it, up to its amount. What is released after that period rolls over then, as far as the
   * rollover of that period has room. A grant that ends meanwhile still covers what is
   * committed; what is released of it is lost.
   *
   * An `idempotencyKey` counts once for its customer: a repeated call answers the reservation
   * as it is now, or the first refusal. `sum` and `count` meters only; on a `count` meter in
   * whole units. A customer has at most 1,000 open reservations of a feature (409).
   */
  createReservation: { args: [params: ReservationCreate]; answer: Reservation };
  /**
   * Get a reservation
   *
   * With the current balance of its feature.
   */
  getReservation: { args: [id: string]; answer: Reservation };
  /**
   * Commit a reservation
   *
   * Records what was used. Less than the hold releases the rest. More than the hold is usage
   * of now for the excess, as by `/track`. After the expiry all of it is usage of now, and
   * `late` is true. If the subscription that sold the held units has ended, one more final
   * invoice bills it. The same value again gets the first answer; another value, or a released
   * reservation, is `invalid_state`.
   */
  commitReservation: { args: [id: string, params: ReservationCommit]; answer: Reservation };
  /**
   * Release a reservation
   *
   * Nothing is recorded. A repeated call gets the first answer, and an expired reservation
   * stays as it is. After a commit: `invalid_state`.
   */
  releaseReservation: { args: [id: string]; answer: Reservation };
  /**
   * Extend a reservation
   *
   * `amount` is the new total, at least what is held. Past the balance it is 402 and nothing
   * changes. `expiresIn` counts from now. A reservation is open for at most 30 days. A
   * reservation that is not open, and a larger amount after its period has ended, is
   * `invalid_state`.
   */
  extendReservation: { args: [id: string, params: ReservationExtend]; answer: Reservation };
  /**
   * Record usage
   *
   * Answers when the event is on disk. Usage is recorded in full, also past the limit, unless
   * `overage` is `reject`. An `idempotencyKey` counts once for its customer: a repeated call
   * gets the first answer with `duplicate: true`; a repeated `Idempotency-Key` header replays
   * the first answer byte for byte. The header also counts once for its customer: the same
   * header with another customer records usage of that customer, and with an `idempotencyKey`
   * in the body only that key decides whether a call is a repetition. The metadata is part of
   * what a key was used for; 1 and "1" differ there.
   */
  trackUsage: { args: [params: TrackBody]; answer: TrackResult };
  /**
   * Record up to 500 usages in one call
   *
   * Up to 500 bodies of /track and 2 MiB (2,097,152 bytes). Each item is recorded or refused
   * by itself, in order, and the call answers when all that were recorded are on disk:
   * `results` has the answer of /track, or `error`. A key that occurs twice in a call counts
   * once: the second is a `duplicate`. With an `Idempotency-Key` header the whole call may be
   * sent again and gets the first answer; another list, or another order, under that header is
   * 422 and records nothing. A call that was cut off is completed when it is sent again: an
   * item without a key gets its first answer, an item with a key that was recorded is a
   * `duplicate`. An item that cannot be recorded now is `service_unavailable`: send the same
   * call again. If all are, the call is 503.
   */
  trackUsages: { args: [params: TrackBatchBody]; answer: TrackBatchResult };
  /**
   * Record up to 500 events
   *
   * All or nothing, unless `partial` is true. Answers when all events are on disk. An event
   * counts on every meter with its name as `eventName`. An `externalId` counts once for its
   * customer, here and on /track. With an `Idempotency-Key` header an event without an
   * `externalId` counts once for its customer and its place in the list: the same list in the
   * same order may be sent again. The list as a whole is not compared: under that header an
   * event is a `duplicate` if its customer had an event in its place, and is recorded
   * otherwise. A call writes at most 1 MiB of metadata: each event counts its own once, and
   * once more for each customer and meter with a `usage.recorded` endpoint; more is 413. With
   * `partial: true` valid events are recorded, and `rejected` lists the others with at most 5
   * issues each; the recorded ones keep their `index`. Sent again with keys, nothing is
   * recorded twice. Errors of the call itself are still 400 or 413.
   */
  ingestEvents: { args: [params: IngestBody]; answer: IngestResult };
  /**
   * Explain why usage was allowed or denied
   *
   * Give one of `requestId`, `eventId`, `idempotencyKey` (with the customer) or `at` (with the
   * customer). Answers the decisions and what was in force at that time. A denial is found one
   * second after the call, for 30 days unless the operator has set another time; a check that
   * was allowed is not stored. Ids and keys are found while the key counts once.
   * `balanceBefore`, `balanceAfter` and `grants` are as of that time; fields that end in
   * `_now` are current.
   */
  listDecisions: { args: [params?: ListDecisionsQuery]; answer: Decisions };
  /**
   * Usage of a feature over time
   *
   * In bins of a calendar: hours, days or months of a time zone, at most 1,000. `from` and
   * `to` may be any time: a bin has the start and end of the calendar, and the usage within
   * the range. An event is in the bin of its own time, also when it comes late; a bin without
   * events is 0. What /track, /events/ingest and the other calls have acknowledged is counted
   * at once. With `group_by` each bin has a row for each of its groups and one with `group:
   * null` for the rest; more than 1 MiB, some 10,000 rows, is 400, also as CSV. Groups are
   * read from the events, at most 250,000 of them, and so is a quarter of an hour that `from`
   * or `to` cuts: if retention has dropped those events it is 400. `format=csv` answers
   * `start,end,value,events` and, with groups, `group`. Only `sum` and `count` meters have
   * bins.
   */
  getUsage: { args: [params: GetUsageQuery]; answer: UsageSeries };
  /**
   * List usage events, newest first
   *
   * Each as it was reported, ordered by its own time. `nextCursor` continues the list without
   * a gap or a repetition while others arrive. Without a filter it lists events of all meters.
   * Events are kept for as long as the operator has set (`RETENTION_USAGE_MONTHS`).
   */
  listUsageEvents: { args: [params?: ListUsageEventsQuery]; answer: UsageEvents };
  /**
   * Create an alert on a usage threshold
   *
   * For one customer or, without one, for each customer, also later ones. `alert.triggered` is
   * written with the usage or the reservation that reaches the threshold: once for each
   * crossing, and one for each threshold that a call passes. When a grant or a new period
   * leads back, `alert.recovered` is written and the alert is armed again. A correction does
   * neither, and neither does late usage of an ended period. A customer who is already past
   * the threshold gets one event with `initial: true`: before this answer if the alert is for
   * one customer, else within a minute. Both events are written only if a webhook endpoint
   * names them or has `*`.
   *
   * An alert cannot be changed: delete it and create another. A second alert with the same
   * type, threshold and customer is 409 `conflict`. The number of alerts of a feature, an
   * organization and a customer is bounded (`LIMIT_ALERTS_…`, 409 `conflict`). An alert is
   * deleted with its meter. A boolean feature has no alerts (400).
   */
  createAlert: { args: [params: AlertCreate]; answer: Alert };
  /** List alerts, newest first */
  listAlerts: { args: [params?: ListAlertsQuery]; item: Alert };
  /** Get an alert */
  getAlert: { args: [id: string]; answer: Alert };
  /**
   * Delete an alert
   *
   * It no longer fires, and does not recover.
   */
  deleteAlert: { args: [id: string]; answer: void };
  /**
   * List the alerts of a customer, and which have fired
   *
   * The customer's own alerts, and those for each customer of its features. By feature, then
   * in the order in which usage reaches them.
   */
  listCustomerAlerts: {
    args: [id: string, params?: ListCustomerAlertsQuery];
    answer: CustomerAlerts;
  };
  /**
   * Create a product, with its prices
   *
   * Without a `slug` it gets one from its name.
   */
  createProduct: { args: [params: ProductCreate]; answer: Product };
  /** List products, newest first */
  listProducts: { args: [params?: ListProductsQuery]; item: Product };
  /** Get a product with all its prices */
  getProduct: { args: [id: string]; answer: Product };
  /**
   * Update a product
   *
   * Metadata is replaced as a whole. A slug that is replaced stays reserved for the
   * organization, so an old buy link never leads to another seller.
   */
  updateProduct: { args: [id: string, params: ProductChange]; answer: Product };
  /**
   * Archive a product
   *
   * It can no longer be bought. Repeating the call changes nothing.
   */
  archiveProduct: { args: [id: string]; answer: Product };
  /**
   * Publish a product
   *
   * It becomes active, whatever its status was. Repeating the call changes nothing.
   */
  publishProduct: { args: [id: string]; answer: Product };
  /**
   * Add a price to a product
   *
   * Recurring with an `interval`, else one-time; a `type` must agree. A price cannot be
   * changed: archive it and add another. The number of prices of a product is bounded,
   * archived ones included (`LIMIT_PRICES_PER_PRODUCT`). 409 if it renews more often than an
   * allowance whose usage is sold is given.
   */
  createPrice: { args: [id: string, params: PriceCreate]; answer: Price };
  /**
   * Archive a price
   *
   * It can no longer be bought. Repeating the call changes nothing.
   */
  archivePrice: { args: [id: string, priceId: string]; answer: Price };
  /**
   * Attach a feature to a product
   *
   * New subscriptions to the product, and changes to it, get the feature at once; existing
   * subscriptions get it from the next period on. A product has a feature once. If the product
   * has a usage price for the feature, the allowance must be one beyond which usage can be
   * sold.
   */
  attachFeature: { args: [id: string, params: EntitlementCreate]; answer: Entitlement };
  /** List the features of a product, oldest first */
  listFeatures: { args: [id: string, params?: ListFeaturesQuery]; item: Entitlement };
  /**
   * Detach a feature from a product
   *
   * Customers keep what they were given until their period ends.
   */
  detachFeature: { args: [id: string, entitlementId: string]; answer: void };
  /**
   * Add a usage price to a product
   *
   * What usage of a feature costs beyond its allowance. A subscription takes the active usage
   * prices of its product in its own currency at its start, at each renewal and at a change,
   * and keeps them for that period. `/check` then allows past the limit (`overageAllowed` is
   * true); in a trial it does not, and nothing is charged. A usage price cannot be changed:
   * archive it and add another. A product has one active usage price for each feature and
   * currency. Their number, the number that is active in one currency, and their tiers are
   * bounded (`LIMIT_USAGE_…`).
   *
   * Units are counted beyond the allowance. `per_unit`: 150 units at `0.002` cost 0.30.
   * `graduated` with tiers up to 100 at `1.00` and then at `0.50`: 100 × 1.00 + 50 × 0.50 =
   * 125.00. `volume` with the same tiers: 150 × 0.50 = 75.00. The `flatAmount` of a tier is
   * added once: for each tier that is reached, or with `volume` for the one that has the
   * quantity. `package` of 100 for `5.00`: two are started, 10.00. Then `minimumAmount`, which
   * is charged without usage too, and `maximumAmount` apply. The cost is exact, and rounded
   * half up once for each invoice line.
   *
   * A span is rated by itself: what the price sells in one period of the allowance. It ends
   * with the period, with the subscription, or when another price or none comes into force; a
   * change that keeps the price does not end it. What is past the limit at its end is on the
   * next renewal invoice, and at the end of the subscription on a final one (`billingReason`
   * is `usage`). The invoice of a change bills what the span costs so far, less what was
   * billed of it. The minimum is billed when the span ends, for the share of the period in
   * which the price was in force. If the allowance is given more often than the product
   * renews, each span is rated by itself, and they share one line. Late events are a
   * `usage_adjustment` on the next invoice. Discounts do not cover usage. Top-ups and other
   * grants are used before anything is charged.
   *
   * A feature without an entitlement includes nothing and has the periods of the subscription.
   * An allowance must be limited, be given at least as often as each recurring price of the
   * product renews (archived prices included), and at most 1,000 times until then (all
   * allowances of a product together at most 5,000 times): else 409, whichever comes last. If
   * two subscriptions of a customer price the same feature, the one whose entitlement has the
   * lowest `priority` bills, and among equals the oldest.
   */
  createUsagePrice: { args: [id: string, params: UsagePriceCreate]; answer: UsagePrice };
  /** List the usage prices of a product, newest first */
  listUsagePrices: { args: [id: string, params?: ListUsagePricesQuery]; item: UsagePrice };
  /**
   * Archive a usage price
   *
   * A subscription that has it keeps it until its period ends. Repeating the call changes
   * nothing.
   */
  archiveUsagePrice: { args: [id: string, usagePriceId: string]; answer: UsagePrice };
  /**
   * Create a discount code
   *
   * Either `percentOff`, or `amountOff` with its `currency`; the latter applies only to prices
   * in that currency.
   */
  createDiscount: { args: [params: DiscountCreate]; answer: Discount };
  /** List discounts, newest first */
  listDiscounts: { args: [params?: ListDiscountsQuery]; item: Discount };
  /**
   * Delete a discount
   *
   * The code no longer works and can be used for a new discount. Past payments stay as they
   * are.
   */
  deleteDiscount: { args: [id: string]; answer: void };
  /**
   * Create a hosted checkout
   *
   * Send the buyer to its `url`. It can be paid once, within 24 hours. The same
   * Idempotency-Key returns the earlier checkout, whatever the body. The event
   * `payment.succeeded` says that it is paid.
   */
  createCheckout: { args: [params: CheckoutCreate]; answer: Checkout };
  /** List checkouts, newest first */
  listCheckouts: { args: [params?: ListCheckoutsQuery]; item: Checkout };
  /**
   * Get a checkout
   *
   * For dashboards and backfills. Do not poll it: the event `payment.succeeded` says that it
   * is paid.
   */
  getCheckout: { args: [id: string]; answer: Checkout };
  /**
   * Expire a checkout
   *
   * It can no longer be paid. Repeating the call gives the same answer.
   */
  expireCheckout: { args: [id: string]; answer: Checkout };
  /** List payments, newest first */
  listPayments: { args: [params?: ListPaymentsQuery]; item: Payment };
  /**
   * Get a payment
   *
   * A pending refund counts in `amountRefundPending` and does not change `status`. A dispute
   * does not change it either: it is in `disputes`.
   */
  getPayment: { args: [id: string]; answer: Payment };
  /**
   * Refund a payment, in full or in part
   *
   * Without an `amount` all that is left is refunded. Pending refunds count as refunded, so
   * concurrent calls never refund more than was captured. With an `Idempotency-Key` a retry
   * gets the original refund.
   */
  refundPayment: { args: [id: string, params?: RefundCreate]; answer: Refund };
  /** List a payment's refunds, newest first */
  listRefunds: { args: [id: string, params?: ListRefundsQuery]; item: Refund };
  /** Get a refund */
  getRefund: { args: [id: string]; answer: Refund };
  /**
   * Get the numbers of today, compared with a week ago
   *
   * Revenue, usage and denials by hour in the organization's time zone; subscriptions and
   * webhooks as of now. The numbers are read one after the other: revenue, subscriptions and
   * failed payments may be one second old, the others include all that was acknowledged.
   */
  getOverview: { args: []; answer: Overview };
  /**
   * List payouts of the connected accounts, newest first
   *
   * What the processor has paid to the bank, and what each payout consists of. They are read
   * each night by the reconciliation.
   */
  listPayouts: { args: [params?: ListPayoutsQuery]; item: Payout };
  /**
   * List delivery counts by webhook endpoint, newest first
   *
   * The state of the deliveries that were created today and in the last seven days, whenever
   * they were sent.
   */
  listWebhookHealth: { args: [params?: ListWebhookHealthQuery]; item: WebhookHealth };
  /**
   * Start a subscription by hand
   *
   * The customer's newest payment method is charged. Without one, or if it is declined, the
   * first invoice stays open and dunning runs; the features are available at once. A trial is
   * charged when it ends.
   */
  createSubscription: { args: [params: SubscriptionCreate]; answer: Subscription };
  /** List subscriptions, newest first */
  listSubscriptions: { args: [params?: ListSubscriptionsQuery]; item: Subscription };
  /** Get a subscription */
  getSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Preview the next invoice of a subscription
   *
   * What the renewal would bill, or the final invoice of a subscription that is being
   * canceled, if the period ended with what is recorded now: the plan, usage beyond the
   * allowances including minimums still to come, corrections of billed usage, and credit.
   * Nothing is written.
   *
   * If nothing else happens, advancing the test clock to `periodEnd` bills exactly that. Usage
   * is added as it is recorded, so ask again when it matters.
   *
   * For a subscription that is still paused then: its draft, or no lines if it makes none.
   * Blocked: no lines. After the end: `invalid_state`.
   */
  getUpcomingInvoice: { args: [id: string]; answer: UpcomingInvoice };
  /**
   * Change the price or the quantity of a subscription
   *
   * At once. The unused time of the current plan is credited, to the millisecond, and the rest
   * of the period is charged for the new plan. A more expensive plan takes effect when its
   * payment succeeds (else 402); a cheaper one leaves credit for the next invoices. Another
   * interval begins a new period.
   */
  changeSubscription: { args: [id: string, params: SubscriptionChange]; answer: Subscription };
  /**
   * Cancel a subscription
   *
   * At the end of the period, or at once with `immediate`, which may follow a scheduled
   * cancellation. Repeating the call changes nothing. A change that waits for its payment
   * (`pendingChange`) is undone; if the bank still pays, the whole payment is refunded.
   */
  cancelSubscription: { args: [id: string, params?: SubscriptionCancel]; answer: Subscription };
  /**
   * Undo a scheduled cancellation
   *
   * Without a scheduled cancellation nothing changes.
   */
  uncancelSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Undo a pending change
   *
   * Undoes `pendingChange`, which waits for its payment. It will not take effect. If the bank
   * still pays, the whole payment is refunded; the invoice stays open until the bank has
   * decided, unless the processor cancels the charge at once. Without a pending change:
   * `invalid_state`. `subscription.updated` with `changes: ["pendingChange"]` is sent when a
   * change begins to wait and when it no longer does.
   */
  unscheduleSubscription: { args: [id: string]; answer: Subscription };
  /**
   * Pause a subscription
   *
   * At once: `/check` answers `subscription_paused`. Without `resumesAt` it stays paused until
   * it is resumed. Repeating the call with other values replaces them. A period that begins at
   * `resumesAt` begins as at a renewal, paid or not. Overdue invoices are still collected, and
   * dunning may end the subscription.
   */
  pauseSubscription: { args: [id: string, params?: SubscriptionPause]; answer: Subscription };
  /**
   * Resume a subscription
   *
   * Within the paid period it continues and nothing is charged. After it a new period begins
   * when its payment succeeds: if it is declined, the subscription stays paused (402). A
   * subscription that is blocked past its period is charged nothing: the next period begins
   * when the debt is paid.
   */
  resumeSubscription: { args: [id: string]; answer: Subscription };
  /**
   * End a trial now
   *
   * The first paid period begins now, and is charged.
   */
  endTrial: { args: [id: string]; answer: Subscription };
  /**
   * Preview a change of a subscription
   *
   * What the change would bill and do now, by the same decision. Nothing is written or
   * charged. It is refused as the change would be, except for a declined payment.
   *
   * The lines are those of its invoice; a cheaper plan has none if no usage is owed, and
   * `credited` comes off the next invoices. `subscription` is its state after the change; if
   * `waitsForPayment` is true, after that payment. Time passes and usage is added until the
   * change is made, so ask again when it matters.
   */
  previewSubscriptionChange: {
    args: [id: string, params: SubscriptionChange];
    answer: SubscriptionPreview;
  };
  /**
   * Preview the cancellation of a subscription
   *
   * What the cancellation would bill and do now, as the preview of a change. `immediate` bills
   * the unbilled usage. At the end of the period nothing is billed now: `/upcoming-invoice`
   * shows what is billed then.
   */
  previewSubscriptionCancel: {
    args: [id: string, params?: SubscriptionCancel];
    answer: SubscriptionPreview;
  };
  /**
   * Preview the resume of a subscription
   *
   * Whether it continues in the paid period or begins a new one with a payment, as the preview
   * of a change.
   */
  previewSubscriptionResume: { args: [id: string]; answer: SubscriptionPreview };
  /**
   * Preview the end of a trial
   *
   * What the first paid period would bill if it began now, as the preview of a change.
   */
  previewTrialEnd: { args: [id: string]; answer: SubscriptionPreview };
  /**
   * Create an invoice
   *
   * Issued at once, unless `draft` is true. An invoice with nothing to pay is paid at once.
   */
  createInvoice: { args: [params: InvoiceCreate]; answer: Invoice };
  /** List invoices, newest first */
  listInvoices: { args: [params?: ListInvoicesQuery]; item: Invoice };
  /** Get an invoice */
  getInvoice: { args: [id: string]; answer: Invoice };
  /**
   * List the lines of an invoice, in their order
   *
   * An invoice itself has the first lines; `linesHasMore` says whether there are more.
   */
  listInvoiceLines: { args: [id: string, params?: ListInvoiceLinesQuery]; item: InvoiceLine };
  /**
   * Download the usage behind an invoice
   *
   * CSV (RFC 4180, UTF-8) with a row for each recorded event in the time that the usage lines
   * bill, included usage too: `line_id`, `featureKey`, `eventId`, `event_time`,
   * `recorded_time`, `value`, `metadata` (JSON). Rows are grouped by line, the oldest event
   * first. An adjustment has all events of the time that it adjusts, those that were billed
   * before and the late ones. An invoice without usage has only the header.
   *
   * Keys are not stored: the id of an event with a key is derived from it. Text that a
   * spreadsheet would read as a formula is prefixed with an apostrophe. Usage is kept for as
   * long as the operator has set (`RETENTION_USAGE_MONTHS`): dropped events are missing here.
   *
   * An organization may have 4 downloads at a time in a mode on a node (429), and a download
   * may take 10 minutes. A download that is cut off fails: it never looks complete.
   */
  downloadInvoiceUsage: { args: [id: string]; answer: string };
  /**
   * Finalize a draft invoice
   *
   * It gets its number and is due. Repeating the call changes nothing.
   */
  finalizeInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Charge an invoice now
   *
   * Charges the customer's payment method. A charge that is still under way is 202; repeated
   * with its `Idempotency-Key` the call answers the outcome. An invoice that is paid already
   * is 200. An invoice of a subscription is paid as one of its payments, also after its end. A
   * draft of a pause is not charged while the resume that replaces it waits for its payment.
   */
  payInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Void an unpaid invoice
   *
   * It keeps its number. Repeating the call changes nothing.
   */
  voidInvoice: { args: [id: string]; answer: Invoice };
  /**
   * Get an invoice to print
   *
   * HTML for A4, without scripts.
   */
  printInvoice: { args: [id: string, params?: PrintInvoiceQuery]; answer: string };
  /**
   * Create a portal link
   *
   * The answer has a URL that shows this customer its subscriptions, usage and invoices and
   * lets it act on them, until it expires or is revoked. It ends when the key that made it is
   * revoked or expires, or when the member who made it is removed or loses that right; after a
   * rotation it ends with the new key. Anyone with the URL acts as the customer. Only a hash
   * of the token is stored.
   */
  createPortalToken: { args: [id: string, params?: PortalTokenCreate]; answer: PortalToken };
  /**
   * Revoke a portal link
   *
   * It stops working at once. Repeating the call changes nothing.
   */
  revokePortalToken: { args: [id: string]; answer: void };
  /**
   * List events, newest first
   *
   * Each as a webhook carries it. Events are kept for at least 30 days.
   */
  listEvents: { args: [params?: ListEventsQuery]; item: Event };
  /**
   * Follow events as they happen
   *
   * Server-sent events: each is an event as `GET /events` shows it, with its id as `id`. They
   * come in the order of their commits, each once. Samples for a webhook endpoint are not in
   * the stream; `usage.recorded`, `customer.spend_cap_reached`, `alert.*` and `auto_topup.*`
   * are in it where an endpoint subscribes to them.
   *
   * The stream continues after the event in `Last-Event-ID` or `after`, without a gap and on
   * any node; without either it begins now. An id that is unknown, of another mode, or no
   * longer stored is refused. The first message has an `id` and no data: the place where the
   * stream begins, so a caller that is cut off before the first event can continue from there.
   *
   * The stream ends when a node is stopped, when the key ends, and when the caller is too
   * slow: connect again with the last `id`, after the time in `retry`. A comment is sent every
   * 15 s. Each node serves 1,000 streams of an organization in a mode unless it is configured
   * otherwise (409), and 5,000 in all (503).
   */
  streamEvents: { args: [params?: StreamEventsQuery]; answer: Event };
  /** Get an event */
  getEvent: { args: [id: string]; answer: Event };
  /**
   * Register a webhook endpoint
   *
   * Events are sent to it as signed POST requests. The answer has the signing secret, only
   * this once.
   */
  createWebhookEndpoint: { args: [params: EndpointCreate]; answer: EndpointWithSecret };
  /** List webhook endpoints, newest first */
  listWebhookEndpoints: { args: [params?: ListWebhookEndpointsQuery]; item: Endpoint };
  /** Get a webhook endpoint */
  getWebhookEndpoint: { args: [id: string]; answer: Endpoint };
  /**
   * Update a webhook endpoint
   *
   * Events for a disabled endpoint are held. Enabling it sends the held events, each with its
   * own retry schedule, and resets its failures. Other event types apply from the next event
   * on.
   */
  updateWebhookEndpoint: { args: [id: string, params: EndpointChange]; answer: Endpoint };
  /**
   * Delete a webhook endpoint
   *
   * Nothing more is sent to it. Past deliveries can still be read by their ids.
   */
  deleteWebhookEndpoint: { args: [id: string]; answer: void };
  /**
   * Rotate the secret of a webhook endpoint
   *
   * Deliveries are also signed with the old secret for 24 hours. Rotating again ends that for
   * the older one.
   */
  rotateWebhookEndpointSecret: { args: [id: string]; answer: RotatedSecret };
  /**
   * Send a sample event to a webhook endpoint
   *
   * Of the given type, or else of one that the endpoint subscribes to; `data.test` is true. No
   * other endpoint gets it.
   */
  sendSampleEvent: { args: [id: string, params?: SampleRequest]; answer: Delivery };
  /** List the deliveries of a webhook endpoint, newest first */
  listDeliveries: { args: [id: string, params?: ListDeliveriesQuery]; item: Delivery };
  /**
   * Send a range of events to a webhook endpoint again
   *
   * Every event of these types in this range, whether it was delivered before or not, also if
   * the endpoint did not subscribe to it or did not exist yet. `count` is their number; events
   * that are being sent, or that are just being passed on, are not included. A large range
   * takes a while: with an Idempotency-Key the count can be asked for again.
   */
  replayEvents: { args: [id: string, params: ReplayRequest]; answer: Replayed };
  /** Get a delivery, with all its attempts */
  getDelivery: { args: [id: string]; answer: Delivery };
  /**
   * Send a delivery now
   *
   * In any state: a delivery that succeeded is sent once more. Not while it is being sent, and
   * not to an endpoint that is disabled or deleted.
   */
  retryDelivery: { args: [id: string]; answer: Delivery };
  /**
   * Register a group's webhook endpoint
   *
   * Events of every organization in the group are sent to it; `data.organizationId` says of
   * which. The answer has the signing secret, only this once.
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
   * Update a group's webhook endpoint
   *
   * Events for a disabled endpoint are held. Enabling it sends the held events, each with its
   * own retry schedule, and resets its failures. Other event types apply from the next event
   * on.
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
   * Rotate the secret of a group's webhook endpoint
   *
   * Deliveries are also signed with the old secret for 24 hours. Rotating again ends that for
   * the older one.
   */
  rotatePartnerWebhookEndpointSecret: { args: [id: string]; answer: RotatedSecret };
  /**
   * Get the organization and its settings
   *
   * In the mode of the key.
   */
  getOrganization: { args: []; answer: Organization };
  /**
   * Update the settings of the organization
   *
   * In the mode of the key only: a test key cannot change what live invoices say. A new `name`
   * is for both modes, except with a test key. Of `seller`, `dunning` and `branding` an
   * omitted field keeps its value; `null` clears a field of the seller or the branding. Issued
   * invoices keep their seller and show the current branding. Each changed part sends one
   * `organization.config_changed`.
   */
  updateOrganization: { args: [params: OrganizationChange]; answer: Organization };
  /**
   * Set the logo of the organization
   *
   * In the mode of the key. It replaces the current logo on the pages, invoices and mails for
   * customers. Sent mails keep the logo that they were sent with: the last ten are stored. An
   * image that is not PNG, JPEG or WebP is refused.
   */
  putLogo: { args: [params: LogoPut]; answer: Logo };
  /**
   * Get the logo of the organization
   *
   * In the mode of the key. 404 without a logo.
   */
  getLogo: { args: []; answer: Logo };
  /**
   * Remove the logo of the organization
   *
   * In the mode of the key. Sent mails show the name of the seller instead of this logo and
   * earlier ones.
   */
  deleteLogo: { args: []; answer: void };
  /**
   * Connect a Stripe account, or replace its key
   *
   * In the mode of the API key. New payments go to this account from now on; until then the
   * sandbox takes them in test mode. The key is checked with Stripe first. Another key of the
   * same account replaces the first one without an interruption. Another account takes new
   * payments: refunds, disputes and renewals of earlier payments stay with the account that
   * took them. 503 if Stripe does not answer: nothing is changed.
   */
  connectProcessor: { args: [params: ProcessorConnect]; answer: ProcessorAccount };
  /**
   * Get the connected Stripe account
   *
   * In the mode of the API key. 404 without an account.
   */
  getProcessor: { args: []; answer: ProcessorAccount };
  /**
   * Disconnect the Stripe account
   *
   * In the mode of the API key. New payments no longer go there. Its key stays stored,
   * encrypted, for refunds, disputes and renewals of earlier payments: revoke it at Stripe
   * when none of these are left.
   */
  disconnectProcessor: { args: []; answer: void };
  /**
   * Create an API key
   *
   * For the organization and the mode of the calling key. In the dashboard an admin cannot
   * create a live key with the scope `all`. The key is in this answer only; only a hash of it
   * is stored.
   */
  createApiKey: { args: [params?: ApiKeyCreate]; answer: ApiKeyWithText };
  /**
   * List API keys, newest first
   *
   * All live keys, and the last 1,000 that were revoked or have expired.
   */
  listApiKeys: { args: [params?: ListApiKeysQuery]; item: ApiKey };
  /**
   * Revoke an API key
   *
   * It stops working at once; open streams end within a second. Open invitations and portal
   * links that it created end. Repeating the call changes nothing. A key cannot revoke itself.
   */
  revokeApiKey: { args: [id: string]; answer: void };
  /**
   * Rotate an API key
   *
   * Creates a key with the same name and scopes and without an expiry. The old key works for
   * the overlap, or until its own expiry if that is sooner, and so do open invitations that it
   * created; its portal links continue and end with the new key. A key may rotate itself. The
   * key is in this answer only; only a hash of it is stored.
   */
  rotateApiKey: { args: [id: string, params?: ApiKeyRotate]; answer: ApiKeyWithText };
  /**
   * List members, newest first
   *
   * The users who may sign in to the dashboard of the organization, with their roles.
   */
  listMembers: { args: [params?: ListMembersQuery]; item: Member };
  /** Get a member */
  getMember: { args: [id: string]; answer: Member };
  /**
   * Change the role of a member
   *
   * Applies from the member's next request on. Open invitations and portal links that the
   * member created end if the new role may not create them. The last owner keeps the role.
   * Members are the same in both modes: a test key is refused.
   */
  updateMember: { args: [id: string, params: MemberChange]; answer: Member };
  /**
   * Remove a member
   *
   * The member's sessions lose access at once. Open invitations and portal links that the
   * member created end, and so do invitations for the member's address. The last owner cannot
   * be removed. Members are the same in both modes: a test key is refused.
   */
  removeMember: { args: [id: string]; answer: void };
  /**
   * Invite a member by e-mail
   *
   * Valid for 7 days, and no longer than the key or the member that invites. It replaces an
   * open invitation of the address; an admin cannot replace one for an owner (403). The link
   * is only in the mail; if no mail is sent, it is only in this answer. Members are the same
   * in both modes: a test key is refused.
   */
  createInvitation: { args: [params: InvitationCreate]; answer: NewInvitation };
  /** List invitations, newest first */
  listInvitations: { args: [params?: ListInvitationsQuery]; item: Invitation };
  /**
   * Withdraw an invitation
   *
   * Its link stops working at once. Repeating the call changes nothing. Members are the same
   * in both modes: a test key is refused.
   */
  revokeInvitation: { args: [id: string]; answer: void };
  /**
   * Get the security settings
   *
   * The same in both modes.
   */
  getSecurity: { args: []; answer: Security };
  /**
   * Update the security settings
   *
   * An omitted field keeps its value. Applies from each member's next request on. A test key
   * is refused.
   */
  updateSecurity: { args: [params: SecurityChange]; answer: Security };
  /**
   * List the audit log, newest first
   *
   * What users did, including signing in and out; what keys did, except routine calls (usage,
   * customers, checkouts, portal links, tags and custom fields); what customers did in the
   * portal; and what an operator did on the command line. An entry is written before the call
   * is answered, and is kept forever.
   *
   * `before` and `after` have the fields that changed. Secrets and long values are left out.
   * An entry of both modes is in the list of each. Owners and admins may read it.
   */
  listAuditLog: { args: [params?: ListAuditLogQuery]; item: AuditLogEntry };
  /**
   * Download the audit log
   *
   * The same as CSV (RFC 4180, UTF-8), newest first, with `before` and `after` as JSON. Text
   * that a spreadsheet would read as a formula is prefixed with an apostrophe. An organization
   * may have 4 downloads at a time in a mode on a node (429), and a download may take 10
   * minutes. A download that is cut off fails: it never looks complete.
   */
  downloadAuditLog: { args: [params?: DownloadAuditLogQuery]; answer: string };
  /**
   * Put a tag on a customer, a subscription or an invoice
   *
   * A label without an effect of its own. The same tag on the same object again is 409. The
   * number of tags of an object is bounded (`LIMIT_TAGS_PER_OBJECT`).
   */
  createTag: { args: [params: TagCreate]; answer: Tag };
  /** List tags, newest first */
  listTags: { args: [params?: ListTagsQuery]; item: Tag };
  /** Remove a tag */
  deleteTag: { args: [id: string]; answer: void };
  /**
   * Add a custom field to a customer, a subscription or an invoice
   *
   * A field cannot be changed: remove it and add another. A name that the object already has
   * is 409. The number of fields of an object is bounded (`LIMIT_CUSTOM_FIELDS_PER_OBJECT`).
   */
  createCustomField: { args: [params: CustomFieldCreate]; answer: CustomField };
  /** List custom fields, newest first */
  listCustomFields: { args: [params?: ListCustomFieldsQuery]; item: CustomField };
  /** Remove a custom field */
  deleteCustomField: { args: [id: string]; answer: void };
  /**
   * Get the test clock
   *
   * The organization's time in test mode: the real time until the clock is moved. 404 with a
   * live key.
   */
  getTestClock: { args: []; answer: TestClock };
  /**
   * Move the test clock
   *
   * By a duration or to a time, forward only, at most five years in one call, up to the year
   * 3000. Everything that is due by then is done before the call answers, in due order and
   * each at its own time: periods end, subscriptions renew, payments settle, discounts and
   * checkouts expire. Then the clock runs on. One call at a time: 409 while another one moves
   * it. Keys, rate limits and deliveries use the real time. If you stop waiting for the
   * answer, the clock is still moving: read it, and send the wanted time again. 404 with a
   * live key.
   */
  moveTestClock: { args: [params: TestClockMove]; answer: TestClock };
};

export type ListMetersQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListCustomersQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  externalCustomerId?: string;
  email?: string;
  /**
   * The beginning of the address, in any case. The first 1000 in alphabetical order are
   * listed.
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  limit?: number;
  /** `nextCursor` of the page before. */
  cursor?: string;
};

export type ListDecisionsQuery = {
  /** The x-request-id of a call that was denied, or that changed something. */
  requestId?: string;
  /** The id in the answer of /track. The id of any other object: `object` says what it is. */
  eventId?: string;
  /** An idempotency key of the customer, from a body or a header. */
  idempotencyKey?: string;
  /** A time of the organization's clock: the decisions about the customer around it. */
  at?: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  /** Only with `at`. */
  featureKey?: string;
  /** Only with `at`: denials only. */
  only?: 'denied';
  /** The number of decisions before and after `at`. */
  limit?: number;
};

export type GetUsageQuery = {
  /** The slug of a `sum` or `count` meter. */
  featureKey: string;
  /** Without a customer: all customers together. */
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  /** The start of the range. Default: the last 24 hours, 30 days or 12 months. */
  from?: string;
  /** The end of the range (exclusive). Default: the end of the current bin. */
  to?: string;
  bin?: 'hour' | 'day' | 'month';
  /** The name of an IANA zone, as `Europe/Berlin`. */
  timezone?: string;
  /** A row for each value of a name in the metadata, such as `metadata.region`. */
  groupBy?: string;
};

export type ListUsageEventsQuery = {
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  /** The slug of the meter. */
  featureKey?: string;
  /** Only events at or after this time. */
  from?: string;
  /** Only events before this time. */
  to?: string;
  /** `nextCursor` of the page before. */
  cursor?: string;
  /** Events of a page. It has fewer if the next one would exceed 1 MiB. */
  limit?: number;
};

export type ListAlertsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** The slug of the meter. */
  featureKey?: string;
  /** Only the customer's own alerts, without those for each customer. */
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
};

export type ListCustomerAlertsQuery = {
  /** The slug of the meter. */
  featureKey?: string;
};

export type ListProductsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** Only an active product can be bought. */
  status?: ProductStatus;
  /** The beginning of the name, in any case. The first 1000 in alphabetical order are listed. */
  namePrefix?: string;
};

export type ListFeaturesQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListUsagePricesQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListDiscountsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListCheckoutsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  status?: CheckoutStatus;
};

export type ListPaymentsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  customerId?: string;
  subscriptionId?: string;
  checkoutId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  status?: PaymentStatus;
};

export type ListRefundsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListPayoutsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** Only payouts at or after this time. */
  from?: string;
  /** Only payouts before this time. */
  to?: string;
};

export type ListWebhookHealthQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** Only this endpoint. */
  endpointId?: string;
};

export type ListSubscriptionsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  productId?: string;
  status?: SubscriptionStatus;
};

export type ListInvoicesQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  subscriptionId?: string;
  status?: InvoiceStatus;
  /** The whole number, such as `INV-2026-000123`. */
  number?: string;
};

export type ListInvoiceLinesQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last line of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type PrintInvoiceQuery = {
  /** The sheet of an invoice with more than 100 lines. The first links to the others. */
  sheet?: number;
};

export type ListEventsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
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
   * The stream continues after the event with this id. The organization's own id stands for
   * before its first event.
   */
  after?: string;
};

export type ListWebhookEndpointsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListDeliveriesQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** `held` while the endpoint is disabled; `exhausted` when all attempts failed. */
  status?: DeliveryStatus;
  eventType?: EventType;
};

export type ListPartnerWebhookEndpointsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListApiKeysQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListMembersQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListInvitationsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
};

export type ListAuditLogQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  /** The id of the user, the key or the customer. */
  actor?: string;
  actorKind?: 'user' | 'key' | 'customer' | 'command_line';
  /**
   * An operation of this document, a command, or an action of a user: `updateProduct`, `key
   * create`, `signIn`.
   */
  operation?: string;
  objectId?: string;
  /** Only entries at or after this time. */
  from?: string;
  /** Only entries before this time. */
  to?: string;
};

export type DownloadAuditLogQuery = {
  /** The id of the user, the key or the customer. */
  actor?: string;
  actorKind?: 'user' | 'key' | 'customer' | 'command_line';
  /**
   * An operation of this document, a command, or an action of a user: `updateProduct`, `key
   * create`, `signIn`.
   */
  operation?: string;
  objectId?: string;
  /** Only entries at or after this time. */
  from?: string;
  /** Only entries before this time. */
  to?: string;
};

export type ListTagsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  objectType?: AnnotatedType;
  objectId?: string;
  name?: string;
};

export type ListCustomFieldsQuery = {
  /**
   * Rows of a page. It has fewer if the next row would exceed 1 MiB: `hasMore` is true, and
   * `limit` in the answer is their number.
   */
  limit?: number;
  offset?: number;
  /**
   * The id of the last row of the page before: the list continues after it. Not together with
   * `offset`.
   */
  after?: string;
  objectType?: AnnotatedType;
  objectId?: string;
  name?: string;
};

/** How the events of a period add up to its usage. */
export type Aggregation = 'sum' | 'count' | 'max' | 'last' | 'unique';

export type Alert = {
  id: string;
  meterId: string;
  featureKey: string;
  customerId: string | null;
  externalCustomerId: string | null;
  type: AlertType;
  /**
   * In units of the meter, or in percent with at most four decimals. Above 0 for usage
   * (percentages up to 1000), from 0 for what is left (percentages up to 100).
   */
  threshold: number;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type AlertCreate = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  type: AlertType;
  /**
   * In units of the meter, or in percent with at most four decimals. Above 0 for usage
   * (percentages up to 1000), from 0 for what is left (percentages up to 100).
   */
  threshold: number | string;
};

export type AlertRecoveredData = {
  /** The id of the event. */
  id: string;
  eventType: 'alert.recovered';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** The id of the event. */
  id: string;
  eventType: 'alert.triggered';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
   * Whether the customer was already past the threshold when the alert was created, or passed
   * it without usage.
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
 * `usage`: `consumed` is at or above the threshold. `usage_percentage`: `consumed` is at
 * least this percentage of `limit`. `remaining`: what is left (`max(0, balance)`, less
 * reservations) is at or below the threshold. `remaining_percentage`: what is left is at
 * most this percentage of `limit`. A limit of 0 has no percentage, and an unlimited feature
 * reaches no threshold.
 */
export type AlertType = 'usage' | 'usage_percentage' | 'remaining' | 'remaining_percentage';

export type AmountByHour = {
  /** A decimal with exactly the decimals of its currency. Negative if more was refunded. */
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
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest,
   * reservations and balances. Each operation lists its scopes in `x-scopes`.
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
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest,
   * reservations and balances. Each operation lists its scopes in `x-scopes`.
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
  /** For how many seconds the old key still works; never beyond its own expiry. */
  overlapSeconds?: number;
};

export type ApiKeyScope = 'all' | 'read' | 'metering';

export type ApiKeyWithText = {
  id: string;
  /** Shown only once. */
  key: string;
  name: string | null;
  mode: Mode;
  /**
   * `all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest,
   * reservations and balances. Each operation lists its scopes in `x-scopes`.
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
   * As of then: the e-mail address of a user, the name and the last four characters of a key,
   * the e-mail address or the external id of a customer, the account and the host of a command
   * line.
   */
  label: string;
  sessionId: string | null;
};

export type AuditLogEntry = {
  id: string;
  /** Real time, also if a test clock was moved. */
  at: string;
  mode: Mode | null;
  actor: AuditLogActor;
  address: string | null;
  userAgent: string | null;
  requestId: string | null;
  /**
   * An operation of this document, a command, or an action of a user such as `signIn` and
   * `signOut`.
   */
  operation: string;
  object: AuditLogObject;
  status: number | null;
  before: Record<string, unknown> | null;
  after: Record<string, unknown> | null;
};

export type AuditLogObject = {
  /** The kind of object, such as `product` or `api_key`. */
  type: string;
  id: string | null;
};

export type AutoTopup = {
  customerId: string;
  externalCustomerId: string | null;
  featureKey: string;
  enabled: boolean;
  /** When the balance (less holds) is below this, the feature is topped up. */
  threshold: number;
  /** The units that one top-up grants. */
  amount: number;
  /** The one-time price of one top-up. */
  priceId: string;
  /**
   * The maximum number of top-ups in a day, a week from Monday, or a month of the
   * organization's time zone. null: no maximum.
   */
  limit: AutoTopupLimit | null;
  /**
   * `charging`: a charge is under way, or will be retried after a decline. `suspended`: see
   * `reason`.
   */
  status: 'armed' | 'charging' | 'suspended';
  /**
   * Why it is suspended. `limit`: until the next day, week or month. Otherwise until another
   * payment method is stored.
   */
  reason: 'declined' | 'authentication_required' | 'no_payment_method' | 'limit' | null;
  /** The payment that is under way, else the last one. */
  paymentId: string | null;
  /**
   * When the next attempt is made: after a decline, or when the next period of the limit
   * begins.
   */
  nextAttemptAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
};

export type AutoTopupFailedData = {
  /** The id of the event. */
  id: string;
  eventType: 'auto_topup.failed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  customerId: string;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  periodStart: string | null;
  periodEnd: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  /** The units that the top-up grants. */
  amount: number;
  paymentId: string | null;
  reason: 'declined' | 'authentication_required' | 'no_payment_method';
  /**
   * `charging`: the charge will be retried. `suspended`: no charge until another payment
   * method is stored.
   */
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
  /** When the balance (less holds) is below this, the feature is topped up. */
  threshold: number | string;
  /** The units that one top-up grants. */
  amount: number | string;
  /** The one-time price of one top-up. */
  priceId: string;
  limit?: AutoTopupLimit | null;
};

export type AutoTopupSucceededData = {
  /** The id of the event. */
  id: string;
  eventType: 'auto_topup.succeeded';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  customerId: string;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  periodStart: string | null;
  periodEnd: string | null;
  externalCustomerId: string | null;
  metadata: Metadata;
  /** The units that the top-up grants. */
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
   * The part of `consumed` that money has paid for: usage that was billed within the period,
   * for example by a change of plan. `balance` is `limit` + `billed` - `consumed` -
   * `reserved`. Absent if it is 0.
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
  /** In burn order. */
  breakdown: BalanceBreakdown[];
  /** Whether there are more grants: `GET /customers/{id}/grants` lists them all. */
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
   * The colour of buttons, links and marks: `#rrggbb`. Text on it is kept readable, in light
   * and dark mode.
   */
  color: string | null;
  /** The address for questions of customers and for replies to mails. */
  supportEmail: string | null;
  /** An https URL for questions of customers. */
  supportUrl: string | null;
  /** Public. Another image has another URL. */
  logoUrl: string | null;
};

export type BrandingChange = {
  /**
   * The colour of buttons, links and marks: `#rrggbb`. Text on it is kept readable, in light
   * and dark mode.
   */
  color?: string | null;
  /** The address for questions of customers and for replies to mails. */
  supportEmail?: string | null;
  /** An https URL for questions of customers. */
  supportUrl?: string | null;
};

export type CancelMode = 'at_period_end' | 'immediate';

export type CheckBatchBody = {
  checks: readonly CheckBody[];
};

export type CheckBatchResult = {
  /** In the order of the call: an answer or an error for each item. */
  results: (CheckResult | ItemError)[];
};

export type CheckBody = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  value?: number | string;
  /** Also record the value if it is allowed, in the same step. */
  consume?: boolean;
  /** Hold the value if it is allowed, in the same step: see `POST /reservations`. */
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
   * The part of `consumed` that money has paid for: usage that was billed within the period,
   * for example by a change of plan. `balance` is `limit` + `billed` - `consumed` -
   * `reserved`. Absent if it is 0.
   */
  billed?: number;
  reserved: number;
  /**
   * What pays for `value`, if a pool of credits pays for the feature: units of its own
   * allowance, then credits of the pool. Parts of 0 are left out; empty if it is denied.
   * Absent for other features.
   */
  paidBy?: PaidPart[];
  periodStart: string | null;
  periodEnd: string | null;
  resetsAt: string | null;
  /** With `reserve`: the reservation; null if it is denied. */
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
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
   * The customer of the checkout. If omitted, the customer with `externalCustomerId`, else the
   * one with `customerEmail` (not one whose address only a buyer has typed), else a new
   * customer.
   */
  customerId?: string;
  /** The merchant's own id for the customer. */
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
   * An https URL: the target of the link back to the merchant. Pages of its origin may show
   * the checkout in a frame (`/embed.js`); they are told when the buyer cancels, with this
   * URL, and show their own cancel flow.
   */
  cancelUrl?: string;
  discountCode?: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /** The credit that later invoices in this currency use. */
  balance: string;
  /** The newest 50: `GET /customers/{id}/credit/entries` lists all. They add up to the balance. */
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
  /** With the decimals of the currency; negative if credit was used. */
  amount: string;
  /**
   * `change`: left over by a change of plan. `adjustment`: left over by another invoice, or
   * present before entries were stored. `applied`: used by an invoice. `void`: returned,
   * because that invoice is void or its change was undone.
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
  /** The id of the event. */
  id: string;
  eventType: 'custom_field.created';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'CUSTOM_FIELD';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** The id of the event. */
  id: string;
  eventType: 'custom_field.deleted';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'CUSTOM_FIELD';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
   * In units of the meter, or in percent with at most four decimals. Above 0 for usage
   * (percentages up to 1000), from 0 for what is left (percentages up to 100).
   */
  threshold: number;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** Whether it has fired and has not recovered since. */
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
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  metadata?: Metadata;
};

export type CustomerCreatedData = {
  /** The id of the event. */
  id: string;
  eventType: 'customer.created';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** The id of the event. */
  id: string;
  eventType: 'customer.spend_cap_reached';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  metadata: Metadata;
  /** The cap. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /** An exact decimal, with at least the decimals of its currency. */
  spent: string;
  /** The subscription that sells the usage. */
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
  /** The id of the event. */
  id: string;
  eventType: 'customer.updated';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
   * `check`, `consume` (a check with consume), `reserve` and `track` are denials; `usage` was
   * recorded, or refused so long ago that no details are stored.
   */
  kind: 'check' | 'consume' | 'track' | 'reserve' | 'usage';
  allowed: boolean;
  reason: CheckReason;
  /** The reason as a sentence, with its numbers. */
  rule: string;
  /** The time at which it counts, by the organization's clock. Earlier for a late event. */
  at: string;
  /** ISO 8601 in UTC, with milliseconds. */
  decidedAt: string;
  recordedAt: string | null;
  /** How many identical calls got this answer, until `lastAt`. */
  count: number;
  /** ISO 8601 in UTC, with milliseconds. */
  lastAt: string;
  customerId: string;
  externalCustomerId: string | null;
  featureKey: string;
  /** The requested or reported value. */
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

/** What was in force at the denial (or else the decision) nearest to the given time. */
export type DecisionState = {
  /** ISO 8601 in UTC, with milliseconds. */
  at: string;
  customerId: string;
  featureKey: string;
  decisionId: string | null;
  /** Those in force in burn order, then the nearest that had ended or were scheduled. */
  grants: GrantOfThen[];
  /** Of these grants. */
  subscriptions: SubscriptionOfThen[];
  /** Denials of the feature within a minute, of any customer, that were counted and not stored. */
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
  /** The code that a buyer enters. Case does not matter. */
  code: string;
  percentOff: number | null;
  amountOff: string | null;
  currency: string | null;
  maxRedemptions: number | null;
  /** Payments that used it, including payments under way that do not wait at a bank. */
  redemptions: number;
  expiresAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type DiscountCreate = {
  /** The code that a buyer enters. Case does not matter. */
  code: string;
  /** With at most 4 decimals. */
  percentOff?: number;
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  amountOff?: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** Held while the dispute is open: it cannot be refunded. */
  amountHeld: string;
  /** What a lost dispute took: less than `amount` if the rest had been refunded before. */
  amountChargedBack: string;
  reason: DisputeReason;
  /** The processor's id of the dispute. */
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
  /** When a failed payment is retried, in days after the first failure; ascending. */
  retryDays: number[];
  /** After how many days access is blocked. */
  blockAfterDays: number;
  /**
   * After how many days the subscription ends: not before it is blocked, and after all
   * retries.
   */
  expireAfterDays: number;
};

export type DunningChange = {
  /** When a failed payment is retried, in days after the first failure; ascending. */
  retryDays?: readonly number[];
  /** After how many days access is blocked. */
  blockAfterDays?: number;
  /**
   * After how many days the subscription ends: not before it is blocked, and after all
   * retries.
   */
  expireAfterDays?: number;
};

export type Endpoint = {
  id: string;
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /**
   * `["*"]` for all types. Omitted: every type but usage.recorded, customer.spend_cap_reached,
   * alert.triggered, alert.recovered, auto_topup.succeeded, auto_topup.failed,
   * payment.disputed.
   */
  eventTypes: SubscribedType[];
  description: string | null;
  status: EndpointStatus;
  /**
   * `gone`: it answered 410. `failing`: all deliveries of a day failed. null: disabled by
   * hand, or enabled.
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
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url?: string;
  /**
   * `["*"]` for all types. Omitted: every type but usage.recorded, customer.spend_cap_reached,
   * alert.triggered, alert.recovered, auto_topup.succeeded, auto_topup.failed,
   * payment.disputed.
   */
  eventTypes?: readonly SubscribedType[];
  description?: string | null;
  status?: EndpointStatus;
};

export type EndpointCreate = {
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /**
   * `["*"]` for all types. Omitted: every type but usage.recorded, customer.spend_cap_reached,
   * alert.triggered, alert.recovered, auto_topup.succeeded, auto_topup.failed,
   * payment.disputed.
   */
  eventTypes?: readonly SubscribedType[];
  description?: string;
  status?: EndpointStatus;
};

export type EndpointStatus = 'enabled' | 'disabled';

export type EndpointWithSecret = {
  id: string;
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /**
   * `["*"]` for all types. Omitted: every type but usage.recorded, customer.spend_cap_reached,
   * alert.triggered, alert.recovered, auto_topup.succeeded, auto_topup.failed,
   * payment.disputed.
   */
  eventTypes: SubscribedType[];
  description: string | null;
  status: EndpointStatus;
  /**
   * `gone`: it answered 410. `failing`: all deliveries of a day failed. null: disabled by
   * hand, or enabled.
   */
  disabledReason: 'gone' | 'failing' | null;
  failingSince: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  updatedAt: string;
  /** Signs every delivery: `whsec_` and base64. Shown only once. */
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
  /** `null` for no limit. Required for a metered feature. */
  limit?: number | string | null;
  resetInterval?: ResetInterval;
  overageAllowed?: boolean;
  rollover?: RolloverCreate | null;
  /** Lower burns first. */
  priority?: number;
};

export type EntitlementExhaustedData = {
  /** The id of the event. */
  id: string;
  eventType: 'entitlement.exhausted';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** Negative if more was used than granted. */
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
  /** The id of the event. */
  id: string;
  eventType: 'entitlement.granted';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ENTITLEMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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

/** A boolean feature is on or off: it has no limit and is not used up. */
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
  /** Makes it an allowance: given again each interval, counted from `effectiveAt`. */
  resetInterval?: GrantInterval;
  rollover?: RolloverCreate;
  overageAllowed?: boolean;
};

export type GrantInterval = 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

export type GrantOfThen = {
  id: string;
  /** As of that time. */
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
  /** Record the valid events and list the others in `rejected`. Default: all or nothing. */
  partial?: boolean;
};

export type IngestEvent = {
  name: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
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
  /** With `partial`: each event that was not recorded, and why. A path begins at the event. */
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** What lost disputes took. Absent without one. The invoice stays `paid`. */
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
  /** The number of attempts to charge it. */
  attempts: number;
  /** The first 100. */
  lines: InvoiceLine[];
  /** Whether there are more lines: `GET /invoices/{id}/lines` lists them all. */
  linesHasMore: boolean;
  /** The URL of the document to print. */
  hostedUrl: string;
};

export type InvoiceCreate = {
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  lines: readonly InvoiceLineCreate[];
  /** ISO 8601, with Z or an offset. In the future. Default: when it is issued. */
  dueAt?: string;
  /** Create a draft, without a number. */
  draft?: boolean;
};

export type InvoiceCreatedData = {
  /** The id of the event. */
  id: string;
  eventType: 'invoice.created';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'INVOICE';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  unitAmount: string;
};

export type InvoiceStatus = 'draft' | 'open' | 'paid' | 'void' | 'uncollectible';

export type InvoiceUpdatedData = {
  /** The id of the event. */
  id: string;
  eventType: 'invoice.updated';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'INVOICE';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** Paths of its issues begin at the item. */
  error: ErrorDetail;
};

export type LiveGrant = {
  id: string;
  meterId: string;
  featureKey: string;
  source: GrantOrigin;
  amount: number | null;
  /** For an allowance: used in its current period. */
  used: number;
  remaining: number | null;
  unlimited: boolean;
  /** Whether the feature is boolean: on or off. */
  boolean: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  effectiveAt: string;
  expiresAt: string | null;
  renewsAt: string | null;
  priority: number;
  resetInterval: GrantInterval | null;
  rollover: Rollover | null;
  /** Whether usage over the limit is allowed. */
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
  /** A still PNG, JPEG or WebP in base64: at most 65536 bytes and 1024 pixels a side. */
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
  /** Whether each period begins with the level of the one before. */
  carry: boolean;
  metadata: Metadata;
  status: MeterStatus;
  /**
   * For a pool of credits: the cost of a unit of each feature that it pays for. Empty for
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
   * For a pool of credits: the cost of a unit of each feature that it pays for. Another list
   * counts for each customer from the next period of the pool on.
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
  /** The name of the value in the metadata of usage: a number or a decimal string. */
  valueProperty?: string;
  /**
   * The name of what `unique` counts in the metadata of usage, by its text: 7 and "7" are the
   * same.
   */
  uniqueProperty?: string;
  /** Decimals of a quantity. Default of a pool of credits: 9. */
  scale?: number;
  /**
   * For `last` alone: each period begins with the level of the one before, such as seats or
   * stored bytes. Without it each begins with nothing.
   */
  carry?: boolean;
  unit?: string;
  metadata?: Metadata;
  /**
   * For a pool of credits: the cost of a unit of each feature that it pays for. Another list
   * counts for each customer from the next period of the pool on.
   */
  creditCosts?: readonly CreditCostCreate[];
};

export type MeterPut = {
  slug?: string;
  /** Default: the slug. */
  eventName?: string;
  aggregation?: Aggregation;
  /** The name of the value in the metadata of usage: a number or a decimal string. */
  valueProperty?: string;
  /**
   * The name of what `unique` counts in the metadata of usage, by its text: 7 and "7" are the
   * same.
   */
  uniqueProperty?: string;
  /** Decimals of a quantity. Default of a pool of credits: 9. */
  scale?: number;
  /**
   * For `last` alone: each period begins with the level of the one before, such as seats or
   * stored bytes. Without it each begins with nothing.
   */
  carry?: boolean;
  name?: string;
  description?: string | null;
  unit?: string | null;
  metadata?: Metadata;
  status?: MeterStatus;
  /**
   * For a pool of credits: the cost of a unit of each feature that it pays for. Another list
   * counts for each customer from the next period of the pool on.
   */
  creditCosts?: readonly CreditCostCreate[];
};

export type MeterStatus = 'active' | 'archived';

export type Mode = 'test' | 'live';

/** The other object that the given id names, or that the request changed. */
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
  /** The id of the event. */
  id: string;
  eventType: 'organization.config_changed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'ORGANIZATION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  key: 'name' | 'timezone' | 'seller' | 'dunning' | 'branding' | 'processor';
  /** The names of the changed fields, never their values. */
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
  /** The time zone whose midnight begins a day. */
  timezone: string;
  today: DayOfHours;
  /** The same weekday, a week before. */
  lastWeek: DayOfHours;
  /** Captures less refunds, by the hour in which they were made. */
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
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /** `["*"]` for all types. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes: SubscribedType[];
  environment: Mode;
  status: EndpointStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type PartnerEndpointChange = {
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url?: string;
  /** `["*"]` for all types. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes?: readonly SubscribedType[];
  status?: EndpointStatus;
};

export type PartnerEndpointCreate = {
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /** `["*"]` for all types. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes?: readonly SubscribedType[];
};

export type PartnerEndpointWithSecret = {
  id: string;
  groupId: string;
  /**
   * An https URL of a public host. With a test key `http://localhost` too, if the service
   * allows it.
   */
  url: string;
  /** `["*"]` for all types. Omitted: payment.refunded and payment.refund_failed. */
  eventTypes: SubscribedType[];
  environment: Mode;
  status: EndpointStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** Signs every delivery: `whsec_` and base64. Shown only once. */
  secret: string;
};

export type Payment = {
  id: string;
  status: PaymentStatus;
  /**
   * The requested amount. If you captured only a part at Stripe by hand, the invoice, the
   * event and `refundableAmount` have that part.
   */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** Also for a payment that failed, if the customer was known at the attempt. */
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
  /** Oldest first. Absent without a dispute. */
  disputes?: Dispute[];
};

export type PaymentDisputedData = {
  /** The id of the event. */
  id: string;
  eventType: 'payment.disputed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** The amount by which a lost dispute lowers what can be refunded. */
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
  /** The id of the event. */
  id: string;
  eventType: 'payment.errored';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** 1 for the first attempt to charge for the same thing. */
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
  /** The id of the event. */
  id: string;
  eventType: 'payment.failed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** 1 for the first attempt to charge for the same thing. */
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
  /** The id of the event. */
  id: string;
  eventType: 'payment.refund_failed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  transactionType: 'REFUND';
  refundId: string;
  reason: 'duplicate' | 'fraudulent' | 'requested_by_customer';
  status: 'failed';
  /** Whether this refund is of less than was captured. */
  partial: boolean;
  /** The sum of all succeeded refunds. */
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
  /** The id of the event. */
  id: string;
  eventType: 'payment.refunded';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  transactionType: 'REFUND';
  refundId: string;
  reason: 'duplicate' | 'fraudulent' | 'requested_by_customer';
  status: 'succeeded';
  /** Whether this refund is of less than was captured. */
  partial: boolean;
  /** The sum of all succeeded refunds. */
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
  /** The id of the event. */
  id: string;
  eventType: 'payment.succeeded';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'PAYMENT' | 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  paymentId: string | null;
  transactionId: string | null;
  subscriptionId: string | null;
  invoiceId: string | null;
  /** A decimal, with exactly the decimals of its currency. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** The processor's id of the payout. */
  payoutId: string;
  /** The connected account that was paid out. */
  account: string;
  /** `gross` less `fees`, `refunds` and `disputes`, plus `other`. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /** The processor's status: pending, in_transit, paid, failed, canceled. */
  status: string;
  /** When it arrives at the bank, or is expected to. */
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
 * A change or resume that waits for its payment, which takes days for a bank debit. It takes
 * effect when the payment succeeds. Until then nothing changes; a cancellation or
 * `unschedule` undoes it.
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
  /** A decimal with the decimals of the currency; negative if it is credited. */
  unitAmount: string;
  /** A decimal with the decimals of the currency; negative if it is credited. */
  amount: string;
  period: Period | null;
};

export type PlainInvoiceLineType = 'fixed' | 'recurring' | 'proration' | 'credit' | 'adjustment';

export type PortalToken = {
  id: string;
  customerId: string;
  /** Shown only once. */
  token: string;
  /** Where to send the customer. */
  url: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
};

export type PortalTokenCreate = {
  /** For how many seconds the link is valid. */
  ttlSeconds?: number;
};

/** The previous value of each changed field. */
export type PreviousSubscription = {
  subscriptionId?: string;
  bundleId?: string;
  planName?: string;
  phaseName?: string | null;
  priceListName?: string;
  productId?: string;
  priceId?: string;
  /** For a whole period: the price times the quantity. */
  amount?: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency?: string;
  quantity?: number;
  status?: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd?: boolean;
  cancellationEffectiveAt?: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd?: string;
  resumesAt?: string | null;
  /** Whether its periods continue while it is paused. */
  keepInvoices?: boolean;
  pendingChange?: PendingChangeData | null;
  externalCustomerId?: string | null;
  customerEmail?: string | null;
  clientReferenceId?: string | null;
  metadata?: Metadata;
};

export type Price = {
  id: string;
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  type?: PriceType;
  interval?: BillingInterval;
  /**
   * The number of intervals in a period: 3 with `month` is every 3 months. At most 365 days,
   * 156 weeks, 36 months, 3 years.
   */
  intervalCount?: number;
  trialDays?: number;
};

export type PriceStatus = 'active' | 'archived';

export type PriceType = 'one_time' | 'recurring';

export type ProcessorAccount = {
  type: 'stripe';
  /** Stripe's id of the account. */
  account: string;
  mode: Mode;
  /** The last four characters of the key. */
  last4: string;
  status: ProcessorAccountStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  checkedAt: string;
};

/**
 * `webhook_secret_required`: payments work, but changes at Stripe are learned late, because
 * it sends no webhooks: create an endpoint there and send its `webhookSecret`. `failing`:
 * Stripe refuses the key; send another one.
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
   * The signing secret (`whsec_...`) of an endpoint that you created at Stripe. Omitted: an
   * endpoint is created there if the key allows it; an endpoint that you named before stays.
   */
  webhookSecret?: string;
};

export type Product = {
  id: string;
  name: string;
  description: string;
  /** All prices, active ones first. */
  prices: Price[];
  /** Names the product in a buy link. Unique among all organizations. */
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
  /** Names the product in a buy link. Unique among all organizations. */
  slug?: string;
  status?: ProductStatus;
  metadata?: Metadata;
};

export type ProductCreate = {
  name: string;
  description?: string;
  /** Names the product in a buy link. Unique among all organizations. */
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
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  status: RefundStatus;
  reason: RefundReason;
  failureReason: RefundFailure | null;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  settledAt: string | null;
};

export type RefundCreate = {
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
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
   * `["*"]` for all types. Omitted: what the endpoint subscribes to. It may name what it does
   * not.
   */
  types?: readonly SubscribedType[];
  /** Only count; send nothing. */
  dryRun?: boolean;
};

export type Replayed = {
  /** The number of deliveries that are sent. */
  count: number;
};

export type Reservation = {
  id: string;
  featureKey: string;
  customerId: string;
  externalCustomerId: string | null;
  /** The amount that is or was held. */
  amount: number;
  /** The committed value; 0 until then. */
  committed: number;
  status: 'open' | 'committed' | 'released' | 'expired';
  /** Whether it was committed after its expiry. */
  late: boolean;
  /** ISO 8601 in UTC, with milliseconds. */
  expiresAt: string;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
  balance: number | null;
  remaining: number | null;
  /**
   * What pays for `value`, if a pool of credits pays for the feature: units of its own
   * allowance, then credits of the pool. Parts of 0 are left out; empty if it is denied.
   * Absent for other features.
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
  /** The merchant's own id for the customer. */
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
 * How often the limit resets. Default: the interval of the product's recurring prices if
 * they agree, else `month`.
 */
export type ResetInterval = 'never' | 'hour' | 'day' | 'week' | 'month' | 'quarter' | 'year';

export type RevenueByHour = {
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** Signs every delivery: `whsec_` and base64. Shown only once. */
  secret: string;
  /** Until then deliveries are also signed with the old secret. */
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
  /** A decimal with at most the decimals of its currency. Answers have exactly those. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /**
   * The cost of the unbilled usage of the customer's subscriptions in this currency, each in
   * its current period: exact, before rounding and minimums. It may exceed the cap: /track
   * records usage unless its `overage` is `reject`.
   */
  spent: string;
  /** What is left of the cap; never below 0. */
  remaining: string;
};

export type SpendCapPut = {
  /**
   * A decimal with at most the decimals of its currency. Answers have exactly those. With 0
   * nothing beyond what is included may be used.
   */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
  /** The time from which periods are counted. */
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
  /** The id of the event. */
  id: string;
  eventType: 'subscription.blocked';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  stateName: 'blocked' | 'clear';
  /** What blocks it. */
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
  /** The id of the event. */
  id: string;
  eventType: 'subscription.canceled';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** For a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods continue while it is paused. */
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
  /** Multiplies the price and the limits of the product. */
  quantity?: number;
};

export type SubscriptionCreate = {
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  productId: string;
  /** Omitted: the oldest recurring price. */
  priceId?: string;
  /** Multiplies the price and the limits of the product. */
  quantity?: number;
  /** Omitted: the trial days of the price. */
  trialDays?: number;
  metadata?: Metadata;
};

export type SubscriptionCreatedData = {
  /** The id of the event. */
  id: string;
  eventType: 'subscription.created';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** For a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods continue while it is paused. */
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
  /** The id of the event. */
  id: string;
  eventType: 'subscription.expired';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** For a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods continue while it is paused. */
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
  /** As of that time, by dunning. */
  blocked: boolean;
  since: string | null;
  statusNow: string;
  planNow: string;
};

export type SubscriptionOverdueChangedData = {
  /** The id of the event. */
  id: string;
  eventType: 'subscription.overdue_changed';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'CUSTOMER';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
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
  /** Whether periods continue and leave draft invoices, which are not charged. */
  keepInvoices?: boolean;
};

export type SubscriptionPreview = {
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /** As the lines of an invoice, without ids. Empty if nothing would be billed. */
  lines: UpcomingInvoiceLine[];
  /** A decimal, with exactly the decimals of its currency. */
  subtotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  discountTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  total: string;
  /** The amount that is charged at once. */
  amountDue: string;
  /** The amount that becomes credit for later invoices. */
  credited: string;
  /** Whether it takes effect only when `amountDue` is paid. */
  waitsForPayment: boolean;
  subscription: Subscription;
  /** The time of the calculation, to the millisecond. */
  asOf: string;
};

export type SubscriptionStatus = 'active' | 'paused' | 'canceled';

export type SubscriptionTrialEndedData = {
  /** The id of the event. */
  id: string;
  eventType: 'subscription.trial_ended';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** For a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods continue while it is paused. */
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
  /** The id of the event. */
  id: string;
  eventType: 'subscription.updated';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'SUBSCRIPTION';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  subscriptionId: string;
  bundleId: string;
  planName: string;
  phaseName: string | null;
  priceListName: string;
  productId: string;
  priceId: string;
  /** For a whole period: the price times the quantity. */
  amount: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  quantity: number;
  status: 'active' | 'paused' | 'canceled';
  cancelAtPeriodEnd: boolean;
  cancellationEffectiveAt: string | null;
  /** ISO 8601 in UTC, with milliseconds. */
  currentPeriodEnd: string;
  resumesAt: string | null;
  /** Whether its periods continue while it is paused. */
  keepInvoices: boolean;
  pendingChange: PendingChangeData | null;
  externalCustomerId: string | null;
  customerEmail: string | null;
  clientReferenceId: string | null;
  metadata: Metadata;
  /** The fields that changed; `plan` first if the product, the price or the quantity changed. */
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

/** Each subscription that has not ended is counted in one of these. */
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
  /** The id of the event. */
  id: string;
  eventType: 'tag.created';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'TAG';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  tagId: string;
  tagName: string;
  /** Whether the tag controls the service, and is not only a label. */
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
  /** The id of the event. */
  id: string;
  eventType: 'tag.deleted';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'TAG';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  tagId: string;
  tagName: string;
  /** Whether the tag controls the service, and is not only a label. */
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
   * An ISO 8601 duration in whole numbers, such as `P1M` or `P1DT12H`, from the time of the
   * clock, by the calendar in UTC. 31 January plus a month is the last day of February.
   */
  advance?: string;
  /** The new time; not in the past of the clock. */
  now?: string;
};

/** `advancing` while due work is being done; `now` is how far it is. */
export type TestClockStatus = 'ready' | 'advancing';

export type TrackBatchBody = {
  tracks: readonly TrackBody[];
};

export type TrackBatchResult = {
  /** In the order of the call: an answer or an error for each item. */
  results: (TrackResult | ItemError)[];
};

export type TrackBody = {
  /** The slug of the meter. */
  featureKey: string;
  customerId?: string;
  /** The merchant's own id for the customer. */
  externalCustomerId?: string;
  value?: number | string;
  idempotencyKey?: string;
  metadata?: UsageMetadata;
  /** Refuse usage over the limit with 402. Without it usage is recorded in full. */
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
   * The part of `consumed` that money has paid for: usage that was billed within the period,
   * for example by a change of plan. `balance` is `limit` + `billed` - `consumed` -
   * `reserved`. Absent if it is 0.
   */
  billed?: number;
};

export type TransactionType = 'PURCHASE' | 'SUBSCRIPTION_START' | 'RECURRING';

export type UpcomingInvoice = {
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
  currency: string;
  /** As the lines of an invoice, without ids. Empty if nothing would be billed. */
  lines: UpcomingInvoiceLine[];
  /** A decimal, with exactly the decimals of its currency. */
  subtotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  discountTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  taxTotal: string;
  /** A decimal, with exactly the decimals of its currency. */
  total: string;
  /** When it will be billed if nothing changes. */
  periodEnd: string;
  /** The time until which recorded usage is included. */
  asOf: string;
};

export type UpcomingInvoiceLine = UpcomingPlainLine | UpcomingUsageLine;

export type UpcomingPlainLine = {
  type: PlainInvoiceLineType;
  description: string;
  quantity: number;
  /** A decimal with the decimals of the currency; negative if it is credited. */
  unitAmount: string;
  /** A decimal with the decimals of the currency; negative if it is credited. */
  amount: string;
  period: Period | null;
};

/**
 * `usage`: usage beyond the allowance in the period; for a period that was billed in part,
 * the additional cost. `usage_adjustment`: its cost now, after late events and corrections,
 * less what was billed before.
 */
export type UpcomingUsageLine = {
  type: UsageInvoiceLineType;
  description: string;
  featureKey: string;
  /** Units beyond the allowance; for an adjustment, their signed change. */
  quantity: number;
  /** A decimal with the decimals of the currency; negative if it is credited. */
  amount: string;
  usagePriceId: string;
  /**
   * The parts of the amount before minimum, maximum and rounding, including what was billed
   * before.
   */
  tiers: UsageInvoiceLineTier[];
  period: Period;
};

export type UsageBin = {
  /** The start on the calendar, also if `from` is later: usage before `from` is not included. */
  start: string;
  /**
   * Exclusive. The end on the calendar, also if `to` is earlier: usage from `to` on is not
   * included.
   */
  end: string;
  value: number | null;
  /**
   * The number of events, corrections included. A commit on a `count` meter counts as many as
   * its units.
   */
  events: number;
  /**
   * With `group_by`: the value as it was sent, so 1 and "1" differ. null: events without the
   * name, and those of all but the 250 largest groups.
   */
  group?: string | number | boolean | null;
};

export type UsageEvent = {
  id: string;
  featureKey: string;
  customerId: string;
  externalCustomerId: string | null;
  /** As reported: negative for a correction. */
  value: number;
  /** When the usage happened. */
  timestamp: string;
  /** ISO 8601 in UTC, with milliseconds. */
  recordedAt: string;
  metadata: UsageMetadata | null;
};

export type UsageEvents = {
  /** A page may have fewer rows than `limit`, or none, while there are more. */
  data: UsageEvent[];
  nextCursor: string | null;
};

/**
 * `usage`: usage beyond the allowance in the period; for a period that was billed in part,
 * the additional cost. `usage_adjustment`: its cost now, after late events and corrections,
 * less what was billed before.
 */
export type UsageInvoiceLine = {
  id: string;
  type: UsageInvoiceLineType;
  description: string;
  featureKey: string;
  /** Units beyond the allowance; for an adjustment, their signed change. */
  quantity: number;
  /** A decimal with the decimals of the currency; negative if it is credited. */
  amount: string;
  usagePriceId: string;
  /**
   * The parts of the amount before minimum, maximum and rounding, including what was billed
   * before.
   */
  tiers: UsageInvoiceLineTier[];
  period: Period;
};

/**
 * A price without tiers has one. For packages `flatAmount` is that of one package, and
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
 * `per_unit`: each unit costs `unitAmount`. `graduated`: each unit has the price of its
 * tier. `volume`: all units have the price of the tier that has the whole quantity.
 * `package`: each started package costs `packageAmount`.
 */
export type UsageModel = 'per_unit' | 'graduated' | 'volume' | 'package';

export type UsagePrice = {
  id: string;
  productId: string;
  meterId: string;
  /** The slug of the meter. */
  featureKey: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
   * The minimum for each period of the allowance, also without usage, for the share of it in
   * which the price is in force.
   */
  minimumAmount?: string;
  /** The maximum for each period of the allowance. */
  maximumAmount?: string;
  status: UsagePriceStatus;
  /** ISO 8601 in UTC, with milliseconds. */
  createdAt: string;
};

export type UsagePriceCreate = {
  /** The slug of the meter. */
  featureKey: string;
  /** An ISO 4217 code. Lower case is accepted and stored as upper case. */
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
   * The minimum for each period of the allowance, also without usage, for the share of it in
   * which the price is in force.
   */
  minimumAmount?: string | null;
  /** The maximum for each period of the allowance. */
  maximumAmount?: string | null;
};

export type UsagePriceStatus = 'active' | 'archived';

export type UsageRecordedData = {
  /** The id of the event. */
  id: string;
  eventType: 'usage.recorded';
  /** The id of the object that the event is about. */
  objectId: string;
  objectType: 'USAGE';
  accountId: string | null;
  organizationId: string;
  /** The same as on the envelope. It increases for each object. */
  timestamp: string;
  mode: 'test' | 'live';
  /** 1, 2, 3 … for each object, without a gap. */
  sequence: number;
  /** A requested sample: it did not happen. */
  test?: true;
  customerId: string;
  externalCustomerId: string | null;
  /** The meter's slug. */
  featureKey: string;
  meterId: string;
  /**
   * The number of usage events of the call that it stands for. The other fields of a single
   * event are those of the last one.
   */
  count: number;
  value: number | null;
  /** In the period in which the usage counts, afterwards. */
  consumed: number;
  balance: number | null;
  /** The id in the answer of the call. */
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
   * A time of the organization's clock: every event that was acknowledged until then is
   * counted.
   */
  exactThrough: string;
};

export type UsageTierCreate = {
  /**
   * The last unit of the tier (inclusive), counted beyond the allowance; null in the last
   * tier.
   */
  upTo: number | string | null;
  unitAmount?: string | null;
  /** Added once when a unit is in the tier. */
  flatAmount?: string | null;
};

export type UsageTierShown = {
  /**
   * The last unit of the tier (inclusive), counted beyond the allowance; null in the last
   * tier.
   */
  upTo: number | null;
  /** A decimal in the currency, with at most 12 decimals. */
  unitAmount?: string;
  /** Added once when a unit is in the tier. */
  flatAmount?: string;
};

/** Deliveries by their current outcome. */
export type WebhookCounts = {
  /** The receiver has accepted them. */
  delivered: number;
  /** Not tried yet. */
  pending: number;
  /** Failed so far, and will be retried. */
  retrying: number;
  /** Waiting for the endpoint to be enabled. */
  held: number;
  /** Failed after all retries. */
  exhausted: number;
};

export type WebhookHealth = {
  /** The endpoint. */
  id: string;
  /** Since midnight in the organization's time zone. */
  today: WebhookCounts;
  /** Since midnight six days before. */
  week: WebhookCounts;
  /** Whether all of the seven days are counted: of an endpoint only the newest 1000 are. */
  complete: boolean;
};

/** Deliveries that were created today: for each endpoint the newest 1,000. */
export type WebhooksOfDay = {
  endpoints: number;
  disabled: number;
  delivered: number;
  waiting: number;
  /** Failed after all retries. */
  failed: number;
};
