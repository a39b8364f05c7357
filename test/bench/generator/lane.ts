// One keep-alive connection with at most one request in flight, and what became of each.
import type { Socket } from 'bun';
import { HeadLayout, ResponseReader } from './response.ts';

const SAMPLES_MAX = 5;

export interface Lane {
  readonly reader: ResponseReader;
  /** Bytes that the kernel did not take yet. */
  unsent: Uint8Array | undefined;
  socket: Socket<Lane> | undefined;
  /** When the request in flight was sent, or should have been. undefined: nothing is in flight. */
  since: number | undefined;
}

/** Called with each 2xx answer, once its lane is free again. */
type OnAnswer = (lane: Lane, since: number) => void;

export class Lanes {
  readonly lanes: Lane[] = [];
  readonly samples: string[] = [];
  errors = 0;
  succeeded = 0;
  readonly #layout = new HeadLayout();
  readonly #onAnswer: OnAnswer;
  #isClosing = false;

  constructor(onAnswer: OnAnswer) {
    this.#onAnswer = onAnswer;
  }

  async open(port: number, count: number): Promise<void> {
    const handler = {
      data: (socket: Socket<Lane>, chunk: Buffer) => this.#take(socket.data, chunk),
      drain: (socket: Socket<Lane>) => flush(socket.data),
      close: (socket: Socket<Lane>) => this.#lost(socket.data, 'the server closed a connection'),
      error: (socket: Socket<Lane>, error: Error) => this.#lost(socket.data, error.message),
    };
    // One after the other: a burst of 256 would meet the server's accept queue, not the server.
    for (let index = 0; index < count; index += 1) {
      const lane: Lane = {
        reader: new ResponseReader(this.#layout),
        unsent: undefined,
        socket: undefined,
        since: undefined,
      };
      lane.socket = await Bun.connect<Lane>({
        hostname: '127.0.0.1',
        port,
        data: lane,
        socket: handler,
      });
      this.lanes.push(lane);
    }
  }

  /** @param since the time that the answer's latency counts from */
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
    return this.lanes.some((lane) => lane.socket !== undefined);
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
    reader.reset();
    this.#onAnswer(lane, since);
  }

  #lost(lane: Lane, why: string): void {
    const { socket } = lane;
    if (this.#isClosing || socket === undefined) return;
    lane.socket = undefined;
    lane.since = undefined;
    this.fail(why);
    socket.terminate();
  }
}

function flush(lane: Lane): void {
  const { unsent, socket } = lane;
  if (unsent === undefined || socket === undefined) return;
  const written = Math.max(socket.write(unsent), 0);
  lane.unsent = written < unsent.length ? unsent.subarray(written) : undefined;
}
