// The catalogue's entry for each type, and that the OpenAPI document and its page contain it.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { Value } from '@sinclair/typebox/value';
import { EVENT_CATALOGUE, sampleData } from '../../../src/http/wire/payloads/catalogue.ts';
import { dataSchema } from '../../../src/http/wire/payloads/payload.ts';
import { EVENT_TYPES, type EventEnvelope } from '../../../src/records/events.ts';
import { misfits } from '../../support/catalogue.ts';
import { startServer, type TestServer } from '../../support/server.ts';

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
});
afterAll(() => server.stop());

test('the event catalogue has the 24 types of the contract and ours, each once', () => {
  expect(EVENT_TYPES.slice(24)).toEqual([
    'customer.spend_cap_reached',
    'payment.disputed',
    'alert.triggered',
    'alert.recovered',
    'auto_topup.succeeded',
    'auto_topup.failed',
  ]);
  expect(Object.keys(EVENT_CATALOGUE).sort()).toEqual([...EVENT_TYPES].sort());
});

describe('the OpenAPI document', () => {
  let webhooks: Record<string, { post: ReturnType<typeof JSON.parse> }>;
  let page: string;
  let schemas: Record<string, ReturnType<typeof JSON.parse>>;
  const named = ({ $ref: ref }: { $ref: string }) => schemas[ref.split('/').at(-1)!];
  beforeAll(async () => {
    const { json } = await server.call('GET', '/openapi.json', { key: null });
    ({ webhooks } = json);
    ({ schemas } = json.components);
    page = (await server.call('GET', '/docs', { key: null })).text;
  });

  test('has a webhook for each type, in the order of the contract', () => {
    expect(Object.keys(webhooks)).toEqual([...EVENT_TYPES]);
  });

  test.each([...EVENT_TYPES])('describes %s: schema, example, page', (type) => {
    const { content } = webhooks[type]!.post.requestBody;
    const { schema: envelope, example } = content['application/json'];
    expect(misfits(example as EventEnvelope)).toEqual([]);
    const { properties, required } = named(named(envelope).properties.data);
    for (const field of ['id', 'eventType', 'objectId', 'objectType', 'accountId']) {
      expect(required).toContain(field);
    }
    for (const field of ['organizationId', 'timestamp', 'mode', 'sequence']) {
      expect(required).toContain(field);
    }
    expect(required).not.toContain('test');
    expect(properties.eventType.const).toBe(type);
    expect(page).toContain(`<h3>${type}</h3>`);
    for (const name of Object.keys(properties)) expect(page).toContain(`<code>${name}</code>`);
  });
});

describe('a sample event', () => {
  const id = '01976c2e-5f00-7a10-8000-00000000abcd';

  test.each([...EVENT_TYPES])('of %s has every field, and names its object', (type) => {
    const { about, fields } = EVENT_CATALOGUE[type];
    const data = sampleData(type, id);
    expect(Object.keys(data).sort()).toEqual(Object.keys(fields).sort());
    const named =
      about[0] === 'CUSTOMER' || about[0] === 'ENTITLEMENT' || about[0] === 'ORGANIZATION';
    if (!named) expect(Object.values(data)).toContain(id);
  });

  test.each([...EVENT_TYPES])('of %s fits its schema with `test` beside it', (type) => {
    const sample = { ...sampleData(type, id), test: true };
    const common = {
      id,
      eventType: type,
      objectId: id,
      objectType: EVENT_CATALOGUE[type].about[0],
      accountId: null,
      organizationId: id,
      timestamp: '2026-11-21T12:00:00.000Z',
      mode: 'test',
      sequence: 1,
    };
    const schema = dataSchema(type, EVENT_CATALOGUE[type]);
    expect([...Value.Errors(schema, { ...common, ...sample })]).toEqual([]);
    // A required field must be present, with its own kind.
    for (const name of Object.keys(EVENT_CATALOGUE[type].fields)) {
      const { [name]: _left, ...rest } = { ...common, ...sample } as Record<string, unknown>;
      expect([name, Value.Check(schema, rest)]).toEqual([name, false]);
      expect([name, Value.Check(schema, { ...rest, [name]: Symbol() })]).toEqual([name, false]);
    }
  });
});
