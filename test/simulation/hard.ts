// Poisoned units, which the database does not accept: they may harm nothing but themselves.
//
// A mark in a usage's metadata makes the database cancel every flush with it, lose its connection,
// or refuse it.
import type { FlushRows } from '../../ledger/storage.ts';
import type { Transfer } from '../../ledger/kernel/transfers.ts';

export const HARD_KINDS = ['slow', 'lost', 'poisoned'] as const;

export type Hard = (typeof HARD_KINDS)[number];

const NAME = 'hard';

export const hardMetadata = (kind: Hard): Record<string, string> => ({ [NAME]: kind });

/** The message about a poisoned unit, wherever it appears. */
export const POISONED = 'planted: it is poisoned';

export function hardnessOf({ usage }: Transfer): Hard | null {
  return (usage?.metadata?.[NAME] as Hard | undefined) ?? null;
}

export function hardestOf({ transfers }: FlushRows): Hard | null {
  const kinds = new Set(transfers.map(hardnessOf));
  return HARD_KINDS.find((kind) => kinds.has(kind)) ?? null;
}

/**
 * Where nothing else is wrong: the parts of a small flush, and twice alone. Elsewhere as often as
 * the ledger allows.
 */
const TRIES_MAX = { calm: 6, stormy: 16 };

/** How often the database is asked for what it does not accept. */
export class HardUnits {
  readonly #demand: (condition: boolean, problem: string) => void;
  /** By mark: flushes, and how often a client has asked for it. */
  readonly #flushed = new Map<string, number>();
  readonly #asked = new Map<string, number>();

  constructor(demand: (condition: boolean, problem: string) => void) {
    this.#demand = demand;
  }

  flushed({ transfers }: FlushRows): void {
    for (const transfer of transfers) {
      const mark = transfer.usage?.metadata?.['mark'];
      if (typeof mark !== 'string' || hardnessOf(transfer) === null) continue;
      this.#flushed.set(mark, (this.#flushed.get(mark) ?? 0) + 1);
    }
  }

  asked(mark: string): void {
    this.#asked.set(mark, (this.#asked.get(mark) ?? 0) + 1);
  }

  close(isCalm: boolean): void {
    const most = isCalm ? TRIES_MAX.calm : TRIES_MAX.stormy;
    for (const [mark, flushed] of this.#flushed) {
      const asked = this.#asked.get(mark) ?? 1;
      this.#demand(
        flushed <= most * asked,
        `usage ${mark}, which is not taken, was flushed ${flushed} times for ${asked} calls`,
      );
    }
  }
}
