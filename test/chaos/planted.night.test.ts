// The scenarios can fail: the planted faults that the long run leaves out are noticed.
import { expect, test } from 'bun:test';
import { PLANTED, violationsWith } from './planted-faults.ts';

for (const planted of PLANTED.filter((_, n) => n % 2 === 1)) {
  test(`the planted fault ${planted.name} is noticed`, async () => {
    expect(await violationsWith(planted)).toContain(planted.finds);
  }, 40_000);
}
