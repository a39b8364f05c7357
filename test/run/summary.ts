// What a run prints at its end: how long it took, and for what; and each failure, with the command
// that repeats it alone. Its last line counts the tests.
import type { Failure } from './failures.ts';
import { type Kind, KINDS, type Kinds } from './kinds.ts';
import type { Ran } from './night.ts';
import { repeats } from './repeat.ts';
import type { Outcome } from './suite.ts';

export interface Run {
  readonly outcomes: readonly Outcome[];
  /** Those that are not `bun test`. */
  readonly commands: readonly Ran[];
  readonly ms: number;
}

const DEAREST = 20;
/** Of what a failure said. */
const LINES_MAX = 40;

export const isGreen = ({ outcomes, commands }: Run): boolean =>
  outcomes.every(({ passed, failures }) => passed > 0 && failures.length === 0) &&
  commands.every(({ code }) => code === 0);

export function summaryOf(run: Run, kinds: Pick<Kinds, 'of'>): string {
  const { outcomes, commands, ms } = run;
  const files = filesOf(outcomes, kinds);
  const passed = sum(outcomes.map((outcome) => outcome.passed));
  const failed = sum(outcomes.map(({ failures }) => failures.length));
  const failures = outcomes.flatMap(({ suite, failures: found }) =>
    found.map((failure) => said(failure, { ...process.env, ...suite.env })),
  );
  return [
    ...(files.length > 1 ? ['', ...dearest(files), '', ...byKind(files)] : []),
    '',
    ...outcomes.map(lineOf),
    ...commands.map((ran) => `${ran.command}: exit code ${ran.code}, ${seconds(ran.ms)}`),
    ...(failures.length > 0 ? ['', '=== Failures', ...failures] : []),
    '',
    `${passed} passed, ${failed} failed in ${seconds(ms)}`,
  ].join('\n');
}

interface File {
  readonly file: string;
  readonly suite: string;
  readonly kind: Kind;
  readonly ms: number;
}

function filesOf(outcomes: readonly Outcome[], kinds: Pick<Kinds, 'of'>): readonly File[] {
  return outcomes.flatMap(({ suite, durations }) =>
    suite.files.map((file) => ({
      file,
      suite: outcomes.length > 1 ? ` (${suite.name})` : '',
      kind: kinds.of(file, suite.env),
      ms: durations[file] ?? 0,
    })),
  );
}

function dearest(files: readonly File[]): readonly string[] {
  const slowest = files.toSorted((one, other) => other.ms - one.ms).slice(0, DEAREST);
  const lines = slowest.map(({ file, suite, ms }) => `${column(ms)}  ${file}${suite}`);
  return ['The dearest files:', ...lines];
}

function byKind(files: readonly File[]): readonly string[] {
  const lines = KINDS.flatMap((kind) => {
    const own = files.filter((file) => file.kind === kind);
    if (own.length === 0) return [];
    const total = sum(own.map(({ ms }) => ms));
    return [`${column(total)}  ${kind}, ${counted(own.length)}`];
  });
  return ['The time of the files, by what they need:', ...lines];
}

function lineOf({ suite, passed, failures, ms }: Outcome): string {
  const counts = `${passed} passed, ${failures.length} failed`;
  const left = passed + failures.length === 0 ? ': no test ran' : '';
  return `${suite.name}: ${counted(suite.files.length)}, ${counts}, ${seconds(ms)}${left}`;
}

function said(failure: Failure, env: Readonly<Record<string, string | undefined>>): string {
  const lines = failure.said.split('\n');
  const more = lines.length > LINES_MAX ? [`... and ${lines.length - LINES_MAX} lines more`] : [];
  return [
    '',
    `${failure.file === '' ? '' : `${failure.file}: `}${failure.title}`,
    ...[...lines.slice(0, LINES_MAX), ...more].map((line) => `    ${line}`.trimEnd()),
    ...(failure.seeds.length > 0 ? [`  seed:   ${failure.seeds.join(' ')}`] : []),
    `  repeat: ${repeats(failure, env)}`,
  ].join('\n');
}

const sum = (numbers: readonly number[]): number =>
  numbers.reduce((total, number) => total + number, 0);

const counted = (files: number): string => (files === 1 ? '1 file' : `${files} files`);

const seconds = (ms: number): string => `${(ms / 1000).toFixed(1)} s`;

const column = (ms: number): string => seconds(ms).padStart(10);
