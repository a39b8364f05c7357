import { type Static, Type } from '@sinclair/typebox';
import { KEY_SCOPES, type KeyRecord, type KeyScope } from '../../records/api-keys.ts';
import { AskedFor } from '../edge/lenient.ts';
import { Body, Line, Mode, Nullable, Timestamp, Uuid, oneOf } from './values.ts';

/** How long a replaced key still works. */
export const OVERLAP_S_DEFAULT = 3600;
const OVERLAP_S_MAX = 604_800;

export const ApiKeyScope = oneOf(KEY_SCOPES);

const Scopes = Type.Array(ApiKeyScope, {
  minItems: 1,
  maxItems: 1,
  description:
    '`all`: everything. `read`: every GET. `metering`: /check, /track, /events/ingest, ' +
    'reservations and balances. Each operation lists its scopes in `x-scopes`.',
  error: 'must be ["all"], ["read"] or ["metering"]',
});

export const ApiKeyCreate = Body(
  {
    name: Type.Optional(Line),
    scopes: Type.Optional(AskedFor({ ...Scopes, default: ['all'] })),
    expires_at: Type.Optional(AskedFor(Timestamp)),
  },
  { name: 'billing worker', scopes: ['metering'] },
);

export const ApiKeyRotate = Body(
  {
    overlap_seconds: Type.Optional(
      AskedFor(
        Type.Integer({
          minimum: 0,
          maximum: OVERLAP_S_MAX,
          default: OVERLAP_S_DEFAULT,
          error: `must be a whole number from 0 to ${OVERLAP_S_MAX}`,
          description: 'For how many seconds the old key still works; never beyond its own expiry.',
        }),
      ),
    ),
  },
  { overlap_seconds: 86_400 },
);

export const ApiKeyMaker = Type.Object(
  {
    kind: oneOf(['key', 'user']),
    id: Uuid,
    label: Nullable(
      Type.String({
        description:
          'The e-mail address of the user; the name or the last four characters of the key. ' +
          'null: deleted.',
      }),
    ),
  },
  { description: 'null: the command line.' },
);

const FIELDS = {
  name: Nullable(Type.String()),
  mode: Mode,
  scopes: Scopes,
  last4: Nullable(
    Type.String({
      description: 'The last four characters of the key; null if it was created before 0.2.',
    }),
  ),
  created_at: Timestamp,
  created_by: Nullable(ApiKeyMaker),
  expires_at: Nullable(Timestamp),
  last_used_at: Nullable(Timestamp),
  revoked_at: Nullable(Timestamp),
};

export const ApiKey = Type.Object({ id: Uuid, ...FIELDS });

export const ApiKeyWithText = Type.Object({
  id: Uuid,
  key: Type.String({ description: 'Shown only once.' }),
  ...FIELDS,
});

export function toScope({ scopes: [scope = 'all'] = [] }: Static<typeof ApiKeyCreate>): KeyScope {
  return scope;
}

export function fromKey(key: KeyRecord): Static<typeof ApiKey> {
  return {
    id: key.id,
    name: key.name,
    mode: key.mode,
    scopes: [key.scope],
    last4: key.last4,
    created_at: key.createdAt.toISOString(),
    created_by: key.createdBy,
    expires_at: key.expiresAt?.toISOString() ?? null,
    last_used_at: key.lastUsedAt?.toISOString() ?? null,
    revoked_at: key.revokedAt?.toISOString() ?? null,
  };
}
