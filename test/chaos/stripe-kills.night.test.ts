import { test } from 'bun:test';
import { killAtStripe } from './stripe-killed.ts';

test('kill -9 at each step at Stripe, on both sides of each call: each intent of a buyer is carried out once', async () => {
  await killAtStripe('both');
}, 900_000);
