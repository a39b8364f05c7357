import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const README = join(import.meta.dir, '../../src/client/README.md');

/** The programs of the package's README: those that have no types run as they are. */
export function exampleBlocks(): readonly string[] {
  return [...readFileSync(README, 'utf8').matchAll(/^```ts\n([\s\S]*?)^```$/gm)].map(
    ([, code]) => code!,
  );
}
