// Each case is measured in rounds; a round measures every server, one after the other, so that
// other load on the machine affects them all. Every second round goes the other way round: two
// neighbours, such as the services of two commits, take turns in being first.
//
// At the end each service is killed and started again: it must then have all acknowledged events.
import type { Target } from './bed/target.ts';
import { type Case, isOfMoney, unitsOf, type WayName } from './cases.ts';
import { type LoadOptions, type Measured, measure } from './measure.ts';
import type { Options } from './options.ts';

/** The share of the closed loop's rate. */
const OPEN_SHARE = 0.1;

const OTHERS_PROCESSORS_MAX = 0.2;
const ATTEMPTS_MAX = 2;
/** Every key has the same length. */
const FIRST_RUN = 1000;
/** The warm-up of a server, as a multiple of that before each load. */
const WARM_UP_TIMES = 4;

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
  say(line: string): void;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** What is wrong after all loads. */
  readonly losses: readonly string[];
}

export async function runCases(bench: Bench): Promise<Outcome> {
  const session = new Session(bench);
  await warmUp(session);
  const rows: Row[] = [];
  for (const item of bench.options.cases) {
    const ratePerSecond = item.isOpen ? await tenthOfPeak(session, item) : null;
    rows.push(await runCase(session, item, ratePerSecond));
  }
  return { rows, losses: await session.losses() };
}

/** All loads of one run. */
class Session {
  readonly bench: Bench;
  /** Usage events, by service; undefined where a request failed: it may count all the same. */
  readonly #acknowledged = new Map<WayName, number | undefined>();
  #runs = FIRST_RUN;

  constructor(bench: Bench) {
    this.bench = bench;
  }

  async load(target: Target, item: Case, options: Partial<LoadOptions>): Promise<Measured> {
    const { warmUpMs, measureMs } = this.bench.options;
    this.#runs += 1;
    const result = await measure(target, item, {
      ratePerSecond: null,
      warmUpMs,
      measureMs,
      ...options,
      run: this.#runs,
      signal: this.bench.signal,
    });
    if (!isOfMoney(item)) this.#count(target.name, result);
    return result;
  }

  #count(way: WayName, { events, load }: Measured): void {
    const before = this.#acknowledged.has(way) ? this.#acknowledged.get(way) : 0;
    const isKnown = before !== undefined && load.errors === 0;
    this.#acknowledged.set(way, isKnown ? before + events : undefined);
  }

  async losses(): Promise<readonly string[]> {
    const losses: string[] = [];
    for (const { name, survivors } of this.bench.targets) {
      const acknowledged = this.#acknowledged.get(name);
      if (survivors === undefined || acknowledged === undefined || acknowledged === 0) continue;
      const found = await survivors();
      this.bench.say(`${name}: ${found} of ${acknowledged} events are there after a kill`);
      if (found === acknowledged) continue;
      losses.push(`${name}: ${acknowledged} events were acknowledged, ${found} survived a kill`);
    }
    return losses;
  }
}

async function runCase(session: Session, item: Case, ratePerSecond: number | null): Promise<Row> {
  const { options, targets: all } = session.bench;
  const targets = all.filter(({ name }) => item.ways.includes(name));
  const measured = new Map<WayName, Measured[]>(targets.map(({ name }) => [name, []]));
  for (const target of targets) await target.checkpoint();
  for (let round = 0; round < options.rounds; round += 1) {
    for (const target of round % 2 === 0 ? targets : targets.toReversed()) {
      measured
        .get(target.name)
        ?.push(await measureInPeace(session, { target, item, ratePerSecond }));
    }
  }
  return { case: item, ratePerSecond, measured };
}

/**
 * Measures again where other programs used the processors; the result itself does not decide that.
 */
async function measureInPeace(
  session: Session,
  { target, item, ratePerSecond }: { target: Target; item: Case; ratePerSecond: number | null },
): Promise<Measured> {
  for (let attempt = 1; ; attempt += 1) {
    const result = await session.load(target, item, { ratePerSecond });
    session.bench.say(lineOf(item, result));
    const isDisturbed = result.othersProcessors > OTHERS_PROCESSORS_MAX;
    if (!isDisturbed || result.problems.length > 0 || attempt === ATTEMPTS_MAX) return result;
  }
}

/**
 * Makes every server compile its hot code, for each shape that follows, and stops at the first
 * error.
 */
async function warmUp(session: Session): Promise<void> {
  const { options, targets } = session.bench;
  const shapes = new Map(options.cases.map((item) => [item.shape, item]));
  if (shapes.size > 1) shapes.delete('mixed');
  const measureMs = options.warmUpMs * WARM_UP_TIMES;
  for (const item of shapes.values()) {
    for (const target of targets) {
      if (!item.ways.includes(target.name)) continue;
      const result = await session.load(target, item, { warmUpMs: 0, measureMs });
      if (result.problems.length > 0) {
        throw new Error(`${target.name}, ${item.title}:\n${result.problems.join('\n')}`);
      }
    }
  }
}

/** The service's rate in a closed loop decides, so that all are offered the same. */
async function tenthOfPeak(session: Session, item: Case): Promise<number> {
  const [service] = session.bench.targets;
  if (service === undefined) throw new Error('no service to measure');
  const peak = await session.load(service, item, {});
  return Math.max(Math.round((peak.requestsPerSecond * OPEN_SHARE) / 100) * 100, 100);
}

function lineOf(
  item: Case,
  { way, requestsPerSecond, spent, load, othersProcessors, settleMs, problems }: Measured,
): string {
  const micros = (seconds: number): string =>
    ((seconds / load.succeeded / unitsOf(item)) * 1e6).toFixed(1);
  const cost = `${micros(spent.server)} + ${micros(spent.postgres)} + ${micros(spent.redis)} us`;
  const rate = `${Math.round(requestsPerSecond)} requests/s`;
  const others = `others used ${othersProcessors.toFixed(2)} processors`;
  const settled = isOfMoney(item) ? `, settled ${Math.round(settleMs)} ms later` : '';
  return [`${item.name} ${way}: ${cost}, ${rate}, ${others}${settled}`, ...problems].join('\n  ');
}
