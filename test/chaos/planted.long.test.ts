// The scenarios can fail: every second planted fault is noticed.
import { expect, test } from 'bun:test';
import { PLANTED, violationsWith } from './planted-faults.ts';

for (const planted of PLANTED.filter((_, n) => n % 2 === 0)) {
  test(`the planted fault ${planted.name} is noticed`, async () => {
    expect(await violationsWith(planted)).toContain(planted.finds);
  }, 40_000);
}
