// The scope of an operation's Idempotency-Keys follows from the operation. Answers are stored under
// it for 30 days: another name for a scope would forget them.
import { expect, test } from 'bun:test';
import { isIdempotent } from '../../../src/http/edge/admission.ts';
import { scopeOf } from '../../../src/http/idempotency/idempotency.ts';
import { listOperations } from './operations.ts';

const keyed = listOperations().filter(({ operation, access }) => isIdempotent(operation, access));

test('no two operations share the keys of a caller', () => {
  expect(keyed.length).toBeGreaterThan(50);
  expect(new Set(keyed.map(({ operation }) => scopeOf(operation))).size).toBe(keyed.length);
});

const scopeFor = (operationId: string, of?: string): string =>
  scopeOf(keyed.find(({ operation }) => operation.operationId === operationId)!.operation, of);

test('a scope is the method and path of an operation, or its name where it is repeatable', () => {
  expect(scopeFor('createCheckout')).toBe('POST /checkouts');
  expect(scopeFor('rotateWebhookEndpointSecret')).toBe(
    'POST /webhook-endpoints/{id}/rotate-secret',
  );
  expect(scopeFor('voidGrant')).toBe('voidGrant');
});

test('a key that counts for one customer has the customer in its scope', () => {
  expect(scopeFor('createGrant', 'c')).toBe('POST /customers/{id}/grants c');
  expect(scopeFor('cancelInPortal', 'c')).toBe('cancelInPortal c');
});
