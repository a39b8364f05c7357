import type { Clock } from '../../ledger/ports.ts';
import type { NodePlace, Settings } from '../config.ts';
import type { Log } from '../platform/log.ts';

export type ServiceOptions = {
  readonly databaseUrl: string;
  readonly redisUrl: string;
  readonly settings: Settings;
  /** Whether webhooks and mails are delivered by this process, too. */
  readonly deliver: boolean;
  /** What the secrets of webhook endpoints are encrypted with. */
  readonly secretsKey: Uint8Array;
  readonly leaseMs: number;
  readonly actorsMax: number;
  /** What customers and payments in memory may take, reckoned. */
  readonly actorBytesMax?: number | undefined;
  /**
   * Where other nodes reach this one, and the secret that they share; undefined where it is alone.
   */
  readonly node?: NodePlace | undefined;
  readonly log: Log;
  /**
   * The time that it goes by; without one, the machine's. Leases are by the machine's either way.
   */
  readonly clock?: Clock;
  /**
   * Where it listens for changes and where its journal writes, when not straight at `databaseUrl`.
   */
  readonly changesUrl?: string;
  readonly journalUrl?: string;
};
