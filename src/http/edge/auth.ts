// Authentication: who calls, from the Authorization header.
//
// Who calls this: the edge, before it reads anything else of a request.
// How: the result for a header is cached under the header itself, so a known key costs one look-up
// in a Map and no hash.
// Holds: a revoked key is refused within a second on every node (src/platform/postgres/changes.ts
// drops it here), an expired one at once. Memory is bounded: KEYS_MAX keys, and REFUSED_MAX headers
// that look like keys and are none.
// Does not: decide what a caller may do (src/http/policy.ts), or write on the path of a request:
// `last_used_at` follows in batches.
import type { Mode } from '../../../ledger/kernel/tenant.ts';
import type { Clock, Timers } from '../../../ledger/ports.ts';
import type { Changes } from '../../platform/postgres/changes.ts';
import { hashKey, kindOfKey } from '../../platform/crypto/keys.ts';
import type { FoundKey, KeyScope } from '../../records/api-keys.ts';
import type { PortalPage } from '../../records/portal-tokens.ts';
import type { Scope } from '../policy.ts';
import { Unavailable } from './errors.ts';

export type KeyActor = { readonly kind: 'key'; readonly id: string };

/**
 * Who acts for an organisation: one of its keys, a member who is signed in to the dashboard, or a
 * customer in its portal.
 */
export type Actor =
  | KeyActor
  | { readonly kind: 'customer'; readonly id: string; readonly tokenId: string }
  | {
      readonly kind: 'user';
      readonly id: string;
      readonly sessionId: string;
      readonly email: string;
      /** Where the browser is. */
      readonly address: string;
    };

export type OrganisationPrincipal = {
  readonly kind: 'organisation';
  readonly organisationId: string;
  readonly mode: Mode;
  readonly actor: Actor;
  readonly scope: Scope;
};

export type GroupPrincipal = {
  readonly kind: 'group';
  readonly groupId: string;
  readonly mode: Mode;
  readonly actor: KeyActor;
  readonly scope: KeyScope;
};

/** The customer whose portal a token opens. */
export type PortalPrincipal = {
  readonly kind: 'portal';
  readonly organisationId: string;
  readonly mode: Mode;
  readonly customerId: string;
  readonly tokenId: string;
  /** The one page that the token opens; null: all of it. */
  readonly page: PortalPage | null;
};

export type Principal = OrganisationPrincipal | GroupPrincipal;

/** The id of the tenant: an organisation or a group. No id is both. */
export function tenantOf(principal: Principal | PortalPrincipal): string {
  return principal.kind === 'group' ? principal.groupId : principal.organisationId;
}

/** null: 401. Without a promise where the key is cached. */
export type Authenticate = (header: string | null) => Principal | null | Promise<Principal | null>;

export type Authenticator = {
  readonly authenticate: Authenticate;
  /** Writes what was used since the last time, and stops. */
  close(): Promise<void>;
};

export type AuthenticatorOptions = {
  readonly find: (hash: Buffer) => Promise<FoundKey | null>;
  readonly markUsed: (keyIds: readonly string[]) => Promise<void>;
  readonly changes: Changes;
  /** Whom a call of this process acts for (acting.ts). */
  readonly whoActs: (token: string) => OrganisationPrincipal | null;
  readonly clock: Clock;
  readonly timers: Timers;
  readonly warn: (fields: Record<string, unknown>, message: string) => void;
};

const KEYS_MAX = 10_000;
const REFUSED_MAX = 10_000;
const REFUSED_MS_MAX = 500;
/**
 * Look-ups in progress. Many share a query; this bounds what a flood of invented keys can queue.
 */
export const LOOKUPS_MAX = 10_000;
const USED_EVERY_MS = 5000;

/** A key with room for many spaces. */
const HEADER_LENGTH_MAX = 256;
const BEARER = /^Bearer +(\S+) *$/i;

type Known = { readonly principal: Principal; readonly expiresAt: number; used: boolean };

export function openAuthenticator(options: AuthenticatorOptions): Authenticator {
  const directory = new KeyDirectory(options);
  options.changes.subscribe(directory);
  directory.scheduleWrite();
  return {
    authenticate: (header) => directory.authenticate(header),
    close: () => directory.close(),
  };
}

class KeyDirectory {
  readonly #options: AuthenticatorOptions;
  readonly #known = new Map<string, Known>();
  /** Headers that look like a key and are none, and until when that result is valid. */
  readonly #refused = new Map<string, number>();
  readonly #lookups = new Map<string, Promise<Principal | null>>();
  /** Keys that were used and have since left the cache. */
  readonly #forgotten = new Set<string>();
  /** Incremented by every change: the result of a look-up that began before one is not cached. */
  #generation = 0;
  #cancelWrite = (): void => undefined;

