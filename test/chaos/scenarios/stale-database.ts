// A standby that lacks the last flushes is promoted. The database is then behind the node, which
// must notice and stop serving.
import { until } from '../../support/until.ts';
import { call } from '../call.ts';
import { type GatedNode, differs, withGatedNode } from './gated-node.ts';

const SAYS = 'the database is behind this node: a stale copy was promoted';

export function staleDatabase(): Promise<string[]> {
  return withGatedNode(async (node) => {
    await node.track('before');
    const holding = node.gate.hold('before');
    const during = node.track('during');
    const held = await holding;
    await node.sql`update nodes set seq = seq - 1`;
    held.cut();
    const status = await during;
    if (status !== 503) return differs('the answer', status, 503);
    // Not even after the lease that it renewed meanwhile: the database lacks acknowledged writes.
    await leaseOver(node);
    const ready = await call({ url: node.url, key: node.tenant.key }, '/ready');
    const numbers = await (await fetch(`${node.url}/metrics`)).text();
    return [
      ...differs('a check from memory', await node.check(), 503),
      ...differs('ready', ready.status, 503),
      ...differs('its numbers say so', numbers.includes('_stopped_for_good 1\n'), true),
      ...differs(
        'says so',
        node.logged.some((line) => line.includes(SAYS)),
        true,
      ),
    ];
  });
}

/** Resolves when the seat has been free for long enough to be claimed again, or is taken. */
async function leaseOver(node: GatedNode): Promise<void> {
  const rows = await node.sql<{ epoch: bigint }[]>`select epoch from nodes`;
  await until('the lease is over', async () => {
    const [row] = await node.sql<{ over: boolean }[]>`
      select expires_at < now() - interval '700 milliseconds' or epoch <> ${String(rows[0]!.epoch)}::bigint as over
      from nodes`;
    return row?.over === true;
  });
}
