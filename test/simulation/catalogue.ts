// The customers, meters and other objects of a run: made from its seed, before anything happens.
import type { Grant } from '../../ledger/metering/grants.ts';
import type { Customer, Meter } from '../../ledger/metering/meter.ts';
import type { Ids } from '../../ledger/ports.ts';
import type { PaymentState } from '../../ledger/payments/payment.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { ids as platformIds } from '../../src/platform/ids.ts';
import type { Random } from '../support/random.ts';

/** The wall clock at the start of a run. */
export const T0 = Date.UTC(2026, 0, 31, 12);

/** Before any clock of a run. */
export const EARLIER = T0 - 3_600_000;

/** What a client gives by hand. */
export const GRANT: Omit<Grant, 'id' | 'amount' | 'effectiveAt' | 'expiresAt'> = {
  source: 'top_up',
  used: 0n,
  spent: 0n,
  grown: 0n,
  cut: [],
  rests: [],
  startedAt: null,
  endedIn: 0,
  cap: null,
  priority: 100,
  createdAt: EARLIER,
  overageAllowed: false,
  price: null,
  charges: false,
  recurs: null,
  renewsAt: null,
  started: false,
  suspended: null,
  boolean: false,
  productId: null,
  subscriptionId: null,
  reason: null,
  ended: null,
};

export type Catalogue = {
  readonly customers: readonly Customer[];
  readonly meters: {
    /** Usage is a fact, and may exceed the limit. */
    readonly open: Meter;
    /** Usage that does not fit is refused. */
    readonly strict: Meter;
    /** Its grants expire and are voided. */
    readonly timed: Meter;
    /** Counts members. */
    readonly seats: Meter;
    /** Sold by subscriptions. */
    readonly sold: Meter;
    /**
     * Pays for what is used of the two after it beyond their own limits, where the world has a
     * pool.
     */
    readonly credits: Meter;
    readonly tokens: Meter;
    readonly images: Meter;
    /** Of the historian alone. */
    readonly settled: Meter;
    /** Carries its level from one period to the next. */
    readonly disk: Meter;
  };
  readonly payments: readonly PaymentState[];
};

/** Ids of a run: new ones come from its seed. */
export function idsOf(random: Random): Ids {
  const hex = (digits: number): string =>
    random
      .integer(0, 16 ** digits - 1)
      .toString(16)
      .padStart(digits, '0');
  return {
    ...platformIds,
    next: () => `${hex(8)}-${hex(4)}-7${hex(3)}-8${hex(3)}-${hex(6)}${hex(6)}`,
  };
}

const SETTLED = { slug: 'settled', aggregation: 'sum', scale: 0, carry: false } as const;

export function catalogueOf(random: Random): Catalogue {
  const ids = idsOf(random);
  const tenant = { organisationId: ids.next(), mode: 'live' } as const;
  const meter = (slug: string, aggregation: Meter['aggregation']): Meter => ({
    id: ids.next(),
    ...tenant,
    slug,
    aggregation,
    scale: 0,
    carry: false,
  });
  const customers = Array.from({ length: random.integer(2, 6) }, (_, index) => {
    const id = ids.next();
    return { id, slot: slotOf(id), ...tenant, externalId: `c${index}`, email: null };
  });
  const meters = {
    open: meter('open', 'sum'),
    strict: meter('strict', 'sum'),
    timed: meter('timed', 'sum'),
    seats: meter('seats', 'unique'),
    sold: meter('sold', 'sum'),
    credits: meter('credits', 'sum'),
    tokens: meter('tokens', 'sum'),
    images: meter('images', 'count'),
    // Its id takes no draw, so that all else is as without it.
    settled: { id: ids.derive('meter', 'settled'), ...tenant, ...SETTLED },
  };
  // Its id takes nothing from the seed, so that the runs without it are as they were.
  const level = { slug: 'disk', aggregation: 'last', carry: true } as const;
  const disk = { ...meters.open, ...level, id: ids.derive('meter', meters.open.id, 'disk') };
  const payments = Array.from({ length: random.integer(1, 3) }, () =>
    paymentOf(ids.next(), tenant),
  );
  return { customers, meters: { ...meters, disk }, payments };
}

function paymentOf(
  id: string,
  tenant: { readonly organisationId: string; readonly mode: 'live' },
): PaymentState {
  return {
    payment: {
      id,
      slot: slotOf(id),
      ...tenant,
      amount: 100n,
      currency: 'USD',
      transactionType: 'PURCHASE',
      subscriptionId: null,
      meterId: null,
      customerName: null,
      isOffSession: false,
      attempt: 1,
      processor: 'sandbox',
      createdAt: T0,
      roundTrip: {
        paymentLinkId: 'checkout',
        paymentLinkToken: 'token',
        productId: 'product',
        customerEmail: null,
        externalCustomerId: null,
        clientReferenceId: null,
        metadata: {},
      },
    },
    status: 'processing',
    account: { opened: false, captured: 0n, refunded: 0n, reserved: 0n, held: 0n, chargedBack: 0n },
    customerId: null,
    invoiceId: null,
    method: null,
    reference: null,
    failure: null,
    paidAt: null,
    asks: 0,
    askAt: T0 + 3000,
    refunds: new Map(),
    disputes: new Map(),
    sequence: 0n,
    eventAt: 0,
  };
}
