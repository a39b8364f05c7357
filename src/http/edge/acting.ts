// Calls that this process makes to its own API for somebody whom it knows already: the dashboard,
// for the member who is signed in.
//
// How it works: `as` gives a Bearer token that stands for the principal until `end` is called. The
// token never leaves the process, and is as hard to guess as a key.
// Holds: a header that is no key costs one look-up here; a key costs nothing.
import type { OrganisationPrincipal } from './auth.ts';

const PREFIX = 'acting_';

export type Vouched = { readonly token: string; readonly end: () => void };

export class Acting {
  readonly #known = new Map<string, OrganisationPrincipal>();
  readonly #newToken: () => string;

  constructor(newToken: () => string) {
    this.#newToken = newToken;
  }

  /** From now on the token acts as the principal, until the end. */
  as(principal: OrganisationPrincipal): Vouched {
    const token = `${PREFIX}${this.#newToken()}`;
    this.#known.set(token, principal);
    return { token, end: () => void this.#known.delete(token) };
  }

  whoIs(token: string): OrganisationPrincipal | null {
    return this.#known.get(token) ?? null;
  }
}
