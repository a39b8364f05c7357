// The client against single requests by plain `fetch`, each from a process of its own, in Bun and
// in Node, on one service.
//
// The service is killed only at the end, under callers of the client.
import { join } from 'node:path';
import postgres, { type Sql } from 'postgres';
import type { Closers } from '../../support/closers.ts';
import { freePort } from '../../support/free-port.ts';
import { type Kills, killUnderClient } from '../../chaos/client-kills.ts';
import type { Child } from '../bed/child.ts';
import { makeDataDir, removeDataDir } from '../bed/data-dir.ts';
import { createOrganisation, seed, startService, type Stores } from '../bed/service.ts';
import { customerName, FEATURE_KEY } from '../generator/workload.ts';
import { Histogram } from '../histogram.ts';
import type { ClientPart } from '../options.ts';
import { postmasterOf } from '../probes/database.ts';
import { secondsOf, secondsOfTree } from '../probes/processor-time.ts';
import type { CallerPlan, CallerResult, Place, Sample, Way } from './plan.ts';

const CALLER = Bun.fileURLToPath(import.meta.resolve('./caller.ts'));
const CALLERS = 256;
const TAKES = 50_000_000;
/** The warm-up of the service, as a multiple of that of a caller. */
const WARM_UP_TIMES = 2;
/** A runtime compiles more than our generator does. */
const CALLER_WARM_UP_TIMES = 3;
const MEMORY_SECONDS_MAX = 600;
const KILL_CUSTOMERS = 64;

const RUNTIMES = ['bun', 'node'] as const;
type Runtime = (typeof RUNTIMES)[number];
const SHAPES = ['check', 'track'] as const;
type Shape = (typeof SHAPES)[number];

/** Processor time is in microseconds of one call. */
export type Round = {
  readonly server: number;
  readonly postgres: number;
  readonly caller: number;
  readonly perSecond: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
};

export type CallRow = {
  readonly runtime: Runtime;
  readonly shape: Shape;
  readonly way: Way;
  readonly rounds: readonly Round[];
};

export type ClientResult = {
  readonly calls: readonly CallRow[];
  /** `/check/batch` of 500: checks for each second of the server's processor. */
  readonly batches: readonly Round[];
  readonly takes: readonly { readonly runtime: Runtime; readonly perSecond: readonly number[] }[];
  readonly memory: readonly { readonly runtime: Runtime; readonly samples: readonly Sample[] }[];
  readonly kills: Kills | null;
  readonly problems: readonly string[];
};

export type ClientOptions = {
  readonly parts: readonly ClientPart[];
  readonly rounds: number;
  readonly warmUpMs: number;
  readonly measureMs: number;
  /** For memory. */
  readonly calls: number;
  readonly kills: number;
  readonly signal: AbortSignal;
  readonly say: (line: string) => void;
};

type Bed = {
  readonly place: Place;
  readonly sql: Sql;
  readonly options: ClientOptions;
  readonly bundle: string;
  readonly spent: () => { readonly server: number; readonly postgres: number };
  readonly problems: string[];
  restart(): Promise<void>;
};

/** A part that is not asked for gives nothing. */
export async function runClient(
  stores: Stores,
  closers: Closers,
  options: ClientOptions,
): Promise<ClientResult> {
  const bed = await openBed(stores, closers, options);
  const has = (part: ClientPart): boolean => options.parts.includes(part);
  const calls = has('calls') ? await compareCalls(bed) : [];
  const batches = has('batches') ? await measureBatches(bed) : [];
  const takes = has('leases') ? await measureTakes(bed) : [];
  const memory = has('memory') ? await watchMemory(bed) : [];
  const kills = has('kills') ? await killService(bed) : null;
  const problems = [...bed.problems, ...(kills?.problems ?? [])];
  return { calls, batches, takes, memory, kills, problems };
}

async function measureBatches(bed: Bed): Promise<Round[]> {
  const rounds: Round[] = [];
  const { measureMs } = bed.options;
  while (rounds.length < bed.options.rounds) {
    rounds.push(await measured(bed, 'bun', { kind: 'batches', measureMs }));
    bed.options.say(`client: batches: ${JSON.stringify(rounds.at(-1))}`);
  }
  return rounds;
}

async function measureTakes(bed: Bed): Promise<ClientResult['takes']> {
  const takes = RUNTIMES.map((runtime) => ({ runtime, perSecond: [] as number[] }));
  let customer = 0;
  for (let round = 0; round < bed.options.rounds; round += 1) {
    for (const { runtime, perSecond } of takes) {
      // A lease takes half of what one has.
      customer += 1;
      const plan = { kind: 'takes', takes: TAKES, customer } as const;
      const { completed, measuredMs } = await run(bed, runtime, plan);
      perSecond.push(completed / (measuredMs / 1000));
      bed.options.say(`client: takes in ${runtime}: ${perSecond.at(-1) ?? 0} a second`);
    }
  }
  return takes;
}

async function watchMemory(bed: Bed): Promise<ClientResult['memory']> {
  const { calls, say } = bed.options;
  const memory: { runtime: Runtime; samples: readonly Sample[] }[] = [];
  for (const runtime of RUNTIMES) {
    say(`client: ${calls} calls in ${runtime}, for the memory`);
    const plan = { kind: 'memory', callers: CALLERS, secondsMax: MEMORY_SECONDS_MAX } as const;
    const { samples } = await run(bed, runtime, { ...plan, calls });
    memory.push({ runtime, samples });
  }
  return memory;
}

