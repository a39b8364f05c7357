// A browser's tab as far as signing in goes: it keeps the cookie, and sends forms of the page it
// shows.
import { expect } from 'bun:test';
import { TOTP, URI } from 'otpauth';
import { insertMember, type Role } from '../../../src/records/members.ts';
import { insertSignInLink } from '../../../src/records/sign-in-links.ts';
import { ensureUser } from '../../../src/records/users.ts';
import { newToken } from '../../../src/platform/crypto/tokens.ts';
import { ids } from '../../../src/platform/ids.ts';
import type { Reply, TestServer } from '../../support/server.ts';

/** What a form sends; several values where several of its boxes are ticked. */
export type Fields = Readonly<Record<string, string | readonly string[]>>;

type Service = Pick<TestServer, 'url'>;

export class Tab {
  readonly server: Service;
  cookie: string | null;
  /** What it holds while it is at the identity provider. */
  away: string | null = null;
  /** The page that it shows. */
  page = '';

  constructor(server: Service, cookie: string | null = null) {
    this.server = server;
    this.cookie = cookie;
  }

  /** Another one of the same browser, as it is now. */
  beside(server = this.server): Tab {
    return new Tab(server, this.cookie);
  }

  get(path: string): Promise<Reply> {
    return this.#send('GET', path, {});
  }

  /** As the form of a page does, with the token of the page that is shown. */
  post(path: string, fields: Fields = {}): Promise<Reply> {
    const token = /name="_token" value="([\w-]+)"/.exec(this.page)?.[1];
    const given = Object.entries({ ...(token !== undefined && { _token: token }), ...fields });
    const pairs = given.flatMap(([name, value]) =>
      [value].flat().map((each) => [name, each] as [string, string]),
    );
    return this.#send('POST', path, { raw: new URLSearchParams(pairs) });
  }

  /** As a form with a file does: nothing is added to it. */
  upload(path: string, form: FormData): Promise<Reply> {
    return this.#send('POST', path, { raw: form });
  }

  /** Follows redirects to the page at their end. */
  async open(path: string): Promise<Reply> {
    for (let at = path, left = 10; left > 0; left -= 1) {
      const reply = await this.get(at);
      if (reply.status !== 303) return reply;
      at = placeOf(reply);
    }
    throw new Error(`${path} leads nowhere`);
  }

  #cookies(): string {
    const session = this.cookie === null ? '' : `; __Host-tollhouse=${this.cookie}`;
    return `a=b${session}${this.away === null ? '' : `; __Host-tollhouse-oidc=${this.away}`}`;
  }

  async #send(
    method: string,
    path: string,
    more: { raw?: URLSearchParams | FormData },
  ): Promise<Reply> {
    const headers = {
      'user-agent': 'Test <b>browser</b>',
      'sec-fetch-site': 'same-origin',
      cookie: this.#cookies(),
    };
    // The redirect is what is tested.
    const reply = await raw(this.server, method, path, { ...more, headers });
    for (const cookie of reply.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^__Host-tollhouse(-oidc)?=([\w-]*);/.exec(cookie) ?? [];
      expect(cookie).toEndWith('; Path=/; HttpOnly; Secure; SameSite=Lax');
      const kept = value === '' ? null : value;
      if (name === '-oidc') this.away = kept;
      else this.cookie = kept;
    }
    // After a redirect it shows what it showed, until it follows.
    if (reply.text !== '') this.page = reply.text;
    return reply;
  }
}

async function raw(
  { url }: Service,
  method: string,
  path: string,
  { raw: body, headers }: { raw?: URLSearchParams | FormData; headers: Record<string, string> },
): Promise<Reply> {
  const given = { method, headers, redirect: 'manual' as const };
  const response = await fetch(`${url}${path}`, { ...given, ...(body && { body }) });
  const { status, headers: answered } = response;
  return { status, headers: answered, text: await response.text(), json: undefined };
}

export const placeOf = (reply: Reply): string => reply.headers.get('location') ?? '';

export type Person = { readonly id: string; readonly email: string; readonly memberId: string };

let people = 0;

/** A user who is a member of the organisation. */
export async function aMember(
  { sql, organisation }: Pick<TestServer, 'sql' | 'organisation'>,
  role: Role = 'owner',
  { email = `p${(people += 1)}@example.com`, name = 'Ada', organisationId = organisation.id } = {},
): Promise<Person> {
  const now = Date.now();
  const user = await ensureUser(sql, { id: ids.next(), email, name, isProven: true, now });
  const memberId = ids.next();
  await insertMember(sql, { id: memberId, organisationId, userId: user.id, role, now });
  return { id: user.id, email, memberId };
}

/** The path of a link that signs the user in. */
export async function aLink({ sql }: Pick<TestServer, 'sql'>, userId: string): Promise<string> {
  const link = { id: ids.next(), token: newToken(), userId, openMax: 100, now: Date.now() };
  expect(await sql.begin((transaction) => insertSignInLink(transaction, link))).toBe(true);
  return `/dashboard/sign-in/${link.token}`;
}

/** A tab in which the user is signed in. */
export async function signedIn(
  server: Service & Pick<TestServer, 'sql'>,
  user: Pick<Person, 'id'>,
): Promise<Tab> {
  const tab = new Tab(server);
  const reply = await tab.post(await aLink(server, user.id));
  expect([reply.status, tab.cookie]).toEqual([303, expect.any(String)]);
  return tab;
}

/** An app that shows codes, set up by the page of the account. */
export class App {
  readonly #totp: TOTP;

  constructor(page: string) {
    const uri = /otpauth:[^<]+/.exec(page)?.[0].replaceAll('&amp;', '&') ?? '';
    const parsed = URI.parse(uri);
    if (!(parsed instanceof TOTP)) throw new Error(`no app reads ${uri}`);
    this.#totp = parsed;
  }

  /** Of the step that is `steps` after this one. */
  code(steps = 0): string {
    return this.#totp.generate({ timestamp: Date.now() + steps * 30_000 });
  }
}

/**
 * The user of the tab has a second factor from now on. Its codes of before the next step are used.
 */
export async function enrolled(tab: Tab): Promise<{ app: App; recoveryCodes: string[] }> {
  const app = new App((await tab.get('/dashboard/account')).text);
  const enrol = () => tab.post('/dashboard/account', { act: 'enrol', code: app.code(-1) });
  let reply = await enrol();
  // A step that has ended meanwhile makes the code one of two steps before.
  if (reply.status === 400) reply = await enrol();
  expect([reply.status, reply.text]).toEqual([200, expect.stringContaining('recovery codes')]);
  return { app, recoveryCodes: reply.text.match(/[\da-f]{4}(?:-[\da-f]{4}){3}/g) ?? [] };
}
