// The ledger's storage alone, on a database of its own, with a claimed seat.
import type { Fence, FlushRows, Storage } from '../../ledger/storage.ts';
import { postgresStorage } from '../../ledger/store/postgres-storage.ts';
import { emptyPeriod, type Meter } from '../../ledger/metering/meter.ts';
import type { Transfer } from '../../ledger/kernel/transfers.ts';
import { slotOf } from '../../ledger/kernel/slot.ts';
import { timers } from '../../src/platform/clock.ts';
import { ids } from '../../src/platform/ids.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';
import { freshDatabase } from '../support/database.ts';

export type Bed = {
  readonly storage: Storage;
  readonly sql: Sql;
  /** Moves with each committed flush. */
  fence: Fence;
  stop(): Promise<void>;
};

const LEASE_MS = 60_000;

export async function openBed(): Promise<Bed> {
  const database = await freshDatabase();
  const openReader = () => openPool(database.url, { max: 2, applicationName: 'test' });
  const sql = openReader();
  const storage = postgresStorage({
    openWriter: () => openPool(database.url, { max: 1, applicationName: 'tollhouse journal' }),
    openReader,
    leaseMs: LEASE_MS,
    holder: ids.next(),
    address: null,
    slotOf,
    ids,
    timers,
    onEvents: () => undefined,
  });
  const fence = await storage.claim();
  if (fence === null) throw new Error('the seat of a fresh database is free');
  return {
    storage,
    sql,
    fence,
    async stop() {
      await Promise.all([storage.end(), sql.end()]);
      await database.drop();
    },
  };
}

export const SLOT = 7;

export const METER: Meter = {
  id: ids.next(),
  organisationId: ids.next(),
  mode: 'test',
  slug: 'feature',
  aggregation: 'sum',
  scale: 0,
  carry: false,
};

export const NO_ROWS: FlushRows = {
  transfers: [],
  opened: [],
  touched: [],
  states: [],
  grants: [],
  members: [],
  pooled: [],
  events: [],
  payments: [],
  refunds: [],
  disputes: [],
  followups: [],
  subscriptions: [],
  subscriptionFollowups: [],
  spans: [],
  marks: [],
  reservations: [],
  billingAccounts: [],
  topUps: [],
  topUpOrders: [],
  handovers: [],
};

type Amounts = {
  readonly debits?: bigint;
  readonly credits?: bigint;
  readonly held?: bigint;
};

const deltaOf = ({ debits = 0n, credits = 0n, held = 0n }: Amounts) => ({
  debitsPosted: debits,
  debitsPending: held,
  creditsPosted: credits,
  creditsPending: 0n,
});

export function opening(
  id: string,
  amounts: Amounts & { readonly kind?: 'meter' | 'usage'; readonly aggregate?: bigint },
): FlushRows['opened'][number] {
  const { kind = 'meter', debits = 0n, aggregate = debits } = amounts;
  return {
    slot: SLOT,
    id,
    delta: deltaOf(amounts),
    kind,
    owner: {
      organisationId: METER.organisationId,
      mode: METER.mode,
      meterId: METER.id,
      currency: null,
    },
    customerId: kind === 'meter' ? CUSTOMER_ID : null,
    period: kind === 'meter' ? { ...emptyPeriod(id, 0, null), aggregate } : null,
  };
}

const CUSTOMER_ID = ids.next();

/** `believed` debits and credits before the change; `aggregate` after it. */
export function change(
  id: string,
  amounts: Amounts & { readonly believed: readonly [bigint, bigint]; readonly aggregate: bigint },
): FlushRows['touched'][number] {
  const [debitsPosted, creditsPosted] = amounts.believed;
  return {
    slot: SLOT,
    id,
    delta: deltaOf(amounts),
    expected: { debitsPosted, creditsPosted },
    period: { ...emptyPeriod(id, 0, null), aggregate: amounts.aggregate },
  };
}

export function transfer(fields: Partial<Transfer>): Transfer {
  return {
    id: ids.next(),
    kind: 'single',
    slot: SLOT,
    debit: ids.next(),
    credit: ids.next(),
    amount: 1n,
    hold: null,
    at: 1_767_225_600_000,
    usage: null,
    ...fields,
  };
}
