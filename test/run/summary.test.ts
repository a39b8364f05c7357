// Whatever makes a run fail is in its summary, with the command that repeats it alone.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ROOT } from './graph.ts';
import { LOADED_ONCE, runSuite, type Suite } from './suite.ts';
import { isGreen, type Run, summaryOf } from './summary.ts';

/** By the name of their file. */
const PLANTED = {
  plain: `describe('a plan', () => {
    describe('of "two" (or more)', () => {
      test("isn't free", () => expect(1).toBe(2));
      test('passes', () => {});
    });
  });`,
  crash: `test('before it', () => {});
    test('a crash', () => process.kill(process.pid, 'SIGKILL'));`,
  unloaded: `import './nowhere.ts';
    test('of a file that does not load', () => {});`,
  late: `test('a test that hangs', () => new Promise(() => {}), 50);`,
  hook: `describe('with a server', () => {
    beforeAll(() => { throw new Error('no server'); });
    test('never run', () => {});
  });`,
  property: `test('a property', () => {
    fc.assert(fc.property(fc.integer(), (n) => n < 10), { seed: 42, endOnFailure: true });
  });`,
  chaos: `test('kills', () => {
    throw new Error('lost\\nCHAOS_SEED=77');
  });`,
  seeds: `test('the simulator', () => { throw new Error('SEED=17 (crash): wrong'); });`,
  empty: '',
  stuck: `test('a loop without an end', () => { for (;;); });`,
  passing: `test('fine', () => {});`,
};

type Name = keyof typeof PLANTED;

/** Those that end. */
const NAMES = (Object.keys(PLANTED) as Name[]).filter((name) => name !== 'stuck');
const KINDS = { of: () => 'pure' as const };

const root = mkdtempSync(join(tmpdir(), 'tollhouse-planted-run-'));

beforeAll(() => {
  symlinkSync(join(ROOT, 'node_modules'), join(root, 'node_modules'));
  const imports = `import { beforeAll, describe, expect, test } from 'bun:test';
import fc from 'fast-check';
`;
  for (const [name, text] of Object.entries(PLANTED)) {
    writeFileSync(join(root, fileOf(name as Name)), imports + text);
  }
});

afterAll(() => rmSync(root, { recursive: true }));

const fileOf = (name: Name): string => `${name}.test.ts`;

async function run(names: readonly Name[], suite: Partial<Suite> = {}): Promise<Run> {
  const signal = new AbortController().signal;
  const planted = { name: 'planted', files: names.map(fileOf), workers: 2, ...suite };
  const outcome = await runSuite(planted, { flags: [], signal, root, isQuiet: true });
  return { outcomes: [outcome], commands: [], ms: outcome.ms };
}

/** What the summary says of each file that failed. */
function failuresIn(text: string): Record<string, string> {
  const [, failures = ''] = text.split('=== Failures\n');
  const told = failures
    .trim()
    .split(/\n\n(?=\w+\.test\.ts: )/)
    .map((part) => part.trim());
  return Object.fromEntries(told.map((part) => [part.split('.')[0]!, part]));
}

const WAYS = [
  { way: 'each by itself', suite: {} },
  { way: 'in workers that load the program once', suite: LOADED_ONCE },
];

for (const { way, suite } of WAYS) {
  test(`the summary of files that run ${way} names each that fails with its cause and its command`, async () => {
    const ran = await run(NAMES, suite);
    const text = summaryOf(ran, KINDS);
    const told = failuresIn(text);
    expect(isGreen(ran)).toBe(false);
    expect(Object.keys(told).toSorted()).toEqual(
      NAMES.filter((name) => name !== 'passing').toSorted(),
    );
    expect(told['plain']).toStartWith(`plain.test.ts: a plan > of "two" (or more) > isn't free\n`);
    expect(told['plain']).toContain('Expected: 2');
    expect(told['plain']).toContain(
      String.raw`repeat: bun run test plain.test.ts -t '^a plan of "two" \(or more\) isn'\''t free$'`,
    );
    expect(told['crash']).toContain('crashed');
    expect(told['unloaded']).toContain('nowhere.ts');
    expect(told['unloaded']).toContain('repeat: bun run test unloaded.test.ts');
    expect(told['late']).toContain('a test that hangs\n    test timed out');
    expect(told['hook']).toContain('with a server > a hook, such as beforeAll\n');
    expect(told['hook']).toContain(`repeat: bun run test hook.test.ts -t '^with a server '`);
    expect(told['property']).toMatch(/seed: {3}\{ seed: 42, path: "[\d:]+" \}/);
    expect(told['chaos']).toContain('repeat: CHAOS_SEED=77 bun run test chaos.test.ts -t');
    expect(told['seeds']).toContain('repeat: SEED=17 bun run test seeds.test.ts -t');
    expect(text).toEndWith(`3 passed, 9 failed in ${(ran.ms / 1000).toFixed(1)} s`);
  });
}

test('the summary names a file that runs alone and ends the process', async () => {
  const ran = await run(['crash']);
  const told = failuresIn(summaryOf(ran, KINDS));
  expect(isGreen(ran)).toBe(false);
  expect(told['crash']).toContain('no test of it ran\n    SIGKILL');
});

test('the summary says of each file why no test of it ran, where none ran at all', async () => {
  const told = failuresIn(summaryOf(await run(['unloaded', 'empty']), KINDS));
  expect(told['unloaded']).toContain('nowhere.ts');
  expect(told['unloaded']).toContain('repeat: bun run test unloaded.test.ts');
  expect(told['empty']).toContain('no test of it ran');
});

test('a file that no timeout ends is ended once nothing is printed, and named', async () => {
  const ran = await run(['passing', 'stuck'], { ...LOADED_ONCE, silentMsMax: 3000 });
  const text = summaryOf(ran, KINDS);
  expect(isGreen(ran)).toBe(false);
  expect(text).toContain('nothing was printed for 3 s');
  expect(text).toMatch(
    /last results of:\s+passing\.test\.ts\s+no result yet of:\s+stuck\.test\.ts/,
  );
});

test('the command in the summary has the environment of the suite', async () => {
  const env = { TEST_NODES: '3', TEST_PROCESSOR: 'stripe', TEST_SHARED: '1' };
  const told = failuresIn(summaryOf(await run(['plain'], { env }), KINDS));
  expect(told['plain']).toContain('repeat: TEST_NODES=3 TEST_PROCESSOR=stripe bun run test plain');
});

test('a run whose files have no test is not green', async () => {
  expect(isGreen(await run(['empty']))).toBe(false);
});

test('a run where all pass is green, and names no failure', async () => {
  const ran = await run(['passing']);
  expect(isGreen(ran)).toBe(true);
  expect(summaryOf(ran, KINDS)).not.toContain('Failures');
});
