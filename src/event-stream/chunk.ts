// New events of one tenant, encoded once for all who read them.
import { envelopeOf } from '../records/events.ts';
import type { PositionedEvent } from '../records/event-positions.ts';

type Encoded = { readonly id: string; readonly position: bigint; readonly bytes: Uint8Array };

export class Chunk {
  /** All events of the tenant after this position are in it, up to its last one. */
  readonly from: bigint;
  readonly bytes: Uint8Array;
  readonly #events: readonly Encoded[];

  constructor(from: bigint, events: readonly PositionedEvent[]) {
    this.from = from;
    this.#events = events.map((event) => ({
      id: event.id,
      position: event.position,
      bytes: Buffer.from(messageOf(event)),
    }));
    this.bytes = Buffer.concat(this.#events.map(({ bytes }) => bytes));
  }

  get to(): bigint {
    return this.#events.at(-1)?.position ?? this.from;
  }

  /** undefined where it does not have the event. */
  positionOf(id: string): bigint | undefined {
    return this.#events.find((event) => event.id === id)?.position;
  }

  /** What comes after a position, and how many events that are. */
  after(position: bigint): { readonly bytes: Uint8Array; readonly count: number } {
    if (position <= this.from) return { bytes: this.bytes, count: this.#events.length };
    const rest = this.#events.filter((event) => event.position > position);
    return { bytes: Buffer.concat(rest.map(({ bytes }) => bytes)), count: rest.length };
  }
}

/** JSON has no line breaks, so an event is one line of data. */
function messageOf(event: PositionedEvent): string {
  return `id: ${event.id}\ndata: ${JSON.stringify(envelopeOf(event))}\n\n`;
}
