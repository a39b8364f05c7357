// Each case is measured in rounds; a round measures every server, one after the other, so that
// other load on the machine affects them all. Each round begins with another server, so that none
// is always first after a checkpoint.
import type { Target } from './bed/target.ts';
import { type Case, isOfMoney, type WayName } from './cases.ts';
import { type LoadOptions, type Measured, measure } from './measure.ts';
import type { Options } from './options.ts';

/** The share of the closed loop's rate. */
const OPEN_SHARE = 0.1;

const OTHERS_PROCESSORS_MAX = 0.2;
const ATTEMPTS_MAX = 3;

export interface Row {
  readonly case: Case;
  /** Offered in an open loop; null in a closed one. */
  readonly ratePerSecond: number | null;
  /** In rounds. */
  readonly measured: ReadonlyMap<WayName, readonly Measured[]>;
}

export interface Bench {
  readonly targets: readonly Target[];
  readonly options: Options;
  readonly signal: AbortSignal;
  /** Flushes what earlier cases left in PostgreSQL. */
  checkpoint(): Promise<void>;
  say(line: string): void;
}

export async function runCases(bench: Bench): Promise<readonly Row[]> {
  const runs = counter();
  await warmUp(bench, runs);
  const rows: Row[] = [];
  for (const item of bench.options.cases) {
    const ratePerSecond = item.isOpen ? await tenthOfPeak(bench, runs, item) : null;
    rows.push(await runCase(bench, runs, { item, ratePerSecond }));
  }
  return rows;
}

async function runCase(
  bench: Bench,
  runs: () => number,
  { item, ratePerSecond }: { item: Case; ratePerSecond: number | null },
): Promise<Row> {
  const { options } = bench;
  const targets = bench.targets.filter(({ name }) => item.ways.includes(name));
  const measured = new Map<WayName, Measured[]>(targets.map(({ name }) => [name, []]));
  await bench.checkpoint();
  for (let round = 0; round < options.rounds; round += 1) {
    for (let turn = 0; turn < targets.length; turn += 1) {
      const target = targets[(round + turn) % targets.length];
      if (target === undefined) continue;
      measured
        .get(target.name)
        ?.push(await measureInPeace(bench, runs, { target, item, ratePerSecond }));
    }
  }
  return { case: item, ratePerSecond, measured };
}

/**
 * Measures again where other programs used the processors; the result itself does not decide that.
 */
async function measureInPeace(
  bench: Bench,
  runs: () => number,
  { target, item, ratePerSecond }: { target: Target; item: Case; ratePerSecond: number | null },
): Promise<Measured> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await measure(target, item, { ...loadOptions(bench, runs), ratePerSecond });
    bench.say(lineOf(item, result));
    const isDisturbed = result.othersProcessors > OTHERS_PROCESSORS_MAX;
    if (!isDisturbed || result.problems.length > 0 || attempt === ATTEMPTS_MAX) return result;
  }
}

/**
 * Makes every server compile its hot code, for each shape that follows, and stops at the first
 * error.
 */
async function warmUp(bench: Bench, runs: () => number): Promise<void> {
  const shapes = new Map(bench.options.cases.map((item) => [item.shape, item]));
  if (shapes.size > 1) shapes.delete('mixed');
  const measureMs = bench.options.warmUpMs * 2;
  for (const item of shapes.values()) {
    for (const target of bench.targets) {
      if (!item.ways.includes(target.name)) continue;
      const options = { ...loadOptions(bench, runs), warmUpMs: 0, measureMs, ratePerSecond: null };
      const result = await measure(target, item, options);
      if (result.problems.length > 0) {
        throw new Error(`${target.name}, ${item.title}:\n${result.problems.join('\n')}`);
      }
    }
  }
}

/** The service's rate in a closed loop decides, so that all are offered the same. */
async function tenthOfPeak(bench: Bench, runs: () => number, item: Case): Promise<number> {
  const [service] = bench.targets;
  if (service === undefined) throw new Error('no service to measure');
  const peak = await measure(service, item, { ...loadOptions(bench, runs), ratePerSecond: null });
  return Math.max(Math.round((peak.requestsPerSecond * OPEN_SHARE) / 100) * 100, 100);
}

function loadOptions(
  { options, signal }: Bench,
  runs: () => number,
): Omit<LoadOptions, 'ratePerSecond'> {
  const { warmUpMs, measureMs } = options;
  return { warmUpMs, measureMs, run: runs(), signal };
}

/** From 1000, so that every key has the same length. */
function counter(): () => number {
  let last = 1000;
  return () => (last += 1);
}

function lineOf(
  item: Case,
  { way, requestsPerSecond, othersProcessors, settleMs, problems }: Measured,
): string {
  const others = othersProcessors.toFixed(2);
  const rate = `${Math.round(requestsPerSecond)} requests/s, others used ${others} processors`;
  const settled = isOfMoney(item) ? `, settled ${Math.round(settleMs)} ms later` : '';
  return [`${item.name} ${way}: ${rate}${settled}`, ...problems].join('\n  ');
}
