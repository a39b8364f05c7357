// A program that calls Tollhouse as its users do: one plan on stdin, one result on stdout. It is a
// process of its own, bundled so that Node runs it as well as Bun.
import { text } from 'node:stream/consumers';
import { Tollhouse } from '../../../src/client/index.ts';
import { customerName, CUSTOMERS, EVENTS_PER_CALL, FEATURE_KEY } from '../generator/workload.ts';
import { Histogram } from '../histogram.ts';
import type { CallerPlan, CallerResult, Place, Sample } from './plan.ts';

const BATCHES_AT_ONCE = 4;
const BODIES = 64;
const SAMPLES = 20;
const ERRORS_KEPT = 5;
const TAKES_AT_ONCE = 1_000_000;
const TRACK_EVERY = 10;

type Outcome = Omit<CallerResult, 'cpuSeconds' | 'errors'>;

/** Processor time that is counted: from here. */
let countedFrom = process.cpuUsage();

const NAMES = Array.from({ length: CUSTOMERS }, (_, index) => customerName(index));
let seed = 0x9e37_79b9;
/** xorshift32: fast, and the same in every run. */
function randomCustomer(): string {
  seed ^= seed << 13;
  seed ^= seed >>> 17;
  seed ^= seed << 5;
  return NAMES[(seed >>> 0) % CUSTOMERS]!;
}

const errors: string[] = [];
function fail(error: unknown): void {
  if (errors.length < ERRORS_KEPT) errors.push(String(error));
}

/** Callers who call again at once, until the time is over. */
async function calls(plan: Extract<CallerPlan, { kind: 'calls' }>): Promise<Outcome> {
  await using tollhouse = new Tollhouse(plan);
  const call = plan.way === 'fetch' ? plainCall(plan) : clientCall(tollhouse, plan.shape);
  const latency = new Histogram();
  const measureFrom = performance.now() + plan.warmUpMs;
  const endAt = measureFrom + plan.measureMs;
  let succeeded = 0;
  async function caller(): Promise<void> {
    for (;;) {
      const since = performance.now();
      if (since >= endAt || errors.length > 0) return;
      try {
        await call();
        succeeded += 1;
      } catch (error) {
        fail(error);
      }
      const now = performance.now();
      if (now < endAt && now >= measureFrom) latency.record((now - since) * 1000);
    }
  }
  setTimeout(() => {
    countedFrom = process.cpuUsage();
  }, plan.warmUpMs);
  await Promise.all(Array.from({ length: plan.callers }, caller));
  const measuredMs = plan.measureMs;
  return {
    completed: latency.count,
    measuredMs,
    succeeded,
    latency: latency.encode(),
    samples: [],
  };
}

type Call = () => Promise<unknown>;

function plainCall({ shape, run, ...place }: Extract<CallerPlan, { kind: 'calls' }>): Call {
  const post = poster(place);
  if (shape === 'check') {
    return () =>
      post('/check', { feature_key: FEATURE_KEY, external_customer_id: randomCustomer() });
  }
  let key = 0;
  return () =>
    post('/track', {
      feature_key: FEATURE_KEY,
      external_customer_id: randomCustomer(),
      value: 1,
      idempotency_key: `plain-${run}-${(key += 1)}`,
    });
}

function poster({ baseUrl, apiKey }: Place): (path: string, body: object) => Promise<unknown> {
  const headers = { authorization: `Bearer ${apiKey}`, 'content-type': 'application/json' };
  return async (path, content) => {
    const body = JSON.stringify(content);
    const answer = await fetch(baseUrl + path, { method: 'POST', headers, body });
    const said: unknown = await answer.json();
    if (!answer.ok) throw new Error(`${answer.status} ${JSON.stringify(said)}`);
    return said;
  };
}

function clientCall(tollhouse: Tollhouse, shape: 'check' | 'track'): Call {
  return shape === 'check'
    ? () => tollhouse.check({ featureKey: FEATURE_KEY, externalCustomerId: randomCustomer() })
    : () =>
        tollhouse.track({
          featureKey: FEATURE_KEY,
          externalCustomerId: randomCustomer(),
          value: 1,
        });
}

