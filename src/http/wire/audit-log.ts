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
        'An operation of this document, a command, or an action of a user: `updateProduct`, ' +
        '`key create`, `signIn`.',
    }),
  ),
  object_id: Type.Optional(Type.String({ minLength: 1, maxLength: 255 })),
  from: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only entries at or after this time.' }),
  ),
  to: Type.Optional(
    Type.String({ format: 'date-time', description: 'Only entries before this time.' }),
  ),
};

export const AuditLogQuery = Body({ ...PAGE, ...FILTER });
export const AuditLogFilter = Body(FILTER);

export const AuditLogActor = Type.Object({
  kind: ActorKind,
  id: Nullable({ ...Uuid, description: 'Of the user, the key or the customer.' }),
  label: Type.String({
    description:
      'As of then: the e-mail address of a user, the name and the last four characters of a ' +
      'key, the e-mail address or the external id of a customer, the account and the host of ' +
      'a command line.',
  }),
  session_id: Nullable({
    ...Uuid,
    description: 'The session of a user; for a customer the id of the portal link.',
  }),
});

export const AuditLogObject = Type.Object({
  type: Type.String({ description: 'The kind of object, such as `product` or `api_key`.' }),
  id: Nullable(Type.String()),
});

export const AuditLogEntry = Type.Object({
  id: Uuid,
  at: { ...Timestamp, description: 'Real time, also if a test clock was moved.' },
  mode: Nullable({ ...Mode, description: 'null: both modes.' }),
  actor: AuditLogActor,
  address: Nullable(Type.String({ description: 'The IP address of the caller.' })),
  user_agent: Nullable(Type.String()),
  request_id: Nullable(Type.String({ description: 'The `x-request-id` of the answer.' })),
  operation: Type.String({
    description:
      'An operation of this document, a command, or an action of a user such as `signIn` and ' +
      '`signOut`.',
  }),
  object: AuditLogObject,
  status: Nullable(Type.Integer({ description: 'Of the answer; null for a command.' })),
  before: State('The changed fields before the call. null: there was nothing, or it is not known.'),
  after: State('The changed fields after the call. null: nothing is left.'),
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
