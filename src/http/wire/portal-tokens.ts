import { type Static, Type } from '@sinclair/typebox';
import {
  PORTAL_TTL_S_DEFAULT,
  PORTAL_TTL_S_MAX,
  type PortalToken as PortalTokenRecord,
  portalUrl,
} from '../../records/portal-tokens.ts';
import { Body, Timestamp, Uuid } from './values.ts';

export const PortalTokenCreate = Body(
  {
    ttl_seconds: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: PORTAL_TTL_S_MAX,
        default: PORTAL_TTL_S_DEFAULT,
        error: `must be a whole number from 1 to ${PORTAL_TTL_S_MAX}`,
        description: 'For how many seconds the link is valid.',
      }),
    ),
  },
  { ttl_seconds: 3600 },
);

export const PortalToken = Type.Object({
  id: Uuid,
  customer_id: Uuid,
  token: Type.String({ description: 'Shown only once.' }),
  url: Type.String({ description: 'Where to send the customer.' }),
  created_at: Timestamp,
  expires_at: Timestamp,
});

export function fromPortalToken(
  made: PortalTokenRecord,
  { token, appUrl }: { readonly token: string; readonly appUrl: string },
): Static<typeof PortalToken> {
  return {
    id: made.id,
    customer_id: made.customerId,
    token,
    url: portalUrl(appUrl, token),
    created_at: made.createdAt.toISOString(),
    expires_at: made.expiresAt.toISOString(),
  };
}
