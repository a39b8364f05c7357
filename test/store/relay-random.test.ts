// Relays in a random world: each event is delivered once to the endpoints of its time.
import { expect, test } from 'bun:test';
import { withSeed } from '../support/random.ts';
import { faultsOf } from './relay-world.ts';

test('two relays that lose their connections at random pass each event once, in order', async () => {
  await withSeed(async (random) => {
    expect(await faultsOf(random, async () => undefined)).toEqual([]);
  });
}, 60_000);
