// What failed in a call of `bun test`: tests and hooks by its report, and what never gets into it,
// such as a file that does not load.
import { type Case, UNNAMED } from './report.ts';

export interface Failure {
  /** Empty, where nothing tells which. */
  readonly file: string;
  /** As `describe > test`. */
  readonly title: string;
  readonly said: string;
  /** As the failure says them: `CHAOS_SEED=5`, `{ seed: 5, path: "0" }`, `seed 5`. */
  readonly seeds: readonly string[];
  /** For `-t`; undefined for the whole file. */
  readonly pattern: string | undefined;
}

export interface Ended {
  readonly files: readonly string[];
  readonly cases: readonly Case[];
  /** What it printed. */
  readonly printed: string;
  /** As `exit code 1` or `SIGKILL`; undefined: it found no failure. */
  readonly fault: string | undefined;
  /** It stops at a failure: then a file without tests may not have been its turn. */
  readonly isBail: boolean;
}

/** Printed where no test runs: a file that does not load, an error after the last test. */
const BETWEEN = /^# Unhandled error between tests\n-+\n([^]*?)^-{20,}$/gm;
const SEEDS = [
  /\{ seed: -?\d+, path: "[^"]*"/,
  /\b(?:CHAOS_)?SEED=\d+/,
  /\bseeds?:? -?\d+\b/,
] as const;

export function failuresOf(ended: Ended): readonly Failure[] {
  const found = ended.cases.filter(({ outcome }) => outcome === 'failed').map(ofCase);
  const errors = [...ended.printed.matchAll(BETWEEN)].map(([, said = '']) => said.trim());
  for (const file of withoutTests(ended)) {
    const said = errors.filter((error) => error.includes(file));
    const why = said.length > 0 ? said.join('\n') : (ended.fault ?? 'it has none');
    found.push({ ...ofFile(file, 'no test of it ran'), said: why });
  }
  for (const said of errors) {
    if (found.some((failure) => failure.said.includes(said))) continue;
    const file = ended.files.find((one) => said.includes(one)) ?? '';
    found.push({ ...ofFile(file, 'an error between its tests'), said });
  }
  if (found.length === 0 && ended.fault !== undefined) {
    found.push({ ...ofFile('', 'bun test failed, and no test did'), said: ended.fault });
  }
  return found;
}

function withoutTests({ files, cases, isBail }: Ended): readonly string[] {
  if (isBail && cases.some(({ outcome }) => outcome === 'failed')) return [];
  const seen = new Set(cases.map(({ file }) => file));
  return files.filter((file) => !seen.has(file));
}

function ofCase({ file, names, said }: Case): Failure {
  const isHook = names.at(-1) === UNNAMED;
  const describes = names.slice(0, -1);
  const named = isHook ? [...describes, 'a hook, such as beforeAll'] : names;
  const crashed = names.at(-1) === '(worker crashed)';
  return {
    file,
    title: named.join(' > '),
    said,
    seeds: seedsIn(said) ?? seedsIn(names.join(' ')) ?? [],
    pattern: patternOf(isHook ? describes : names, crashed, isHook),
  };
}

function patternOf(names: readonly string[], crashed: boolean, isHook: boolean) {
  if (crashed || names.length === 0) return undefined;
  const literal = names.join(' ').replace(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`);
  return isHook ? `^${literal} ` : `^${literal}$`;
}

function ofFile(file: string, title: string) {
  return { file, title, seeds: [], pattern: undefined };
}

/** Of the most telling form that it has. */
function seedsIn(text: string): readonly string[] | undefined {
  for (const form of SEEDS) {
    const found = [...text.matchAll(new RegExp(form, 'g'))].map(([seed]) => seed);
    if (found.length > 0) return [...new Set(found)].map(closed);
  }
  return undefined;
}

const closed = (seed: string): string => (seed.startsWith('{') ? `${seed} }` : seed);
