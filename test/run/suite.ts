// One call of `bun test` with given files, and how long each of them took.
import { availableParallelism, tmpdir } from 'node:os';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from './graph.ts';

/** Files at the same time: beside each runs its database, so more only wait for one another. */
export const PROCESSORS = availableParallelism();

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
const PRINTED = 20;
/** A stuck test fails after this. Several files share the machine, so it is long. */
const TEST_MS_MAX = 60_000;

export interface Suite {
  /** Relative to the root. */
  readonly files: readonly string[];
  /** Files that run at the same time. */
  readonly workers: number;
  readonly env?: Readonly<Record<string, string>>;
  /** For `bun test`, besides those of the command. */
  readonly flags?: readonly string[];
}

type Durations = Record<string, number>;

/** Gives the exit code of `bun test`. */
export async function runSuite(
  { files, workers, env, flags: own = [] }: Suite,
  { flags, signal }: { readonly flags: readonly string[]; readonly signal: AbortSignal },
): Promise<number> {
  const directory = mkdtempSync(join(tmpdir(), 'tollhouse-timings-'));
  const timings = join(directory, 'timings.json');
  const isUpdating = flags.includes('--update-timings');
  writeDurations(timings, readDurations(KEPT));
  try {
    const many = [`--parallel=${workers}`, `--timings=${timings}`, '--update-timings'];
    const child = Bun.spawn(
      [
        process.execPath,
        'test',
        `--timeout=${TEST_MS_MAX}`,
        ...(files.length === 1 ? [] : many),
        ...own,
        ...flags.filter((flag) => flag !== '--update-timings'),
        ...files.map((file) => `./${file}`),
      ],
      { cwd: ROOT, env: { ...process.env, ...env }, stdio: ['inherit', 'inherit', 'inherit'] },
    );
    const onAbort = () => child.kill(signal.reason as NodeJS.Signals);
    signal.addEventListener('abort', onAbort);
    await child.exited;
    signal.removeEventListener('abort', onAbort);
    if (files.length > 1) print(readDurations(timings), files);
    if (isUpdating) keep({ ...readDurations(KEPT), ...readDurations(timings) });
    return child.exitCode ?? 1;
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

function print(durations: Durations, files: readonly string[]): void {
  const slowest = files
    .map((file) => ({ file, ms: durations[file] ?? 0 }))
    .toSorted((one, other) => other.ms - one.ms)
    .slice(0, PRINTED);
  console.log('\nSlowest files:');
  for (const { file, ms } of slowest) {
    console.log(`${(ms / 1000).toFixed(1).padStart(7)} s  ${file}`);
  }
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
