// Our requests to one peer: the connection, the requests that wait for it, and those that were sent
// and are not answered.
//
//   idle ──first request──▶ connecting ──both proven──▶ open ──lost──▶ idle
//
// How: requests go out in the order in which they were made. A frame costs both sides as much as
// ten requests, so requests share one: it is sent at the first tick of the event loop without a new
// request, or when its first request has waited for `gatherMs`.
// Holds: a lost connection fails all of its requests, and the next connection starts empty; the
// caller decides whether to retry. A request whose deadline passes after it was sent fails, but
// counts against the bounds until its answer comes or the connection is lost: a slow peer does not
// get more and more.
import { PeerFailure } from '../../../ledger/ports.ts';
import { asksFrame, FORMAT, MalformedFrame, pack, readAnswers, type Answered } from './frame.ts';
import type { Parts } from './parts.ts';
import { newNonce } from './proof.ts';

export type Link = {
  /** The peer's host:port, and ours. */
  readonly address: string;
  readonly self: string;
};

type Call = {
  readonly request: unknown;
  readonly deadline: number;
  readonly resolve: (answer: unknown) => void;
  readonly reject: (error: Error) => void;
  /** Its share of the frame's bytes. */
  bytes: number;
  settled: boolean;
};

export class Outbound {
  readonly #options: Parts & Link;
  #waiting: Call[] = [];
  readonly #sent = new Map<number, Call>();
  #sentBytes = 0;
  #nextId = 0;
  #isSending = false;

  #socket: WebSocket | null = null;
  #isOpen = false;
  #nonce = '';
  #heardAt = 0;
  #retryAt = 0;
  #isComplaining = false;

  #wakeAt = Infinity;
  #cancelWake: () => void = () => undefined;

  constructor(options: Parts & Link) {
    this.#options = options;
  }

  get isOpen(): boolean {
    return this.#isOpen;
  }

  /** Open requests. */
  get calls(): number {
    return this.#waiting.length + this.#sent.size;
  }

