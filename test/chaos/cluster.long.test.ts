// The chaos run in short form: each disturbance happens, and nothing is wrong afterwards.
import { expect, test } from 'bun:test';
import { type DisturbanceName, DISTURBANCES } from './cluster/disturbances.ts';
import { expectSoundRun } from './cluster/sound.ts';

const KINDS = Object.keys(DISTURBANCES) as DisturbanceName[];

test('three nodes survive each fault once, and lose no acknowledged write', async () => {
  const { happened } = await expectSoundRun({ minutes: 0, leaseMs: 1500, calmMsMax: 500 });
  expect(KINDS.filter((kind) => !happened.has(kind))).toEqual([]);
}, 240_000);
