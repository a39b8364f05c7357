// Lists of costs that say what cannot be.
import { afterAll, beforeAll, expect, test } from 'bun:test';
import { startServer, type TestServer } from '../../support/server.ts';
import { cost, features, listsOf, make, patch, pathsOf, post } from './setting.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  await features(server, 'a', 'b', 'taken', 'former');
  await make(server, 'fine', { scale: 4 });
  await make(server, 'finest', { scale: 9 });
  for (const aggregation of ['max', 'last']) await make(server, aggregation, { aggregation });
  await make(server, 'unique', { aggregation: 'unique', unique_property: 'user' });
  await make(server, 'other', { credit_costs: [cost('taken'), cost('former')] });
  await patch(server, 'other', [cost('taken')]);
  await make(server, 'pool', { scale: 6, credit_costs: [cost('a')] });
});
afterAll(() => server.stop());

const many = Array.from({ length: 51 }, (_, index) => cost(`m${index}`));

// prettier-ignore
const LISTS: [string, unknown, string][] = [
  // what                            the list                                       at
  ['an object',                      {},                                            'credit_costs'],
  ['51 costs',                       many,                                          'credit_costs'],
  ['no feature',                     [{ cost: '1' }],                               'credit_costs.0.feature_key'],
  ['no cost',                        [{ feature_key: 'b' }],                        'credit_costs.0.cost'],
  ['an unknown field',               [{ ...cost('b'), per: 2 }],                    'credit_costs.0.per'],
  ['a cost that is a number',        [{ feature_key: 'b', cost: 1 }],               'credit_costs.0.cost'],
  ['a cost of 0',                    [cost('b', '0')],                              'credit_costs.0.cost'],
  ['a cost of 0.0',                  [cost('b', '0.0')],                            'credit_costs.0.cost'],
  ['a negative cost',                [cost('b', '-1')],                             'credit_costs.0.cost'],
  ['a cost with an exponent',        [cost('b', '1e3')],                            'credit_costs.0.cost'],
  ['an empty cost',                  [cost('b', '')],                               'credit_costs.0.cost'],
  ['7 decimals, of 6',               [cost('b', '0.0000001')],                      'credit_costs.0.cost'],
  ['3 decimals and those of its feature', [cost('a'), cost('fine', '0.001')],       'credit_costs.1.cost'],
  ['a feature that is finer',        [cost('finest')],                              'credit_costs.0.cost'],
  ['a cost beyond all quantities',   [cost('b', '1000000000')],                     'credit_costs.0.cost'],
  ['a feature twice',                [cost('a'), cost('b'), cost('a', '2')],        'credit_costs.2.feature_key'],
  ['a member of another pool',       [cost('a'), cost('taken')],                    'credit_costs.1.feature_key'],
  ['one of its former lists',        [cost('former')],                              'credit_costs.0.feature_key'],
  ['another pool',                   [cost('other')],                               'credit_costs.0.feature_key'],
  ['itself',                         [cost('pool')],                                'credit_costs.0.feature_key'],
  ['a meter of max',                 [cost('max')],                                 'credit_costs.0.feature_key'],
  ['a meter of last',                [cost('last')],                                'credit_costs.0.feature_key'],
  ['a meter of unique',              [cost('unique')],                              'credit_costs.0.feature_key'],
];

test.each(LISTS)('credit_costs with %s are 400', async (_what, credit_costs, at) => {
  const body = { credit_costs };
  for (const reply of [
    await server.call('PATCH', '/meters/pool', { body }),
    await server.call('PUT', '/meters/pool', { body }),
  ]) {
    expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
    expect(pathsOf(reply)).toEqual([at]);
  }
  expect(await listsOf(server, 'pool')).toHaveLength(1);
});

// A new pool cannot have the members of the one above, and its own name is of no meter yet.
const NEW = LISTS.map(([what, list, at]) => {
  const text = JSON.stringify(list).replaceAll('"a"', '"b"').replaceAll('"pool"', '"new"');
  return [what, JSON.parse(text), at] as const;
}).filter(([what]) => what !== 'a feature twice');

test.each(NEW)('POST of a credit pool with %s is 400', async (_what, credit_costs, at) => {
  const made = await post(server, 'new', { scale: 6, credit_costs });
  const put = await server.call('PUT', '/meters/new', { body: { scale: 6, credit_costs } });
  for (const reply of [made, put]) {
    expect([reply.status, reply.json.error.type]).toEqual([400, 'invalid_request']);
    expect(pathsOf(reply)).toEqual([at]);
  }
  expect((await server.call('GET', '/meters/new')).status).toBe(404);
});

test('all issues of a list of credit_costs are listed at once', async () => {
  const reply = await patch(server, 'pool', [cost('max'), cost('b', '0'), cost('taken')]);
  expect(pathsOf(reply)).toEqual([
    'credit_costs.0.feature_key',
    'credit_costs.1.cost',
    'credit_costs.2.feature_key',
  ]);
});

test.each(['count', 'max', 'last'])('a %s cannot be a credit pool', async (aggregation) => {
  const reply = await post(server, 'counted', { aggregation, credit_costs: [cost('b')] });
  expect([reply.status, pathsOf(reply)]).toEqual([400, ['credit_costs']]);
  expect((await server.call('GET', '/meters/counted')).status).toBe(404);
});

test.each(['taken', 'former'])(
  'a member of another credit pool, now or once, cannot become a pool: %s',
  async (slug) => {
    const reply = await patch(server, slug, [cost('b')]);
    expect([reply.status, pathsOf(reply)]).toEqual([400, ['credit_costs']]);
    expect(reply.json.error.message).toBe(
      'credit_costs cannot be of a feature that "other" pays for',
    );
  },
);

test('a credit pool whose list is empty still cannot be a member', async () => {
  await make(server, 'emptied', { credit_costs: [cost('fine')] });
  await patch(server, 'emptied', []);
  expect(pathsOf(await patch(server, 'pool', [cost('emptied')]))).toEqual([
    'credit_costs.0.feature_key',
  ]);
});

test('of two credit pools that would pay for each other at once, one does', async () => {
  for (let round = 0; round < 5; round += 1) {
    const [one, other] = [`x${round}`, `y${round}`];
    await features(server, one, other);
    const replies = await Promise.all([
      patch(server, one, [cost(other)]),
      patch(server, other, [cost(one)]),
    ]);
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200, 400]));
  }
});

test('of many credit pools that take one member at once, one has it', async () => {
  await features(server, 'wanted');
  const replies = await Promise.all(
    Array.from({ length: 8 }, (_, n) => post(server, `p${n}`, { credit_costs: [cost('wanted')] })),
  );
  const made = replies.filter(({ status }) => status === 201);
  expect(made).toHaveLength(1);
  for (const reply of replies.filter((one) => one !== made[0])) {
    expect([reply.status, pathsOf(reply)]).toEqual([400, ['credit_costs.0.feature_key']]);
    expect(reply.json.error.message).toBe(
      `credit_costs.0.feature_key is paid for by "${made[0]!.json.slug}"`,
    );
  }
});
