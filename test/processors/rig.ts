// What the conformance suite needs of a processor under test.
import type { Instrument, Processor } from '../../src/processors/processor.ts';

/** The outcome of a charge to an instrument, or of a refund of it. */
export type Behaviour =
  | 'succeeds'
  /** On session; off session it is declined. */
  | 'succeeds_at_first'
  | 'settles'
  | 'bounces'
  | 'challenges'
  | 'declines'
  | 'errors'
  | 'loses_the_answer'
  | 'loses_the_request'
  | 'refund_settles'
  | 'refund_fails_late'
  /** With the charge, all of it; decided by `settle`. */
  | 'disputed_lost'
  | 'disputed_won';

export type Rig = {
  readonly processor: Processor;
  /** The same, as another process has it. */
  readonly another: Processor;
  readonly instruments: Readonly<Record<Behaviour, Instrument>>;
  /** As much as it takes at once. */
  readonly most: { readonly amount: bigint; readonly currency: string };
  readonly newKey: () => string;
  /** Moves time until pending charges and refunds have settled. */
  settle(): void;
  /** The buyer answers at the bank. */
  answer(chargeKey: string, passed: boolean): Promise<void>;
  close(): Promise<void>;
};
