// Tokens that open a customer's portal.
import { Full } from '../platform/bounds.ts';
import { clock } from '../platform/clock.ts';
import { newToken } from '../platform/crypto/tokens.ts';
import { ids } from '../platform/ids.ts';
import {
  insertPortalToken,
  PORTAL_TTL_S_DEFAULT,
  portalUrl,
  revokePortalToken,
} from '../records/portal-tokens.ts';
import {
  appUrlOf,
  type Command,
  CommandRefused,
  durationOf,
  idOf,
  type Options,
  type Run,
  UsageError,
} from './command.ts';

export const PORTAL_TOKENS: Readonly<Record<string, Command>> = {
  'portal-token create': {
    usage: '--customer ID [--ttl 24h]',
    options: ['customer', 'ttl'],
    plan: planPortalToken,
  },
  'portal-token revoke': {
    usage: 'TOKEN_ID',
    options: [],
    takesIds: true,
    plan: (_options, rest) => planPortalRevocation(rest),
  },
};

function planPortalToken({ customer, ttl }: Options): Run {
  const customerId = idOf('--customer', customer);
  const ttlS = ttl === undefined ? PORTAL_TTL_S_DEFAULT : durationOf('--ttl', ttl);
  return async (sql, config) => {
    const { bounds } = config;
    const appUrl = await appUrlOf(sql, config);
    const token = newToken();
    const now = clock.now();
    const of = { customerId, token, ttlS, page: null, by: null };
    const wanted = { id: ids.next(), ...of, bounds, now };
    const made = await sql.begin((transaction) => insertPortalToken(transaction, wanted));
    if (made === null) throw new CommandRefused(`there is no customer ${customerId}`);
    if (made instanceof Full) throw new CommandRefused(made.message);
    const { id, expiresAt } = made;
    const expiry = expiresAt.toISOString();
    return { value: { token, url: portalUrl(appUrl, token), id, expires_at: expiry } };
  };
}

function planPortalRevocation(rest: readonly string[]): Run {
  if (rest.length !== 1) throw new UsageError('portal-token revoke needs one TOKEN_ID');
  const id = idOf('TOKEN_ID', rest[0]);
  return async (sql) => {
    const isKnown = await revokePortalToken(sql, null, { id, now: clock.now() });
    if (!isKnown) throw new CommandRefused(`there is no portal token ${id}`);
    return { value: { id, revoked: true } };
  };
}
