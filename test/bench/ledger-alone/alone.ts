// A process that runs one case and prints what one event costs. Its arguments are the case, and how
// long it warms up and how long it measures: in milliseconds, or in events.
import { LEDGER_CASES } from './cases.ts';
import { openWorld } from './world.ts';

const [name, unit, warmUp, measured] = process.argv.slice(2);
const found = LEDGER_CASES.find((one) => one.name === name);
if (found === undefined) throw new Error(`no case is called ${name}`);
const { customers, pays = 'own', perStep, step } = found;
const world = await openWorld(customers, pays);

/** How many events it took. */
async function run(length: number): Promise<number> {
  const until = performance.now() + length;
  let events = 0;
  while (unit === 'ms' ? performance.now() < until : events < length) {
    await step(world);
    events += perStep;
  }
  return events;
}

await run(Number(warmUp));
const resident = process.memoryUsage.rss();
const before = process.cpuUsage();
const events = await run(Number(measured));
const { user, system } = process.cpuUsage(before);
// Without a garbage collector this is what was allocated.
const bytes = (process.memoryUsage.rss() - resident) / events;
console.log(JSON.stringify({ us: (user + system) / events, bytes }));
process.exit(0);
