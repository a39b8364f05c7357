// One call of `bun test` with given files: what failed, and how long each file took.
import { availableParallelism, tmpdir } from 'node:os';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Ended, type Failure, failuresOf } from './failures.ts';
import { ROOT } from './graph.ts';
import { isNight } from './night.ts';
import { casesIn } from './report.ts';

/** Files at the same time, where each keeps a processor busy, or more with its database. */
export const PROCESSORS = availableParallelism();
/**
 * More, because a file waits for its database, its processes and its clocks for half of its time.
 */
export const AT_ONCE = PROCESSORS + 2;

/**
 * Each worker loads the program once, not for each file. What a start that fails leaves open stays
 * open for the files after it, and what measures its own memory cannot be among them.
 */
export const LOADED_ONCE = {
  flags: ['--no-isolate'],
  env: { TEST_SHARED: '1' },
} satisfies Partial<Suite>;

/** The durations of the slow files, so that they start first. `--update-timings` writes it. */
const KEPT = join(import.meta.dir, 'timings.json');
const KEPT_MS_MIN = 2000;
const UPDATE = '--update-timings';
/** A stuck test fails after this. Several files share the machine, so it is long. */
const TEST_MS_MAX = 60_000;
/**
 * A call that prints nothing for so long is stuck where no timeout ends it, as in a loop. Above the
 * longest timeout of a test; those of the night have an hour.
 */
const SILENT_MS_MAX = 900_000;
const SILENT_AT_NIGHT_MS_MAX = 4_000_000;

export interface Suite {
  /** As the summary calls it. */
  readonly name: string;
  /** Relative to the root. */
  readonly files: readonly string[];
  /** Files that run at the same time. */
  readonly workers: number;
  readonly env?: Readonly<Record<string, string>>;
  /** For `bun test`, besides those of the command. */
  readonly flags?: readonly string[];
  /**
   * It is ended once it prints nothing for so long. By default above the longest timeout of its
   * files.
   */
  readonly silentMsMax?: number;
}

export interface Outcome {
  readonly suite: Suite;
  readonly passed: number;
  readonly failures: readonly Failure[];
  readonly ms: number;
  /** By file. */
  readonly durations: Durations;
}

export interface RunOptions {
  readonly flags: readonly string[];
  readonly signal: AbortSignal;
  readonly root?: string;
  /** Nothing is printed. */
  readonly isQuiet?: boolean;
}

type Durations = Readonly<Record<string, number>>;

/** Passes on what `bun test` prints. */
export async function runSuite(suite: Suite, options: RunOptions): Promise<Outcome> {
  const { files } = suite;
  const { flags } = options;
  const directory = mkdtempSync(join(tmpdir(), 'tollhouse-run-'));
  const [timings, report] = ['timings.json', 'report.xml'].map((name) => join(directory, name));
  writeDurations(timings!, readDurations(KEPT));
  const began = performance.now();
  try {
    const many = [`--parallel=${suite.workers}`, `--timings=${timings}`, UPDATE];
    const ended = await bunTest(suite, options, [
      ...(files.length === 1 ? [] : many),
      '--reporter=junit',
      `--reporter-outfile=${report}`,
    ]);
    const ms = performance.now() - began;
    const cases = existsSync(report!) ? casesIn(readFileSync(report!, 'utf8')) : [];
    const isBail = flags.some((flag) => flag.startsWith('--bail'));
    const measured = files.length === 1 ? { [files[0]!]: ms } : readDurations(timings!);
    if (flags.includes(UPDATE)) keep({ ...readDurations(KEPT), ...measured });
    return {
      suite,
      passed: cases.filter(({ outcome }) => outcome === 'passed').length,
      failures: failuresOf({ ...ended, files, cases, isBail }),
      ms,
      durations: measured,
    };
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

async function bunTest(
  { files, env, flags: own = [], silentMsMax = silentMsOf(files) }: Suite,
  { flags, signal, root = ROOT, isQuiet = false }: RunOptions,
  added: readonly string[],
): Promise<Pick<Ended, 'printed' | 'fault' | 'isKilled'>> {
  const child = Bun.spawn(
    [
      process.execPath,
      'test',
      `--timeout=${TEST_MS_MAX}`,
      ...added,
      ...own,
      ...flags.filter((flag) => flag !== UPDATE),
      ...files.map((file) => `./${file}`),
    ],
    {
      cwd: root,
      env: { ...process.env, ...(process.stderr.isTTY && { FORCE_COLOR: '1' }), ...env },
      stdio: ['inherit', isQuiet ? 'ignore' : 'inherit', 'pipe'],
    },
  );
  const onAbort = () => child.kill(signal.reason as NodeJS.Signals);
  signal.addEventListener('abort', onAbort);
  let isStuck = false;
  const endStuck = (): void => {
    isStuck = true;
    child.kill('SIGKILL');
  };
  const silence = setTimeout(endStuck, silentMsMax);
  const printed = await textOf(child.stderr, (chunk) => {
    silence.refresh();
    if (!isQuiet) process.stderr.write(chunk);
  });
  await child.exited;
  clearTimeout(silence);
  signal.removeEventListener('abort', onAbort);
  const { exitCode, signalCode } = child;
  if (exitCode === 0) return { printed, fault: undefined, isKilled: false };
  const silent = `nothing was printed for ${silentMsMax / 1000} s`;
  // Bun's types have a number as well.
  const fault = isStuck ? silent : `${signalCode ?? `exit code ${exitCode}`}`;
  return { printed, fault, isKilled: signalCode !== null };
}

const silentMsOf = (files: readonly string[]): number =>
  files.some(isNight) ? SILENT_AT_NIGHT_MS_MAX : SILENT_MS_MAX;

async function textOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  passOn: (chunk: Uint8Array) => void,
): Promise<string> {
  const decoder = new TextDecoder();
  let printed = '';
  for await (const chunk of stream) {
    passOn(chunk);
    printed += decoder.decode(chunk, { stream: true });
  }
  return printed;
}

function keep(durations: Durations): void {
  const slow = Object.entries(durations)
    .filter(([, ms]) => ms >= KEPT_MS_MIN)
    .toSorted(([one], [other]) => (one < other ? -1 : 1));
  writeDurations(KEPT, Object.fromEntries(slow));
}

function readDurations(path: string): Durations {
  return (JSON.parse(readFileSync(path, 'utf8')) as { files: Durations }).files;
}

/** As Bun reads and writes it. */
function writeDurations(path: string, files: Durations): void {
  writeFileSync(path, `${JSON.stringify({ version: 1, files }, null, 2)}\n`);
}
