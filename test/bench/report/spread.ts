export interface Spread {
  readonly min: number;
  readonly median: number;
  readonly max: number;
}

export function spreadOf(values: readonly number[]): Spread {
  const sorted = [...values].sort((a, b) => a - b);
  const at = (index: number): number => sorted[index] ?? 0;
  const middle = (sorted.length - 1) / 2;
  return {
    min: at(0),
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    max: at(sorted.length - 1),
  };
}

/** By round: both then had the same machine. */
export function ratioByRound(above: readonly number[], below: readonly number[]): Spread {
  return spreadOf(above.map((value, round) => value / (below[round] ?? Number.NaN)));
}

/** Of two runs: what all pairs of their rounds allow. */
export function ratioOfRuns(above: readonly number[], below: readonly number[]): Spread {
  const [over, under] = [spreadOf(above), spreadOf(below)];
  return {
    min: over.min / under.max,
    median: over.median / under.median,
    max: over.max / under.min,
  };
}
