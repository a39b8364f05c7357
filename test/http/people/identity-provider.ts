// An OpenID Connect provider on this machine, and a browser's way through it: the one of the
// package `oidc-provider`, which signs in whoever types a name.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

const CLIENT_ID = 'tollhouse';
const CLIENT_SECRET = 'a secret of the client, of some length';

export type IdentityProvider = {
  readonly settings: {
    readonly issuer: URL;
    readonly clientId: string;
    readonly clientSecret: string;
  };
  /** What it says of everybody who signs in. */
  claims: Record<string, unknown>;
  /** The requests for tokens that it has refused or answered. */
  readonly grants: string[];
  stop(): Promise<void>;
};

/** `redirectUri` is where it may send browsers back to. */
export async function openIdentityProvider(redirectUri: string): Promise<IdentityProvider> {
  const server = createServer();
  const listening = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', listening.resolve);
  await listening.promise;
  const { port } = server.address() as AddressInfo;
  const issuer = `http://127.0.0.1:${port}`;
  const grants: string[] = [];
  const provider = new Provider(issuer, {
    clients: [{ client_id: CLIENT_ID, client_secret: CLIENT_SECRET, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    findAccount: (_context, id) => ({
      accountId: id,
      claims: () => Promise.resolve({ sub: id, ...opened.claims }),
    }),
    pkce: { required: () => true },
    cookies: { keys: ['of a test'] },
  });
  provider.on('grant.success', () => void grants.push('success'));
  provider.on('grant.error', (_context, error) => void grants.push(error.message));
  const answer = provider.callback();
  server.on('request', (request, response) => void answer(request, response));
  const opened: IdentityProvider = {
    settings: { issuer: new URL(issuer), clientId: CLIENT_ID, clientSecret: CLIENT_SECRET },
    claims: {},
    grants,
    async stop() {
      const closed = Promise.withResolvers<void>();
      server.close(() => closed.resolve());
      await closed.promise;
    },
  };
  return opened;
}

/** Signs in there, and agrees. Returns the address that the browser is sent back to. */
export async function passThrough(address: string, login = 'somebody'): Promise<URL> {
  const { origin } = new URL(address);
  const cookies = new Map<string, string>();
  let at = address;
  let form: URLSearchParams | null = null;
  for (let steps = 0; steps < 12; steps += 1) {
    const response: Response = await fetch(at, {
      method: form === null ? 'GET' : 'POST',
      ...(form !== null && { body: form }),
      redirect: 'manual',
      headers: { cookie: [...cookies].map(([name, value]) => `${name}=${value}`).join('; ') },
    });
    for (const cookie of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(cookie) ?? [];
      if (value === '') cookies.delete(name);
      else cookies.set(name, value);
    }
    const text = await response.text();
    const location = response.headers.get('location');
    form = null;
    if (location !== null) {
      const next = new URL(location, at);
      if (next.origin !== origin) return next;
      at = next.href;
      continue;
    }
    const prompt = /name="prompt" value="(\w+)"/.exec(text)?.[1];
    if (prompt === undefined) throw new Error(`the provider says ${response.status}: ${text}`);
    form = new URLSearchParams({ prompt, login, password: 'any' });
  }
  throw new Error('the provider leads nowhere');
}
