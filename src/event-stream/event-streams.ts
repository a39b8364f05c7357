// The streams of events that this process serves (GET /events/stream).
//
//     relay: positions ──NOTIFY, look each second──▶ Follower ──▶ Reader ──▶ caller
//                                 pages, for a reader that is behind ──▶
//
// Holds: a stream has every event of its tenant after the one that it goes on after, each once, in
// the order of positions, whichever node serves it. Readers that are behind are served over
// connections of their own, on which tenants take turns, a page at a time, at the pace of the
// caller. What waits for a caller is bounded; a caller beyond that is disconnected, and goes on
// from the last event that it has. A stream ends within a second of its key.
// Does not: remember anything between two streams. A caller that lost its connection says where it
// was.
import { Tally } from '../../ledger/kernel/tally.ts';
import { type Tenant, tenantOf } from '../../ledger/kernel/tenant.ts';
import type { Clock, Log, Timers } from '../../ledger/ports.ts';
import { type Bounds, Full } from '../platform/bounds.ts';
import { Lane } from '../platform/postgres/lane.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import { BEGINNING, pagesAfter } from '../records/event-positions.ts';
import { Chunk } from './chunk.ts';
import { type Followed, Follower, nameOf } from './follower.ts';
import { Reader, type ReaderEnd } from './reader.ts';
import { hasRoom } from './room.ts';
import { Starts } from './starts.ts';

/**
 * In a process, shared as `hasRoom` says. What waits for one is bounded, so what waits for all is.
 */
const READERS_MAX = 5000;
const LOOK_MS = 1000;
/** With the time until the next look, 15 s. */
const COMMENT_MS = 14_000;
const COMMENT = Buffer.from(':\n\n');
/** Callers whose streams end together come back spread over this time. */
const RETRY_MS = { min: 500, spread: 2500 };
/** How long a page may wait for its turn. */
const PAGE_WAIT_MS_MAX = 30_000;
/** The relay passes an event in this time, or its reader asks again. */
const AWAIT_MS_MAX = 60_000;

/**
 * Connections of `pages`: they say where streams begin, and serve readers that are behind. An
 * organisation has one for each of the two at most, so that it never holds all.
 */
export const STREAM_PAGES = 3;

export type EventStreamsDeps = {
  /** One connection. */
  readonly follower: Sql;
  readonly pages: Sql;
  readonly bounds: Bounds;
  /** Calls back when the key has ended. Returns what ends the watch. */
  readonly watchKey: (keyId: string, onEnd: () => void) => () => void;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly log: Log;
  /** 0 to 1. */
  readonly random: () => number;
};

export type StreamAsked = {
  readonly tenant: Tenant;
  readonly keyId: string;
  /** The id of an event, or that of the organisation for all; null: what comes from now on. */
  readonly after: string | null;
  /** Aborts when the caller has left. */
  readonly signal: AbortSignal;
  /** Disconnects a caller that takes nothing any more. */
  readonly cut: () => void;
};

export type StreamStats = {
  readonly readers: number;
  readonly sent: number;
  readonly slow: number;
};

type Open = { readonly followed: Followed; readonly openedAt: number; commentAt: number };

export class EventStreams {
  readonly #deps: EventStreamsDeps;
  readonly #follower: Follower;
  readonly #lane: Lane;
  readonly #starts: Starts;
  readonly #open = new Map<Reader, Open>();
  readonly #openOf = new Tally();
  readonly #stats = { sent: 0, slow: 0 };
  #cancelLook: () => void = () => undefined;
  #closed = false;

