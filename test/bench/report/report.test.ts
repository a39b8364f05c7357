import { expect, test } from 'bun:test';
import type { WayName } from '../cases.ts';
import { beforeOf, changesOf } from './comparison.ts';
import { FIGURES, type Figures, readResults, type Result } from './figures.ts';
import { goalsOf } from './goals.ts';
import { ratioByRound, ratioOfRuns, spreadOf } from './spread.ts';
import { short, spread, table } from './text.ts';

const NOTHING = Object.fromEntries(Object.keys(FIGURES).map((name) => [name, []]));

function result(way: WayName, figures: Partial<Figures>, name = 'track-32'): Result {
  return { case: name, way, figures: { ...(NOTHING as unknown as Figures), ...figures } };
}

test('the spread in a bench report has the middle of an odd and of an even number of values', () => {
  expect(spreadOf([30, 10, 20])).toEqual({ min: 10, median: 20, max: 30 });
  expect(spreadOf([40, 10, 20, 30])).toEqual({ min: 10, median: 25, max: 40 });
});

test('a ratio in a bench report is taken by round in one run, and of all pairs in two', () => {
  // The second round was disturbed, for both.
  expect(ratioByRound([40, 80], [50, 100])).toEqual({ min: 0.8, median: 0.8, max: 0.8 });
  expect(ratioOfRuns([40, 80], [50, 100])).toEqual({ min: 0.4, median: 0.8, max: 1.6 });
});

test('a bench report has before and after in one run, figure by figure', () => {
  const results = [
    result('tollhouse', { server: [40, 80], rate: [10, 5], redis: [] }),
    result('before', { server: [50, 100], rate: [8, 4], redis: [1, 1] }),
    result('tollhouse', { server: [1] }, 'check-32'),
  ];
  const before = beforeOf(results, null);
  expect(before).toMatchObject({ way: 'before', isSameRun: true });
  const changes = changesOf(results, before!);
  expect(changes.map(({ figure, ratio }) => [figure, ratio])).toEqual([
    ['server', { min: 0.8, median: 0.8, max: 0.8 }],
    ['rate', { min: 1.25, median: 1.25, max: 1.25 }],
  ]);
});

test('a bench report has no ratio for a cost that was nothing', () => {
  const results = [
    result('tollhouse', { postgres: [0.07, 0] }),
    result('before', { postgres: [0.07, 0] }),
  ];
  expect(changesOf(results, beforeOf(results, null)!)).toEqual([]);
});

test('a bench report takes before from the file of an earlier run', () => {
  const file = JSON.stringify({ results: [result('tollhouse', { server: [50, 100] })] });
  const results = [result('tollhouse', { server: [40, 80] })];
  const before = beforeOf(results, readResults(file));
  expect(before).toMatchObject({ way: 'tollhouse', isSameRun: false });
  expect(changesOf(results, before!)[0]?.ratio).toEqual({ min: 0.4, median: 0.8, max: 1.6 });
  expect(beforeOf(results, null)).toBeNull();
});

test.each(['{}', '{"results":[{}]}', '{"results":[{"figures":{"server":1}}]}'])(
  'a bench report refuses the file: %s',
  (text) => {
    expect(() => readResults(text)).toThrow('--compare needs');
  },
);

test('a bench report wants a cost low and a ratio high; the median decides', () => {
  const results = [
    result('tollhouse', { server: [39, 40, 90], postgres: [25, 25, 1] }),
    result('tollhouse', { rate: [90, 90, 1] }, 'track-256'),
    result('plain', { rate: [10, 10, 10] }, 'track-256'),
    result('lossy', { rate: [200, 200, 200] }, 'track-256'),
    result('tollhouse', { rate: [121] }, 'ingest-8'),
  ];
  const goals = goalsOf(results, null).map((goal) => [goal.case, goal.of, goal.isReached]);
  expect(goals).toEqual([
    ['track-32', { figure: 'server' }, true],
    ['track-32', { figure: 'postgres' }, false],
    ['track-256', { rateOver: 'plain' }, true],
    ['track-256', { rateOver: 'lossy' }, false],
    ['ingest-8', 'events a second', true],
  ]);
});

test('a bench report is a table in Markdown', () => {
  expect(table(['case', 'way', 'us'], [['a', 'b', short(1.5)]])).toBe(
    '| case | way | us |\n| --- | --- | ---: |\n| a | b | 1.5 |',
  );
  expect(spread(spreadOf([1, 2, 3]), short)).toBe('2 (1 to 3)');
  expect([0.1234, 12.34, 12_345].map(short)).toEqual(['0.123', '12.3', '12,345']);
});
