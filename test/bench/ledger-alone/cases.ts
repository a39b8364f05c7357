// What is measured: each case is one step, repeated, and how many events or checks it has.
import type { Item } from '../../../ledger/cluster/batch.ts';
import type { UsageRequest } from '../../../ledger/outcome.ts';
import { fingerprintOf, keyedIds } from '../../../src/http/wire/usage.ts';
import { ids } from '../../../src/platform/ids.ts';
import { UNKEYED, type World } from './world.ts';

/** Calls that are under way at once: those of as many connections, or of a call of ingest. */
const CONNECTIONS = 64;
const BATCH = 500;

type Customer = World['found'][number];

type LedgerCase = {
  readonly name: string;
  readonly customers: number;
  /** What pays for usage; the customers' own allowance by default. */
  readonly pays?: 'pool';
  readonly perStep: number;
  readonly step: (world: World) => Promise<void>;
};

export const LEDGER_CASES: readonly LedgerCase[] = [
  { name: 'check, one customer', customers: 1, perStep: 1000, step: check },
  { name: 'check, 2,000 customers', customers: 2000, perStep: 1000, step: check },
  { name: 'check, paid by a pool', customers: 2000, pays: 'pool', perStep: 1000, step: check },
  {
    name: 'track and check',
    customers: 2000,
    perStep: CONNECTIONS,
    step: (world) => track(world, () => UNKEYED, checkOne),
  },
  {
    name: 'track and check, paid by a pool',
    customers: 2000,
    pays: 'pool',
    perStep: CONNECTIONS,
    step: (world) => track(world, () => UNKEYED, checkOne),
  },
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
    checkOne({ ledger, meter }, customer);
  }
}

function checkOne({ ledger, meter }: Pick<World, 'ledger' | 'meter'>, customer: Customer): void {
  const answer = ledger.check(customer, meter, 1n);
  if (answer instanceof Promise) throw new Error('it is answered from memory');
}

async function track(
  { ledger, tenant, meter, found }: World,
  requestOf: (customer: Customer) => UsageRequest,
  then: (world: Pick<World, 'ledger' | 'meter'>, customer: Customer) => void = () => undefined,
): Promise<void> {
  const calls = [];
  const asked: Customer[] = [];
  for (let i = 0; i < CONNECTIONS; i += 1) {
    const customer = ledger.find(tenant, { id: pick(found).id });
    if (customer === null || customer instanceof Promise) throw new Error('it is in memory');
    calls.push(ledger.record(customer, meter, requestOf(customer)));
    asked.push(customer);
  }
  for (const call of calls) {
    const { kind } = await call;
    if (kind !== 'recorded') throw new Error(`a usage was ${kind}`);
  }
  for (const customer of asked) then({ ledger, meter }, customer);
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
