// Each planted fault still fits the code: the long runs that plant them would say so much later.
import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { PLANTED as CHAOS } from '../chaos/planted-faults.ts';
import { PLANTED as SIMULATION } from '../simulation/planted-faults.ts';
import { type Fault, withFault } from '../support/planted-tree.ts';

const ROOT = join(import.meta.dir, '../..');
const FAULTS: [string, Fault][] = [
  ...CHAOS.map(({ name, fault }): [string, Fault] => [`chaos: ${name}`, fault]),
  ...SIMULATION.map(([name, , fault]): [string, Fault] => [`simulation: ${name}`, fault]),
];

test.each(FAULTS)('the code that the planted fault changes is there once: %s', async (_, fault) => {
  const text = await Bun.file(join(ROOT, fault.file)).text();
  expect(withFault(text, fault)).not.toBe(text);
});
