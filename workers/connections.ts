// Connections to addresses that were checked, kept for the next request to the same origin.
//
// Holds: a connection is kept for one origin at one address: two hosts at one address share none,
// so a certificate is checked against each name. One that says anything while it is kept, or ends,
// is closed.
import { connect, isIP, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import type { Timers } from '../ledger/ports.ts';
import { unbracketed } from '../src/platform/net/public-url.ts';

/**
 * How long a connection waits for the next delivery: less than most servers wait, so that they
 * seldom close it first. At least half of it.
 */
const IDLE_MS = 4000;
/** As many as may be in flight. Beyond that a connection is closed after its request. */
const KEPT_MAX = 2000;

/** The request that a connection serves. */
export type User = {
  /** It is open, and secured where it is TLS. */
  ready(): void;
  data(bytes: Buffer): void;
  /** It has ended, or failed. */
  ended(): void;
};

export type Phase = 'connecting' | 'securing' | 'open';

export class Connection {
  readonly key: string;
  phase: Phase = 'connecting';
  /** The sweep that found it idle first. */
  idleSince = 0;
  readonly #socket: Socket;
  #user: User | null;
  #onIdleEnd: (connection: Connection) => void;

  constructor(
    { url, address, key }: { readonly url: URL; readonly address: string; readonly key: string },
    { user, onIdleEnd }: { user: User; onIdleEnd: (connection: Connection) => void },
  ) {
    this.key = key;
    this.#user = user;
    this.#onIdleEnd = onIdleEnd;
    const isTls = url.protocol === 'https:';
    const port = url.port === '' ? (isTls ? 443 : 80) : Number(url.port);
    const name = unbracketed(url.hostname);
    this.#socket = isTls
      ? connectTls({
          host: address,
          port,
          // An address is no server name; its certificate must be for the address then.
          servername: isIP(name) === 0 ? name : '',
          ALPNProtocols: ['http/1.1'],
        })
      : connect({ host: address, port });
    const socket = this.#socket;
    socket.setNoDelay(true);
    socket.once('connect', () => {
      this.phase = isTls ? 'securing' : 'open';
      if (!isTls) this.#user?.ready();
    });
    if (isTls) {
      socket.once('secureConnect', () => {
        this.phase = 'open';
        this.#user?.ready();
      });
    }
    socket.on('data', (bytes: Buffer) => {
      if (this.#user === null) this.#end();
      else this.#user.data(bytes);
    });
    socket.once('end', () => this.#end());
    // On every event: an error event without a listener ends the process.
    socket.on('error', () => this.#end());
    socket.once('close', () => this.#end());
  }

  /** Whether all that was written has left. */
  get isFlushed(): boolean {
    return this.#socket.writableLength === 0;
  }

  write(text: string): void {
    this.#socket.write(text);
  }

  serve(user: User | null): void {
    this.#user = user;
  }

  close(): void {
    this.#user = null;
    this.#onIdleEnd = () => undefined;
    this.#socket.destroy();
  }

  #end(): void {
    const user = this.#user;
    const onIdleEnd = this.#onIdleEnd;
    this.close();
    if (user === null) onIdleEnd(this);
    else user.ended();
  }
}

export class Connections {
  readonly #timers: Timers;
  readonly #idle = new Map<string, Connection[]>();
  #count = 0;
  #sweeps = 0;
  #stopTimer: (() => void) | null = null;
  #closed = false;

  constructor(timers: Timers) {
    this.#timers = timers;
  }

  /** One that was kept, the latest first; null where there is none. */
  reuse(key: string, user: User): Connection | null {
    const idle = this.#idle.get(key);
    const connection = idle?.pop();
    if (idle === undefined || connection === undefined) return null;
    this.#forget(key, idle);
    connection.serve(user);
    return connection;
  }

  open(
    to: { readonly url: URL; readonly address: string; readonly key: string },
    user: User,
  ): Connection {
    return new Connection(to, { user, onIdleEnd: (connection) => this.#drop(connection) });
  }

  /** It has served its request, and is fit for another one. */
  keep(connection: Connection): void {
    if (this.#closed || this.#count >= KEPT_MAX) {
      connection.close();
      return;
    }
    connection.serve(null);
    connection.idleSince = this.#sweeps;
    this.#count += 1;
    const idle = this.#idle.get(connection.key);
    if (idle === undefined) this.#idle.set(connection.key, [connection]);
    else idle.push(connection);
    this.#stopTimer ??= this.#timers.after(IDLE_MS / 2, () => this.#sweep());
  }

  /** Closes the kept connections, and keeps none from now on. */
  close(): void {
    this.#closed = true;
    this.#stopTimer?.();
    for (const connection of [...this.#idle.values()].flat()) connection.close();
    this.#idle.clear();
    this.#count = 0;
  }

  #sweep(): void {
    this.#stopTimer = null;
    const old = [...this.#idle.values()].flat().filter(({ idleSince }) => idleSince < this.#sweeps);
    this.#sweeps += 1;
    for (const connection of old) {
      this.#drop(connection);
      connection.close();
    }
    if (this.#count > 0) this.#stopTimer = this.#timers.after(IDLE_MS / 2, () => this.#sweep());
  }

  #drop(connection: Connection): void {
    const idle = this.#idle.get(connection.key);
    const index = idle?.indexOf(connection) ?? -1;
    if (idle === undefined || index < 0) return;
    idle.splice(index, 1);
    this.#forget(connection.key, idle);
  }

  #forget(key: string, idle: readonly Connection[]): void {
    this.#count -= 1;
    if (idle.length === 0) this.#idle.delete(key);
  }
}
