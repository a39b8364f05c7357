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

test.each(Object.entries(TABLE))('%s may be called by the owner and %p', (operationId, allowed) => {
  const may = ROLES.filter((role) => mayCall(role, operationId, 'POST'));
  expect(may).toEqual(ROLES.filter((role) => role === 'owner' || allowed.includes(role)));
});

test('every operation is open to the owner, and reads to all members, but for programs', () => {
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

test('the audit log may be read by owners, admins and keys with the scope read', () => {
  const all = [...ROLES, 'all', 'read', 'metering'] as const;
  for (const name of AUDIT_LOG) {
    const may = all.filter((scope) => mayCall(scope, name, 'GET'));
    expect(may).toEqual(['owner', 'admin', 'all', 'read']);
  }
});

test('every operation of the table of roles exists', () => {
  const names = new Set(listOperations().map(({ operation }) => operation.operationId));
  expect(Object.keys(TABLE).filter((name) => !names.has(name))).toEqual([]);
});
