import type { Tenant } from './kernel/tenant.ts';

/** What the ledger needs from outside. Everything else comes as an argument or from the store. */
export type Clock = {
  /**
   * Wall clock, milliseconds since the epoch. Stamps what happens, and ends a lease where the
   * monotonic clock stood still: a machine may sleep.
   */
  now(): number;
  /** Monotonic milliseconds from an arbitrary start. Measures leases and waits. */
  monotonic(): number;
};

/**
 * The time of a tenant's business: when its periods end, its checkouts expire and what it does is
 * stamped.
 */
export type OrgClock = {
  /**
   * Milliseconds since the epoch. The wall clock, unless the organisation has moved its own: in
   * test mode it may, forward.
   */
  now(tenant: Tenant): number;
};

/** The same time on all nodes, as well as that can be. */
export type SharedClock = OrgClock & {
  /** The time where nobody has moved a clock. Nodes tell it to each other. */
  wall(): number;
  /**
   * The `wall` of another node. From now on no clock here is earlier, unless that one is wrong
   * (`HybridClock`).
   */
  observe(wall: number): void;
  /** Organisations whose test clock is being moved. No alarm of their test mode fires by itself. */
  readonly stopped: ReadonlySet<string>;
  /** Reads the changes of test clocks. A node does so after it took its seat, before it serves. */
  catchUp(): Promise<void>;
};

export type Ids = {
  /** A new UUIDv7. */
  next(): string;
  /**
   * The UUID that belongs to these parts, always the same one: 122 bits of a cryptographic hash.
   */
  derive(...parts: readonly string[]): string;
  /** A signed 64-bit hash of a text, for telling bodies apart, not for identity. */
  fingerprint(text: string): bigint;
};

export type Timers = {
  /** Runs `task` once after `ms`; returns its cancel. */
  after(ms: number, task: () => void): () => void;
  /** Runs `task` after the input that is ready now has been read. */
  soon(task: () => void): void;
};

/** Resolves after `ms`. */
export function pause(timers: Timers, ms: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.after(ms, resolve);
  return promise;
}

/** Lets waiting calls run first: long work is done in steps. */
export function breathe(timers: Timers): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  timers.soon(resolve);
  return promise;
}

export type Log = {
  info(fields: Record<string, unknown>, message: string): void;
  warn(fields: Record<string, unknown>, message: string): void;
  error(fields: Record<string, unknown>, message: string): void;
};

/**
 * Other nodes. A request and its answer are plain data as structured clone copies it: bigints, Maps
 * and undefined included.
 */
export type Peers = {
  /** Asks the node at `address` (host:port); its answer. @throws PeerFailure */
  ask(address: string, request: unknown, options: { readonly withinMs: number }): Promise<unknown>;
  /** The node is dead: what is asked of it now fails, as possibly done. */
  giveUp(address: string): void;
};

/** `maybeDone`: it was sent, and its outcome is not known. false: the other node never got it. */
export class PeerFailure extends Error {
  override readonly name = 'PeerFailure';
  readonly maybeDone: boolean;

  constructor(message: string, maybeDone: boolean) {
    super(message);
    this.maybeDone = maybeDone;
  }
}

/**
 * The ledger cannot answer now: no lease, no database, or too much is waiting. Trying again is safe
 * and may help.
 */
export class LedgerUnavailable extends Error {
  override readonly name = 'LedgerUnavailable';
}

/**
 * The database took too long: nothing was written, and the ledger does not try again. The caller
 * may.
 */
export class TooSlow extends LedgerUnavailable {}
