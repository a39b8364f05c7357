import { type Static, Type } from '@sinclair/typebox';
import { ACTOR_KINDS, type AuditFilter, type AuditRecord } from '../../records/audit-log.ts';
import { rule, ruled } from '../edge/validate.ts';
import { PAGE } from '../list.ts';
import type { FromTo } from './from-to.ts';
import { Body, Mode, Nullable, oneOf, Timestamp, Uuid } from './values.ts';

const ActorKind = oneOf(ACTOR_KINDS);

/** Fields by name, with any values. */
const isFields = (value: unknown) => typeof value === 'object' && value !== null;
const Fields = ruled<Record<string, unknown>>(
  rule(
    'Fields',
    (value) => (isFields(value) ? [] : [{ path: [], message: 'must be an object' }]),
    isFields,
  ),
  { type: 'object', additionalProperties: {} },
);
const State = (description: string) => Nullable({ ...Fields, description });

const FILTER = {
  actor: Type.Optional({ ...Uuid, description: 'The id of the user, the key or the customer.' }),
  actor_kind: Type.Optional(ActorKind),
  operation: Type.Optional(
    Type.String({
      minLength: 1,
      maxLength: 100,
      description:
        'An operation of this document, a command, or what a user did at the door: `updateProduct`, `key create`, `signIn`.',
    }),
  ),
  object_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'What was done from then on.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'What was done before then.' }),
  ),
};

export const AuditLogQuery = Body({ ...PAGE, ...FILTER });
export const AuditLogFilter = Body(FILTER);

export const AuditLogActor = Type.Object({
  kind: ActorKind,
  id: Nullable({ ...Uuid, description: 'Of the user, the key or the customer.' }),
  label: Type.String({
    description:
      'As it was then: the e-mail address of a user, the name and the last four characters of a key, the e-mail address or the external id of a customer, the account and the host of a command line.',
  }),
  session_id: Nullable({
    ...Uuid,
    description: 'Of a user; of a customer the id of the link to its portal.',
  }),
});

export const AuditLogObject = Type.Object({
  type: Type.String({ description: 'As in the name of the operation: `product`, `api_key`.' }),
  id: Nullable(Type.String()),
});

export const AuditLogEntry = Type.Object({
  id: Uuid,
  at: { ...Timestamp, description: 'By the wall clock, also where a test clock was moved.' },
  mode: Nullable({ ...Mode, description: 'Null where it concerns both.' }),
  actor: AuditLogActor,
  address: Nullable(Type.String({ description: 'Where the call came from: an IP address.' })),
  user_agent: Nullable(Type.String()),
  request_id: Nullable(Type.String({ description: 'The `x-request-id` of the answer.' })),
  operation: Type.String({
    description:
      'An operation of this document, a command, or what a user did at the door: `signIn`, `signOut`.',
  }),
  object: AuditLogObject,
  status: Nullable(Type.Integer({ description: 'Of the answer; null for a command.' })),
  before: State(
    'The fields that changed, as they were. Null where nothing was there, or it is not known.',
  ),
  after: State('The fields that changed, as they became. Null where nothing is left.'),
});

export function fromAuditRecord(row: AuditRecord): Static<typeof AuditLogEntry> {
  return {
    id: row.id,
    at: row.at.toISOString(),
    mode: row.mode,
    actor: {
      kind: row.actorKind,
      id: row.actorId,
      label: row.actorLabel,
      session_id: row.sessionId,
    },
    address: row.address,
    user_agent: row.userAgent,
    request_id: row.requestId,
    operation: row.operation,
    object: { type: row.objectType, id: row.objectId },
    status: row.status,
    before: row.before,
    after: row.after,
  };
}

export function toAuditFilter(query: Static<typeof AuditLogFilter>, times: FromTo): AuditFilter {
  return {
    actorId: query.actor,
    actorKind: query.actor_kind,
    operation: query.operation,
    objectId: query.object_id,
    ...times,
  };
}
