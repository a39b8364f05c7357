/** What alerts are held against. */
export type Level = {
  readonly limit: bigint;
  readonly consumed: bigint;
  /** max(0, balance), holds taken off. */
  readonly remaining: bigint;
  /** Whether anything was ever granted: before that nothing can run out. */
  readonly wasGranted: boolean;
};

/** What usage has reached that is not told yet. On disk it is an alarm that rings at once. */
export type Untold = {
  /** When the first usage reached any of them. */
  readonly at: number;
  /** Before that usage. null as it comes from disk: then all that is past was reached by usage. */
  readonly before: Level | null;
};
