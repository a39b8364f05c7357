// The load generator: one plan on stdin, one result on stdout, then it ends. It is a process of its
// own, so that its work is neither in the server's processor time nor in the bench's event loop.
import type { LoadPlan, LoadResult } from './generator/plan.ts';
import { closedLoop, openLoop } from './generator/loops.ts';

const plan = (await Bun.stdin.json()) as LoadPlan;
const before = process.cpuUsage();
const { ratePerSecond } = plan;
const outcome = await (ratePerSecond === null ? closedLoop(plan) : openLoop(plan, ratePerSecond));
const { user, system } = process.cpuUsage(before);
const result: LoadResult = {
  completed: outcome.completed,
  measuredMs: plan.measureMs,
  succeeded: outcome.lanes.succeeded,
  errors: outcome.lanes.errors,
  samples: outcome.lanes.samples,
  latency: outcome.latency.encode(),
  latenessMicros: outcome.lateness.percentile(0.99),
  cpuSeconds: (user + system) / 1_000_000,
};
await Bun.write(Bun.stdout, JSON.stringify(result));
process.exit(0);
