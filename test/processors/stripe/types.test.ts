// The types that the fake's objects are checked against: a value that Stripe does not document, in
// a field that Stripe has, is no type of it.
import { expect, test } from 'bun:test';
import type { Charge, Intent, Known, Session } from './types.ts';

type Is<A, B> = [A] extends [B] ? ([B] extends [A] ? true : false) : false;
/** Whether any string may be assigned to it. */
type IsOpen<T> = string extends T ? true : false;

test("the types of Stripe's enums are closed, and other fields are as they were", () => {
  // Each is `true` only where its types are as they have to be.
  const charge: Is<Charge['status'], 'failed' | 'pending' | 'succeeded'> = true;
  const session: Is<Session['status'], 'complete' | 'expired' | 'open' | null> = true;
  const reason: IsOpen<Intent['cancellation_reason']> = false;
  const capture: IsOpen<Intent['capture_method']> = false;
  const id: IsOpen<Intent['id']> = true;
  const customer: IsOpen<Intent['customer']> = true;
  const known: Is<Known<'a' | (string & Record<never, never>)>, 'a'> = true;
  expect([charge, session, reason, capture, id, customer, known]).toEqual([
    true,
    true,
    false,
    false,
    true,
    true,
    true,
  ]);
});
