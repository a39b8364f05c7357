// The result of a run: each surviving mutant, and the score of each file.
import type { Mutant } from './mutants.ts';
import type { Fate } from './fate.ts';

export type Outcome = { readonly mutant: Mutant; readonly fate: Fate };

/** In percent; a lower score fails the run. */
const SCORE_MIN = 90;

const WIDTH = 48;
/** How much of the code beside a change is shown. */
const BESIDE = 60;

export function reportOf(outcomes: readonly Outcome[]): string {
  const living = outcomes.filter((outcome) => !isSeen(outcome));
  const files = Map.groupBy(outcomes, ({ mutant }) => mutant.file);
  const rows = [...files].map(([file, own]) => row(file, own));
  const endless = outcomes.filter(({ fate }) => fate.kind === 'endless').length;
  return [
    ...living.map(lineOf),
    '',
    ...rows,
    row('all', outcomes),
    `${endless} of them were seen by a test that did not end.`,
  ].join('\n');
}

export function isEnough(outcomes: readonly Outcome[]): boolean {
  return outcomes.filter(isSeen).length * 100 >= outcomes.length * SCORE_MIN;
}

function isSeen({ fate }: Outcome): boolean {
  return fate.kind === 'seen' || fate.kind === 'endless';
}

function row(name: string, outcomes: readonly Outcome[]): string {
  const [seen, all] = [outcomes.filter(isSeen).length, outcomes.length];
  const score = ((seen * 100) / all).toFixed(1);
  return `${name.padEnd(WIDTH)} ${String(seen).padStart(5)} of ${String(all).padStart(5)} ${score.padStart(6)} %`;
}

export function lineOf({ mutant, fate }: Outcome): string {
  const { file, text, line, change } = mutant;
  const { around, at, becomes } = change;
  const told = fate.by === undefined ? fate.kind : `${fate.kind} by ${fate.by}`;
  const cut = (start: number, end: number): string => text.slice(start, end).replace(/\s+/g, ' ');
  const before = cut(Math.max(around.start, at.start - BESIDE), at.start);
  const after = cut(at.end, Math.min(around.end, at.end + BESIDE));
  return `${file}:${line} ${told}: ${before}[ ${cut(at.start, at.end)} -> ${becomes} ]${after}`;
}
