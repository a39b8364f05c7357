// Runs seeds and prints what each finds wrong: `bun test/simulation/main.ts 1 1000`, or one of them in full: `… 17`.
import { simulate } from './run.ts';

const [from = 1, to] = process.argv.slice(2).map(Number);
const one = to === undefined;
const began = performance.now();
let [events, failed, transfers] = [0, 0, 0];
for (let seed = from; seed <= (to ?? from); seed += 1) {
  const run = simulate(seed, one ? (line) => console.log(line) : undefined);
  events += run.events;
  transfers += run.transfers;
  if (run.problems.length === 0) continue;
  failed += 1;
  console.log(
    `SEED=${seed} (${run.faults.join(', ')})\n  ${run.problems.slice(0, one ? 100 : 3).join('\n  ')}`,
  );
}
const seconds = ((performance.now() - began) / 1000).toFixed(1);
console.log(`${failed} failed; ${events} events, ${transfers} transfers, ${seconds} s`);
