// Runs seeds one after the other and prints what each finds wrong:
//
//     bun test/simulation/main.ts 1 1000         these seeds
//     bun test/simulation/main.ts 1 1000 first   ends at the first seed that finds anything
//     bun test/simulation/main.ts 1 1000 first 17   begins with one that may
//     bun test/simulation/main.ts 17             one seed, and all its events
import { simulate } from './run.ts';

const [from, to, until, likely] = process.argv.slice(2);
const first = Number(from ?? 1);
const last = Number(to ?? first);
const failuresMax = until === 'first' ? 1 : Infinity;
const trace = to === undefined ? (line: string) => console.log(line) : undefined;
const began = performance.now();
let [runs, failed, events] = [0, 0, 0];
for (const seed of seeds()) {
  if (failed >= failuresMax) break;
  const run = simulate(seed, trace);
  runs += 1;
  events += run.events;
  if (run.problems.length === 0) continue;
  failed += 1;
  console.log(`SEED=${seed} (${run.faults.join(', ')})`);
  for (const problem of run.problems.slice(0, 20)) console.log(`  ${problem}`);
}
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(`${failed} of ${runs} seeds failed; ${events} events in ${seconds} s`);

function* seeds(): Generator<number> {
  if (likely !== undefined) yield Number(likely);
  for (let seed = first; seed <= last; seed += 1) yield seed;
}
