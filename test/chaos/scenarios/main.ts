// Runs the scenario that the argument names, and prints what it found wrong as JSON: for a tree
// with a planted fault.
import { SCENARIOS } from './all.ts';

/** A fault may leave calls unanswered. */
const END_MS_MAX = 12_000;

const found = Object.entries(SCENARIOS).find(([name]) => name === process.argv[2]);
if (found === undefined) throw new Error(`no such scenario: ${process.argv[2]}`);
const stuck = Bun.sleep(END_MS_MAX).then(() => ['it did not end']);
const failed = (error: unknown): string[] => [`it threw: ${String(error)}`];
console.log(JSON.stringify(await Promise.race([found[1]().catch(failed), stuck])));
process.exit(0);
