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
  /** By a signal: it came to no report. */
  readonly isKilled: boolean;
  /** It stops at a failure: then a file without tests may not have been its turn. */
  readonly isBail: boolean;
}

/** Printed where no test runs: a file that does not load, an error after the last test. */
const BETWEEN = /^# Unhandled error between tests\n-+\n([^]*?)^-{20,}$/gm;
/** As many files as may run at once, and some. */
const LAST_MAX = 6;
/** Above the tests of a file. */
const HEADING = /^(?:\.\/)?(\S+\.test\.ts):$/gm;
const SEEDS = [
  /\{ seed: -?\d+, path: "[^"]*"/,
  /\b(?:CHAOS_)?SEED=\d+/,
  /\bseeds?:? -?\d+\b/,
] as const;

export function failuresOf(ended: Ended): readonly Failure[] {
  if (ended.isKilled && ended.files.length > 1) {
    return [{ ...ofFile('', 'bun test was ended before its last file'), said: atItsEnd(ended) }];
  }
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

/** Which files it had not come to, and which came last: what was in hand is among them. */
function atItsEnd({ files, printed, fault }: Ended): string {
  const headings = [...printed.matchAll(HEADING)].map(([, file]) => file ?? '');
  const left = files.filter((file) => !headings.includes(file));
  const last = [...new Set(headings.toReversed())].slice(0, LAST_MAX);
  return [`${fault}`, 'the last results of:', ...last, 'no result yet of:', ...left].join('\n');
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
