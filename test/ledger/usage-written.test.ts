// What one usage writes: a plain one a transfer and its period, and nothing else.
import { expect, test } from 'bun:test';
import { decideUsage, type Usage } from '../../ledger/metering/usage.ts';
import { World } from './world.ts';

const USAGE: Usage = {
  id: 'usage',
  value: 3n,
  eventAt: null,
  member: null,
  admission: 'record',
  exactReplay: false,
  fingerprint: null,
  metadata: null,
};

function effectsOf(world: World, fields: Partial<Usage> = {}) {
  const usage = { ...USAGE, ...fields };
  const { effects } = decideUsage(world.context, world.state, usage, () => false);
  if (effects === null) throw new Error('it has effects');
  return effects;
}

test('usage within the limit writes one transfer and one period', () => {
  const world = new World();
  world.grant({ every: 'month' });
  const { transfers, periods, grants, events, members, stateChanged } = effectsOf(world);
  expect(transfers.map(({ id, amount }) => [id, amount])).toEqual([['usage', 3n]]);
  expect(periods.map(({ after }) => after.consumed)).toEqual([3n]);
  expect([grants, events, members]).toEqual([[], [], []]);
  expect(stateChanged).toBe(false);
});

test('usage that crosses the limit writes its event, and the row of the meter says so', () => {
  const world = new World();
  world.grant({ every: 'month' });
  const { events, stateChanged } = effectsOf(world, { value: 10n });
  expect(events.map(({ type }) => type)).toEqual(['entitlement.exhausted']);
  expect(stateChanged).toBe(true);
});

test('usage by a new member writes it once', () => {
  const world = new World('unique');
  const { accountId } = world.state.current;
  expect(effectsOf(world, { member: 7n }).members).toEqual([{ accountId, member: 7n }]);
});

test('usage writes the rest of its answer where a retry must get it unchanged', () => {
  const world = new World();
  world.grant({ amount: 10n, overageAllowed: true });
  const answerOf = (exactReplay: boolean) =>
    effectsOf(world, { exactReplay }).transfers.at(-1)?.usage?.answer;
  expect(answerOf(false)).toBe(null);
  const rest = { periodStart: world.now, periodEnd: null, overageAllowed: true, externalId: null };
  expect(answerOf(true)).toEqual(rest);
});
