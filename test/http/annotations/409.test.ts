import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { ANNOTATIONS_PER_OBJECT_MAX } from '../../../ledger/limits.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import { aCustomer, add, anInvoice, RESOURCES } from './annotating.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

const WORDS = { tag: 'tag', custom_field: 'custom field' } as const;
const LIMITED = {
  tag: 'tags (LIMIT_TAGS_PER_OBJECT)',
  custom_field: 'custom fields (LIMIT_CUSTOM_FIELDS_PER_OBJECT)',
} as const;

describe.each(RESOURCES)('%s', (path, resource) => {
  const count = async (objectId: string): Promise<number> => {
    const { json } = await server.call('GET', `${path}?limit=200&object_id=${objectId}`);
    return json.data.length;
  };

  test('POST of a name that the object has is 409, also at once and however its id is written', async () => {
    const on = await aCustomer(server);
    const shouted = { ...on, object_id: on.object_id.toUpperCase() };
    const replies = await Promise.all(
      Array.from({ length: 8 }, (_, n) => add(server, resource, n % 2 === 0 ? on : shouted)),
    );
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([201, ...Array.from({ length: 7 }, () => 409)]);
    expect(replies.find(({ status }) => status === 409)!.json.error).toEqual({
      type: 'conflict',
      message: `the customer has a ${WORDS[resource.kind]} of this name`,
    });
    expect(await count(on.object_id)).toBe(1);
    const events = await server.sql`
      select 1 from events where type = ${`${resource.kind}.created`}
        and coalesce(data ->> 'taggedObjectId', data ->> 'fieldObjectId') = ${on.object_id}`;
    expect(events).toHaveLength(1);
  });

  test('a name in capitals, or on another object, is another name', async () => {
    const on = await aCustomer(server);
    for (const body of [
      on,
      { ...on, name: 'VIP' },
      await aCustomer(server),
      await anInvoice(server),
    ]) {
      expect((await add(server, resource, body)).status).toBe(201);
    }
  });

  test('an object has no more annotations than the limit, also when they are made at once', async () => {
    const on = await aCustomer(server);
    const replies = await Promise.all(
      Array.from({ length: ANNOTATIONS_PER_OBJECT_MAX + 7 }, (_, n) =>
        add(server, resource, { ...on, name: `n${n}` }),
      ),
    );
    const refused = replies.filter(({ status }) => status !== 201);
    expect(refused).toHaveLength(7);
    for (const { status, json } of refused) {
      expect([status, json.error.type]).toEqual([409, 'conflict']);
      expect(json.error.message).toBe(`an object has at most 50 ${LIMITED[resource.kind]}`);
    }
    expect(await count(on.object_id)).toBe(ANNOTATIONS_PER_OBJECT_MAX);
    // An existing name is reported first.
    const again = await add(server, resource, { ...on, name: replies[0]!.json.name ?? 'n0' });
    expect(again.status).toBe(409);
    const { json } = await server.call('GET', `${path}?object_id=${on.object_id}&limit=1`);
    await server.call('DELETE', `${path}/${json.data[0].id}`);
    expect((await add(server, resource, { ...on, name: 'room' })).status).toBe(201);
  });
});
