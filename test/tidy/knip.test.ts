// Dead code, with the real configuration, on a small tree that holds some.
import { expect, test } from 'bun:test';
import { runOnPlants } from './sandbox.ts';

const { exitCode, output } = await runOnPlants({
  command: ['knip', '--reporter', 'json'],
  files: {
    'src/main.ts': `import { used } from '../ledger/kernel/money.ts';\nused();\n`,
    'ledger/kernel/money.ts': `export const used = () => 1;\nexport const nobodyCalls = () => 2;\nexport type NobodyNames = 1;\n`,
    'src/orphan.ts': 'export const alone = 1;\n',
  },
});

test('knip fails on a planted tree', () => {
  expect(exitCode).toBe(1);
});

test.each(['nobodyCalls', 'NobodyNames', 'src/orphan.ts', 'elysia'])('knip sees %s', (name) => {
  expect(output).toContain(`"${name}"`);
});

test('knip accepts code that is used', () => {
  expect(output).not.toContain('"used"');
});