async function batches(plan: Extract<CallerPlan, { kind: 'batches' }>): Promise<Outcome> {
  const bodies = Array.from({ length: BODIES }, () => {
    const checks = Array.from({ length: EVENTS_PER_CALL }, () => ({
      feature_key: FEATURE_KEY,
      external_customer_id: randomCustomer(),
    }));
    return JSON.stringify({ checks });
  });
  const headers = { authorization: `Bearer ${plan.apiKey}`, 'content-type': 'application/json' };
  const latency = new Histogram();
  const endAt = performance.now() + plan.measureMs;
  let sent = 0;
  async function caller(): Promise<void> {
    for (let since = performance.now(); since < endAt; since = performance.now()) {
      const body = bodies[(sent += 1) % BODIES]!;
      const answer = await fetch(`${plan.baseUrl}/check/batch`, { method: 'POST', headers, body });
      const said = await answer.text();
      if (!answer.ok) return fail(said);
      latency.record((performance.now() - since) * 1000);
    }
  }
  await Promise.all(Array.from({ length: BATCHES_AT_ONCE }, caller));
  const succeeded = latency.count * EVENTS_PER_CALL;
  const { measureMs: measuredMs } = plan;
  return { completed: succeeded, measuredMs, succeeded, latency: latency.encode(), samples: [] };
}

/** In turns as long as a program may keep its thread: the client refills between them. */
async function takes(plan: Extract<CallerPlan, { kind: 'takes' }>): Promise<Outcome> {
  await using tollhouse = new Tollhouse(plan);
  const lease = await tollhouse.lease({
    featureKey: FEATURE_KEY,
    externalCustomerId: NAMES[plan.customer]!,
    amount: plan.takes,
  });
  const latency = new Histogram();
  let [taken, spentMs] = [0, 0];
  for (let left = plan.takes; left > 0; left -= TAKES_AT_ONCE) {
    const since = performance.now();
    for (let n = Math.min(left, TAKES_AT_ONCE); n > 0; n -= 1) if (lease.take(1)) taken += 1;
    spentMs += performance.now() - since;
    await new Promise((resolve) => {
      setTimeout(resolve, 0);
    });
  }
  await lease.close();
  if (taken !== plan.takes) fail(`${taken} of ${plan.takes} were taken`);
  return {
    completed: taken,
    measuredMs: spentMs,
    succeeded: taken,
    latency: latency.encode(),
    samples: [],
  };
}

async function memory(plan: Extract<CallerPlan, { kind: 'memory' }>): Promise<Outcome> {
  await using tollhouse = new Tollhouse(plan);
  const [check, track] = [clientCall(tollhouse, 'check'), clientCall(tollhouse, 'track')];
  const latency = new Histogram();
  const samples: Sample[] = [];
  const [startedAt, every] = [performance.now(), plan.calls / SAMPLES];
  let begun = 0;
  const isOver = (): boolean =>
    errors.length > 0 || performance.now() - startedAt > plan.secondsMax * 1000;
  const callUntil = async (count: number): Promise<void> => {
    while (begun < count && !isOver()) {
      begun += 1;
      await (begun % TRACK_EVERY === 0 ? track() : check()).catch(fail);
    }
  };
  for (let count = every; count <= plan.calls && !isOver(); count += every) {
    await Promise.all(Array.from({ length: plan.callers }, callUntil.bind(null, count)));
    collect();
    const { rss, heapUsed } = process.memoryUsage();
    samples.push({ calls: begun, residentBytes: rss, heapBytes: heapUsed });
  }
  const measuredMs = performance.now() - startedAt;
  return { completed: begun, measuredMs, succeeded: begun, latency: latency.encode(), samples };
}

/** Node has it with `--expose-gc`. */
function collect(): void {
  if (typeof Bun !== 'undefined') Bun.gc(true);
  else globalThis.gc?.();
}

function outcomeOf(plan: CallerPlan): Promise<Outcome> {
  switch (plan.kind) {
    case 'calls':
      return calls(plan);
    case 'batches':
      return batches(plan);
    case 'takes':
      return takes(plan);
    case 'memory':
      return memory(plan);
    default:
      throw new Error('not a plan', { cause: plan satisfies never });
  }
}

const plan = JSON.parse(await text(process.stdin)) as CallerPlan;
countedFrom = process.cpuUsage();
const outcome = await outcomeOf(plan);
const { user, system } = process.cpuUsage(countedFrom);
const result: CallerResult = { ...outcome, errors, cpuSeconds: (user + system) / 1_000_000 };
process.stdout.write(JSON.stringify(result), () => process.exit(0));