  constructor(deps: EventStreamsDeps) {
    const { follower: sql, pages, timers } = deps;
    this.#deps = deps;
    this.#follower = new Follower({ ...deps, sql });
    this.#lane = new Lane({
      places: STREAM_PAGES,
      perTenant: 1,
      waitingMax: READERS_MAX,
      waitMs: PAGE_WAIT_MS_MAX,
      timers,
    });
    this.#starts = new Starts({ sql: pages, lane: this.#lane });
  }

  get stats(): StreamStats {
    return { readers: this.#open.size, ...this.#stats };
  }

  async open(): Promise<void> {
    await this.#follower.open();
    this.#look();
  }

  /** Ends all streams, each cleanly, and opens no more. */
  end(): void {
    this.#closed = true;
    for (const reader of this.#open.keys()) reader.end('ended');
  }

  async close(): Promise<void> {
    this.end();
    this.#cancelLook();
    await this.#follower.close();
    const { follower, pages } = this.#deps;
    await Promise.all([follower, pages].map((sql) => sql.end({ timeout: 2 })));
  }

  /**
   * The body of the answer. `unknown`: there is no such event. `no_room`: this process serves as
   * many as it may, of all or of one tenant beside the others, or is leaving.
   */
  async stream(asked: StreamAsked): Promise<ReadableStream | Full | 'unknown' | 'no_room'> {
    const tenant = tenantOf(asked.tenant);
    const { eventStreams: max } = this.#deps.bounds;
    const own = this.#openOf.of(nameOf(tenant));
    if (max > 0 && own >= max) return new Full('eventStreams', max);
    if (this.#closed || !hasRoom({ own, open: this.#open.size }, READERS_MAX)) return 'no_room';
    const { reader, followed } = this.#register(tenant, asked);
    try {
      const isAll = asked.after === tenant.organisationId;
      const after = isAll ? null : asked.after;
      const start = await this.#starts.find({ tenant, after, signal: asked.signal });
      if (start === null || reader.isOver) return this.#refuse(reader, 'no_room');
      if (after !== null && start.from === null) return this.#refuse(reader, 'unknown');
      followed.head ??= start.last?.position ?? BEGINNING;
      this.#follower.wake(followed);
      const from = isAll ? null : start.from;
      reader.body.write(this.#prelude(from?.id ?? tenant.organisationId));
      if (from !== null && from.position === null) reader.awaitEvent(from.id);
      else if (!reader.startAt(from?.position ?? BEGINNING, followed.head))
        this.#catchUp(reader, tenant);
      return reader.body.stream;
    } catch (error) {
      this.#refuse(reader, 'no_room');
      throw error;
    }
  }

  #register(tenant: Tenant, { keyId, signal, cut }: StreamAsked) {
    const { clock, watchKey } = this.#deps;
    let unwatch = (): void => undefined;
    const reader = new Reader({
      sent: (events) => (this.#stats.sent += events),
      end: (why) => {
        unwatch();
        this.#forget(reader, why);
        if (why !== 'left') cut();
      },
    });
    const followed = this.#follower.follow(tenant, reader);
    const openedAt = clock.monotonic();
    this.#open.set(reader, { followed, openedAt, commentAt: openedAt + COMMENT_MS });
    this.#openOf.add(nameOf(tenant));
    unwatch = watchKey(keyId, () => reader.end('ended'));
    signal.addEventListener('abort', () => reader.end('left'));
    return { reader, followed };
  }

  #forget(reader: Reader, why: ReaderEnd): void {
    const open = this.#open.get(reader);
    if (open === undefined) return;
    this.#open.delete(reader);
    this.#openOf.remove(nameOf(open.followed.tenant));
    this.#follower.leave(open.followed, reader);
    if (why === 'slow') this.#stats.slow += 1;
  }

  #refuse<W extends string>(reader: Reader, why: W): W {
    reader.end('left');
    return why;
  }

  /** What a caller gets at once. It can say where it was, even where nothing came yet. */
  #prelude(id: string): Uint8Array {
    const retry = RETRY_MS.min + Math.floor(this.#deps.random() * RETRY_MS.spread);
    return Buffer.from(`: events\nretry: ${retry}\nid: ${id}\n\n`);
  }

  /** Where it cannot go on, the stream ends: its caller comes back. */
  #catchUp(reader: Reader, tenant: Tenant): void {
    this.#readBehind(reader, tenant).then(
      (isLive) => isLive || reader.end('ended'),
      (error: unknown) => {
        this.#deps.log.warn({ err: error }, 'a stream of events ends, because it cannot be read');
        reader.end('ended');
      },
    );
  }

  /** A page at a time, when the caller has taken the page before. Whether it is live. */
  async #readBehind(reader: Reader, tenant: Tenant): Promise<boolean> {
    const { pages: sql } = this.#deps;
    while (!reader.isOver) {
      await reader.body.drained();
      const { position } = reader;
      const read = await this.#lane.run(`${tenant.organisationId} pages`, () => {
        reader.holdAnew();
        return pagesAfter(sql, [{ ...tenant, position }]);
      });
      const page = read === 'no_place' ? undefined : read[0];
      if (page === undefined) return false;
      reader.send(new Chunk(position, page.events));
      if (!page.more && reader.goLive()) return true;
    }
    return true;
  }

  #look(): void {
    const now = this.#deps.clock.monotonic();
    for (const [reader, open] of this.#open) {
      if (reader.isAwaiting && now - open.openedAt > AWAIT_MS_MAX) reader.end('ended');
      if (now < open.commentAt) continue;
      open.commentAt = now + COMMENT_MS;
      reader.comment(COMMENT);
    }
    this.#follower.look();
    this.#cancelLook = this.#deps.timers.after(LOOK_MS, () => this.#look());
  }
}
