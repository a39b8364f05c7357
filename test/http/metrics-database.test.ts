// What a scrape asks PostgreSQL: each question once, whatever reads the answer.
import { expect, test } from 'bun:test';
import { Registry } from 'prom-client';
import { watchDatabase } from '../../src/metrics/database.ts';
import { timers } from '../../src/platform/clock.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';

test('a scrape asks each question once, and concurrent ones share the answers', async () => {
  const asked: string[] = [];
  const unsafe = async (query: string): Promise<object[]> => {
    asked.push(query);
    await Bun.sleep(0);
    return [{ differences_missing: 3, differences_state: 5 }];
  };
  const registry = new Registry();
  watchDatabase(registry, { sql: { unsafe } as unknown as Sql, timers });
  const texts = await Promise.all([registry.metrics(), registry.metrics()]);
  expect(asked.length).toBeGreaterThan(5);
  expect(asked.length).toBe(new Set(asked).size);
  for (const text of texts) {
    expect(text).toContain('tollhouse_reconciliation_differences{kind="missing"} 3');
    expect(text).toContain('tollhouse_reconciliation_differences{kind="state"} 5');
  }
});
