import type { Closers } from '../support/closers.ts';
import type { Random } from '../support/random.ts';
import type { Programs } from './programs.ts';

/** One run of `bun run failover`. */
export type Run = {
  readonly programs: Programs;
  /** What was started is in here, whatever goes wrong on the way. */
  readonly closers: Closers;
  readonly random: Random;
  /** Of Tollhouse. */
  readonly processes: number;
  readonly rounds: number;
  /** Where the logs are put at its end. */
  readonly logs: string | undefined;
  readonly say: (line: string) => void;
};
