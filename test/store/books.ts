// Damage that the audit must find: it is done in a transaction, which is rolled back.
//
// To plan the checks takes most of an audit's time on a small database, so they are planned once.
import { expect } from 'bun:test';
import type { TransactionSql } from 'postgres';
import type { Bigints } from '../../ledger/store/bigints.ts';
import { CHECKS, type Finding, findingsOf } from '../../src/database/audit.ts';
import { openPool, type Sql } from '../../src/platform/postgres/postgres.ts';

type Rows = readonly Readonly<Record<string, unknown>>[] & { readonly count: number | null };

const NAMES = Object.keys(CHECKS);
const PREPARE = Object.values(CHECKS).map((query, at) => `prepare check_${at} as ${query}`);
const EXECUTE = NAMES.map((_, at) => `execute check_${at}`).join(';');

export class Books {
  readonly #sql: Sql;

  private constructor(sql: Sql) {
    this.#sql = sql;
  }

  static async open({ databaseUrl }: { readonly databaseUrl: string }): Promise<Books> {
    const sql = openPool(databaseUrl, { max: 1, applicationName: 'test books' });
    await sql.unsafe(PREPARE.join(';'));
    return new Books(sql);
  }

  /** The checks that find this damage, by name. */
  async foundAfter(damage: string): Promise<readonly string[]> {
    const findings = await this.#damaged(damage);
    return [...new Set(findings.map(({ check }) => check))].toSorted();
  }

  async #damaged(damage: string): Promise<readonly Finding[]> {
    const undone = new Error('undone');
    let findings: readonly Finding[] = [];
    await this.#sql
      .begin(async (transaction) => {
        const done = await transaction.unsafe(damage);
        expect(statementsOf(done as never).some(({ count }) => count !== 0)).toBe(true);
        findings = await audited(transaction);
        throw undone;
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error;
      });
    expect(findings.every(({ detail }) => detail !== '')).toBe(true);
    return findings;
  }

  async close(): Promise<void> {
    await this.#sql.end();
  }
}

async function audited(transaction: TransactionSql<Bigints>): Promise<readonly Finding[]> {
  const results = (await transaction.unsafe(EXECUTE)) as unknown as readonly Rows[];
  expect(results).toHaveLength(NAMES.length);
  return results.flatMap((rows, at) => findingsOf(NAMES[at]!, rows));
}

/** The result of one statement is not in a list. */
function statementsOf(done: Rows | readonly Rows[]): readonly Rows[] {
  return Array.isArray(done[0]) ? (done as readonly Rows[]) : [done as Rows];
}
