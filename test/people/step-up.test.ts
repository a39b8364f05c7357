// What is asked for before what is risky: the whole table.
import { expect, test } from 'bun:test';
import { mayEnrol, needsStepUp, type RiskyAction, type StepUp } from '../../src/people/step-up.ts';

const NOW = Date.UTC(2027, 0, 1);
const MINUTE = 60_000;

const refund = (amount: string, already = '0', upTo = '100.00'): RiskyAction => ({
  kind: 'refund',
  amount,
  already,
  upTo,
});
const key: RiskyAction = { kind: 'api_key' };
const processor: RiskyAction = { kind: 'processor' };
const security: RiskyAction = { kind: 'security' };

const LIVE = {
  mode: 'live',
  hasSecondFactor: true,
  now: NOW,
} as const;
const NONE = { ...LIVE, hasSecondFactor: false, secondFactorAt: null };
const SINCE = (ms: number) => ({ ...LIVE, secondFactorAt: NOW - ms });

type Case = readonly [RiskyAction, Parameters<typeof needsStepUp>[1], StepUp];

// prettier-ignore
const TABLE: Readonly<Record<string, Case>> = {
  'a key, after a code':                       [key, SINCE(0), 'none'],
  'a key, at the end of 10 minutes':           [key, SINCE(10 * MINUTE - 1), 'none'],
  'a key, after 10 minutes':                   [key, SINCE(10 * MINUTE), 'code'],
  'a key, before any code':                    [key, { ...LIVE, secondFactorAt: null }, 'code'],
  'a key, without a second factor':            [key, NONE, 'enrol'],
  'a key in test mode':                        [key, { ...NONE, mode: 'test' }, 'none'],
  'a processor, after a code':                 [processor, SINCE(0), 'none'],
  'a processor, after 10 minutes':             [processor, SINCE(10 * MINUTE), 'code'],
  'a processor, without a second factor':      [processor, NONE, 'enrol'],
  'a processor in test mode':                  [processor, { ...NONE, mode: 'test' }, 'none'],
  'a refund of the amount':                    [refund('100.00'), NONE, 'none'],
  'a refund of the amount, otherwise written': [refund('100'), NONE, 'none'],
  'a refund above it':                         [refund('100.01'), NONE, 'enrol'],
  'a refund above it by less than a cent':     [refund('100.0001'), SINCE(10 * MINUTE), 'code'],
  'a refund above it, after a code':           [refund('100.01'), SINCE(MINUTE), 'none'],
  'a refund of more digits':                   [refund('1000'), SINCE(10 * MINUTE), 'code'],
  'a small refund of many digits':             [refund('00099.9999'), NONE, 'none'],
  'a refund in test mode':                     [refund('1000000'), { ...NONE, mode: 'test' }, 'none'],
  'a refund that is no amount':                [refund('1e1'), NONE, 'enrol'],
  'a refund where every one asks':             [refund('0.01', '0', '0'), NONE, 'enrol'],
  'refunds that come to the amount':           [refund('40.00', '60'), NONE, 'none'],
  'refunds that come to more':                 [refund('40.01', '60'), NONE, 'enrol'],
  'refunds that come to more, after a code':   [refund('40.01', '600'), SINCE(MINUTE), 'none'],
  'refunds of nobody knows how much':          [refund('0.01', '?'), NONE, 'enrol'],
  'security, after a code':                    [security, SINCE(0), 'none'],
  'security, after 10 minutes':                [security, SINCE(10 * MINUTE), 'code'],
  'security, in test mode':                    [security, { ...NONE, mode: 'test' }, 'enrol'],
};

test.each(Object.entries(TABLE))(
  'a code is asked for again, or not: %s',
  (_what, [action, of, asked]) => {
    expect(needsStepUp(action, of)).toBe(asked);
  },
);

// prettier-ignore
const ENROLS: readonly (readonly [what: string, signedIn: number, code: number | null, may: boolean])[] = [
  // what                                   signed in before   a code before   may it
  ['at once',                               0,                 null,           true],
  ['at the end of 15 minutes',              15 * MINUTE - 1,   null,           true],
  ['after 15 minutes',                      15 * MINUTE,       null,           false],
  ['after days, with a code of now',        9000 * MINUTE,     0,              true],
  ['after days, 10 minutes after a code',   9000 * MINUTE,     10 * MINUTE,    false],
];

test.each(ENROLS)('a second factor is enrolled %s', (_what, signedIn, code, may) => {
  const secondFactorAt = code === null ? null : NOW - code;
  expect(mayEnrol({ signedInAt: NOW - signedIn, secondFactorAt, now: NOW })).toBe(may);
});
