// The command line of `bun run chaos`.
import { parseArgs } from 'node:util';
import { type DisturbanceName, DISTURBANCES } from './disturbances.ts';

export type ChaosOptions = {
  readonly minutes: number;
  readonly seed: number;
  readonly nodes: number;
  readonly leaseMs: number;
  /** How long it rests between two disturbances at most. */
  readonly calmMsMax?: number;
  /** The kinds of disturbance; all of them by default. */
  readonly kinds?: readonly DisturbanceName[];
  /** Called with what happens, one line each. */
  readonly say: (line: string) => void;
};

const LEASE_MS = 5000;

export const USAGE = `bun run chaos [--minutes M] [--seed S] [--nodes N] [--lease MS] [--only KIND,...]
  --minutes  for how long it is disturbed (5)
  --seed     of what happens when (printed; a new one each time)
  --nodes    how many (3)
  --lease    of each, in milliseconds (${LEASE_MS})
  --only     of ${Object.keys(DISTURBANCES).join(', ')}`;

/** @throws TypeError that says what is wrong with the arguments */
export function parseOptions(args: string[], say: ChaosOptions['say']): ChaosOptions {
  const text = { type: 'string' } as const;
  const options = { minutes: text, seed: text, nodes: text, lease: text, only: text };
  const { values } = parseArgs({ args, options });
  const number = (name: keyof typeof values, byDefault: number, least: number): number => {
    const value = Number(values[name] ?? byDefault);
    if (value >= least) return value;
    throw new TypeError(`--${name} must be a number from ${least} on`);
  };
  const kinds = values.only?.split(',') ?? Object.keys(DISTURBANCES);
  if (!kinds.every(isKind)) throw new TypeError(`--only does not know one of ${kinds.join(', ')}`);
  return {
    kinds,
    minutes: number('minutes', 5, 0),
    seed: number('seed', Math.floor(Math.random() * 2 ** 31), 0),
    nodes: number('nodes', 3, 2),
    leaseMs: number('lease', LEASE_MS, 1000),
    say,
  };
}

function isKind(name: string): name is DisturbanceName {
  return Object.hasOwn(DISTURBANCES, name);
}
