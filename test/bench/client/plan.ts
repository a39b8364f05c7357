// What the bench asks of a caller (JSON on its stdin), and what that answers (JSON on its stdout).
import type { Encoded } from '../histogram.ts';

/** A single request by plain `fetch` for each call, or the client. */
export type Way = 'fetch' | 'client';

export type Place = { readonly baseUrl: string; readonly apiKey: string };

export type CallerPlan = Place &
  (
    | {
        readonly kind: 'calls';
        readonly way: Way;
        readonly shape: 'check' | 'track';
        readonly callers: number;
        readonly warmUpMs: number;
        readonly measureMs: number;
        /** Makes the keys of plain requests unlike those of every other run. */
        readonly run: number;
      }
    | {
        /** `/check/batch` of 500, a few at once, answers read and not parsed. */
        readonly kind: 'batches';
        readonly measureMs: number;
      }
    | { readonly kind: 'takes'; readonly takes: number; readonly customer: number }
    | {
        /** Nine checks, one track, and so on. */
        readonly kind: 'memory';
        readonly callers: number;
        readonly calls: number;
        readonly secondsMax: number;
      }
  );

export type Sample = {
  readonly calls: number;
  readonly residentBytes: number;
  /** After a full collection. */
  readonly heapBytes: number;
};

export type CallerResult = {
  /** Within the measured time. */
  readonly completed: number;
  readonly measuredMs: number;
  /** All of them, warm-up included. Checks, for batches. */
  readonly succeeded: number;
  readonly errors: readonly string[];
  readonly latency: Encoded;
  /** Of this process, for what was completed: its warm-up does not count. */
  readonly cpuSeconds: number;
  readonly samples: readonly Sample[];
};
