// The steps of a story about credits, as the tables write them.
import { expect } from 'bun:test';
import { CreditWorld, type Slug } from './credit-world.ts';

export type Step = (world: CreditWorld) => unknown;

export const use =
  (slug: Slug, value: number, ago = 0): Step =>
  (world) =>
    expect(world.use(slug, value, { eventAt: world.now - ago })).toStartWith('recorded');
export const topUp =
  (slug: Slug, amount: number | null): Step =>
  (world) =>
    world.grant(slug, amount);
export const plan =
  (slug: Slug, limit: number | null): Step =>
  (world) =>
    expect(world.plan(slug, limit, { resetInterval: 'day' })).toBe('done');
export const withdraw =
  (slug: Slug): Step =>
  (world) =>
    expect(world.withdrawPlan(slug)).toBe('done');
/** Without a limit: to a plan without the feature. */
export const change =
  (slug: Slug, limit?: number): Step =>
  (world) =>
    expect(world.replacePlan(slug, limit, { resetInterval: 'day' })).toBe('done');
export const hold =
  (slug: Slug, amount: number, id = 'a', seconds = 20 * 86_400): Step =>
  (world) =>
    expect(world.reserve(slug, amount, id, seconds)).toStartWith('reserved');
export const commit =
  (slug: Slug, value: number, id = 'a'): Step =>
  (world) =>
    expect(world.commit(slug, id, value)).toStartWith('committed');
export const release =
  (slug: Slug, id = 'a'): Step =>
  (world) =>
    expect(world.release(slug, id)).toStartWith('released');
export const wait =
  (ms: number): Step =>
  (world) => {
    world.now += ms;
  };

export function after(...steps: readonly Step[]): CreditWorld {
  const world = new CreditWorld();
  for (const step of steps) step(world);
  return world;
}
