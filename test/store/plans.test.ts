// Plans through the store: what is written and read again equals the decision, and the books
// balance.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { RowBuilder } from '../../ledger/actor/rows.ts';
import { decideTick } from '../../ledger/metering/advance.ts';
import type { MeterContext } from '../../ledger/metering/meter-draft.ts';
import type { MeterEffects } from '../../ledger/metering/meter-effects.ts';
import type { Customer, Meter, MeterState } from '../../ledger/metering/meter.ts';
import { breakdown, emptyMeterState, emptyPeriod } from '../../ledger/metering/meter.ts';
import { entitlementId, periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import {
  type AllowanceTerms,
  expirePlanAt,
  planGrant,
  replacePlan,
  restartPlan,
  startPlan,
  suspendPlan,
  withdrawPlan,
} from '../../ledger/metering/plan-allowance.ts';
import { decideReserve } from '../../ledger/metering/reservation-decisions.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { audit } from '../../src/database/audit.ts';
import { billPlan, cutPlan } from '../../ledger/metering/plan-spans.ts';
import type { Tariff, UsagePrice } from '../../ledger/metering/usage-price.ts';
import { toJson } from '../../ledger/store/json.ts';
import { decideUsage } from '../../ledger/metering/usage.ts';
import { ids } from '../../src/platform/ids.ts';
import { type Bed, NO_ROWS, openBed } from './bed.ts';

let bed: Bed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.stop());

const DAY = 86_400_000;
const START = Date.UTC(2026, 0, 31, 12);
const ROLLS = { max: 6n, expiresAfterPeriods: 2 };
const builder = new RowBuilder();

type Decision = { readonly effects: MeterEffects | null };

/** A customer and one meter, whose every decision is written at once. */
class Written {
  now = START;
  readonly #context: Omit<MeterContext, 'now'>;
  readonly plan = ids.next();
  state: MeterState;

