// The amount up to which refunds need no code is for the refunds of a member in an hour.
import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test';
import { ids } from '../../src/platform/ids.ts';
import { insertAuditRecord, type NewAuditRecord } from '../../src/records/audit-log.ts';
import { aMember, signedIn } from '../http/people/tab.ts';
import { startServer, type TestServer } from '../support/server.ts';

setDefaultTimeout(30_000);

let server: TestServer;
beforeAll(async () => {
  server = await startServer();
  const key = server.organisation.liveKey;
  const body = { refund_step_up_amount: '50' };
  expect((await server.call('PATCH', '/organization/security', { body, key })).status).toBe(200);
});
afterAll(() => server.stop());

test("a member's refunds of the last hour count to the limit, and no others", async () => {
  const { sql, organisation } = server;
  const user = await aMember(server, 'support');
  const tab = await signedIn(server, user);
  const live = `/dashboard/${organisation.id}/live`;
  const refund = async (amount: string) => {
    await tab.get(`${live}/payments`);
    const there = `${live}/payments/00000000-0000-7000-8000-000000000000/refund`;
    return (await tab.post(there, { amount })).status;
  };
  const refunded = async (amount: string, more: Partial<NewAuditRecord> = {}) =>
    insertAuditRecord(sql, {
      id: ids.next(),
      otherId: null,
      organisationId: organisation.id,
      groupId: null,
      mode: 'live',
      at: new Date(),
      actorKind: 'user',
      actorId: user.id,
      actorLabel: user.email,
      sessionId: null,
      address: null,
      userAgent: null,
      requestId: null,
      operation: 'refundPayment',
      objectType: 'payment',
      objectId: null,
      status: 200,
      before: null,
      after: { amount, currency: 'EUR' },
      ...more,
    });
  await refunded('1000.00', { at: new Date(Date.now() - 3_600_000) });
  await refunded('1000.00', { mode: 'test' });
  await refunded('1000.00', { actorId: ids.next() });
  await refunded('1000.00', { organisationId: server.other.id });
  await refunded('1000.00', { operation: 'createProduct' });
  expect(await refund('50')).toBe(404);
  await refunded('20.50');
  await refunded('9.5');
  expect(await refund('20')).toBe(404);
  expect(await refund('20.01')).toBe(303);
});
