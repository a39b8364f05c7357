// Before and after, figure by figure. `--against` measured both in turn in one run, so a ratio is
// taken within a round; `--compare` has an earlier run, and the machine may have changed since.
import type { WayName } from '../cases.ts';
import { FIGURES, type Figure, type Figures, type Result } from './figures.ts';
import { ratioByRound, ratioOfRuns, type Spread, spreadOf } from './spread.ts';

/** A run that has what there was before, and under which name. */
export interface Before {
  readonly results: readonly Result[];
  readonly way: WayName;
  /** Whether it is the run that has what there is now. */
  readonly isSameRun: boolean;
}

export interface Change {
  readonly case: string;
  readonly figure: Figure;
  readonly before: Spread;
  readonly after: Spread;
  /** After divided by before. */
  readonly ratio: Spread;
}

/** @param earlier the results of another run; null: none */
export function beforeOf(
  results: readonly Result[],
  earlier: readonly Result[] | null,
): Before | null {
  if (earlier !== null) return { results: earlier, way: 'tollhouse', isSameRun: false };
  const isMeasured = results.some(({ way }) => way === 'before');
  return isMeasured ? { results, way: 'before', isSameRun: true } : null;
}

export function figuresIn(
  results: readonly Result[],
  { case: name, way }: { readonly case: string; readonly way: WayName },
): Figures | undefined {
  return results.find((result) => result.case === name && result.way === way)?.figures;
}

export function changesOf(results: readonly Result[], before: Before): readonly Change[] {
  const ratioOf = before.isSameRun ? ratioByRound : ratioOfRuns;
  return results
    .filter(({ way }) => way === 'tollhouse')
    .flatMap(({ case: name, figures }) => {
      const old = figuresIn(before.results, { case: name, way: before.way });
      if (old === undefined) return [];
      return (Object.keys(FIGURES) as Figure[])
        .filter((figure) => figures[figure].length > 0 && hasRatio(old[figure]))
        .map((figure) => ({
          case: name,
          figure,
          before: spreadOf(old[figure]),
          after: spreadOf(figures[figure]),
          ratio: ratioOf(figures[figure], old[figure]),
        }));
    });
}

/** A cost below what can be measured has none. */
function hasRatio(below: readonly number[]): boolean {
  return below.length > 0 && below.every((value) => value > 0);
}
