import type { Case, WayName } from '../cases.ts';
import type { Footprint } from '../probes/database.ts';

/** A server that runs and is seeded, and how to see what a load costs it. */
export interface Target {
  readonly name: WayName;
  portFor(item: Case): number;
  /** The header value that it lets in. */
  readonly authorization: string;
  /** What requests of this case name by id: its payments, or its product. */
  idsFor(item: Case): readonly string[];
  /** Processor time so far. */
  serverSeconds(): number;
  /** Of PostgreSQL or Redis, whichever it writes to. */
  databaseSeconds(): number;
  /** undefined: it leaves nothing in PostgreSQL. */
  readonly footprint: ((item: Case) => Promise<Footprint>) | undefined;
  /** Called before each load. */
  reset(): Promise<void>;
  /** Resolves when all is done of what it answered before it was. */
  settled(item: Case): Promise<void>;
}
