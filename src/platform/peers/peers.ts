// The transport between nodes: requests and answers over WebSockets, many to a frame.
//
// Who calls: the ledger's cluster sends what belongs to another node, and answers what others send;
// main opens and closes it. The contents are anything that a structured clone copies.
//
// How: each node listens on a port that serves nothing else, and opens one connection to each node
// that it sends requests to. The first request opens it, and the next one after a loss reopens it.
// Requests go one way and answers the other, so two nodes that ask each other have two connections.
//
// Holds:
// - The requests of one node to another begin in the order in which they were made, as long as no
//   connection was lost between them.
// - A request ends by its deadline. It fails as `maybeDone` exactly where it was sent and no answer
//   came; it is never sent twice.
// - Before the first request, both sides have proven that they hold the secret, and that the one
//   was dialled by the other (proof.ts).
// - Open requests to one peer are bounded in number and bytes (limits.ts); beyond that, requests
//   fail at once.
// - Heartbeats detect a dead peer within two seconds; an idle connection stays open.
// - Nothing that a peer sends ends this process: a malformed frame closes its connection.
//
// Does not: retry, encrypt, compress, know who is alive, or speak with a process whose Bun writes
// structured clones in another format (FORMAT in frame.ts): such a connection is refused, and the
// log says so.
import {
  PeerFailure,
  type Clock,
  type Log,
  pause,
  type Peers,
  type Timers,
} from '../../../ledger/ports.ts';
import { newCounters, type PeerCounters } from './counters.ts';
import { FORMAT } from './frame.ts';
import { Inbound, type RequestHandler } from './inbound.ts';
import { PEER_LIMITS, type PeerLimits } from './limits.ts';
import { Outbound } from './outbound.ts';
import type { Parts } from './parts.ts';
import { Prover } from './proof.ts';

export type PeersOptions = {
  readonly listen: { readonly hostname: string; readonly port: number };
  /** The shared secret of this cluster's nodes. */
  readonly secret: string;
  /** Our host:port as the others dial it, letter by letter, wherever we listen. */
  readonly self: string;
  readonly answer: RequestHandler;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  readonly limits?: Partial<PeerLimits>;
};

export type PeerStats = Readonly<PeerCounters> & {
  /** Connections that we opened, and those that others opened. */
  readonly outbound: number;
  readonly inbound: number;
  /** Open requests to others, and from others. */
  readonly asking: number;
  readonly answering: number;
};

/** How often close() checks for open requests. */
const CLOSE_POLL_MS = 5;
/** Strangers that the log names; beyond that it names no more. */
const STRANGERS_NAMED_MAX = 100;

export class OpenPeers implements Peers {
  readonly #options: PeersOptions;
  readonly #parts: Parts;
  readonly #outbound = new Map<string, Outbound>();
  readonly #inbound = new Set<Inbound>();
  readonly #strangers = new Set<string>();
  readonly #server: Bun.Server<Inbound>;
  #beatAt: number;
  #stopBeat: () => void = () => undefined;
  #closing: Promise<void> | null = null;

  /** @throws where the port is taken */
  constructor(options: PeersOptions) {
    const { secret, clock, timers, log } = options;
    const prover = new Prover(secret);
    const limits = { ...PEER_LIMITS, ...options.limits };
    this.#options = options;
    this.#parts = { prover, clock, timers, log, limits, counters: newCounters() };
    this.#server = this.#listen();
    this.#beatAt = options.clock.monotonic();
    this.#beatLater();
  }

  /** The port it listens on. */
  get port(): number {
    return this.#server.port ?? this.#options.listen.port;
  }

  ask(address: string, request: unknown, options: { withinMs: number }): Promise<unknown> {
    if (this.#closing !== null) {
      this.#parts.counters.refused += 1;
      return Promise.reject(new PeerFailure('this node is closing', false));
    }
    return this.#to(address).ask(request, options.withinMs);
  }

  giveUp(address: string): void {
    this.#outbound.get(address)?.lose('it was given up');
    this.#outbound.delete(address);
  }

