// What is done about a payment, a subscription or a customer after a commit, held back for a while.
import type { TestServer } from './server.ts';

/** Until it is opened, follow-ups of this subject are not executed. */
export async function closeGate(
  { sql }: Pick<TestServer, 'sql'>,
  subject: string,
): Promise<{ open(): Promise<void> }> {
  const gate = await sql.reserve();
  await gate`select pg_advisory_lock(hashtextextended(${subject}, 0))`;
  return {
    async open() {
      await gate`select pg_advisory_unlock_all()`;
      gate.release();
    },
  };
}
