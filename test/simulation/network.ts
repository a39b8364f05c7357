// Who can reach whom. A message takes a while, may come after a later one, and is lost if its way
// is cut when it is sent or when it would arrive.
import type { Machine, Schedule } from './schedule.ts';

const CONNECTION_LOST = 'CONNECTION_CLOSED';

export function isConnectionLost(error: unknown): boolean {
  return (error as { readonly code?: unknown }).code === CONNECTION_LOST;
}

export class ConnectionLost extends Error {
  override readonly name = 'ConnectionLost';
  /** The message of the database's driver; it travels where the error itself does not. */
  readonly code = CONNECTION_LOST;
}

export const DATABASE = 'database';

export class Network {
  readonly schedule: Schedule;
  /** How likely a working connection is lost together with a message. */
  lossRate = 0;
  /** The longest time of a message, in milliseconds. */
  latencyMsMax = 1;
  readonly #cut = new Set<string>();

  constructor(schedule: Schedule) {
    this.schedule = schedule;
  }

  cut(from: string, to: string): void {
    this.#cut.add(way(from, to));
  }

  heal(): void {
    this.#cut.clear();
    this.lossRate = 0;
  }

  mend(from: string, to: string): void {
    this.#cut.delete(way(from, to));
  }

  isCut(from: string, to: string): boolean {
    return this.#cut.has(way(from, to));
  }

  /** Runs `arrive` on `to` after a while, or `lost`; neither where `to` is dead by then. */
  send(
    message: { readonly from: string; readonly to: string; readonly at: Machine | null },
    arrive: () => void,
    lost: () => void,
  ): void {
    const { from, to, at } = message;
    const { schedule } = this;
    const isLost = (): boolean => this.isCut(from, to);
    if (isLost() || schedule.random.chance(this.lossRate)) return lost();
    schedule.after(this.latency(), at, () => (isLost() ? lost() : arrive()));
  }

  latency(): number {
    return this.schedule.between(0.05, this.latencyMsMax);
  }
}

function way(from: string, to: string): string {
  return `${from} -> ${to}`;
}
