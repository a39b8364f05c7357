// Invalidates caches: external changes reach every cache within 1 s.
//
// Who calls: repositories notify in the transaction that changes a row; caches subscribe.
// How: the process that made a change tells the other nodes before it answers (`publish`). Messages
// that are lost, and changes of other programs, are rows of `changes`, written in the transaction
// of the change: every beat reads those that have become visible since the last one, and each is
// told of after its commit (`tell.ts`), which makes the next beat begin soon. What dies before it
// tells is heard with the next beat. Another pid than before means that the database may not be the
// one that was read, no answer that a change may be missed now. Why a transaction counts and not
// its time: a row becomes visible when its transaction ends, and a later transaction may have ended
// before. None below the oldest open one can still end.
// Holds: a client with the answer to a change sees it with its next request, on any node that
// answers its peers. A cache that drops what it is told, and keeps nothing while `trusted` is
// false, is never stale for longer than BEAT_MS + SILENCE_MS_MAX.
// Does not: carry data. A change names what to forget; the reader asks the database.
import { must } from '../../../ledger/kernel/assert.ts';
import type { Timers } from '../../../ledger/ports.ts';
import { openPool, type Executor, type Sql } from './postgres.ts';
import { tell } from './tell.ts';

const CHANNEL = 'tollhouse_changes';
const BEAT_MS = 250;
/** What others tell meanwhile is one look. */
const TOLD_MS = 10;
const SILENCE_MS_MAX = 600;
/**
 * There is a row of it. Nodes of the release before notify without one, and read the first two
 * parts of ours.
 */
const STORED = 'stored';

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
  await sql`
    insert into changes (kind, subject) values (${kind}, ${id}) on conflict do nothing`;
  tellChange(sql, kind, id);
}

/** Of a change whose row is written by a statement of the caller. */
export function tellChange(sql: Executor, kind: ChangeKind, id: string): void {
  tell(sql, CHANNEL, `${kind}:${id}:${STORED}`);
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
  /** The oldest transaction that may have been open at the last look; null before the first one. */
  #since: string | null = null;
  /**
   * What the last look found: as long as an old transaction is open, the next one finds it again.
   */
  #found = new Set<string>();
  #isBeating = false;
  /** Whether something was told that the next beat looks for. */
  #isWoken = false;
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
    this.#isBeating = true;
    this.#isWoken = false;
    try {
      const { backend, news } = await this.#look();
      if (backend !== this.#backend) this.#reset();
      else for (const change of news) this.#heard(change);
      this.#backend = backend;
      this.trusted = !this.#closed;
    } catch (error) {
      this.#distrust(error);
    }
    this.#isBeating = false;
    if (!this.#closed) this.#beatAfter(this.#isWoken ? TOLD_MS : BEAT_MS);
  }

  #beatAfter(ms: number): void {
    this.#cancelBeat();
    this.#cancelBeat = this.#options.timers.after(ms, () => {
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

  /** @throws where it does not answer in time */
  async #look(): Promise<Look> {
    let cancel = (): void => undefined;
    const silence = new Promise<never>((_resolve, reject) => {
      const task = (): void => reject(new Error('the database does not answer'));
      cancel = this.#options.timers.after(SILENCE_MS_MAX, task);
    });
    // One message, so that both statements reach the same backend.
    const since = this.#since === null ? 'pg_snapshot_xmin(s)' : `'${this.#since}'::xid8`;
    const answer = this.#sql
      .unsafe(
        `listen ${CHANNEL};
        select pg_backend_pid() as backend, pg_snapshot_xmin(s)::text as oldest,
          c.xact::text, c.kind, c.subject as id
        from pg_current_snapshot() s
        left join changes c on c.xact >= ${since} and c.xact < pg_snapshot_xmax(s)
        order by c.xact`,
      )
      .simple();
    try {
      return this.#took(rowsOf(await Promise.race([answer, silence])));
    } finally {
      cancel();
    }
  }

  #took(rows: readonly Row[]): Look {
    const { backend, oldest } = must(rows[0], 'a row, with a change or without');
    const known = this.#found;
    this.#found = new Set();
    const news: Change[] = [];
    for (const { xact, kind, id } of rows) {
      if (xact === null || id === null || kind === null || !isKind(kind)) continue;
      const name = `${xact} ${kind} ${id}`;
      this.#found.add(name);
      if (!known.has(name)) news.push({ kind, id });
    }
    this.#since = oldest;
    return { backend, news };
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
    if (channel !== CHANNEL) return;
    const [kind = '', id = '', how = ''] = payload.split(':');
    if (how === STORED) this.#wake();
    else if (isKind(kind)) this.#heard({ kind, id });
  }

  #wake(): void {
    if (this.#isWoken || this.#closed) return;
    this.#isWoken = true;
    if (!this.#isBeating) this.#beatAfter(TOLD_MS);
  }

  #heard(change: Change): void {
    this.receive(change).catch((error: unknown) =>
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

/** Of a look: a change, or none. */
type Row = {
  readonly backend: number;
  readonly oldest: string;
  readonly xact: string | null;
  readonly kind: string | null;
  readonly id: string | null;
};

/** The backend that answered and listens, and what the look before has not found. */
type Look = { readonly backend: number; readonly news: readonly Change[] };

/**
 * A message of two statements is answered with two lists of rows, which the driver's types do not
 * know.
 */
function rowsOf(results: readonly unknown[]): readonly Row[] {
  return results[1] as readonly Row[];
}
