// Random actions at once: time, the merchant, the customer in the portal, and a bank that answers
// late. The result is one possible history.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import type { Means } from '../../support/means.ts';
import { type Random, withSeed } from '../../support/random.ts';
import { expectPossible } from './history.ts';
import { aMoment, type Member, Racing } from './racing.ts';
import type { Club } from './subscribing.ts';

setDefaultTimeout(120_000);

/** More of them when searching for a fault. */
const ROUNDS = Number(process.env['RACE_ROUNDS'] ?? 4);
const EACH = 4;
const MEANS: readonly Means[] = ['good', 'renewalFails', 'answerLost', 'iban'];

let racing: Racing;
let club: Club;
beforeAll(async () => {
  racing = await Racing.open();
  ({ club } = racing);
});
afterAll(() => racing.close());

/** The expected answers of every call; never a 5xx. */
const ANSWERS = [200, 202, 303, 402, 409];

test('random actions at once on subscriptions, while time passes, leave each one consistent life', async () => {
  await withSeed(async (random) => {
    const all: string[] = [];
    const asked: string[] = [];
    let live: (readonly [Member, Means])[] = [];
    for (let round = 0; round < ROUNDS; round += 1) {
      live = await stillLive(live);
      for (const means of MEANS) {
        const count = live.filter(([, its]) => its === means).length;
        for (let left = EACH - count; left > 0; left -= 1)
          live.push([await racing.member(means), means]);
      }
      all.push(...live.map(([{ id }]) => id).filter((id) => !all.includes(id)));
      const advance = { advance: `P${random.integer(1, 32)}D` };
      const clocks = [club.post('/test-clock', advance), club.post('/test-clock', advance)];
      const each = live.map(([one]) => storm(random, one, asked));
      const [first, second] = await Promise.all(clocks);
      expect([200, 409]).toContain(second!.status);
      expect(first!.status === 200 || second!.status === 200).toBe(true);
      await Promise.all(each);
    }
    await club.advance('P1D');
    await racing.untilDecided(all);
    try {
      await expectPossible(club, all);
    } catch (error) {
      console.error(asked.join('\n'));
      throw error;
    }
  });
});

/** Two or three at once, a moment after the others. */
async function storm(random: Random, one: Member, asked: string[]): Promise<void> {
  const chosen = Array.from({ length: random.integer(1, 3) }, () => random.pick(racing.moves()));
  await Promise.all(
    chosen.map(async ({ name, run }) => {
      await aMoment(random);
      const { status, text } = await run(one);
      asked.push(`${one.id} ${name}: ${status}`);
      if (!ANSWERS.includes(status)) expect([name, status, text]).toEqual([name, 200, text]);
    }),
  );
}

async function stillLive<T>(all: readonly (readonly [Member, T])[]) {
  const ended = await Promise.all(
    all.map(async ([{ id }]) => (await club.subscription(id)).status === 'canceled'),
  );
  return all.filter((_one, index) => !ended[index]);
}
