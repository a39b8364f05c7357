import type { Case, WayName } from '../cases.ts';
import type { ReadFootprint } from '../probes/database.ts';

/** A server that runs and is seeded, and how to see what a load costs it. */
export interface Target {
  readonly name: WayName;
  portFor(item: Case): number;
  /** The header value that it lets in. */
  readonly authorization: string;
  /** Processor time so far. */
  serverSeconds(): number;
  /** Of PostgreSQL or Redis, whichever it writes to. */
  databaseSeconds(): number;
  /** undefined: it leaves nothing in PostgreSQL. */
  readonly footprint: ReadFootprint | undefined;
  /** Called before each load. */
  reset(): Promise<void>;
}
