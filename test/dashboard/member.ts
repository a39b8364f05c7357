// A member of an organisation who is signed in to its dashboard: opens its pages and sends their
// forms, as a browser without JavaScript does.
import { expect } from 'bun:test';
import type { Mode } from '../../ledger/kernel/tenant.ts';
import type { Role } from '../../src/records/members.ts';
import { aMember, type Fields, placeOf, signedIn, type Tab } from '../http/people/tab.ts';
import type { Reply, TestServer } from '../support/server.ts';

export class Member {
  readonly tab: Tab;
  /** `/dashboard/{organisation}/{mode}` */
  readonly base: string;

  constructor(tab: Tab, base: string) {
    this.tab = tab;
    this.base = base;
  }

  /** Opens a page below the base, as it is answered: a redirect is not followed. */
  get(path: string): Promise<Reply> {
    return this.tab.get(this.base + path);
  }

  /** The text of a page that must be there. */
  async read(path: string): Promise<string> {
    const reply = await this.get(path);
    expect([path, reply.status]).toEqual([path, 200]);
    return reply.text;
  }

  /**
   * Opens the page `from`, and sends its form that leads to `path`, with what the form hides and
   * these fields. The answer is a redirect, or a page.
   */
  async send(path: string, fields: Fields = {}, from = path): Promise<Reply> {
    const to = `${this.base}${path.split('?')[0]}`;
    const hidden = hiddenOf(await this.read(from), to, Object.keys(fields));
    return this.tab.post(this.base + path, { ...hidden, ...fields });
  }

  /** Sends the form of a page that asks once more; the page that it leads to. */
  async confirm({ text }: Pick<Reply, 'text'>, path: string): Promise<Reply> {
    const to = this.base + path;
    return this.tab.open(placeOf(await this.tab.post(to, hiddenOf(text, to, []))));
  }

  /** The same of a form with a file. */
  async upload(path: string, file: File, fields: Fields = {}): Promise<Reply> {
    const hidden = hiddenOf(await this.read(path), this.base + path, Object.keys(fields));
    const form = new FormData();
    for (const [name, value] of Object.entries({ ...hidden, ...fields }))
      form.append(name, String(value));
    form.append('data', file);
    return this.tab.upload(this.base + path, form);
  }

  /** Sends a form that is not refused; the page that it leads to. */
  async act(path: string, fields: Fields = {}, from = path): Promise<Reply> {
    const reply = await this.send(path, fields, from);
    if (reply.status === 200) return reply;
    expect([path, reply.status, faultIn(reply.text)]).toEqual([path, 303, null]);
    return this.tab.open(placeOf(reply));
  }
}

/** `organisationId`: the server's first organisation unless said otherwise. */
export async function memberOf(
  server: TestServer,
  of: { readonly role?: Role; readonly mode?: Mode; readonly organisationId?: string } = {},
): Promise<Member> {
  const { role = 'owner', mode = 'test', organisationId = server.organisation.id } = of;
  const user = await aMember(server, role, { organisationId });
  return new Member(await signedIn(server, user), `/dashboard/${organisationId}/${mode}`);
}

/** What stands at the head of a page whose action was refused; null where nothing does. */
export function faultIn(page: string): string | null {
  return /role="alert"[^>]*>\s*<h2>([^<]*)/.exec(page)?.[1] ?? null;
}

/** The hidden fields of the form that leads to an address and has these fields. */
function hiddenOf(page: string, action: string, names: readonly string[]): Record<string, string> {
  const forms = [...page.matchAll(/<form method="post" action="([^"]*)"[^>]*>([\s\S]*?)<\/form>/g)];
  const [, , form] =
    forms.find(
      ([, to, text = '']) =>
        to === action && names.every((name) => text.includes(`name="${name}"`)),
    ) ?? [];
  if (form === undefined) throw new Error(`no form with ${names.join()} leads to ${action}`);
  const inputs = form.matchAll(/<input type="hidden" name="([^"]*)" value="([^"]*)"/g);
  return Object.fromEntries([...inputs].map(([, name, value]) => [name, value] as const));
}
