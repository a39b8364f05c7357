// An invoice of the second model of a subscription, and what a charge of it is answered.

export type Bill = {
  readonly number: number;
  readonly amount: bigint;
  /** The amount that comes back when it is made void. */
  credit: bigint;
  /** The order of the open ones. */
  opened: number;
  state: 'draft' | 'open' | 'waiting' | 'closed';
  attempt: number;
  isUnderWay: boolean;
  /** The customer has replaced the card since. */
  again: boolean;
  retryAt: number | null;
  failedAt: number | null;
  /** First charged after the end: what is declined leaves it as it was. */
  isLeft: boolean;
  /** Made void while its charge was under way: what is declined closes it. */
  isVoid?: boolean;
  /** Of a change that was taken back: what is paid of it is given back. */
  isForgone?: boolean;
};

export type Answer = {
  readonly how: 'paid' | 'failed' | 'errored' | 'hard' | 'mandate_lost' | 'no_method';
  readonly at: number;
};
