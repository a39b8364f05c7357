// How long a server may be silent while a connection opens.
import type { Socket } from 'node:net';

/**
 * After a crash of the server some connects stall for as long as they may, up to twice in a row: 30
 * of 30 recoveries took 0.2-2.4 s with 1 s, and up to 10.8 s with 5.
 */
const SILENT_MS_MIN = 1000;
/** Nobody knows yet how far away the server is, nor how busy: a start must not fail for that. */
export const SILENT_MS_MAX = 10_000;
/** So many times what the fastest connect took. */
const TIMES_THE_FASTEST = 5;
const TICK_MS = 100;

/**
 * Learns from the connects of one pool: the first ones may take 10 s, later ones five times the
 * fastest, from 1 to 10 s. Counts turns of the event loop's clock: a process that does other work
 * for a second does not take that for the silence of the server.
 */
export class Connecting {
  #ticksMax = SILENT_MS_MAX / TICK_MS;
  #fastest = Infinity;

  /** Destroys the socket with CONNECT_TIMEOUT where the server says nothing in time. */
  watch(socket: Socket): void {
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      if (socket.destroyed) clearInterval(timer);
      else if (ticks >= this.#ticksMax) socket.destroy(silent(ticks * TICK_MS));
    }, TICK_MS).unref();
    socket.once('data', () => {
      clearInterval(timer);
      this.#learn(ticks + 1);
    });
  }

  #learn(ticks: number): void {
    this.#fastest = Math.min(this.#fastest, ticks);
    const ms = this.#fastest * TICK_MS * TIMES_THE_FASTEST;
    this.#ticksMax = Math.min(Math.max(ms, SILENT_MS_MIN), SILENT_MS_MAX) / TICK_MS;
  }
}

const silent = (ms: number): Error =>
  Object.assign(new Error(`the server was silent for ${ms} ms`), { code: 'CONNECT_TIMEOUT' });
