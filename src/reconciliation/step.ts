// What a step of a run gets, and what a page of it gives back.
import type { Run } from '../records/reconciliation-runs.ts';
import type { CheckDeps } from './check.ts';

export type StepDeps = CheckDeps & {
  readonly run: Run;
  /** Before each question: the run stays ours while they are slow. */
  readonly keep: () => Promise<void>;
};

export type Done = {
  /** Behind which row the next page begins; null where there is none. */
  readonly next: string | null;
  /** Rows of the processor that were ours, and others. */
  readonly compared?: number;
  readonly notOurs?: number;
};

export type Step = {
  readonly name: string;
  /** @throws {BooksFailed} */
  readonly page: (deps: StepDeps, cursor: string | null) => Promise<Done>;
};
