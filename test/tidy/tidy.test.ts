// The tree as it is, against every rule.
import { describe, expect, test } from 'bun:test';
import { RULES } from './rules.ts';
import { readTree } from './tree.ts';

const tree = await readTree();

describe('the tree', () => {
  test('has files that are checked', () => {
    for (const path of ['package.json', 'test/tidy/tidy.test.ts'])
      expect(tree.has(path)).toBe(true);
    expect([...tree.keys()].filter((path) => path.startsWith('ledger/'))).not.toBeEmpty();
    expect([...tree.keys()].filter((path) => path.startsWith('src/'))).not.toBeEmpty();
  });

  for (const [name, rule] of Object.entries(RULES)) {
    test(name, () => {
      const found = rule(tree).map(({ path, line, message }) => `${path}:${line} ${message}`);
      expect(found).toEqual([]);
    });
  }
});
