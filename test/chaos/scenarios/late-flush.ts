// A flush reaches the database after another node has taken the seat. The connection is alive, so
// only the fence in the statement can refuse it.
import { differs, withGatedNode } from './gated-node.ts';

export function lateFlush(): Promise<string[]> {
  return withGatedNode(async (node) => {
    await node.track('before');
    const holding = node.gate.hold('before');
    const late = node.track('late');
    const held = await holding;
    await node.sql`
      update nodes set holder = gen_random_uuid(), epoch = epoch + 1, expires_at = now() + interval '1 minute'`;
    held.release();
    const status = await late;
    const rows = await node.sql<{ count: bigint }[]>`
      select count(*) from transfers where value is not null`;
    const wrong = [
      ...differs('the answer to the late call', status, 503),
      ...differs('events in the database', Number(rows[0]?.count), 1),
      ...differs('a check from memory', await node.check(), 503),
    ];
    if (wrong.length > 0) return wrong;
    // The other node leaves: this one serves again, and the call counts once.
    await node.sql`update nodes set expires_at = now() - interval '1 second'`;
    await node.ready();
    return node.violations(['late']);
  });
}
