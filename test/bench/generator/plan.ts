// What the bench asks of a generator process (JSON on its stdin), and what it answers (JSON on its stdout).
import type { Encoded } from '../histogram.ts';

export type Shape = 'check' | 'track' | 'ingest' | 'mixed' | 'refund' | 'checkout';

export interface LoadPlan {
  /** Connections are spread over these, and one that the server ends goes on at the next. */
  readonly ports: readonly number[];
  /** The whole header value. */
  readonly authorization: string;
  readonly shape: Shape;
  /** Customers 0 to n-1 are asked for at random, where 1 is the hot customer; or those of these numbers. */
  readonly customers: number | readonly number[];
  /** What refunds and checkouts name at random: payments or products. */
  readonly ids: readonly string[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** null: closed loop, each connection sends again as soon as it has its answer. */
  readonly ratePerSecond: number | null;
  /** Makes the idempotency keys of this run unlike those of every other. */
  readonly run: number;
}

export interface LoadResult {
  /** Answered within the measured time. */
  readonly completed: number;
  readonly measuredMs: number;
  /** Answered with 2xx from the first request to the last, warm-up and drain too. */
  readonly succeeded: number;
  /** Answers other than 2xx, connections that broke and requests that stayed without an answer. */
  readonly errors: number;
  /** The first few of them, one line each. */
  readonly samples: readonly string[];
  readonly latency: Encoded;
  /** Open loop: how late requests were sent because the generator itself was late, 99th percentile. */
  readonly latenessMicros: number;
  readonly cpuSeconds: number;
}
