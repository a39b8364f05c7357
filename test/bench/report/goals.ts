// The goals of the service: what a request may cost, and its rate beside the other ways.
import type { PeerName, WayName } from '../cases.ts';
import { EVENTS_PER_CALL } from '../generator/workload.ts';
import { type Before, figuresIn } from './comparison.ts';
import type { Figure, Result } from './figures.ts';
import { ratioByRound, type Spread, spreadOf } from './spread.ts';

export interface Goal {
  readonly case: string;
  readonly of: Wanted['of'];
  readonly target: number | null;
  /** null: not measured. */
  readonly before: Spread | null;
  readonly here: Spread;
  readonly isReached: boolean | null;
}

/** A figure, or the rate divided by that of another way. */
interface Wanted {
  readonly case: string;
  readonly of: { readonly figure: Figure } | { readonly rateOver: PeerName } | 'events a second';
  /** null: shown without a goal. */
  readonly target: number | null;
}

const INGEST = 'ingest-8';

const WANTED: readonly Wanted[] = [
  { case: 'track-32', of: { figure: 'server' }, target: 40 },
  { case: 'track-32', of: { figure: 'postgres' }, target: 24 },
  { case: 'track-256', of: { figure: 'server' }, target: 32 },
  { case: 'track-256', of: { figure: 'postgres' }, target: 13 },
  { case: 'hot-256', of: { figure: 'server' }, target: null },
  { case: 'hot-256', of: { figure: 'postgres' }, target: null },
  { case: INGEST, of: { figure: 'server' }, target: 12 },
  { case: INGEST, of: { figure: 'postgres' }, target: 8 },
  { case: 'check-32', of: { figure: 'server' }, target: 14 },
  { case: 'check-256', of: { figure: 'server' }, target: null },
  { case: 'track-256', of: { figure: 'wal' }, target: 300 },
  { case: 'track-256', of: { figure: 'table' }, target: 150 },
  { case: 'refunds-hot', of: { figure: 'postgres' }, target: 600 },
  { case: 'track-256', of: { rateOver: 'plain' }, target: 9 },
  { case: 'hot-256', of: { rateOver: 'plain' }, target: 25 },
  { case: 'track-256', of: { rateOver: 'lossy' }, target: 0.65 },
  { case: 'check-32', of: { rateOver: 'limit' }, target: 0.78 },
  { case: 'check-256', of: { rateOver: 'limit' }, target: 0.78 },
  { case: 'check-32', of: { rateOver: 'lossy' }, target: 1 },
  { case: 'check-256', of: { rateOver: 'lossy' }, target: 1 },
  { case: INGEST, of: 'events a second', target: 60_000 },
  { case: 'checkouts', of: { rateOver: 'plain' }, target: 1 },
];

/** The median decides. */
export function goalsOf(results: readonly Result[], before: Before | null): readonly Goal[] {
  return WANTED.flatMap((wanted) => {
    const here = spreadIn(results, 'tollhouse', wanted);
    if (here === null) return [];
    const { target } = wanted;
    return {
      ...wanted,
      before: before === null ? null : spreadIn(before.results, before.way, wanted),
      here,
      isReached:
        target === null ? null : isMost(wanted) ? here.median <= target : here.median >= target,
    };
  });
}

/** A cost, of which less is better. */
export function isMost({ of }: Pick<Wanted, 'of'>): boolean {
  return typeof of === 'object' && 'figure' in of;
}

function spreadIn(
  results: readonly Result[],
  way: WayName,
  { case: name, of }: Wanted,
): Spread | null {
  const ours = figuresIn(results, { case: name, way });
  if (ours === undefined) return null;
  if (of === 'events a second') {
    return spreadOf(ours.rate.map((rate) => rate * EVENTS_PER_CALL));
  }
  if ('figure' in of) return ours[of.figure].length === 0 ? null : spreadOf(ours[of.figure]);
  const theirs = figuresIn(results, { case: name, way: of.rateOver });
  return theirs === undefined ? null : ratioByRound(ours.rate, theirs.rate);
}
