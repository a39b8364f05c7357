import { expect, test } from 'bun:test';
import { SCENARIOS } from './scenarios/all.ts';

for (const [name, scenario] of Object.entries(SCENARIOS)) {
  test(
    name,
    async () => {
      expect(await scenario()).toEqual([]);
    },
    30_000,
  );
}
