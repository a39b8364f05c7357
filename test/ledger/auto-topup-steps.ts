// The steps of a story about an automatic top-up: 100 units below 10, on a meter with 20.
import { must } from '../../ledger/kernel/assert.ts';
import type { AutoTopUp, TopUpRefusal, TopUpSettings } from '../../ledger/topups/auto-topup.ts';
import { World } from './world.ts';

export const SETTINGS: TopUpSettings = {
  enabled: true,
  threshold: 10n,
  amount: 100n,
  priceId: 'price',
  productId: 'product',
  limit: null,
};

export const HEARD = { succeeded: true, failed: true };

export function topped(fields: Partial<TopUpSettings> = {}, zone = 'UTC'): World {
  const world = new World();
  world.grant({ amount: 20n });
  world.topUp({ kind: 'put', settings: { ...SETTINGS, ...fields }, zone });
  return world;
}

export const topUpOf = ({ state }: World): AutoTopUp => must(state.topUp, 'a top-up');
export const chargeOf = (world: World): string =>
  must(topUpOf(world).charge, 'a charge under way').paymentId;

export function capture(world: World, paymentId = chargeOf(world)): void {
  const answer = { kind: 'captured', paymentId, at: world.now } as const;
  world.topUp({ kind: 'settle', answer, isHeard: HEARD });
}

export function refuse(
  world: World,
  { why = 'declined', passes = false }: { why?: TopUpRefusal; passes?: boolean } = {},
): void {
  const answer = { kind: 'refused', paymentId: chargeOf(world), why, passes } as const;
  world.topUp({ kind: 'settle', answer, isHeard: HEARD });
}
