// What each method sends: the operation, the ids of its path, its fields and its options.
import { expect, test } from 'bun:test';
import type { Caller, CallOptions, Input } from '../../src/client/caller.ts';
import { type Operation, OPERATIONS, type OperationId } from '../../src/client/operations.ts';
import { List } from '../../src/client/page.ts';
import { resourcesOf } from '../../src/client/resource.ts';

type Called = readonly [OperationId, Input, CallOptions | undefined];

const calls: Called[] = [];
const caller: Caller = {
  call: <T>(operation: OperationId, input: Input, options?: CallOptions) => {
    calls.push([operation, input, options]);
    return Promise.resolve({ data: [], hasMore: false } as T);
  },
};
const tollhouse = resourcesOf(caller);

async function sentBy(call: PromiseLike<unknown>): Promise<Called | undefined> {
  await call;
  return calls.pop();
}

const options = { idempotencyKey: 'order-17' };

test('a client method sends its body, and options', async () => {
  const body = { email: 'ada@example.com' };
  expect(await sentBy(tollhouse.customers.create(body, options))).toEqual([
    'createCustomer',
    { path: {}, body },
    options,
  ]);
});

test('a client method puts ids in the order of the path', async () => {
  expect(await sentBy(tollhouse.products.archivePrice('p', 'q', options))).toEqual([
    'archivePrice',
    { path: { id: 'p', priceId: 'q' } },
    options,
  ]);
  expect(await sentBy(tollhouse.payments.refund('p', { amount: '1.00' }))).toEqual([
    'refundPayment',
    { path: { id: 'p' }, body: { amount: '1.00' } },
    undefined,
  ]);
});

test('a client method leaves out optional fields', async () => {
  expect(await sentBy(tollhouse.subscriptions.cancel('s'))).toEqual([
    'cancelSubscription',
    { path: { id: 's' } },
    undefined,
  ]);
  expect(await sentBy(tollhouse.subscriptions.cancel('s', undefined, options))).toEqual([
    'cancelSubscription',
    { path: { id: 's' } },
    options,
  ]);
});

test('a client method returns a list', async () => {
  const list = tollhouse.payments.listRefunds('p', { limit: 2 }, options);
  expect(list).toBeInstanceOf(List);
  expect(await sentBy(list)).toEqual([
    'listRefunds',
    { path: { id: 'p' }, query: { limit: 2 } },
    options,
  ]);
});

test.each(['', '.', '..', undefined, 7])('the client refuses %p as an id of a path', async (id) => {
  const error: unknown = await tollhouse.customers
    .retrieve(id as string)
    .catch((thrown: unknown) => thrown);
  expect((error as Error).message).toContain('id must be a string');
});

test('each client method calls the operation of its row, with all of its path', async () => {
  const called = new Set<OperationId>();
  for (const methods of Object.values(tollhouse)) {
    for (const method of Object.values(methods as Record<string, (...ids: string[]) => unknown>)) {
      await method('a', 'b', 'c');
      const [operation, { path = {} }] = calls.pop()!;
      const { path: template }: Operation = OPERATIONS[operation];
      expect(Object.keys(path)).toEqual([...template.matchAll(/\{(\w+)\}/g)].map(([, id]) => id!));
      called.add(operation);
    }
  }
  const ofClient = Object.keys(OPERATIONS).filter((id) => !called.has(id as OperationId));
  expect(ofClient.toSorted()).toEqual([
    'checkEntitlement',
    'checkEntitlements',
    'streamEvents',
    'trackUsage',
    'trackUsages',
  ]);
});
