import { expect, test } from 'bun:test';
import { mayCall, type Scope } from '../../../src/http/edge/scopes.ts';
import { listOperations } from './operations.ts';

const ROLES = ['owner', 'admin', 'support', 'read_only'] as const;

/** What the operations that need a key and are no GET are open to, besides the owner. */
// prettier-ignore
const TABLE: Readonly<Record<string, readonly Scope[]>> = {
  createGrant:         ['admin', 'support'],
  refundPayment:       ['admin', 'support'],
  cancelSubscription:  ['admin', 'support'],
  voidInvoice:         ['admin', 'support'],
  createTag:           ['admin', 'support'],
  createPortalToken:   ['admin', 'support'],
  createApiKey:        ['admin'],
  revokeApiKey:        ['admin'],
  createProduct:       ['admin'],
  createMeter:         ['admin'],
  updateOrganization:  ['admin'],
  putLogo:             ['admin'],
  deleteLogo:          ['admin'],
  createWebhookEndpoint: ['admin'],
  createInvitation:    ['admin'],
  revokeInvitation:    ['admin'],
  updateMember:        ['admin'],
  removeMember:        ['admin'],
  updateSecurity:      [],
  connectProcessor:    [],
  disconnectProcessor: [],
};

const AUDIT_LOG = ['listAuditLog', 'downloadAuditLog'];

test.each(Object.entries(TABLE))('%s: the owner and %p', (operationId, allowed) => {
  const may = ROLES.filter((role) => mayCall(role, operationId, 'POST'));
  expect(may).toEqual(ROLES.filter((role) => role === 'owner' || allowed.includes(role)));
});

test('each operation is open to the owner, and reading to all members, but for programs', () => {
  for (const { operation, method, access } of listOperations()) {
    const { operationId: name } = operation;
    if (access !== 'organisation' || name === 'streamEvents') continue;
    if (AUDIT_LOG.includes(name)) continue;
    const may = ROLES.filter((role) => mayCall(role, name, method));
    expect([name, may.includes('owner')]).toEqual([name, true]);
    expect([name, may.includes('read_only')]).toEqual([name, method === 'GET']);
  }
  expect(ROLES.filter((role) => mayCall(role, 'streamEvents', 'GET'))).toEqual([]);
});

test('owners, admins and keys that read all may read the audit log', () => {
  const all = [...ROLES, 'all', 'read', 'metering'] as const;
  for (const name of AUDIT_LOG) {
    const may = all.filter((scope) => mayCall(scope, name, 'GET'));
    expect(may).toEqual(['owner', 'admin', 'all', 'read']);
  }
});

test('the operations of the table exist', () => {
  const names = new Set(listOperations().map(({ operation }) => operation.operationId));
  expect(Object.keys(TABLE).filter((name) => !names.has(name))).toEqual([]);
});
