// A list is its first page when it is awaited, and all of its rows in a loop.
import { describe, expect, test } from 'bun:test';
import { List, type PageParams } from '../../src/client/page.ts';

type Row = { readonly id: string };

/** A list of so many rows, in pages of two, and what was asked for. */
function listOf(count: number, params: PageParams = {}) {
  const rows = Array.from({ length: count }, (_, at) => ({ id: String(at) }));
  const asked: PageParams[] = [];
  const read = (query: PageParams) => {
    asked.push(query);
    const { limit = 2, offset = 0, after } = query;
    const from = after === undefined ? offset : Number(after) + 1;
    const data = rows.slice(from, from + limit);
    return Promise.resolve({ data, limit, offset, hasMore: from + limit < count });
  };
  return { list: new List<Row>(read, params), asked };
}

async function idsOf(list: List<Row>): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id } of list) ids.push(id);
  return ids;
}

test('a client list that is awaited is its first page', async () => {
  const { list, asked } = listOf(5);
  expect(await list).toEqual({
    data: [{ id: '0' }, { id: '1' }],
    limit: 2,
    offset: 0,
    hasMore: true,
  });
  expect(asked).toEqual([{}]);
});

test('a client list fetches nothing before it is needed, and no page twice', async () => {
  const { list, asked } = listOf(3);
  await Promise.resolve();
  expect(asked).toEqual([]);
  await list;
  expect(await idsOf(list)).toEqual(['0', '1', '2']);
  expect(asked).toEqual([{}, { after: '1' }]);
});

describe('a loop over a client list', () => {
  test.each([0, 1, 2, 3, 4, 5])('of %d rows has each once', async (count) => {
    const { list } = listOf(count);
    expect(await idsOf(list)).toEqual(Array.from({ length: count }, (_, at) => String(at)));
  });

  test('goes on behind the last row, with the other fields of the query', async () => {
    const { list, asked } = listOf(7, { limit: 3, offset: 1 });
    expect(await idsOf(list)).toEqual(['1', '2', '3', '4', '5', '6']);
    expect(asked).toEqual([
      { limit: 3, offset: 1 },
      { limit: 3, after: '3' },
    ]);
  });

  test('that is left fetches no more', async () => {
    const { list, asked } = listOf(100);
    for await (const { id } of list) if (id === '2') break;
    expect(asked).toHaveLength(2);
  });
});

test('rejects where the list fails', async () => {
  const read = () => Promise.reject(new Error('gone'));
  expect(await new List<Row>(read, {}).catch((error: unknown) => String(error))).toBe(
    'Error: gone',
  );
  expect(idsOf(new List<Row>(read, {}))).rejects.toThrow('gone');
  let ended = 0;
  await new List<Row>(() => listOf(1).list, {}).finally(() => (ended += 1));
  expect(ended).toBe(1);
});