  private constructor(customer: Customer, meter: Meter) {
    this.#context = {
      customer,
      meter,
      ids,
      grantsMax: 1000,
      subscriptions: new Map(),
      books: { usage: ids.next(), grants: ids.next() },
      affords: null,
      alerts: null,
      credits: null,
      late: { left: Infinity },
    };
    const key = { customerId: customer.id, meterId: meter.id };
    const first = emptyPeriod(periodAccountId(ids, { ...key, start: 0 }), 0, null);
    this.state = emptyMeterState(meter, entitlementId(ids, key), first);
  }

  static async open(): Promise<Written> {
    const [organisationId, id, meterId] = [ids.next(), ids.next(), ids.next()];
    await bed.sql`insert into organisations (id, name, created_at) values (${organisationId}, 'Shop', now())`;
    await bed.sql`
      insert into customers (id, organisation_id, mode, metadata, event_sequence, created_at, updated_at)
      values (${id}, ${organisationId}, 'test', '{}', 0, now(), now())`;
    await bed.sql`
      insert into meters (id, organisation_id, mode, slug, name, event_name, aggregation, scale, metadata, status, created_at, updated_at)
      values (${meterId}, ${organisationId}, 'test', 'api', 'API', 'api', 'sum', 0, '{}', 'active', now(), now())`;
    const tenant = { organisationId, mode: 'test' } as const;
    const customer = { ...tenant, id, slot: slotOf(id), externalId: null, email: null };
    return new Written(customer, {
      ...tenant,
      id: meterId,
      slug: 'api',
      aggregation: 'sum',
      scale: 0,
      carry: false,
    });
  }

  async take(decide: (context: MeterContext, state: MeterState) => Decision): Promise<void> {
    const { effects } = decide({ ...this.#context, now: this.now }, this.state);
    if (effects === null) return;
    const rows = { ...NO_ROWS, ...builder.build([effects]) };
    expect((await bed.storage.flush(rows, bed.fence)).kind).toBe('committed');
    bed.fence = { ...bed.fence, seq: bed.fence.seq + 1n };
    builder.committed(rows);
    this.state = effects.state;
  }

  grant(terms: Partial<AllowanceTerms>, subscriptionId = this.plan) {
    return planGrant({
      grantId: ids.next(),
      subscriptionId,
      productId: ids.next(),
      cycle: { anchor: START, zone: 'Europe/Berlin' },
      createdAt: this.now,
      priority: 100,
      limit: 10n,
      resetInterval: 'month',
      resetCount: 1,
      overageAllowed: false,
      price: null,
      charges: true,
      rollover: null,
      boolean: false,
      ...terms,
    });
  }

  /** A price for usage beyond the limit, as the catalogue stores it. */
  async price(): Promise<UsagePrice> {
    const { organisationId, id: meterId } = this.#context.meter;
    const [id, productId] = [ids.next(), ids.next()];
    const tariff: Tariff = {
      model: 'graduated',
      tiers: [
        { upTo: 5n, unitAmount: 2_000_000_000n, flatAmount: null },
        { upTo: null, unitAmount: null, flatAmount: 10n ** 15n },
      ],
    };
    await bed.sql`
      insert into products (id, organisation_id, mode, slug, name, description, metadata, status, created_at, updated_at)
      values (${productId}, ${organisationId}, 'test', ${productId}, 'Pro', '', '{}', 'active', now(), now())`;
    await bed.sql`
      insert into usage_prices (id, organisation_id, mode, product_id, meter_id, currency, model, tariff, minimum_amount, status,
        created_at)
      values (${id}, ${organisationId}, 'test', ${productId}, ${meterId}, 'USD', 'graduated', ${bed.sql.json(toJson(tariff) as never)},
        ${10n ** 15n - 1n}, 'active', now())`;
    return { ...tariff, id, currency: 'USD', minimum: 10n ** 15n - 1n, maximum: null };
  }

  async stored(): Promise<MeterState> {
    const [loaded] = await bed.storage.loadCustomers([this.#context.customer.id]);
    return comparable(loaded!.meters[0]!.state);
  }
}

/** The past is loaded only for late events. */
function comparable(state: MeterState): MeterState {
  const others = state.others.filter(({ start }) => start > state.current.start);
  return { ...state, others, marks: [], ended: [], historyLoaded: false };
}

type Step = (written: Written) => Promise<void>;
const start =
  (terms: Partial<AllowanceTerms> = {}, subscriptionId?: string): Step =>
  (w) =>
    w.take((context, state) => startPlan(context, state, [w.grant(terms, subscriptionId)]));
/** Sells what is beyond the limit. */
const sell =
  (terms: Partial<AllowanceTerms> = {}): Step =>
  async (w) => {
    const price = await w.price();
    return start({ ...terms, price })(w);
  };
const resell: Step = async (w) => replace({ price: await w.price() })(w);
/** Bills what has closed. */
const billed: Step = (w) =>
  w.take((context, state) => {
    const closed = state.spans.filter(({ end }) => end !== null);
    return billPlan(context, state, {
      billedAs: ids.next(),
      spanIds: closed.map(({ id }) => id),
    });
  });
const cut: Step = (w) => w.take((context, state) => cutPlan(context, state, w.plan, w.now));
const replace =
  (terms: Partial<AllowanceTerms>): Step =>
  (w) =>
    w.take((context, state) =>
      replacePlan(context, state, { subscriptionId: w.plan, since: w.now }, [w.grant(terms)]),
    );
const lack: Step = (w) =>
  w.take((context, state) =>
    replacePlan(context, state, { subscriptionId: w.plan, since: w.now }, []),
  );
const hold =
  (amount: bigint): Step =>
  (w) => {
    const request = { id: ids.next(), amount, fingerprint: null, expiresInMs: 200 * DAY };
    return w.take((context, state) => decideReserve(context, state, request));
  };
const withdraw =
  (how: 'expired' | 'voided'): Step =>
  (w) =>
    w.take((context, state) => withdrawPlan(context, state, w.plan, { how, at: w.now }));
const expire =
  (at: number | null): Step =>
  (w) =>
    w.take((context, state) => expirePlanAt(context, state, w.plan, at));
const suspend =
  (why: 'paused' | 'blocked' | null): Step =>
  (w) =>
    w.take((context, state) => suspendPlan(context, state, w.plan, why));
const restart: Step = (w) =>
  w.take((context, state) => restartPlan(context, state, w.plan, { anchor: w.now, zone: 'UTC' }));
const use =
  (value: bigint, daysAgo = 0): Step =>
  (w) =>
    w.take((context, state) =>
      decideUsage(
        context,
        state,
        {
          id: ids.next(),
          value,
          eventAt: daysAgo === 0 ? null : w.now - daysAgo * DAY,
          member: null,
          admission: 'record',
          exactReplay: false,
          fingerprint: null,
          metadata: null,
        },
        () => false,
      ),
    );
const days =
  (count: number): Step =>
  (w) => {
    w.now += count * DAY;
    return w.take((context, state) => ({ effects: decideTick(context, state) }));
  };

const ADD_ON = ids.next();

// prettier-ignore
const LIVES: [string, Step[]][] = [
  ['a plan',                               [start()]],
  ['a plan, months later',                 [start({ rollover: ROLLS }), use(3n), days(70), use(2n)]],
  ['one that is given once',               [start({ resetInterval: 'never', overageAllowed: true }), use(12n), days(70)]],
  ['a feature one has',                    [start({ boolean: true, resetInterval: 'never' }), use(2n)]],
  ['an add-on with periods of its own',    [start(), start({ limit: 5n, resetInterval: 'day' }, ADD_ON), use(12n), days(1), use(1n), days(40)]],
  ['paused',                               [start(), use(2n), suspend('paused'), use(1n)]],
  ['unlimited, blocked',                   [start({ limit: null }), use(99n), suspend('blocked'), use(1n), days(40)]],
  ['paused and resumed',                   [start(), suspend('paused'), suspend(null), use(3n)]],
  ['an end that is planned',               [start(), expire(START + 40 * DAY), days(30)]],
  ['an end that has come',                 [start({ rollover: ROLLS }), expire(START + 40 * DAY), days(41)]],
  ['an end that was planned',              [start(), expire(START + 40 * DAY), expire(null), days(41)]],
  ['withdrawn',                            [start(), use(3n), withdraw('expired')]],
  ['another plan',                         [start(), use(3n), replace({ limit: 30n }), use(1n), replace({ resetInterval: 'year' }), use(1n)]],
  ['a smaller one, once, with a hold',     [start({ resetInterval: 'never' }), use(3n), hold(6n), replace({ limit: 5n, resetInterval: 'never' })]],
  ['one without it, and back',             [start({ rollover: ROLLS }), days(31), use(8n), hold(6n), lack, use(1n), days(5), replace({ rollover: ROLLS })]],
  ['one without it, for months',           [start({ limit: null }), use(8n), hold(6n), lack, use(1n), days(70), suspend('paused'), restart]],
  ['one without it, after it was sold',    [sell(), use(12n), lack, use(1n), billed, resell, use(1n), days(31), billed]],
  ['a larger one, over what was too much', [start(), use(13n), replace({ limit: 20n }), use(1n), hold(2n), start({ limit: 1n }, ADD_ON)]],
  ['less that rolled over, and all again', [start({ rollover: ROLLS }), days(31), use(2n), replace({ rollover: { ...ROLLS, max: 3n } }), use(2n), lack, days(5), replace({ rollover: ROLLS })]],
  ['sold beyond the limit',                [sell(), use(12n), days(31), use(14n), use(1n, 30)]],
  ['sold, billed, and late',               [sell(), use(12n), days(31), billed, use(1n, 30), days(70), use(1n), days(70)]],
  ['sold at another price',                [sell(), use(12n), days(5), resell, use(7n), use(1n, 3), days(31), billed, withdraw('expired')]],
  ['sold, to be paid first',               [sell(), use(12n), days(5), cut, use(2n), use(1n, 3), days(31), billed]],
  ['restarted',                            [start({ rollover: ROLLS }), suspend('paused'), days(50), restart, use(2n)]],
];

test.each(LIVES)('a plan is written and read back: %s', async (_what, steps) => {
  const written = await Written.open();
  for (const step of steps) {
    await step(written);
    expect(await written.stored()).toEqual(comparable(written.state));
  }
  // And it continues from what was read.
  const { state } = written;
  written.state = { ...(await written.stored()), others: state.others };
  await days(33)(written);
  await use(1n)(written);
  expect(breakdown(await written.stored())).toEqual(breakdown(written.state));
});

test('the audit finds nothing after the plans were written', async () => {
  // These plans belong to subscriptions that do not exist, and bill nothing.
  const ofSubscriptions = [
    'allowances are as their subscription is',
    'usage was billed for what it costs',
    'a span of usage is billed when it is over',
  ];
  const findings = await audit(bed.sql);
  expect(findings.filter(({ check }) => !ofSubscriptions.includes(check))).toEqual([]);
});
