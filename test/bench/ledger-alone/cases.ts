// What is measured: each case is one step, repeated, and how many events or checks it has.
import type { Item } from '../../../ledger/cluster/batch.ts';
import type { UsageRequest } from '../../../ledger/outcome.ts';
import { fingerprintOf, keyedIds } from '../../../src/http/wire/usage.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { World } from './world.ts';

/** Calls that are under way at once: those of as many connections, or of a call of ingest. */
const CONNECTIONS = 64;
const BATCH = 500;

type Customer = World['found'][number];

type LedgerCase = {
  readonly name: string;
  readonly customers: number;
  readonly perStep: number;
  readonly step: (world: World) => Promise<void>;
};

export const LEDGER_CASES: readonly LedgerCase[] = [
  { name: 'check, one customer', customers: 1, perStep: 1000, step: check },
  { name: 'check, 2,000 customers', customers: 2000, perStep: 1000, step: check },
  {
    name: 'ids of a key',
    customers: 2000,
    perStep: CONNECTIONS,
    step: ({ found, ...world }) => {
      for (let i = 0; i < CONNECTIONS; i += 1) keyed(world, pick(found));
      return Promise.resolve();
    },
  },
  {
    name: 'track',
    customers: 2000,
    perStep: CONNECTIONS,
    step: (world) => track(world, () => UNKEYED),
  },
  {
    name: 'track, keyed',
    customers: 2000,
    perStep: CONNECTIONS,
    step: (world) => track(world, (customer) => keyed(world, customer)),
  },
  {
    name: 'batch of 500, keyed',
    customers: 2000,
    perStep: BATCH,
    step: (world) => batch(world, (customer) => keyed(world, customer)),
  },
];

async function check({ ledger, tenant, meter, found }: World): Promise<void> {
  for (let i = 0; i < 1000; i += 1) {
    const customer = ledger.find(tenant, { id: pick(found).id });
    if (customer === null || customer instanceof Promise) throw new Error('it is in memory');
    const answer = ledger.check(customer, meter, 1n);
    if (typeof answer !== 'string') throw new Error('it is answered from memory');
  }
}

async function track(
  { ledger, tenant, meter, found }: World,
  requestOf: (customer: Customer) => UsageRequest,
): Promise<void> {
  const calls = [];
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const customer = ledger.find(tenant, { id: pick(found).id });
    if (customer === null || customer instanceof Promise) throw new Error('it is in memory');
    calls.push(ledger.record(customer, meter, requestOf(customer)));
  }
  for (const call of calls) {
    const { kind } = await call;
    if (kind !== 'recorded') throw new Error(`a usage was ${kind}`);
  }
}

async function batch(
  { ledger, meter, found }: World,
  requestOf: (customer: Customer) => UsageRequest,
): Promise<void> {
  const items: Item[] = [];
  for (let i = 0; i < BATCH; i += 1) {
    const customer = pick(found);
    items.push({ customer, meter, request: requestOf(customer), follows: false });
  }
  const { kind } = await ledger.recordAll(items);
  if (kind !== 'recorded') throw new Error(`a batch was ${kind}`);
}

function pick<T>(all: readonly T[]): T {
  return all[Math.floor(Math.random() * all.length)] as T;
}

const UNKEYED: UsageRequest = {
  value: 1n,
  member: null,
  eventAt: null,
  admission: 'record',
  metadata: null,
  keyId: null,
  formerKeyId: null,
  idempotencyKey: null,
  externalId: null,
  exactReplay: false,
  fingerprint: null,
};

let made = 0;

function keyed(
  { tenant, meter }: Pick<World, 'tenant' | 'meter'>,
  { id: customerId }: Customer,
): UsageRequest {
  made += 1;
  const key = `key-${made}-of-a-bench`;
  const caller = { body: undefined, header: key, operation: 'track' };
  const event = { customerId, meterId: meter.id, value: 1n, metadata: '', variant: '' } as const;
  return {
    ...UNKEYED,
    ...keyedIds({ ids, hasFormerKeys: false }, tenant, { customerId, key: caller }),
    idempotencyKey: key,
    fingerprint: fingerprintOf(ids, event),
  };
}
