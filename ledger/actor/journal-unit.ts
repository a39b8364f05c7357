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

/**
 * An event costs a flush as much as some transfers, however many endpoints hear it: a large row,
 * and one on the queue of the relay.
 */
const EVENT_WEIGHT = 4;

/** What a unit adds to a flush as it was decided, in transfers. */
export function rowsOf(unit: Unit): number {
  let count = 0;
  for (const effects of unit.effects) {
    if (effects.kind === 'handover') continue;
    const transfers = effects.kind === 'subscription' ? 0 : effects.transfers.length;
    count += transfers + effects.events.length * EVENT_WEIGHT;
  }
  return count;
}
