// The chaos run in short form: each disturbance happens, and nothing is wrong afterwards.
import { expect, test } from 'bun:test';
import { type ChaosResult, runChaos } from './cluster/chaos.ts';
import { type DisturbanceName, DISTURBANCES } from './cluster/disturbances.ts';

const KINDS = Object.keys(DISTURBANCES) as DisturbanceName[];

const given = process.env['CHAOS_SEED'];
const seed = given === undefined ? Math.floor(Math.random() * 2 ** 31) : Number(given);

function say(line: string): void {
  console.log(line);
}

/** A failure must be repeatable. */
function expectSound({ violations, lines, logs }: ChaosResult): void {
  for (const line of lines) say(line);
  if (violations.length > 0) {
    console.error(`failed with CHAOS_SEED=${seed}`);
    for (const [name, logged] of logs)
      console.error(`node ${name}:\n${logged.slice(-20).join('\n')}`);
  }
  expect(violations).toEqual([]);
}

test('three nodes, and whatever can happen to them once each', async () => {
  const result = await runChaos({ minutes: 0, nodes: 3, leaseMs: 1500, seed, say });
  expectSound(result);
  const left = KINDS.filter((kind) => !result.happened.has(kind));
  expect(left).toEqual([]);
}, 240_000);

test('the customers of a node that was killed are served again within the usual lease and two seconds', async () => {
  const kills = { kinds: ['kill'] as const, minutes: 0.1 };
  const result = await runChaos({ ...kills, nodes: 3, leaseMs: 5000, seed, say });
  expectSound(result);
  expect(result.takeoversMs.length).toBeGreaterThan(0);
}, 120_000);
