// What each of the stretches of one period sold, unit by unit (docs/spec/balance.md#stretches).
// Shares no code with the ledger.

export type UsedStretch = {
  /** What the period had used at its start and at its end; never below 0. */
  readonly from: bigint;
  readonly to: bigint;
  /** null is unlimited. */
  readonly limit: bigint | null;
};

type Unit = { readonly of: number; readonly isSold: boolean };

/**
 * What was sold before is paid: it does not count against what a later plan includes. Less use than
 * nothing takes back the newest stretch first, and of it first what was sold.
 */
export function soldUnits(stretches: readonly UsedStretch[]): readonly bigint[] {
  const units: Unit[] = [];
  for (const [of, { from, to, limit }] of stretches.entries()) {
    while (units.length < Number(from)) units.push({ of: -1, isSold: false });
    for (let left = to - from; left > 0n; left -= 1n) {
      const covered = units.filter(({ isSold }) => !isSold).length;
      units.push({ of, isSold: limit !== null && BigInt(covered) >= limit });
    }
    for (let over = from - to; over > 0n; over -= 1n) takeBack(units);
  }
  return stretches.map((_stretch, of) =>
    BigInt(units.filter((unit) => unit.of === of && unit.isSold).length),
  );
}

function takeBack(units: Unit[]): void {
  const newest = Math.max(...units.map(({ of }) => of));
  const sold = units.findLastIndex(({ of, isSold }) => of === newest && isSold);
  const index = sold === -1 ? units.findLastIndex(({ of }) => of === newest) : sold;
  units.splice(index, 1);
}
