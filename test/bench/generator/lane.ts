// One keep-alive connection with at most one request in flight, and the outcome of each.
//
// Where the server closes it after an answer or while it is idle, it reconnects to the next port
// that listens, as a load balancer does.
import type { Socket } from 'bun';
import { HeadLayout, ResponseReader } from './response.ts';

const SAMPLES_MAX = 5;

export interface Lane {
  readonly reader: ResponseReader;
  /** Bytes that the kernel has not taken yet. */
  unsent: Uint8Array | undefined;
  socket: Socket<Lane> | undefined;
  /** When the request in flight was sent, or should have been. undefined: nothing is in flight. */
  since: number | undefined;
  /** The port in use, as an index. */
  at: number;
  isLost: boolean;
}

type Events = {
  /** An answer came, with any status. */
  readonly answered: (since: number) => void;
  /** The lane can take another request. */
  readonly free: (lane: Lane) => void;
};

export class Lanes {
  readonly lanes: Lane[] = [];
  readonly samples: string[] = [];
  errors = 0;
  succeeded = 0;
  readonly #layout = new HeadLayout();
  readonly #ports: readonly number[];
  readonly #events: Events;
  #isClosing = false;

  constructor(ports: readonly number[], events: Events) {
    this.#ports = ports;
    this.#events = events;
  }

  async open(count: number): Promise<void> {
    // One after the other: a burst of 256 would measure the server's accept queue.
    for (let index = 0; index < count; index += 1) {
      const lane: Lane = {
        reader: new ResponseReader(this.#layout),
        unsent: undefined,
        socket: undefined,
        since: undefined,
        at: index % this.#ports.length,
        isLost: false,
      };
      await this.#connect(lane);
      this.lanes.push(lane);
    }
  }

  async #connect(lane: Lane): Promise<void> {
    lane.socket = await Bun.connect<Lane>({
      hostname: '127.0.0.1',
      port: this.#ports[lane.at] ?? 0,
      data: lane,
      socket: {
        data: (_, chunk) => this.#take(lane, chunk),
        drain: () => flush(lane),
        close: (socket) => this.#ended(lane, socket, 'the server closed a connection'),
        error: (socket, error) => this.#ended(lane, socket, error.message),
      },
    });
  }

  /** @param since the time from which the answer's latency counts */
  send(lane: Lane, bytes: Uint8Array, since: number): void {
    lane.since = since;
    const written = lane.socket?.write(bytes) ?? 0;
    // A copy: the caller reuses the bytes.
    if (written < bytes.length) lane.unsent = bytes.slice(Math.max(written, 0));
  }

  inFlight(): number {
    return this.lanes.filter((lane) => lane.since !== undefined).length;
  }

  isAlive(): boolean {
    return this.lanes.some((lane) => !lane.isLost);
  }

  close(): void {
    this.#isClosing = true;
    for (const lane of this.lanes) lane.socket?.terminate();
  }

  fail(what: string): void {
    this.errors += 1;
    if (this.samples.length < SAMPLES_MAX) this.samples.push(what);
  }

  #take(lane: Lane, chunk: Buffer): void {
    const { since, reader } = lane;
    if (since === undefined) return this.#lost(lane, 'bytes came that nothing had asked for');
    const answer = reader.take(chunk);
    if (answer === 'partial') return;
    if (answer === 'broken') return this.#lost(lane, `not HTTP as we know it: ${reader.shown()}`);
    lane.since = undefined;
    if (answer === 'ok') this.succeeded += 1;
    else this.fail(reader.shown().replaceAll('\r\n', ' | '));
    const { isLast } = reader;
    reader.reset();
    this.#events.answered(since);
    if (isLast) this.#moveOn(lane);
    this.#events.free(lane);
  }

  #ended(lane: Lane, socket: Socket<Lane>, why: string): void {
    if (this.#isClosing || lane.socket !== socket) return;
    if (lane.since === undefined) this.#moveOn(lane);
    else this.#lost(lane, why);
  }

  /** What is sent meanwhile goes out once it is connected. */
  #moveOn(lane: Lane): void {
    const { socket } = lane;
    lane.socket = undefined;
    socket?.end();
    this.#connectElsewhere(lane).catch((error: unknown) => this.#lost(lane, String(error)));
  }

  async #connectElsewhere(lane: Lane): Promise<void> {
    for (let tries = 0; tries < this.#ports.length; tries += 1) {
      lane.at = (lane.at + 1) % this.#ports.length;
      try {
        await this.#connect(lane);
        flush(lane);
        return;
      } catch {
        // Its server does not listen any more.
      }
    }
    throw new Error('no server takes connections any more');
  }

  #lost(lane: Lane, why: string): void {
    const { socket } = lane;
    if (this.#isClosing || lane.isLost) return;
    lane.socket = undefined;
    lane.since = undefined;
    lane.isLost = true;
    this.fail(why);
    socket?.terminate();
  }
}

function flush(lane: Lane): void {
  const { unsent, socket } = lane;
  if (unsent === undefined || socket === undefined) return;
  const written = Math.max(socket.write(unsent), 0);
  lane.unsent = written < unsent.length ? unsent.subarray(written) : undefined;
}
