import type { Case, WayName } from '../cases.ts';
import type { Footprint } from '../probes/database.ts';

/** Seconds of processor time so far. */
export interface Spent {
  readonly server: number;
  readonly postgres: number;
  readonly redis: number;
}

/** A running, seeded server, and how to read what a load costs it. */
export interface Target {
  readonly name: WayName;
  portFor(item: Case): number;
  /** The header value that it accepts. */
  readonly authorization: string;
  /** What requests of this case name by id: its payments, or its product. */
  idsFor(item: Case): readonly string[];
  /** PostgreSQL's and Redis's are 0 where it uses none. */
  spent(): Spent;
  /** Resident memory of the server, in bytes. */
  memoryBytes(): number;
  /** undefined: it leaves nothing in PostgreSQL. */
  readonly footprint: ((item: Case) => Promise<Footprint>) | undefined;
  /** Called before each case: writes what earlier ones left in PostgreSQL's memory. */
  checkpoint(): Promise<void>;
  /** Called before each load. */
  reset(): Promise<void>;
  /** Resolves when all work deferred by its answers is done. */
  settled(item: Case): Promise<void>;
  /**
   * Kills it, starts it again and returns the usage events that all customers have then; undefined
   * where a case's rows are counted instead.
   */
  readonly survivors: (() => Promise<number>) | undefined;
}
