// The server does it by itself: an account that was connected before last night is reconciled.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { until } from '../support/until.ts';
import { Bed } from './bed.ts';

setDefaultTimeout(180_000);

let bed: Bed;
beforeAll(async () => {
  bed = await Bed.open();
});
afterAll(() => bed.close());

test('the nightly reconciliation runs within a sweep', async () => {
  const { sql } = bed.shop.server;
  await bed.dayPasses();
  const finished = async () =>
    (await sql`select from reconciliation_runs where finished_at is not null and error is null`)
      .length;
  await until('reconciled', async () => (await finished()) === 1, 120_000);
  expect(await bed.open()).toEqual([]);
});
