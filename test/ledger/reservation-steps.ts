// The steps of a story about reservations, as the tables write them.
import { expect } from 'bun:test';
import { snapshotOf } from '../../ledger/metering/meter.ts';
import type { ResolveOutcome } from '../../ledger/metering/reservation-decisions.ts';
import { granted, type GrantFields, HOUR, type PlanFields, T0, type World } from './world.ts';

export const FEB = Date.UTC(2026, 1, 28, 12);
export const MAR = Date.UTC(2026, 2, 31, 12);
/** In seconds. */
export const LONG = 29 * 86_400;
const MONTHLY = { cycle: { anchor: T0, zone: 'UTC' } };
export const ROLLS = { max: 6n, expiresAfterPeriods: 2 };

export type Numbers = readonly [
  limit: bigint | null,
  consumed: bigint,
  reserved: bigint,
  balance: bigint | null,
];

export function numbers(world: World): Numbers {
  const { limit, consumed, reserved: held } = snapshotOf(world.seen);
  return [limit, consumed, held, world.numbers[2]];
}

/** Of all periods in memory, by their start: what was used, and what is held. */
export function periods(world: World): (readonly [bigint, bigint])[] {
  const { current, others } = world.seen;
  return [...others, current].map(({ consumed, reserved: held }) => [consumed, held]);
}

export const said = (outcome: ResolveOutcome) =>
  outcome.kind === 'done'
    ? `${outcome.reservation.status}${outcome.reservation.late ? ' late' : ''} ${outcome.reservation.committed}`
    : outcome.kind;

export type Step = (world: World) => unknown;

export const hold =
  (id: string, amount: bigint, seconds = LONG): Step =>
  (world) =>
    expect(world.reserve(amount, seconds, id).kind).toBe('reserved');
export const commit =
  (id: string, value: bigint): Step =>
  (world) =>
    expect(world.commit(id, value).kind).toBe('done');
export const release =
  (id: string): Step =>
  (world) =>
    expect(world.release(id).kind).toBe('done');
export const use =
  (value: bigint): Step =>
  (world) =>
    expect(world.use(value).kind).toBe('recorded');
export const topUp =
  (amount: bigint, fields: GrantFields = {}): Step =>
  (world) =>
    granted(world.grant({ id: 'top-up', amount, ...fields }));
/** Of the first period. */
export const useLate =
  (value: bigint): Step =>
  (world) =>
    expect(world.use(value, { eventAt: T0 + HOUR }).kind).toBe('recorded');
export const at =
  (time: number): Step =>
  (world) => {
    world.now = time;
  };
export const change =
  (...plans: readonly PlanFields[]): Step =>
  (world) => {
    world.now += 1;
    expect(world.replacePlan(...plans.map((plan) => ({ ...MONTHLY, ...plan })))).toBe('done');
  };
export const voided =
  (id: string): Step =>
  (world) =>
    expect(world.void(id)).toBe('voided');

export function after(world: World, steps: readonly Step[]): World {
  for (const step of steps) step(world);
  return world;
}
