// A run under chaos as a test: what happened is printed, and nothing may be wrong.
import { expect } from 'bun:test';
import { newSeed } from '../../support/random.ts';
import { type ChaosResult, runChaos } from './chaos.ts';
import type { ChaosOptions } from './options.ts';

const seed = newSeed();

function say(line: string): void {
  console.log(line);
}

/** A failure must be repeatable. */
function expectSound({ violations, lines, logs }: ChaosResult): void {
  for (const line of lines) say(line);
  if (violations.length > 0) {
    for (const [name, logged] of logs)
      console.error(`node ${name}:\n${logged.slice(-20).join('\n')}`);
  }
  expect(violations.map((what) => `CHAOS_SEED=${seed}: ${what}`)).toEqual([]);
}

/** Three nodes. @throws where anything is wrong afterwards */
export async function expectSoundRun(
  options: Pick<ChaosOptions, 'calmMsMax' | 'leaseMs' | 'minutes'>,
): Promise<ChaosResult> {
  const result = await runChaos({ ...options, nodes: 3, seed, say });
  expectSound(result);
  return result;
}
