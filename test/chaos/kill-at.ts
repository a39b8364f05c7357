// kill -9 of a service between two of its commits, or at random.
import type { Random } from '../support/random.ts';
import type { Killable } from './killable.ts';
import type { Step, Steps } from './steps.ts';

const KILL_MS_MAX = 600;

export type Kill = { readonly service: Killable; readonly steps: Steps; readonly random: Random };

/**
 * While a commit waits there: it is rolled back, or it is committed and the node never learns of
 * it.
 */
export async function killAt({ service, steps, random }: Kill, step: Step, begin: () => unknown) {
  const held = await steps.hold(step);
  begin();
  await held.reached();
  await service.kill();
  await held.end(random.chance(0.5) ? 'rolled back' : 'committed');
  await service.restart();
}

/** At any moment of the next while. */
export async function killSoon({ service, random }: Kill): Promise<void> {
  await Bun.sleep(random.integer(1, KILL_MS_MAX));
  await service.kill();
  await service.restart();
}