function killService(bed: Bed): Promise<Kills> {
  const { kills, signal, say } = bed.options;
  say(`client: ${kills} kills of the service`);
  return killUnderClient({
    ...bed.place,
    sql: bed.sql,
    kills,
    killAndRestart: () => bed.restart(),
    use: (n) => ({
      featureKey: FEATURE_KEY,
      externalCustomerId: customerName(n % KILL_CUSTOMERS),
      value: 1,
    }),
    signal,
  });
}

async function compareCalls(bed: Bed): Promise<CallRow[]> {
  const { options } = bed;
  const rows = RUNTIMES.flatMap((runtime) =>
    SHAPES.flatMap((shape) =>
      (['fetch', 'client'] as const).map((way) => ({
        runtime,
        shape,
        way,
        rounds: [] as Round[],
      })),
    ),
  );
  // Until the service has compiled its code for each of them.
  for (const { shape, way } of rows.filter(({ runtime }) => runtime === 'bun')) {
    const measureMs = options.warmUpMs * CALLER_WARM_UP_TIMES * WARM_UP_TIMES;
    const plan = { kind: 'calls', way, shape, callers: CALLERS, warmUpMs: 0, measureMs } as const;
    await run(bed, 'bun', { ...plan, run: options.rounds });
  }
  for (let round = 0; round < options.rounds; round += 1) {
    // Every second round goes the other way round, so that neighbours take turns in being first.
    for (const row of round % 2 === 0 ? rows : rows.toReversed()) {
      const { runtime, shape, way } = row;
      const { measureMs } = options;
      const warmUpMs = options.warmUpMs * CALLER_WARM_UP_TIMES;
      const plan = { kind: 'calls', way, shape, callers: CALLERS, warmUpMs, measureMs } as const;
      const result = await measured(bed, runtime, { ...plan, run: round });
      row.rounds.push(result);
      options.say(`client: ${shape} by ${way} in ${runtime}: ${JSON.stringify(result)}`);
    }
  }
  return rows;
}

type PlanOf<Kind extends CallerPlan['kind']> = Omit<
  Extract<CallerPlan, { kind: Kind }>,
  keyof Place
>;
type Planned = PlanOf<'calls'> | PlanOf<'batches'> | PlanOf<'takes'> | PlanOf<'memory'>;

async function measured(bed: Bed, runtime: Runtime, plan: Planned): Promise<Round> {
  const before = bed.spent();
  const { completed, measuredMs, succeeded, cpuSeconds, latency } = await run(bed, runtime, plan);
  const after = bed.spent();
  const each = (seconds: number, of = succeeded): number => (seconds * 1e6) / of;
  const histogram = new Histogram();
  histogram.add(latency);
  return {
    server: each(after.server - before.server),
    postgres: each(after.postgres - before.postgres),
    caller: each(cpuSeconds, completed),
    perSecond: completed / (measuredMs / 1000),
    p50Ms: histogram.percentile(0.5) / 1000,
    p99Ms: histogram.percentile(0.99) / 1000,
  };
}

async function run(bed: Bed, runtime: Runtime, plan: Planned): Promise<CallerResult> {
  const { signal } = bed.options;
  signal.throwIfAborted();
  const command = runtime === 'bun' ? [process.execPath] : ['node', '--expose-gc'];
  const child = Bun.spawn([...command, bed.bundle], {
    stdio: [new Blob([JSON.stringify({ ...bed.place, ...plan })]), 'pipe', 'inherit'],
    signal,
  });
  const said = await child.stdout.text();
  signal.throwIfAborted();
  if ((await child.exited) !== 0) throw new Error(`the caller in ${runtime} died`);
  const result = JSON.parse(said) as CallerResult;
  for (const error of result.errors) bed.problems.push(`${plan.kind} in ${runtime}: ${error}`);
  return result;
}

async function openBed(stores: Stores, closers: Closers, options: ClientOptions): Promise<Bed> {
  const port = await freePort();
  let service: Child = await startService(stores, {}, port);
  closers.push(() => service.stop());
  const { key, authorization } = await createOrganisation(stores);
  options.say('client: customers and grants');
  await seed(port, authorization);
  const sql = postgres(stores.databaseUrl, { max: 1 });
  closers.push(() => sql.end({ timeout: 5 }));
  const postmaster = await postmasterOf(sql);
  return {
    place: { baseUrl: `http://127.0.0.1:${port}`, apiKey: key },
    sql,
    options,
    bundle: await bundle(closers),
    spent: () => ({ server: secondsOf(service.pid), postgres: secondsOfTree(postmaster) }),
    problems: [],
    async restart() {
      await service.kill();
      service = await startService(stores, {}, port);
    },
  };
}

/** Node of this age runs no TypeScript. */
async function bundle(closers: Closers): Promise<string> {
  const directory = makeDataDir();
  closers.push(() => removeDataDir(directory));
  const { outputs } = await Bun.build({ entrypoints: [CALLER], target: 'node', format: 'esm' });
  const path = join(directory, 'caller.mjs');
  await Bun.write(path, outputs[0]!);
  return path;
}
