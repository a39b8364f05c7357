// A change of a product, in the audit log.
import type { Static } from '@sinclair/typebox';
import type { AuditLogEntry } from '../wire/audit-log.ts';
import { SAMPLE } from '../wire/payloads/samples.ts';

export const AUDIT_LOG_ENTRY = {
  id: '01976c2e-5f00-7a10-8000-000000000031',
  at: '2026-11-22T09:30:00.000Z',
  mode: 'live',
  actor: {
    kind: 'user',
    id: '01976c2e-5f00-7a10-8000-000000000032',
    label: 'ada@example.com',
    session_id: '01976c2e-5f00-7a10-8000-000000000033',
  },
  address: '192.0.2.7',
  user_agent: 'Mozilla/5.0',
  request_id: '01976c2e-5f00-7a10-8000-000000000034',
  operation: 'updateProduct',
  object: { type: 'product', id: SAMPLE.productId },
  status: 200,
  before: { name: 'Pro' },
  after: { name: 'Pro 2026' },
} satisfies Static<typeof AuditLogEntry>;
