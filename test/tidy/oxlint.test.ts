// The linter with the real configuration, on planted faults: an override glob that matches nothing
// fails here.
import { expect, test } from 'bun:test';
import { runOnPlants } from './sandbox.ts';

// path → text → the rule that must speak up there
const PLANTS: [path: string, rule: string, text: string][] = [
  [
    'ledger/store/journal.ts',
    'no-floating-promises',
    `import type { Sql } from 'postgres';\nexport function save(sql: Sql) {\n  sql\`select 1\`;\n}\n`,
  ],
  [
    'src/records/keys.ts',
    'no-floating-promises',
    `import type { Sql } from 'postgres';\nexport function save(sql: Sql) {\n  void sql\`select 1\`;\n}\n`,
  ],
  [
    'workers/deliver.ts',
    'no-misused-promises',
    `export const start = () => setInterval(async () => { await fetch('http://localhost'); }, 1);\n`,
  ],
  ['ledger/clock.ts', 'no-restricted-properties', 'export const now = () => Date.now();\n'],
  ['ledger/chance.ts', 'no-restricted-properties', 'export const roll = () => Math.random();\n'],
  ['ledger/ids.ts', 'no-restricted-globals', 'export const id = () => crypto.randomUUID();\n'],
  [
    'ledger/actor/a.ts',
    'no-restricted-globals',
    'export const later = () => setTimeout(() => 1, 1);\n',
  ],
  ['ledger/store/b.ts', 'no-restricted-globals', 'export const mode = process.argv;\n'],
  ['ledger/store/c.ts', 'no-restricted-globals', `export const f = () => Bun.file('x');\n`],
  ['ledger/d.ts', 'no-restricted-globals', `export const f = () => { console.log('x'); };\n`],
  ['src/http/log.ts', 'no-console', `export const f = () => { console.log('x'); };\n`],
  ['src/http/env.ts', 'no-process-env', 'export const url = process.env.DATABASE_URL;\n'],
  [
    'ledger/kinds.ts',
    'switch-exhaustiveness-check',
    `type Kind = 'single' | 'pending';\nexport function f(kind: Kind) {\n  switch (kind) {\n    case 'single':\n      return 1;\n    default:\n      return 2;\n  }\n}\n`,
  ],
  ['ledger/e.ts', 'no-explicit-any', 'export const f = (x: any) => x;\n'],
  ['src/http/edge/json.ts', 'no-unsafe-assignment', `export const x: string = JSON.parse('1');\n`],
  ['ledger/x.ts', 'no-cycle', `import { y } from './y.ts';\nexport const x = (): number => y();\n`],
  ['ledger/y.ts', 'no-cycle', `import { x } from './x.ts';\nexport const y = (): number => x();\n`],
  [
    'ledger/long.ts',
    'max-lines-per-function',
    `export function f(x: number) {\n${'  x += 1;\n'.repeat(70)}  return x;\n}\n`,
  ],
  ['src/long.ts', 'max-lines', 'export const f = 1;\n'.replace('f', 'g') + '// more\n'.repeat(500)],
  ['ledger/barrel.ts', 'no-barrel-file', `export * from './kinds.ts';\n`],
  ['ledger/default.ts', 'no-default-export', 'export default 1;\n'],
  [
    'test/moved.test.ts',
    'no-restricted-imports',
    `import { setSystemTime } from 'bun:test';\nsetSystemTime();\n`,
  ],
];

type Diagnostic = { code: string; filename: string };

const { exitCode, output } = await runOnPlants({
  command: ['oxlint', '--type-aware', '--format=json'],
  files: Object.fromEntries([
    ...PLANTS.map(([path, , text]) => [path, text] as const),
    ['src/main.ts', `console.log('sound', Date.now());\n`],
    ['test/sound.test.ts', `export const f = (body: string): { a: number } => JSON.parse(body);\n`],
  ]),
});
const { diagnostics } = JSON.parse(output) as { diagnostics: Diagnostic[] };

test('the linter fails on a planted tree', () => {
  expect(exitCode).not.toBe(0);
});

test.each(PLANTS.map(([path, rule]) => [path, rule] as const))(
  'the linter sees in %s: %s',
  (path, rule) => {
    const codes = diagnostics.filter(({ filename }) => filename === path).map(({ code }) => code);
    expect(codes.some((code) => code.endsWith(`(${rule})`))).toBe(true);
  },
);

test('the linter accepts sound code', () => {
  const sound = ['src/main.ts', 'test/sound.test.ts'];
  expect(diagnostics.filter(({ filename }) => sound.includes(filename))).toEqual([]);
});
