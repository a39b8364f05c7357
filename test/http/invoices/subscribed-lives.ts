// Lives of invoices of subscriptions, one after the other on a server of their own.
import { expect } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { withSeed } from '../../support/random.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { NEVER_MS, SubscribedLife } from './subscribed-life.ts';
import { type Action, ACTIONS, SITUATIONS, type Situation } from './subscribed-reference.ts';

export const startLives = (): Promise<TestServer> =>
  startServer({ own: true, alone: true, settings: { sandboxSettleMs: NEVER_MS } });

/** What happens at each of the moments happens at once. */
export async function live(
  server: TestServer,
  situation: Situation,
  moments: readonly (readonly Action[])[],
): Promise<void> {
  const life = await SubscribedLife.begin(server, situation);
  try {
    for (const actions of moments) await life.meet(actions);
    await life.finish();
  } catch (error) {
    if (error instanceof Error) error.message += `\n${situation}: ${JSON.stringify(moments)}`;
    throw error;
  }
}

/** Each of 2 to 5 moments with 1 to 3 actions. */
export const liveAtRandom = (server: TestServer, histories: number) =>
  withSeed(async (random) => {
    for (let history = 0; history < histories; history += 1) {
      const moments = Array.from({ length: random.integer(2, 5) }, () => {
        const left = [...ACTIONS];
        return Array.from(
          { length: random.integer(1, 3) },
          () => left.splice(random.integer(0, left.length - 1), 1)[0]!,
        );
      });
      await live(server, random.pick(SITUATIONS), moments);
      expect(await audit(server.sql)).toEqual([]);
    }
  });

export function expectNoErrors({ logged }: TestServer): void {
  const wrong = logged.filter((line) => /"level":"(?:warn|error)"/.test(line));
  expect(wrong.filter((line) => !line.includes('Redis does not answer'))).toEqual([]);
}