  ask(request: unknown, withinMs: number): Promise<unknown> {
    const { clock, counters, limits, address } = this.#options;
    const now = clock.monotonic();
    if (this.calls >= limits.callsMax || this.#sentBytes >= limits.bytesMax) {
      counters.refused += 1;
      return Promise.reject(new PeerFailure(`${address}: too much is asked of it`, false));
    }
    if (this.#socket === null && now < this.#retryAt) {
      counters.unsent += 1;
      return Promise.reject(new PeerFailure(`${address}: no connection`, false));
    }
    counters.asked += 1;
    return new Promise((resolve, reject) => {
      const deadline = now + withinMs;
      this.#waiting.push({ request, deadline, resolve, reject, bytes: 0, settled: false });
      this.#wakeBy(deadline, now);
      if (this.#isOpen) this.#sendSoon(now);
      else if (this.#socket === null) this.#connect(now);
    });
  }

  /**
   * Detects a silent peer. `slept`: this process was silent too, and has not read yet what came
   * meanwhile.
   */
  beat(now: number, slept: boolean): void {
    if (this.#socket === null) return;
    if (slept) this.#heardAt = now;
    const { silentMs, connectMs } = this.#options.limits;
    if (now - this.#heardAt > (this.#isOpen ? silentMs : connectMs)) this.lose('it is silent');
    else if (this.#isOpen) this.#socket.ping();
  }

  /** Closes the connection; all of its requests fail. */
  lose(why: string): void {
    const { address, clock, counters, limits } = this.#options;
    this.#socket?.terminate();
    this.#socket = null;
    if (!this.#isOpen) this.#retryAt = clock.monotonic() + limits.retryMs;
    this.#isOpen = false;
    this.#cancelWake();
    this.#wakeAt = Infinity;
    const sent = [...this.#sent.values()].filter((call) => !call.settled);
    const unsent = this.#waiting;
    this.#sent.clear();
    this.#sentBytes = 0;
    this.#waiting = [];
    counters.lost += sent.length;
    counters.unsent += unsent.length;
    for (const call of sent) call.reject(new PeerFailure(`${address}: ${why}`, true));
    for (const call of unsent) call.reject(new PeerFailure(`${address}: ${why}`, false));
  }

  #connect(now: number): void {
    const { address, self, prover } = this.#options;
    this.#nonce = newNonce();
    this.#heardAt = now;
    const socket = new WebSocket(`ws://${address}/peer`, {
      headers: {
        'x-node': self,
        'x-node-to': address,
        'x-node-format': FORMAT,
        'x-node-nonce': this.#nonce,
        'x-node-proof': prover.prove('upgrade', [self, address, FORMAT, this.#nonce]),
      },
      // Off: compression costs more processor time than the bytes are worth within one data centre.
      perMessageDeflate: false,
    });
    socket.binaryType = 'nodebuffer';
    this.#socket = socket;
    // An abandoned socket may still deliver.
    const isOurs = (): boolean => this.#socket === socket;
    socket.addEventListener('message', ({ data }) => isOurs() && this.#hear(data));
    socket.addEventListener('pong', () => isOurs() && this.#heard());
    socket.addEventListener('error', ({ message }) => isOurs() && this.#failed(message));
    socket.addEventListener('close', () => isOurs() && this.lose('the connection was lost'));
  }

  #heard(): void {
    this.#heardAt = this.#options.clock.monotonic();
  }

  #hear(data: unknown): void {
    this.#heard();
    if (typeof data === 'string' && !this.#isOpen) return this.#opened(data);
    try {
      if (!this.#isOpen || !(data instanceof Uint8Array)) throw new MalformedFrame();
      for (const answer of readAnswers(data)) this.#settle(answer);
    } catch (error) {
      if (!(error instanceof MalformedFrame)) throw error;
      this.#options.counters.malformed += 1;
      this.#failed('what it says makes no sense');
    }
  }

  /** `challenge`: its nonce and its proof. */
  #opened(challenge: string): void {
    const { address, self, prover, counters } = this.#options;
    const [nonce = '', proof = ''] = challenge.split(' ');
    const said = [self, address, this.#nonce, nonce];
    if (!prover.holds(proof, 'answerer', said)) {
      counters.strangers += 1;
      return this.#failed('it does not hold our NODE_SECRET');
    }
    counters.connects += 1;
    this.#socket?.send(prover.prove('asker', said));
    this.#isOpen = true;
    this.#isComplaining = false;
    this.#send();
  }

  #sendSoon(now: number): void {
    if (this.#isSending) return;
    this.#isSending = true;
    this.#gather(now + this.#options.limits.gatherMs, 0);
  }

  #gather(until: number, before: number): void {
    const { timers, clock } = this.#options;
    timers.soon(() => {
      const { length } = this.#waiting;
      if (length > before && clock.monotonic() < until) return this.#gather(until, length);
      this.#isSending = false;
      if (this.#isOpen) this.#send();
    });
  }

  #send(): void {
    const { clock, limits, counters, address } = this.#options;
    const calls = this.#waiting;
    if (calls.length === 0) return;
    this.#waiting = [];
    const now = clock.monotonic();
    pack(calls, {
      bytesMax: limits.frameBytesMax,
      partsMax: limits.frameCallsMax,
      frameOf: (parts) => asksFrame(now, this.#nextId, parts),
      packed: (frame, parts) => this.#sendFrame(frame, parts),
      unfit: ({ reject }, reason) => {
        counters.unsent += 1;
        reject(new Error(`${address} cannot be asked this: ${reason}`));
      },
    });
  }

  #sendFrame(frame: Buffer, calls: readonly Call[]): void {
    const bytes = Math.ceil(frame.length / calls.length);
    for (const call of calls) {
      call.bytes = bytes;
      this.#sent.set(this.#nextId++, call);
    }
    this.#sentBytes += bytes * calls.length;
    this.#options.counters.framesSent += 1;
    this.#socket?.send(frame);
  }

  #settle({ id, outcome, value }: Answered): void {
    const call = this.#sent.get(id);
    if (call === undefined) throw new MalformedFrame('an answer that nobody waits for');
    this.#sent.delete(id);
    this.#sentBytes -= call.bytes;
    if (call.settled) return;
    const { address } = this.#options;
    switch (outcome) {
      case 'answered':
        return call.resolve(value);
      case 'threw':
        return call.reject(new Error(`${address}: ${String(value)}`));
      case 'overdue':
        return call.reject(new PeerFailure(`${address}: it came too late to begin`, false));
      case 'refused':
        return call.reject(new PeerFailure(`${address}: ${String(value)}`, false));
    }
  }

  /**
   * One timer for all deadlines: it is moved only to an earlier one, and checks all when it fires.
   */
  #wakeBy(deadline: number, now: number): void {
    if (deadline >= this.#wakeAt) return;
    this.#cancelWake();
    this.#wakeAt = deadline;
    this.#cancelWake = this.#options.timers.after(deadline - now, () => {
      this.#wakeAt = Infinity;
      this.#expire();
    });
  }

  #expire(): void {
    const { address, clock, counters } = this.#options;
    const now = clock.monotonic();
    const isOver = ({ deadline }: Call): boolean => deadline <= now;
    const unsent = this.#waiting.filter(isOver);
    if (unsent.length > 0) this.#waiting = this.#waiting.filter((call) => !isOver(call));
    const open = [...this.#sent.values()].filter(({ settled }) => !settled);
    const lost = open.filter(isOver);
    counters.unsent += unsent.length;
    counters.lost += lost.length;
    for (const call of lost) {
      call.settled = true;
      call.reject(new PeerFailure(`${address}: no answer in time`, true));
    }
    for (const { reject } of unsent) {
      reject(new PeerFailure(`${address}: no connection in time`, false));
    }
    const left = [...open.filter((call) => !isOver(call)), ...this.#waiting];
    const next = left.reduce((soonest, { deadline }) => Math.min(soonest, deadline), Infinity);
    if (next !== Infinity) this.#wakeBy(next, now);
  }

  #failed(message: string): void {
    this.#complain(message);
    this.lose(message);
  }

  /** Logs once until the next connection. */
  #complain(message: string): void {
    if (this.#isComplaining) return;
    this.#isComplaining = true;
    this.#options.log.warn({ peer: this.#options.address, reason: message }, 'peer unreachable');
  }
}
