import type { Case, WayName } from '../cases.ts';
import type { Footprint } from '../probes/database.ts';

/** A running, seeded server, and how to read what a load costs it. */
export interface Target {
  readonly name: WayName;
  portFor(item: Case): number;
  /** The header value that it accepts. */
  readonly authorization: string;
  /** What requests of this case name by id: its payments, or its product. */
  idsFor(item: Case): readonly string[];
  /** Processor time so far. */
  serverSeconds(): number;
  /** Of PostgreSQL or Redis, the one that it writes to. */
  databaseSeconds(): number;
  /** undefined: it leaves nothing in PostgreSQL. */
  readonly footprint: ((item: Case) => Promise<Footprint>) | undefined;
  /** Called before each load. */
  reset(): Promise<void>;
  /** Resolves when all work deferred by its answers is done. */
  settled(item: Case): Promise<void>;
}
