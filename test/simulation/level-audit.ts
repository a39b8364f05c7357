// Levels at the end of a run, from the events alone: the level of a period is that of the latest
// event of all periods up to it, also where it came late, or at another node.
import type { Auditor } from './auditor.ts';
import type { AccountRow, Database } from './database.ts';

type Latest = { readonly at: number; readonly id: string; readonly value: bigint };

export function checkLevels(auditor: Auditor, db: Database): void {
  const latest = new Map<string, Latest>();
  for (const { transfer } of db.transfers.values()) {
    const { id, debit, kind, usage } = transfer;
    if (usage === null || kind === 'refused') continue;
    const event = { at: usage.eventAt, id, value: usage.value };
    if (isLater(event, latest.get(debit))) latest.set(debit, event);
  }
  const carried = db.accounts
    .values()
    .filter(({ kind, owner }) => kind === 'meter' && db.meters.get(owner.meterId ?? '')?.carry);
  const ofMeter = Map.groupBy(carried, ({ customerId, owner }) => `${customerId} ${owner.meterId}`);
  for (const [key, accounts] of ofMeter) {
    let level: Latest | undefined;
    for (const account of accounts.toSorted(byStart)) {
      const own = latest.get(account.id);
      if (own !== undefined && isLater(own, level)) level = own;
      const { aggregate = 0n, latest: set = null, start } = account.period ?? {};
      auditor.demand(
        aggregate === (level?.value ?? 0n) && set?.id === level?.id,
        `the level of ${key} since ${start} is ${aggregate} by ${set?.id}, not ${level?.value} by ${level?.id}`,
      );
    }
    const current = db.states.get(key)?.start;
    auditor.demand(
      level === undefined ||
        current === undefined ||
        accounts.some(({ period }) => period?.start === current),
      `the period of ${key} that runs has not begun with its level`,
    );
  }
}

const isLater = (one: Latest, other: Latest | undefined): boolean =>
  other === undefined || one.at > other.at || (one.at === other.at && one.id > other.id);

const byStart = (a: AccountRow, b: AccountRow): number =>
  (a.period?.start ?? 0) - (b.period?.start ?? 0);
