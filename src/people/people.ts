// What the rules about people stand on.
import type { Clock, Ids } from '../../ledger/ports.ts';
import type { Secrets } from '../platform/crypto/secrets.ts';
import type { Sql } from '../platform/postgres/postgres.ts';
import type { User } from '../records/users.ts';

export type PeopleDeps = {
  readonly sql: Sql;
  readonly clock: Clock;
  readonly ids: Ids;
  /** An unguessable text of 256 bits. */
  readonly newToken: () => string;
  readonly secrets: Secrets;
};

/** Where somebody acts from. */
export type Origin = {
  readonly address: string;
  readonly userAgent: string;
  readonly requestId: string;
};

/** Where somebody signs in. */
export type Browser = Origin & {
  /** The session that it holds, which the new one takes the place of; null for none. */
  readonly formerSession: {
    readonly id: string;
    readonly user: Pick<User, 'id' | 'email'>;
  } | null;
};
