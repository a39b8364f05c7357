// What the conformance suite needs of a processor that it tries.
import type { Instrument, Processor } from '../../src/processors/processor.ts';

/** What a charge to an instrument does, or a refund of it. */
export type Behaviour =
  | 'succeeds'
  /** While its buyer is there; when he is not, it is declined. */
  | 'succeeds_at_first'
  | 'settles'
  | 'bounces'
  | 'challenges'
  | 'declines'
  | 'errors'
  | 'loses_the_answer'
  | 'loses_the_request'
  | 'refund_settles'
  | 'refund_fails_late';

export type Rig = {
  readonly processor: Processor;
  readonly instruments: Readonly<Record<Behaviour, Instrument>>;
  readonly newKey: () => string;
  /** Time passes, until what settles later has. */
  settle(): void;
  /** The buyer answers his bank. */
  answer(chargeKey: string, passed: boolean): Promise<void>;
  close(): Promise<void>;
};
