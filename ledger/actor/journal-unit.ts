import { unreachable } from '../kernel/assert.ts';
import type { Effects } from '../effects.ts';
import type { UnitSize } from './unit-size.ts';

export type Settled =
  | 'committed'
  | 'duplicate'
  | 'overloaded'
  | 'unavailable'
  /** The database did not take it in time: nothing of it was written, and it is not tried again. */
  | 'slow'
  | { readonly failed: unknown };

/** Something that is decided as a whole, becomes durable as a whole, and can be decided again. */
export type Unit = {
  /** The organisation that it is for: these take turns. Empty for what a node does of its own. */
  readonly tenant: string;
  /** Of the organisation, the customer or payment that it is for: these take turns, too. */
  readonly subject: string;
  /** What it does, for operators. */
  readonly op: string;
  /** What it is expected to write. */
  readonly size: UnitSize;
  /** Ids that the caller chose, by its idempotency keys. */
  readonly keys: readonly string[];
  /** Of the last `decide`. Empty: nothing to write. */
  readonly effects: readonly Effects[];
  /** Decides against tentative memory and applies the result to it. */
  decide(): void;
  /** Whether what it was decided on is not yet durable. */
  isWaiting(): boolean;
  /** Its effects are durable. */
  commit(): void;
  /** Memory goes back to what is durable, for every actor that it touched. */
  rollback(): void;
  settle(how: Settled): void;
};

export const NO_SIZE: UnitSize = { rows: 0, bytes: 0 };

/** It writes nothing: its flush renews the lease. */
export const HEARTBEAT: Unit = {
  tenant: '',
  subject: '',
  op: 'heartbeat',
  size: NO_SIZE,
  keys: [],
  effects: [],
  decide: () => undefined,
  isWaiting: () => true,
  commit: () => undefined,
  rollback: () => undefined,
  settle: () => undefined,
};

/** What operators are told of a unit: nothing that a customer sent. */
export function describe({ tenant, op, size }: Unit): Record<string, unknown> {
  return { organisation: tenant, op, rows: size.rows, bytes: size.bytes };
}

/**
 * An event costs a flush as much as some transfers, however many endpoints hear it: a large row,
 * and one on the queue of the relay.
 */
const EVENT_WEIGHT = 4;

/** What a unit adds to a flush as it was decided, in transfers. */
export function rowsOf({ effects }: Unit): number {
  let count = 0;
  for (const one of effects) count += rowsOfEffects(one);
  return count;
}

function rowsOfEffects(effects: Effects): number {
  switch (effects.kind) {
    case 'handover':
      return 0;
    case 'subscription':
      return effects.subscriptions.length + effects.events.length * EVENT_WEIGHT;
    case 'payment':
      return effects.transfers.length + effects.events.length * EVENT_WEIGHT;
    case 'meter': {
      const { transfers, grants, spans, reservations, events, beside } = effects;
      let rows = transfers.length + grants.length + spans.length + reservations.length;
      for (const other of beside) rows += rowsOfEffects(other);
      return rows + events.length * EVENT_WEIGHT;
    }
    default:
      return unreachable(effects);
  }
}
