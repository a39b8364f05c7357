// What must be in memory before usage can be decided: the past periods, and whether a member was
// counted.
import { expect, test } from 'bun:test';
import { periodAccountId } from '../../ledger/kernel/derived-ids.ts';
import { missing } from '../../ledger/metering/usage.ts';
import { DAY, HOUR, T0, World } from './world.ts';

type Asked = { readonly eventAt?: number; readonly member?: bigint };
/** By the start of the period whose members are needed. */
type Lacks = 'history' | number | null;

const known = (): boolean => false;
const unknown = (): undefined => undefined;

/** An hour into the second day of a daily allowance. */
const LATER = T0 + DAY + HOUR;

// prettier-ignore
const LACKING: [string, Asked, typeof known | typeof unknown, boolean, Lacks][] = [
  // what asked members history lacks
  ['neither a time nor a member',          {},                                     unknown,  false,   null],
  ['of now',                               { eventAt: LATER },                     unknown,  false,   null],
  ['of the first moment of the period',    { eventAt: T0 + DAY },                  unknown,  false,   null],
  ['of the moment before it',              { eventAt: T0 + DAY - 1 },              unknown,  false,   'history'],
  ['the same, and the past is loaded',     { eventAt: T0 + DAY - 1 },              unknown,  true,    null],
  ['a member that nobody asked about',     { member: 1n },                         unknown,  false,   T0 + DAY],
  ['a member that was asked about',        { member: 1n },                         known,    false,   null],
  ['a member of the past',                 { member: 1n, eventAt: T0 + 1 },        unknown,  true,    T0],
  ['the same, and it was asked about',     { member: 1n, eventAt: T0 + 1 },        known,    true,    null],
  ['the past comes before its members',    { member: 1n, eventAt: T0 + 1 },        unknown,  false,   'history'],
];

test.each(LACKING)(
  'the rows that usage lacks: usage %s',
  (_what, asked, seen, historyLoaded, lacks) => {
    const world = new World('unique');
    world.grant({ every: 'day' });
    world.use(1n, { member: 7n });
    // Its state has not moved since: the current period exists only for the reader.
    world.now = LATER;
    const usage = {
      id: 'event',
      value: 1n,
      eventAt: null,
      member: null,
      admission: 'record' as const,
      exactReplay: false,
      fingerprint: null,
      metadata: null,
      ...asked,
    };
    const { customer, meter, ids } = world;
    const answer = missing(world.context, { ...world.state, historyLoaded }, usage, seen);
    if (typeof lacks !== 'number') {
      expect(answer?.kind ?? null).toBe(lacks);
      return;
    }
    const accountId = periodAccountId(ids, {
      customerId: customer.id,
      meterId: meter.id,
      start: lacks,
    });
    expect(answer).toEqual({ kind: 'member', accountId, member: 1n });
  },
);

test('usage of now lacks no rows, where the clock stepped back before the period', () => {
  const world = new World();
  world.grant({ every: 'day' });
  world.tickAt(T0 + DAY);
  const usage = {
    id: 'event',
    value: 1n,
    eventAt: null,
    member: null,
    admission: 'record' as const,
    exactReplay: false,
    fingerprint: null,
    metadata: null,
  };
  const state = { ...world.state, historyLoaded: false };
  expect(missing(world.context, state, usage, known)).toBe(null);
  world.now = T0 + DAY - 1;
  expect(missing(world.context, state, usage, known)).toBe(null);
});
