// What the bench asks of a generator process (JSON on its stdin), and what that answers (JSON on
// its stdout).
import type { Encoded } from '../histogram.ts';

export type Shape = 'check' | 'track' | 'ingest' | 'mixed' | 'refund' | 'checkout';

export interface LoadPlan {
  /** Connections are spread over these; one that the server closes reconnects to the next. */
  readonly ports: readonly number[];
  /** The whole header value. */
  readonly authorization: string;
  readonly shape: Shape;
  /**
   * Customers 0 to n-1 at random, where 1 is the hot customer; or the customers with these numbers.
   */
  readonly customers: number | readonly number[];
  /** The payments or products that refunds and checkouts name at random. */
  readonly ids: readonly string[];
  readonly connections: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** null: closed loop, each connection sends again as soon as it has its answer. */
  readonly ratePerSecond: number | null;
  /** Makes this run's idempotency keys unlike those of every other run. */
  readonly run: number;
}

export interface LoadResult {
  /** Answered within the measured time. */
  readonly completed: number;
  readonly measuredMs: number;
  /** Answered with 2xx from the first request to the last, warm-up and drain included. */
  readonly succeeded: number;
  /** Answers other than 2xx, broken connections and unanswered requests. */
  readonly errors: number;
  /** The first few of them, one line each. */
  readonly samples: readonly string[];
  readonly latency: Encoded;
  /** Open loop: how late the generator itself sent requests, 99th percentile. */
  readonly latenessMicros: number;
  readonly cpuSeconds: number;
}
