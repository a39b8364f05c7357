// Invalidates caches: external changes reach every cache within 1 s.
//
// Who calls: repositories notify in the transaction that changes a row; caches subscribe.
// How: the process that made a change tells the other nodes before it answers (`publish`). Messages
// that are lost, and changes of other programs, arrive by LISTEN on one channel, on a connection of
// its own. Every beat listens again and asks for the backend's pid: another pid means that a
// notification may have been missed, no answer that one may be missed now.
// Holds: a client with the answer to a change sees it with its next request, on any node that
// answers its peers. A cache that drops what it is told, and keeps nothing while `trusted` is
// false, is never stale for longer than BEAT_MS + SILENCE_MS_MAX.
// Does not: carry data. A notification names what to forget; the reader asks the database.
import type { Timers } from '../../../ledger/ports.ts';
import { openPool, type Executor, type Sql } from './postgres.ts';

const CHANNEL = 'tollhouse_changes';
const BEAT_MS = 250;
const SILENCE_MS_MAX = 600;

/**
 * `api_key`: the key's id. `meter`: the organisation's. `customer`: the customer's.
 * `webhook_endpoint`: the endpoint's. `test_clock`, `processor`, `alert`: the organisation's.
 */
export type ChangeKind = (typeof KINDS)[number];

const KINDS = [
  'api_key',
  'meter',
  'customer',
  'webhook_endpoint',
  'test_clock',
  'processor',
  'alert',
] as const;

export type Subscriber = {
  /** Resolves when the cache has dropped it. */
  changed(kind: ChangeKind, id: string): void | Promise<void>;
  /** Drops everything: any entry may be stale. */
  reset(): void;
};

export type Changes = {
  /** Whether a change would reach this process now. While it is false, nothing may be cached. */
  readonly trusted: boolean;
  subscribe(subscriber: Subscriber): void;
  /**
   * Announces a committed change of this process. Resolves when it has reached the caches here and
   * on the other nodes, so that the caller's next request sees it on any node. A node that does not
   * answer in time learns it from the database.
   */
  publish(kind: ChangeKind, id: string): Promise<void>;
  close(): Promise<void>;
};

export type OpenChanges = Changes & {
  /** Takes a change from another node. Resolves when the caches here have dropped it. */
  receive(change: Change): Promise<void>;
};

export type Change = { readonly kind: ChangeKind; readonly id: string };

export type ChangesOptions = {
  readonly url: string;
  readonly timers: Timers;
  /** Tells the other nodes, without waiting for the database. */
  readonly toPeers?: (change: Change) => Promise<void>;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

/** Tells every process, when and only if the transaction commits. */
export async function notifyChange(sql: Executor, kind: ChangeKind, id: string): Promise<void> {
  await sql`select ${notification(sql, kind, id)}`;
}

/** The same as part of a statement. */
export function notification(sql: Executor, kind: ChangeKind, id: string) {
  return sql`pg_notify(${CHANNEL}, ${`${kind}:${id}`})`;
}

/** Resolves after the first try: until the database answers, `trusted` is false. */
export async function listenForChanges(options: ChangesOptions): Promise<OpenChanges> {
  const listener = new Listener(options);
  await listener.beat();
  return listener;
}

class Listener implements OpenChanges {
  trusted = false;
  readonly #options: ChangesOptions;
  readonly #subscribers: Subscriber[] = [];
  #sql: Sql;
  /** The backend that listens for us; 0 for none. */
  #backend = 0;
  #cancelBeat = (): void => undefined;
  #closed = false;

  constructor(options: ChangesOptions) {
    this.#options = options;
    this.#sql = this.#connect();
  }

  subscribe(subscriber: Subscriber): void {
    this.#subscribers.push(subscriber);
  }

  async publish(kind: ChangeKind, id: string): Promise<void> {
    const change = { kind, id };
    await Promise.all([this.receive(change), this.#options.toPeers?.(change)]);
  }

  async receive({ kind, id }: Change): Promise<void> {
    await Promise.all(this.#subscribers.map(async (subscriber) => subscriber.changed(kind, id)));
  }

  /** Never rejects; sets up the next one. */
  async beat(): Promise<void> {
    try {
      const backend = await this.#listen();
      if (backend !== this.#backend) this.#reset();
      this.#backend = backend;
      this.trusted = !this.#closed;
    } catch (error) {
      this.#distrust(error);
    }
    if (this.#closed) return;
    this.#cancelBeat = this.#options.timers.after(BEAT_MS, () => {
      this.beat().catch((error: unknown) => this.#distrust(error));
    });
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.trusted = false;
    this.#cancelBeat();
    this.#reset();
    await this.#sql.end({ timeout: 1 });
  }

  #connect(): Sql {
    return openPool(this.#options.url, {
      max: 1,
      applicationName: 'tollhouse changes',
      onNotify: (channel, payload) => this.#notified(channel, payload),
      // A new backend may get the number of an old one.
      onClose: () => {
        this.#backend = 0;
      },
    });
  }

  /** The backend that listens. @throws where it does not answer in time */
  async #listen(): Promise<number> {
    let cancel = (): void => undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      const task = (): void => reject(new Error('the database does not answer'));
      cancel = this.#options.timers.after(SILENCE_MS_MAX, task);
    });
    // One message, so that both statements reach the same backend.
    const answer = this.#sql.unsafe(`listen ${CHANNEL}; select pg_backend_pid() as pid`).simple();
    try {
      const results = await Promise.race([answer, silence]);
      return pidOf(results);
    } finally {
      cancel();
    }
  }

  #distrust(cause: unknown): void {
    if (this.#closed) return;
    if (this.trusted)
      this.#options.warn({ error: String(cause) }, 'changes elsewhere are not heard');
    this.trusted = false;
    this.#backend = 0;
    this.#reset();
    // A connection that died silently would delay the next beat too.
    const abandoned = this.#sql;
    this.#sql = this.#connect();
    abandoned.end({ timeout: 0 }).catch(() => undefined);
  }

  #notified(channel: string, payload: string): void {
    const [kind = '', id = ''] = payload.split(':');
    if (channel !== CHANNEL || !isKind(kind)) return;
    this.receive({ kind, id }).catch((error: unknown) =>
      this.#options.warn({ err: error }, 'a change elsewhere was not taken in'),
    );
  }

  #reset(): void {
    for (const subscriber of this.#subscribers) subscriber.reset();
  }
}

function isKind(kind: string): kind is ChangeKind {
  return (KINDS as readonly string[]).includes(kind);
}

/**
 * A message of two statements is answered with two lists of rows, which the driver's types do not
 * know.
 */
function pidOf(results: readonly unknown[]): number {
  const rows: unknown = results[1];
  const row: unknown = Array.isArray(rows) ? rows[0] : undefined;
  if (typeof row === 'object' && row !== null && 'pid' in row) return Number(row.pid);
  throw new Error('the database did not say which backend answers');
}
