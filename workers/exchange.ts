// One POST and its answer, over a connection to one address. sender.ts decides who may be reached.
//
// Holds: it settles once, at the deadline at the latest. After that the connection is either fit
// for the next request or closed: an answer that is too long, or not complete, closes its
// connection. No redirect is followed, and nothing is decompressed. An answer counts from its
// status line on: a later failure costs the body only.
//
// Why node:http and not fetch: fetch has one limit for all requests in flight of a process (256,
// unless the environment said otherwise before the start), and an unread body keeps its place for
// ever.
import type { ClientRequest, IncomingMessage } from 'node:http';
import { Agent as HttpAgent, request as httpRequest } from 'node:http';
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https';
import { isIP } from 'node:net';
import type { Timers } from '../ledger/ports.ts';
import { unbracketed } from '../src/platform/net/public-url.ts';

/** Bounds of an answer: the head that is kept as text, and all that is read. */
const HEAD_BYTES = 1024;
const BODY_BYTES_MAX = 16 * 1024;
const HEADERS_BYTES_MAX = 16 * 1024;
const ANNOUNCEMENTS_MAX = 8;
/**
 * How long a connection waits for the next delivery: less than most servers wait, so that they
 * seldom close it first.
 */
const IDLE_MS = 4000;

export type HttpReply = {
  readonly kind: 'answered';
  readonly statusCode: number;
  readonly retryAfter: string | null;
  /** The first bytes of the body. */
  readonly head: string;
};

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
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly deadlineMs: number;
  /** Whether to open a new connection, instead of one that was kept. */
  readonly fresh?: boolean;
};

export class Exchanger {
  readonly #timers: Timers;
  readonly #kept = {
    'http:': new HttpAgent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 1024 }),
    'https:': new HttpsAgent({ keepAlive: true, timeout: IDLE_MS, maxFreeSockets: 1024 }),
  };
  readonly #fresh = { 'http:': new HttpAgent(), 'https:': new HttpsAgent() };

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** Closes the kept connections. */
  close(): void {
    for (const agent of Object.values(this.#kept)) agent.destroy();
  }

  async post({ url, address, headers, body, deadlineMs, fresh }: Post): Promise<Exchanged> {
    const isTls = url.protocol === 'https:';
    const agents = fresh === true ? this.#fresh : this.#kept;
    const name = unbracketed(url.hostname);
    const request = (isTls ? httpsRequest : httpRequest)({
      agent: agents[isTls ? 'https:' : 'http:'],
      host: address,
      port: url.port === '' ? (isTls ? 443 : 80) : url.port,
      method: 'POST',
      path: `${url.pathname}${url.search}`,
      // An address is no server name; its certificate must be for the address then.
      ...(isTls && { servername: isIP(name) === 0 ? name : '' }),
      headers: { ...headers, host: url.host, 'content-length': String(Buffer.byteLength(body)) },
      maxHeaderSize: HEADERS_BYTES_MAX,
    });
    const over = Promise.withResolvers<Exchanged>();
    const exchange = new Exchange(request, { isTls, settle: over.resolve });
    const cancel = this.#timers.after(deadlineMs, () => exchange.expire());
    request.end(body);
    try {
      return await over.promise;
    } finally {
      cancel();
    }
  }
}

/**
 * Connecting ──▶ Securing (TLS) ──▶ Asking ──status line──▶ Reading ──▶ settled. A failure is named
 * after the phase.
 */
class Exchange {
  readonly #request: ClientRequest;
  readonly #settle: (exchanged: Exchanged) => void;
  #phase: 'connecting' | 'securing' | 'asking' = 'connecting';
  #response: IncomingMessage | null = null;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;
  #announced = 0;

  constructor(
    request: ClientRequest,
    { isTls, settle }: { isTls: boolean; settle: (exchanged: Exchanged) => void },
  ) {
    this.#request = request;
    this.#settle = settle;
    request.once('socket', (socket) => {
      if (!socket.connecting) {
        this.#phase = 'asking';
        return;
      }
      socket.once('connect', () => (this.#phase = isTls ? 'securing' : 'asking'));
      if (isTls) socket.once('secureConnect', () => (this.#phase = 'asking'));
    });
    request.once('response', (response) => this.#read(response));
    request.on('information', () => this.#inform());
    // On every event: an error event without a listener ends the process.
    request.on('error', (error) => this.#broken(error));
    // The last of all events.
    request.once('close', () => this.#broken(null));
  }

  expire(): void {
    if (this.#response === null) this.#fail('timeout');
    else this.#answer(this.#response);
    this.#request.destroy();
  }

  /** Informational responses (100, 103) are outside the bound on headers. */
  #inform(): void {
    this.#announced += 1;
    if (this.#announced <= ANNOUNCEMENTS_MAX) return;
    this.#fail('protocol');
    this.#request.destroy();
  }

  #read(response: IncomingMessage): void {
    this.#response = response;
    response.on('data', (chunk: Buffer) => {
      if (this.#bytes < HEAD_BYTES) this.#chunks.push(chunk);
      this.#bytes += chunk.length;
      if (this.#bytes <= BODY_BYTES_MAX) return;
      this.#answer(response);
      this.#request.destroy();
    });
    response.once('end', () => this.#answer(response));
    response.on('error', () => this.#answer(response));
  }

  #broken(error: Error | null): void {
    if (this.#response === null) this.#fail(this.#nameOf(error));
    else this.#answer(this.#response);
  }

  #nameOf(error: Error | null): ExchangeError {
    if (this.#phase === 'connecting') return 'connect';
    if (this.#phase === 'securing') return 'tls';
    const code = error !== null && 'code' in error ? String(error.code) : '';
    if (code === 'HPE_HEADER_OVERFLOW') return 'too_large_headers';
    return code.startsWith('HPE_') ? 'protocol' : 'reset';
  }

  #answer({ statusCode, headers }: IncomingMessage): void {
    this.#settle({
      kind: 'answered',
      statusCode: statusCode ?? 0,
      retryAfter: headers['retry-after'] ?? null,
      head: headOf(Buffer.concat(this.#chunks)),
    });
  }

  #fail(error: ExchangeError): void {
    this.#settle({ kind: 'failed', error, wasReused: this.#request.reusedSocket });
  }
}

/** As text that PostgreSQL stores: valid UTF-8 without NUL. */
function headOf(body: Buffer): string {
  // As a stream: it drops the rest of a character that was cut in two.
  const text = new TextDecoder().decode(body.subarray(0, HEAD_BYTES), { stream: true });
  return text.replaceAll('\0', '\uFFFD');
}
