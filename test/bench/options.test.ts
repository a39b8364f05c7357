import { expect, test } from 'bun:test';
import { parseOptions } from './options.ts';

const namesOf = (args: string[]) => parseOptions(args).cases.map(({ name }) => name);

test('the bench runs without arguments what has a goal for the cost of a request', () => {
  const usual = ['check-32', 'check-256', 'track-32', 'track-256', 'hot-256', 'ingest-8'];
  expect(namesOf([])).toEqual(usual);
  expect(parseOptions([])).toMatchObject({ against: null, compare: null, withPeers: true });
});

test('the bench options select some scenarios, or all', () => {
  expect(namesOf(['--only', 'track,refunds'])).toEqual([
    'track-32',
    'track-256',
    'refunds-hot',
    'refunds-spread',
  ]);
  expect(namesOf(['--only', 'all'])).toContain('open');
  expect(parseOptions(['--only', 'webhooks'])).toMatchObject({ alone: 'webhooks', cases: [] });
});

test('the bench options take another commit, or an earlier result', () => {
  const against = parseOptions(['--against', 'main~2', '--no-peers', '--rounds', '5']);
  expect(against).toMatchObject({ against: 'main~2', withPeers: false, rounds: 5 });
  expect(parseOptions(['--compare', 'old.json'])).toMatchObject({ compare: 'old.json' });
});

test('the bench options select parts of what runs alone', () => {
  expect(parseOptions(['--only', 'cluster', '--parts', 'kill'])).toMatchObject({ parts: ['kill'] });
  expect(parseOptions(['--only', 'client', '--parts', 'kills,calls'])).toMatchObject({
    clientParts: ['calls', 'kills'],
  });
});

// prettier-ignore
test.each([
  ['an unknown case',        ['--only', 'chekc'],                           'does not know chekc'],
  ['one that runs alone',    ['--only', 'check,memory'],                    'memory runs alone'],
  ['two before',             ['--against', 'a', '--compare', 'b'],          'choose one'],
  ['nothing to compare',     ['--only', 'cluster', '--against', 'a'],       'not of cluster'],
  ['no rounds',              ['--rounds', '0'],                             'a number above 0'],
  ['an unknown part',        ['--only', 'cluster', '--parts', 'x'],         'does not know x'],
  ['a part of another',      ['--only', 'client', '--parts', 'scaling'],    'does not know scaling'],
])('the bench options refuse: %s', (_name, args, why) => {
  expect(() => parseOptions(args)).toThrow(why);
});
