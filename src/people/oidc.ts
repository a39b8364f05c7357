// Signing in by an identity provider (OpenID Connect): the authorization code flow with PKCE, state
// and nonce.
//
// How it works: `begin` gives the address to send the browser to, and what the browser must bring
// back, which its cookie holds under encryption. `finish` trades the code for who it is.
// Holds: only an address that the provider says it has verified counts. What it discovers is kept
// while the process runs; what could not be discovered is asked for again the next time.
import {
  allowInsecureRequests,
  authorizationCodeGrant,
  buildAuthorizationUrl,
  calculatePKCECodeChallenge,
  type Configuration,
  discovery,
  fetchUserInfo,
  randomNonce,
  randomPKCECodeVerifier,
  randomState,
} from 'openid-client';
import type { Log } from '../../ledger/ports.ts';
import type { OidcSettings } from '../platform/oidc-settings.ts';

const TIMEOUT_S = 10;
const SCOPE = 'openid email';
const EMAIL_LENGTH_MAX = 254;
const CONTROL = /\p{Cc}/u;

/** What a browser brings back. */
export type OidcChecks = {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
};

/** An address that the provider has verified; else why there is none. */
export type OidcIdentity =
  | { readonly kind: 'verified'; readonly email: string }
  | { readonly kind: 'not_verified' | 'refused' | 'unreachable' };

export type Oidc = {
  /** null: the provider cannot be reached. */
  begin(): Promise<{ readonly url: string; readonly checks: OidcChecks } | null>;
  /** `answered` is what the provider has put into the query of our address. */
  finish(answered: URLSearchParams, checks: OidcChecks): Promise<OidcIdentity>;
};

export function openOidc(options: {
  readonly settings: OidcSettings;
  /** Where the provider sends the browser back to. */
  readonly redirectUri: string;
  readonly log: Pick<Log, 'warn'>;
}): Oidc {
  const { settings, redirectUri, log } = options;
  let known: Promise<Configuration> | null = null;
  const configuration = (): Promise<Configuration> => {
    known ??= discover(settings).catch((error: unknown) => {
      known = null;
      throw error;
    });
    return known;
  };
  const warn = (error: unknown): void => {
    log.warn({ error: reasonOf(error) }, 'the identity provider did not sign a user in');
  };

  return {
    async begin() {
      const checks = {
        state: randomState(),
        nonce: randomNonce(),
        verifier: randomPKCECodeVerifier(),
      };
      try {
        const url = buildAuthorizationUrl(await configuration(), {
          redirect_uri: redirectUri,
          scope: SCOPE,
          state: checks.state,
          nonce: checks.nonce,
          code_challenge: await calculatePKCECodeChallenge(checks.verifier),
          code_challenge_method: 'S256',
        });
        return { url: url.href, checks };
      } catch (error) {
        warn(error);
        return null;
      }
    },

    async finish(answered, checks) {
      let provider: Configuration;
      try {
        provider = await configuration();
      } catch (error) {
        warn(error);
        return { kind: 'unreachable' };
      }
      try {
        const at = new URL(redirectUri);
        at.search = answered.toString();
        return await identityOf(provider, at, checks);
      } catch (error) {
        warn(error);
        return { kind: 'refused' };
      }
    },
  };
}

/** Over TLS, except on this machine. */
async function discover({ issuer, clientId, clientSecret }: OidcSettings): Promise<Configuration> {
  const isLocal = issuer.protocol === 'http:';
  // oxlint-disable-next-line typescript/no-deprecated -- for a provider on this machine
  const execute = isLocal ? [allowInsecureRequests] : [];
  return discovery(issuer, clientId, clientSecret, undefined, { timeout: TIMEOUT_S, execute });
}

async function identityOf(
  provider: Configuration,
  at: URL,
  { state, nonce, verifier }: OidcChecks,
): Promise<OidcIdentity> {
  const tokens = await authorizationCodeGrant(provider, at, {
    expectedState: state,
    expectedNonce: nonce,
    pkceCodeVerifier: verifier,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (claims === undefined) return { kind: 'refused' };
  // Many providers tell the address only when they are asked for it.
  const told =
    claims['email'] === undefined
      ? await fetchUserInfo(provider, tokens.access_token, claims.sub)
      : claims;
  const { email, email_verified: isVerified } = told;
  const isUsable =
    typeof email === 'string' && email.length <= EMAIL_LENGTH_MAX && !CONTROL.test(email);
  return isUsable && isVerified === true ? { kind: 'verified', email } : { kind: 'not_verified' };
}

/** Its messages may repeat what the provider sent; its names do not. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown';
  const { code } = error as Error & { readonly code?: unknown };
  return typeof code === 'string' ? `${error.name} ${code}` : error.name;
}
