// API keys: who calls, in which mode, and what it may do.
import { newId } from './books.ts';
import type { Permission } from './call.ts';
import { Refusal } from './errors.ts';
import type { Mode } from './types.ts';

export type Holder = {
  readonly accountId: string;
  readonly mode: Mode;
  /** null: everything. */
  readonly permissions: readonly Permission[] | null;
};

export type Keys = {
  add(holder: Holder): string;
  /** A rolled key stops at once. */
  end(key: string): void;
  holderOf(authorization: string | undefined): Holder;
};

export function openKeys(): Keys {
  const holders = new Map<string, Holder>();
  const ended = new Set<string>();
  return {
    add(holder) {
      const key = newId(`${holder.permissions === null ? 'sk' : 'rk'}_${holder.mode}`, 99);
      holders.set(key, holder);
      return key;
    },
    end(key) {
      ended.add(key);
    },
    holderOf(authorization) {
      const key = keyOf(authorization);
      if (key === null) throw unauthorized('You did not provide an API key.');
      const shown = `${key.slice(0, 8)}${'*'.repeat(8)}${key.slice(-4)}`;
      if (ended.has(key)) {
        throw new Refusal(
          401,
          {
            type: 'invalid_request_error',
            code: 'api_key_expired',
            message: `Expired API Key provided: ${shown}`,
          },
          false,
        );
      }
      const holder = holders.get(key);
      if (holder === undefined) throw unauthorized(`Invalid API Key provided: ${shown}`);
      return holder;
    },
  };
}

function keyOf(authorization = ''): string | null {
  const [, scheme, value = ''] = /^(Bearer|Basic)\s+(.+)$/i.exec(authorization) ?? [];
  if (scheme === undefined) return null;
  return scheme.toLowerCase() === 'bearer' ? value : (atob(value).split(':')[0] ?? null);
}

function unauthorized(message: string): Refusal {
  return new Refusal(401, { type: 'invalid_request_error', message }, false);
}

/** Refuses what a restricted key may not do. To write includes to read. */
export function authorise(holder: Holder, permission: Permission): void {
  const { permissions, accountId } = holder;
  if (permissions === null) return;
  const allowed = permissions.some(
    (one) => one === permission || one === permission.replace(/_read$/, '_write'),
  );
  if (allowed) return;
  throw new Refusal(
    403,
    {
      type: 'invalid_request_error',
      message:
        `The provided key does not have the required permissions for this endpoint on account ` +
        `'${accountId}'. Having the 'rak_${permission}' permission would allow this request to continue.`,
    },
    false,
  );
}
