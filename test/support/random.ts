// Repeatable random choices: CHAOS_SEED=<number> repeats a run that failed.
export type Random = {
  /** A whole number from `min` to `max`, both included. */
  integer(min: number, max: number): number;
  pick<T>(items: readonly T[]): T;
  chance(probability: number): boolean;
};

/** Runs `task` with choices from a new seed, which the error names where it fails. */
export async function withSeed<T>(task: (random: Random) => Promise<T>): Promise<T> {
  const seed = newSeed();
  try {
    return await task(seeded(seed));
  } catch (error) {
    if (error instanceof Error) error.message += `\nCHAOS_SEED=${seed}`;
    throw error;
  }
}

let drawn = 0;

/**
 * CHAOS_SEED itself; or one drawn from TEST_SEED, so that a run of the same files draws the same.
 */
export function newSeed(): number {
  const given = process.env['CHAOS_SEED'];
  if (given !== undefined) return Number(given);
  const ofRun = process.env['TEST_SEED'];
  if (ofRun === undefined) return Math.floor(Math.random() * 2 ** 31);
  drawn += 1;
  return seeded(Number(ofRun) + drawn).integer(0, 2 ** 31 - 1);
}

export function shuffled<T>(items: readonly T[], random: Random): T[] {
  const rest = [...items];
  return items.map(() => rest.splice(random.integer(0, rest.length - 1), 1)[0]!);
}

export function seeded(seed: number): Random {
  let state = seed;
  // mulberry32
  function next(): number {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  }
  const integer = (min: number, max: number): number => min + Math.floor(next() * (max - min + 1));
  return {
    integer,
    pick: (items) => items[integer(0, items.length - 1)]!,
    chance: (probability) => next() < probability,
  };
}
