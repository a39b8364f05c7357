// What an organisation asks of its members. It holds in both modes: they have the same members.
import { must } from '../../ledger/kernel/assert.ts';
import type { Executor } from '../platform/postgres/postgres.ts';

export type SecurityRecord = {
  /** Without one a member may enrol it, and nothing else. */
  readonly requiresSecondFactor: boolean;
  /**
   * Refunds of a member above it in an hour need a second factor that was given shortly before. Of
   * any currency, in its major unit.
   */
  readonly refundStepUpAmount: string;
};

/** null leaves it as it is. */
export type SecurityPatch = {
  readonly [field in keyof SecurityRecord]: SecurityRecord[field] | null;
};

export async function findSecurity(sql: Executor, organisationId: string): Promise<SecurityRecord> {
  const [found] = await sql<SecurityRecord[]>`
    select ${columns(sql)} from organisations where id = ${organisationId}`;
  return must(found, 'the organisation of a principal');
}

export async function updateSecurity(
  sql: Executor,
  organisationId: string,
  { requiresSecondFactor, refundStepUpAmount }: SecurityPatch,
): Promise<SecurityRecord> {
  const [changed] = await sql<SecurityRecord[]>`
    update organisations set
      requires_second_factor = coalesce(${requiresSecondFactor}, requires_second_factor),
      refund_step_up_amount = coalesce(${refundStepUpAmount}, refund_step_up_amount)
    where id = ${organisationId} returning ${columns(sql)}`;
  return must(changed, 'the organisation of a principal');
}

function columns(sql: Executor) {
  return sql`requires_second_factor as "requiresSecondFactor",
    refund_step_up_amount as "refundStepUpAmount"`;
}