  constructor(options: AuthenticatorOptions) {
    this.#options = options;
  }

  authenticate(header: string | null): Principal | null | Promise<Principal | null> {
    if (header === null) return null;
    const known = this.#known.get(header);
    if (known === undefined) return this.#resolve(header);
    if (known.expiresAt !== Infinity && this.#options.clock.now() >= known.expiresAt) return null;
    known.used = true;
    return known.principal;
  }

  changed(kind: string, id: string): void {
    if (kind !== 'api_key') return;
    this.#generation += 1;
    this.#refused.clear();
    for (const [header, known] of this.#known) {
      if (known.principal.actor.id === id) this.#forget(header, known);
    }
  }

  reset(): void {
    this.#generation += 1;
    this.#refused.clear();
    for (const [header, known] of this.#known) this.#forget(header, known);
  }

  scheduleWrite(): void {
    this.#cancelWrite = this.#options.timers.after(USED_EVERY_MS, () => {
      this.scheduleWrite();
      this.#writeUsed().catch(() => undefined);
    });
  }

  async close(): Promise<void> {
    this.#cancelWrite();
    await this.#writeUsed();
  }

  #resolve(header: string): Principal | null | Promise<Principal | null> {
    // Bounds the bytes of the cache's keys.
    if (header.length > HEADER_LENGTH_MAX) return null;
    const key = BEARER.exec(header)?.[1];
    if (key === undefined) return null;
    if (kindOfKey(key) === null) return this.#options.whoActs(key);
    const refusedUntil = this.#refused.get(header);
    if (refusedUntil !== undefined && this.#options.clock.monotonic() < refusedUntil) return null;
    const underWay = this.#lookups.get(header);
    if (underWay !== undefined) return underWay;
    if (this.#lookups.size >= LOOKUPS_MAX) {
      return Promise.reject(new Unavailable('too many unknown keys at once'));
    }
    const lookup = this.#lookUp(header, key).finally(() => this.#lookups.delete(header));
    this.#lookups.set(header, lookup);
    return lookup;
  }

  async #lookUp(header: string, key: string): Promise<Principal | null> {
    const generation = this.#generation;
    const found = await this.#options.find(hashKey(key));
    const principal = found === null ? null : principalOf(found, key);
    const mayKeep = this.#options.changes.trusted && generation === this.#generation;
    if (found === null || principal === null) {
      if (mayKeep) this.#refuse(header);
      return null;
    }
    const known = { principal, expiresAt: found.expiresAt ?? Infinity, used: true };
    if (this.#options.clock.now() >= known.expiresAt) return null;
    if (mayKeep) this.#keep(header, known);
    else this.#forgotten.add(found.id);
    return principal;
  }

  #keep(header: string, known: Known): void {
    if (this.#known.size >= KEYS_MAX) {
      const [oldest] = this.#known;
      if (oldest !== undefined) this.#forget(...oldest);
    }
    this.#known.set(header, known);
  }

  #refuse(header: string): void {
    if (this.#refused.size >= REFUSED_MAX) this.#refused.clear();
    this.#refused.set(header, this.#options.clock.monotonic() + REFUSED_MS_MAX);
  }

  #forget(header: string, known: Known): void {
    this.#known.delete(header);
    if (known.used) this.#forgotten.add(known.principal.actor.id);
  }

  async #writeUsed(): Promise<void> {
    const keyIds = [...this.#forgotten];
    this.#forgotten.clear();
    for (const known of this.#known.values()) {
      if (known.used) keyIds.push(known.principal.actor.id);
      known.used = false;
    }
    if (keyIds.length === 0) return;
    try {
      await this.#options.markUsed(keyIds);
    } catch (error) {
      // The next write marks what was used meanwhile; a time that is lost with the database does no
      // harm.
      this.#options.warn({ error: String(error) }, 'last_used_at was not written');
    }
  }
}

function principalOf(found: FoundKey, key: string): Principal | null {
  const says = kindOfKey(key);
  const { id, owner, mode, scope } = found;
  const actor = { kind: 'key', id } as const;
  // The prefix decides; a row that disagrees with it opens nothing.
  if (says?.mode !== mode || says.kind !== owner.kind) return null;
  return owner.kind === 'organisation'
    ? { kind: 'organisation', organisationId: owner.organisationId, mode, actor, scope }
    : { kind: 'group', groupId: owner.groupId, mode, actor, scope };
}
