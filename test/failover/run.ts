import type { Closers } from '../support/closers.ts';
import type { Random } from '../support/random.ts';
import type { Programs } from './programs.ts';

/** One run of `bun run failover`. */
export type Run = {
  readonly programs: Programs;
  /** All started programs are in here, so that an error cannot leave one behind. */
  readonly closers: Closers;
  readonly random: Random;
  /** Of Tollhouse. */
  readonly processes: number;
  readonly rounds: number;
  /** Where the logs go at its end. */
  readonly logs: string | undefined;
  readonly say: (line: string) => void;
};