  stats(): PeerStats {
    const outbound = [...this.#outbound.values()];
    return {
      ...this.#parts.counters,
      outbound: outbound.filter(({ isOpen }) => isOpen).length,
      inbound: this.#inbound.size,
      asking: outbound.reduce((sum, { calls }) => sum + calls, 0),
      answering: [...this.#inbound].reduce((sum, { calls }) => sum + calls, 0),
    };
  }

  /** No further request is sent or begun; open ones are answered, within a bound. */
  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const { clock, timers } = this.#options;
    for (const inbound of this.#inbound) inbound.refuse('it is closing');
    const until = clock.monotonic() + this.#parts.limits.closeMs;
    const isUnderWay = (): boolean => this.stats().asking + this.stats().answering > 0;
    while (isUnderWay() && clock.monotonic() < until) {
      await pause(timers, CLOSE_POLL_MS);
    }
    this.#stopBeat();
    for (const outbound of this.#outbound.values()) outbound.lose('this node is closing');
    await this.#server.stop(true);
  }

  #to(address: string): Outbound {
    const known = this.#outbound.get(address);
    if (known !== undefined) return known;
    const outbound = new Outbound({ ...this.#parts, address, self: this.#options.self });
    this.#outbound.set(address, outbound);
    return outbound;
  }

  #listen(): Bun.Server<Inbound> {
    const { hostname, port } = this.#options.listen;
    const inbound = this.#inbound;
    return Bun.serve<Inbound>({
      hostname,
      port,
      maxRequestBodySize: 1024,
      fetch: (request, server) => this.#upgrade(request, server),
      error: () => new Response(null, { status: 400 }),
      websocket: {
        maxPayloadLength: this.#parts.limits.frameBytesMax,
        backpressureLimit: this.#parts.limits.bytesMax,
        closeOnBackpressureLimit: true,
        // Our own heartbeats are faster.
        idleTimeout: 0,
        sendPings: false,
        perMessageDeflate: false,
        open(socket) {
          inbound.add(socket.data);
          socket.data.opened(socket);
        },
        message: (socket, data) => socket.data.heard(data),
        ping: (socket) => socket.data.pinged(),
        close(socket) {
          inbound.delete(socket.data);
          socket.data.closed();
        },
      },
    });
  }

  /** Refuses a connection without the secret, and does not say what this port is for. */
  #upgrade(request: Request, server: Bun.Server<Inbound>): Response | undefined {
    const { headers, url } = request;
    const from = headers.get('x-node');
    if (new URL(url).pathname !== '/peer' || from === null) {
      return new Response(null, { status: 404 });
    }
    const to = headers.get('x-node-to') ?? '';
    const format = headers.get('x-node-format') ?? '';
    const nonce = headers.get('x-node-nonce') ?? '';
    const proof = headers.get('x-node-proof') ?? '';
    if (!this.#parts.prover.holds(proof, 'upgrade', [from, to, format, nonce])) {
      this.#parts.counters.strangers += 1;
      this.#name(from, 'a peer that does not hold our NODE_SECRET was refused');
      return new Response(null, { status: 401 });
    }
    const { answer, self } = this.#options;
    if (to !== self) {
      this.#parts.counters.strangers += 1;
      this.#name(from, `a peer that dialled ${to}, which is not our NODE_ADDRESS, was refused`);
      return new Response(null, { status: 421 });
    }
    if (format !== FORMAT) {
      this.#name(
        from,
        'a peer that speaks another format was refused: its release or its Bun is another',
      );
      return new Response(null, { status: 409 });
    }
    if (this.#closing !== null) return new Response(null, { status: 503 });
    this.#strangers.delete(from);
    const data = new Inbound({ ...this.#parts, from, self, nonce, answer });
    const isUpgraded = server.upgrade(request, { data });
    return isUpgraded ? undefined : new Response(null, { status: 404 });
  }

  /** Logs each stranger once. */
  #name(stranger: string, message: string): void {
    if (this.#strangers.has(stranger) || this.#strangers.size >= STRANGERS_NAMED_MAX) return;
    this.#strangers.add(stranger);
    this.#options.log.warn({ peer: stranger }, message);
  }

  #beatLater(): void {
    this.#stopBeat = this.#options.timers.after(this.#parts.limits.heartbeatMs, () => {
      const now = this.#options.clock.monotonic();
      const slept = now - this.#beatAt > 2 * this.#parts.limits.heartbeatMs;
      this.#beatAt = now;
      for (const outbound of this.#outbound.values()) outbound.beat(now, slept);
      for (const inbound of this.#inbound) inbound.beat(now, slept);
      this.#beatLater();
    });
  }
}
