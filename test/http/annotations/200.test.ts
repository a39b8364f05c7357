import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { audit } from '../../../src/database/audit.ts';
import { misfitsOf } from '../../support/catalogue.ts';
import { startServer, type TestServer } from '../../support/server.ts';
import {
  aCustomer,
  add,
  anInvoice,
  aSubscription,
  type ObjectRef,
  RESOURCES,
  told,
} from './annotating.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(async () => {
  expect(await misfitsOf(server.sql)).toEqual([]);
  expect(await audit(server.sql)).toEqual([]);
  await server.stop();
});

const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe.each(RESOURCES)('%s', (path, resource) => {
  test('POST answers 201 with every field', async () => {
    const on = await aCustomer(server);
    const reply = await add(server, resource, { ...on, name: 'Größe “XL” <b>' });
    expect(reply.status).toBe(201);
    expect(reply.json).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{8}-[0-9a-f]{4}-7/),
      ...on,
      name: 'Größe “XL” <b>',
      ...resource.extra,
      created_at: expect.stringMatching(ISO),
    });
  });

  test.each([
    ['customer', 'its own'],
    ['invoice', "its customer's"],
    ['subscription', "its customer's"],
    ['invoice', "nobody's"],
  ])('POST on a %s answers its object, and the event is %s', async (type, whose) => {
    const customer = await aCustomer(server);
    const owner = whose === "nobody's" ? null : customer.object_id;
    const objects: Record<string, () => ObjectRef | Promise<ObjectRef>> = {
      customer: () => customer,
      invoice: () => anInvoice(server, owner),
      subscription: () => aSubscription(server, customer.object_id),
    };
    const on = await objects[type]!();
    const { json: made } = await add(server, resource, on);
    const [event, ...rest] = await told(server, made.id);
    expect(rest).toEqual([]);
    const objectType = type.toUpperCase();
    expect(event!.data).toMatchObject({
      eventType: `${resource.kind}.created`,
      objectType: resource.kind.toUpperCase(),
      objectId: made.id,
      accountId: owner,
      timestamp: made.created_at,
      sequence: 1,
      mode: 'test',
      ...(resource.kind === 'tag'
        ? {
            tagId: made.id,
            tagName: 'vip',
            controlTag: false,
            taggedObjectType: objectType,
            taggedObjectId: on.object_id,
          }
        : {
            customFieldId: made.id,
            name: 'vip',
            value: '4711',
            fieldObjectType: objectType,
            fieldObjectId: on.object_id,
          }),
    });
  });

  test('DELETE answers 204, once, and its event follows that of the creation', async () => {
    const { json: made } = await add(server, resource, await aCustomer(server));
    const replies = await Promise.all(
      Array.from({ length: 6 }, () => server.call('DELETE', `${path}/${made.id}`)),
    );
    const statuses = replies.map(({ status }) => status).toSorted((a, b) => a - b);
    expect(statuses).toEqual([204, 404, 404, 404, 404, 404]);
    expect(replies.find(({ status }) => status === 204)!.text).toBe('');
    const [created, deleted, ...rest] = await told(server, made.id);
    expect(rest).toEqual([]);
    expect(deleted!.type).toBe(`${resource.kind}.deleted`);
    // It keeps the old value.
    const { id, eventType, timestamp, sequence, ...said } = deleted!.data;
    expect([id, eventType, sequence]).toEqual([deleted!.id, deleted!.type, 2]);
    expect(created!.data).toMatchObject(said);
    expect(timestamp > created!.timestamp).toBe(true);
  });

  test('after a DELETE its name can be used again', async () => {
    const on = await aCustomer(server);
    const { json: first } = await add(server, resource, on);
    await server.call('DELETE', `${path}/${first.id}`);
    const again = await add(server, resource, on);
    expect(again.status).toBe(201);
    expect(again.json.id).not.toBe(first.id);
  });

  test('GET lists, newest first, and filters', async () => {
    const key = server.other.testKey;
    const one = await aCustomer(server, key);
    const two = await aCustomer(server, key);
    for (const name of ['a', 'b', 'c']) await add(server, resource, { ...one, name }, { key });
    await add(server, resource, { ...two, name: 'a' }, { key });
    const list = async (query = '') => {
      const { json } = await server.call('GET', `${path}${query}`, { key });
      const names = json.data.map((item: { name: string }) => item.name).join('');
      return [names, json.limit, json.offset, json.has_more];
    };
    expect(await list()).toEqual(['acba', 50, 0, false]);
    expect(await list('?limit=2&offset=1')).toEqual(['cb', 2, 1, true]);
    expect(await list(`?object_type=customer&object_id=${one.object_id}`)).toEqual([
      'cba',
      50,
      0,
      false,
    ]);
    expect(await list(`?object_id=${two.object_id.toUpperCase()}`)).toEqual(['a', 50, 0, false]);
    expect(await list('?object_type=invoice')).toEqual(['', 50, 0, false]);
    expect(await list('?name=a')).toEqual(['aa', 50, 0, false]);
    expect(await list('?name=A')).toEqual(['', 50, 0, false]);
    const { json } = await server.call('GET', `${path}?name=b`, { key });
    expect(json.data[0]).toEqual({ ...json.data[0], ...one, ...resource.extra });
  });

  test('POST again with its Idempotency-Key gets the first answer and writes one event', async () => {
    const on = await aCustomer(server);
    const headers = { 'idempotency-key': `${path} again` };
    const first = await add(server, resource, on, { headers });
    const second = await add(server, resource, on, { headers });
    expect([second.status, second.text]).toEqual([201, first.text]);
    expect(second.headers.get('idempotency-replayed')).toBe('true');
    expect(await told(server, first.json.id)).toHaveLength(1);
  });

  test('a tag and a custom field may have the same name', async () => {
    const on = await aCustomer(server);
    const statuses = await Promise.all(
      RESOURCES.map(async ([, each]) => (await add(server, each, on)).status),
    );
    expect(statuses).toEqual([201, 201]);
  });
});
