// Who may call which operation and what it writes to the audit log: the whole table, as a file to
// read, and what holds for all of it.
import { expect, test } from 'bun:test';
import { Type } from '@sinclair/typebox';
import type { Edge } from '../../../src/http/edge/edge.ts';
import type { Audit, Guarded, PortalAudit } from '../../../src/http/policy.ts';
import { expectGenerated } from '../../support/generated.ts';
import { type Listed, listOperations } from './operations.ts';

const COLUMNS = [58, 36, 33, 20];

const HEAD = `# Who may call each operation, and what it writes to the audit log: src/http/policy.ts says what
# the words mean. Written by \`bun run policy\` from the definitions in src/http/routes.
`;

const line = (cells: readonly string[]): string =>
  cells
    .map((cell, at) => cell.padEnd(COLUMNS[at] ?? 0))
    .join(' ')
    .trimEnd();

function auditOf(audit: Audit | PortalAudit | 'nothing'): string {
  if (audit === 'nothing') return audit;
  const { object, before } = audit;
  const words = [
    object,
    ...('id' in audit ? [`by ${audit.id}`] : []),
    ...('as' in audit ? [`as ${audit.as}`] : []),
    ...(before === undefined ? [] : [`before: ${before.operationId}`]),
    ...('isOfBothModes' in audit ? [bothModes(audit.isOfBothModes)] : []),
    ...('isRoutine' in audit ? ['routine'] : []),
  ];
  return words.join(', ');
}

const bothModes = (of: Audit['isOfBothModes']): string =>
  typeof of === 'object' ? `${of.join(' ')} of both modes` : 'of both modes';

function cellsOf(listed: Listed): string[] {
  const { access, operation, name } = listed;
  const begin = [name.replaceAll(/:(\w+)/g, '{$1}'), operation.operationId];
  if (access === 'open') return [...begin, 'anybody', '-', '-'];
  if (access === 'portal') {
    const { page, audit } = operation;
    const who = page === undefined ? 'the customer' : `the customer, ${page} link`;
    return [...begin, who, '-', auditOf(audit)];
  }
  const { roles, scopes, audit } = operation;
  const keys = `${access === 'group' ? 'group: ' : ''}${scopes.join(' ')}`;
  return [...begin, roles.join(' ') || '-', keys, auditOf(audit)];
}

test('src/http/policy.txt has the policy of every operation', () => {
  const columns = line(['# operation', 'name', 'members', 'keys', 'audit log']);
  const lines = listOperations().map((listed) => line(cellsOf(listed)));
  expectGenerated({
    path: 'src/http/policy.txt',
    text: `${HEAD}${[columns, ...lines].join('\n')}\n`,
    command: 'bun run policy',
  });
});

const keyed = listOperations().flatMap((listed) =>
  listed.access === 'portal' || listed.access === 'open' ? [] : [listed],
);

test('who may only read is offered reads alone', () => {
  const reading = keyed.filter(
    ({ operation }) => operation.roles.length === 4 || operation.scopes.includes('read'),
  );
  expect(reading.length).toBeGreaterThan(40);
  expect(reading.filter(({ method }) => method !== 'GET').map(({ name }) => name)).toEqual([]);
});

test('what can change balances in bulk, or hold them, is for owners and admins', () => {
  const paths = ['/check', '/check/batch', '/track/batch', '/events/ingest', '/reservations'];
  const found = keyed.filter(({ name }) => paths.some((path) => name === `POST ${path}`));
  expect(found).toHaveLength(paths.length);
  for (const { name, operation } of found) {
    expect([name, operation.roles]).toEqual([name, ['owner', 'admin']]);
  }
});

test('a member has no more of a group than its keys have', () => {
  const ofGroups = keyed.filter(({ access }) => access === 'group');
  expect(ofGroups.length).toBeGreaterThan(4);
  for (const { operation } of ofGroups) {
    expect([operation.roles, operation.scopes]).toEqual([[], ['all']]);
  }
});

test('an operation that does not state its policy does not compile', () => {
  const at = { operationId: 'refundInvoice', method: 'POST', path: '/' } as const;
  const said = { ...at, summary: '', tag: 'Invoices', answers: {} } as const;
  const policy = {
    client: 'invoices.refund',
    roles: ['owner'],
    scopes: ['all'],
    audit: 'nothing',
  } as const;
  const { client: _client, ...noClient } = policy;
  const { roles: _roles, ...noRoles } = policy;
  const { scopes: _scopes, ...noScopes } = policy;
  const { audit: _audit, ...noAudit } = policy;
  const edge = { organisation: () => [], group: () => [], portal: () => [] } as unknown as Edge;
  const act = () => new Response();
  edge.organisation({ ...said, ...policy }, act);
  // @ts-expect-error: it says nothing
  edge.organisation(said, act);
  // @ts-expect-error: which method of the client calls it is not said
  edge.organisation({ ...said, ...noClient }, act);
  // @ts-expect-error: which members may call it
  edge.organisation({ ...said, ...noRoles }, act);
  // @ts-expect-error: which keys
  edge.organisation({ ...said, ...noScopes }, act);
  // @ts-expect-error: what it writes to the audit log
  edge.organisation({ ...said, ...noAudit }, act);
  // @ts-expect-error: a role has no more than those above it
  edge.organisation({ ...said, ...policy, roles: ['support'] }, act);
  // @ts-expect-error: a key with the scope `all` may call everything
  edge.organisation({ ...said, ...policy, scopes: ['read'] }, act);
  // @ts-expect-error: no such scope
  edge.organisation({ ...said, ...policy, scopes: ['all', 'write'] }, act);
  // @ts-expect-error: as for an organisation
  edge.group(said, act);
  // @ts-expect-error: what it writes to the audit log
  edge.portal(said, act);
  const open: Guarded = { access: 'open', operation: { ...said, body: Type.Object({}) } };
  expect(open.operation.operationId).toBe('refundInvoice');
});
