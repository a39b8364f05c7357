// The command that runs one failed test again, alone.
import type { Failure } from './failures.ts';

/** What changes what a test does, of a suite or of the caller. */
const NAMES = ['TEST_NODES', 'TEST_PROCESSOR', 'TEST_CASES'];
/** Seeds that a test takes from its environment. */
const GIVEN = /^(?:CHAOS_)?SEED=/;

type Environment = Readonly<Record<string, string | undefined>>;

export function repeats({ file, seeds, pattern }: Failure, env: Environment): string {
  const set = NAMES.flatMap((name) => (env[name] === undefined ? [] : [`${name}=${env[name]}`]));
  const seed = seeds.filter((one) => GIVEN.test(one)).slice(0, 1);
  const only = pattern === undefined ? [] : ['-t', quoted(pattern)];
  return [...set, ...seed, 'bun run test', file, ...only].join(' ').trimEnd();
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`;
}
