// Links to the portal in mails about what is not paid: there a customer replaces what it pays with.
//
// How it works: the token is the MAC of the mail's id, under a key derived from SECRETS_KEY. Its
// row is made when the mail is first written, so a mail that is sent again is the same mail, and
// has no second token. Like any token of the portal it is stored as a hash, expires, and can be
// revoked.
// Holds: a link opens that page alone: whoever typed the address, and whoever the mail is passed on
// to, sees no account. It goes to the present address of the customer alone. A customer who has as
// many tokens as it may gets the mail without a link.
import type { Clock, Ids } from '../../ledger/ports.ts';
import { tenantOf } from '../../ledger/kernel/tenant.ts';
import { type Bounds, Full } from '../../src/platform/bounds.ts';
import { openTokensOf } from '../../src/platform/crypto/tokens.ts';
import type { Sql } from '../../src/platform/postgres/postgres.ts';
import { findCustomer } from '../../src/records/customers.ts';
import type { DueMail } from '../../src/records/mails.ts';
import {
  insertPortalToken,
  PORTAL_TTL_DAYS_MAILED,
  portalUrl,
  wasPortalTokenMade,
} from '../../src/records/portal-tokens.ts';

const PURPOSE = 'tollhouse link to the portal in a mail';
const DAY_S = 86_400;

type PortalLink = { readonly href: string; readonly days: number };

export type PortalLinks = {
  /** Where the customer replaces what it pays with; null where it gets no link. */
  linkOf(mail: DueMail, customerId: string): Promise<PortalLink | null>;
};

export function openPortalLinks(deps: {
  readonly sql: Sql;
  readonly secretsKey: Uint8Array;
  readonly bounds: Bounds;
  readonly clock: Clock;
  readonly ids: Ids;
  readonly appUrl: string;
}): PortalLinks {
  const { sql, secretsKey, bounds, clock, ids, appUrl } = deps;
  const tokenOf = openTokensOf(secretsKey, PURPOSE);
  return {
    async linkOf(mail, customerId) {
      const customer = await findCustomer(sql, tenantOf(mail), customerId);
      if (customer?.email !== mail.recipient) return null;
      const token = tokenOf(mail.id);
      const id = ids.derive('portal_token', mail.id);
      const href = `${portalUrl(appUrl, token)}/payment-method`;
      const link = { href, days: PORTAL_TTL_DAYS_MAILED };
      if (await wasPortalTokenMade(sql, id)) return link;
      const ttlS = PORTAL_TTL_DAYS_MAILED * DAY_S;
      const of = { customerId, token, ttlS, page: 'payment_method', by: null } as const;
      const wanted = { id, ...of, bounds, now: clock.now() };
      const made = await sql.begin((transaction) => insertPortalToken(transaction, wanted));
      return made === null || made instanceof Full ? null : link;
    },
  };
}
