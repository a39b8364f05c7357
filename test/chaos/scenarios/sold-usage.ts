// The connection is lost while what a period has sold is written, before and after its commit. It is
// billed once, and so is what comes late.
import { seeded } from '../../support/random.ts';
import { until } from '../../support/until.ts';
import { isDone, wrongBooks } from '../money.ts';
import { wrongUsage } from '../usage-reckoning.ts';
import { UsageSales } from '../usage-sales.ts';
import { withGatedNode } from './gated-node.ts';

const BUYERS = 2;
const REPORTS = 60;

export function soldUsage(): Promise<string[]> {
  return withGatedNode(async ({ url, tenant, gate, sql }) => {
    const target = () => Promise.resolve(url);
    const who = { key: tenant.key, target, buyers: BUYERS };
    const sales = await UsageSales.open({ ...who, random: seeded(7) });
    for (const point of ['before', 'reply'] as const) {
      const stop = sales.report(4);
      const enough = sales.acknowledged.length + REPORTS;
      await until('usage is reported', () => sales.acknowledged.length >= enough);
      await stop();
      const holding = gate.hold(point);
      const passed = sales.passWeek();
      (await holding).cut();
      await passed;
    }
    await sales.end(BUYERS);
    await until('nothing is left to do', () => isDone(sql));
    return [...(await wrongUsage(sql, sales)), ...(await wrongBooks(sql))];
  });
}
