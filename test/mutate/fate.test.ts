// A fault that a test finds, one that none finds, and one that no test runs.
import { afterAll, expect, test } from 'bun:test';
import { join } from 'node:path';
import { copyOfRules } from './copies.ts';
import { fateOf } from './fate.ts';
import { type Mutant, mutantsOf, sampleOf } from './mutants.ts';
import { reaching, reachOf } from './reach.ts';
import { isEnough, type Outcome, reportOf } from './report.ts';
import { runTests } from './tests.ts';

const copy = copyOfRules();
const { folder } = copy;
afterAll(() => copy.stop());

const RULE = 'rule.ts';
const TEST = 'rule.test.ts';
const TEXT = `export const isLess = (a: number, b: number): boolean => a < b;
export function never(a: number): boolean {
  return a < 1;
}
`;
await Bun.write(join(folder, RULE), TEXT);
await Bun.write(
  join(folder, TEST),
  `import { expect, test } from 'bun:test';
import { isLess } from './rule.ts';
test('less', () => expect(isLess(1, 2)).toBe(true));
`,
);

const mutants = await mutantsOf(folder, [RULE]);
const reach = await reachOf(copy, TEST);
const outcomes: Outcome[] = [];
for (const mutant of mutants)
  outcomes.push({ mutant, fate: await fateOf(copy, mutant, reaching([reach], mutant)) });

const told = ({ line, change }: Mutant): string => `${line} ${change.becomes}`;

test('each mutant has the fate that the tests give it', () => {
  expect(outcomes.map(({ mutant, fate }) => `${told(mutant)} ${fate.kind}`)).toEqual([
    '1 <= survived',
    '1 >= seen',
    '3 <= unreached',
    '3 >= unreached',
    '3 2 unreached',
  ]);
});

test('the copy of the tree is left as it was after its mutants', async () => {
  expect(await Bun.file(join(folder, RULE)).text()).toBe(TEXT);
});

test('a test that fails without a mutant proves nothing', async () => {
  await Bun.write(
    join(folder, 'red.test.ts'),
    `import { test } from 'bun:test'; test('a', () => { throw 1; });`,
  );
  const failure = await reachOf(copy, 'red.test.ts').catch(String);
  expect(failure).toContain('fails without a fault');
});

test('a test that does not end on a mutant is stopped', async () => {
  await Bun.write(join(folder, 'loop.test.ts'), 'for (;;);');
  expect((await runTests(copy, ['loop.test.ts'], { args: [], msMax: 300 })).kind).toBe('late');
});

test('the mutation report names surviving mutants, and a score below 90 % is not enough', () => {
  const report = reportOf(outcomes);
  expect(report).toContain('rule.ts:1 survived: a [ < -> <= ] b\n');
  expect(report).toContain('1 of     5   20.0 %');
  expect(isEnough(outcomes)).toBe(false);
  const [, seen] = outcomes;
  expect(isEnough(outcomes.map((outcome) => ({ ...outcome, fate: seen!.fate })))).toBe(true);
  const nine = Array.from({ length: 10 }, (_, i) => (i === 0 ? outcomes[0]! : seen!));
  expect([isEnough(nine), isEnough(nine.slice(0, 9))]).toEqual([true, false]);
});

test('a sample of mutants is the same for the same seed', () => {
  const names = (seed: string) => sampleOf(mutants, 3, seed).map(told);
  expect(names('1')).toHaveLength(3);
  expect(names('1')).toEqual(names('1'));
  expect(new Set(['1', '2', '3', '4', '5'].map((seed) => names(seed).join())).size).toBeGreaterThan(
    1,
  );
});
