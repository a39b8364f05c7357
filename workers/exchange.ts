// One POST and its answer, over a connection to one address. sender.ts decides who may be reached.
//
// Holds: it settles once, at the deadline at the latest. After that the connection is either fit
// for the next request or closed: an answer that is too long, or not complete, closes its
// connection. An answer counts from its status line on: a later failure costs the body only.
//
// Why a client of our own: it must connect to the address that was checked, and read no more than
// the bounds of answer.ts. node:http costs three times as much processor; fetch costs more too, has
// one limit for all requests in flight of a process (256, unless the environment said otherwise
// before the start), and an unread body keeps its place for ever.
import type { Timers } from '../ledger/ports.ts';
import { Answer, type HttpReply, type Reading } from './answer.ts';
import { type Connection, Connections, type User } from './connections.ts';

export type ExchangeError =
  | 'connect'
  | 'tls'
  | 'timeout'
  | 'reset'
  | 'protocol'
  | 'too_large_headers';

export type Exchanged =
  | HttpReply
  | { readonly kind: 'failed'; readonly error: ExchangeError; readonly wasReused: boolean };

export type Post = {
  readonly url: URL;
  /**
   * The address to connect to. The URL's host only says whom to ask for, and whose certificate it
   * must be.
   */
  readonly address: string;
  /** Ours alone, without line breaks: nothing of a caller's. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly deadlineMs: number;
  /** Whether to open a new connection, instead of one that was kept. */
  readonly fresh?: boolean;
};

export class Exchanger {
  readonly #timers: Timers;
  readonly #connections: Connections;

  constructor(timers: Timers) {
    this.#timers = timers;
    this.#connections = new Connections(timers);
  }

  /** Closes the kept connections. */
  close(): void {
    this.#connections.close();
  }

  async post(post: Post): Promise<Exchanged> {
    const over = Promise.withResolvers<Exchanged>();
    const exchange = new Exchange(this.#connections, post, over.resolve);
    const cancel = this.#timers.after(post.deadlineMs, () => exchange.expire());
    try {
      return await over.promise;
    } finally {
      cancel();
    }
  }
}

/** After `over`, a failure or the deadline nothing is heard of it any more. */
class Exchange implements User {
  readonly #connections: Connections;
  readonly #connection: Connection;
  readonly #settle: (exchanged: Exchanged) => void;
  readonly #wasReused: boolean;
  readonly #request: string;
  readonly #answer = new Answer();

  constructor(connections: Connections, post: Post, settle: (exchanged: Exchanged) => void) {
    const { url, address, fresh } = post;
    this.#connections = connections;
    this.#settle = settle;
    this.#request = requestOf(post);
    const key = `${url.origin} ${address}`;
    const kept = fresh === true ? null : connections.reuse(key, this);
    this.#wasReused = kept !== null;
    this.#connection = kept ?? connections.open({ url, address, key }, this);
    if (kept !== null) this.ready();
  }

  ready(): void {
    this.#connection.write(this.#request);
  }

  data(bytes: Buffer): void {
    const reading = this.#answer.read(bytes);
    if (reading === 'more') return;
    if (reading === 'over' && this.#connection.isFlushed) this.#connections.keep(this.#connection);
    else this.#connection.close();
    this.#finish(errorOf(reading));
  }

  ended(): void {
    this.#finish(ERRORS[this.#connection.phase]);
  }

  expire(): void {
    this.#connection.close();
    this.#finish('timeout');
  }

  /** As it was answered; as this error where no answer has come. */
  #finish(error: ExchangeError): void {
    this.#settle(this.#answer.reply ?? { kind: 'failed', error, wasReused: this.#wasReused });
  }
}

/** A failure is named after the phase of its connection. */
const ERRORS = { connecting: 'connect', securing: 'tls', open: 'reset' } as const;

function errorOf(reading: Exclude<Reading, 'more'>): ExchangeError {
  return reading === 'too_large_headers' || reading === 'protocol' ? reading : 'reset';
}

function requestOf({ url, headers, body }: Post): string {
  let head = `POST ${url.pathname}${url.search} HTTP/1.1\r\nHost: ${url.host}\r\n`;
  for (const name in headers) head += `${name}: ${headers[name]}\r\n`;
  return `${head}Content-Length: ${Buffer.byteLength(body)}\r\nConnection: keep-alive\r\n\r\n${body}`;
}
