// An organisation that sells over the fake of Stripe, and its buyers, by form and link as a browser
// follows them.
import { must } from '../../ledger/kernel/assert.ts';
import { type FakeAccount, openStripeFake, type StripeFake } from '../processors/stripe/fake.ts';
import { startServer, type ServerOptions, type TestServer } from './server.ts';

export type Stripe = {
  readonly server: TestServer;
  readonly fake: StripeFake;
  /** The account that is connected in test mode. */
  readonly account: FakeAccount;
  /** Connects another account. */
  connect(): Promise<FakeAccount>;
  close(): Promise<void>;
};

export async function openStripe(options: ServerOptions = {}): Promise<Stripe> {
  const fake = await openStripeFake();
  fake.webhooks.mode = 'off';
  const stripeApiUrl = new URL(fake.url);
  const server = await startServer({
    ...options,
    own: true,
    settings: (url) => ({
      baseUrl: url,
      appUrl: url,
      checkoutUrl: `${url}/pay`,
      stripeApiUrl,
      ...(typeof options.settings === 'function' ? options.settings(url) : options.settings),
    }),
  });
  const connect = async () => {
    const account = fake.newAccount();
    const body = { type: 'stripe', secret_key: account.testKey };
    const { status, text } = await server.call('PUT', '/organization/processor', { body });
    if (status !== 200) throw new Error(`it was not connected: ${status} ${text}`);
    return account;
  };
  return {
    server,
    fake,
    account: await connect(),
    connect,
    async close() {
      await server.stop();
      await fake.close();
    },
  };
}

export type Shown = {
  readonly status: number;
  readonly text: string;
  readonly headers: Headers;
  /** Where it leads; null where it is a page. */
  readonly location: string | null;
};

/** A browser with cookies, and without a script. */
export class Visitor {
  readonly #cookies = new Map<string, string>();

  get(url: string): Promise<Shown> {
    return this.#ask(url, {});
  }

  submit(url: string, fields: Record<string, string>): Promise<Shown> {
    return this.#ask(url, { method: 'POST', body: new URLSearchParams(fields) });
  }

  async #ask(url: string, init: RequestInit): Promise<Shown> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ');
    const headers = cookie === '' ? {} : { cookie };
    const response = await fetch(url, { ...init, headers, redirect: 'manual' });
    for (const set of response.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(set) ?? [];
      if (set.includes('Max-Age=0')) this.#cookies.delete(name);
      else this.#cookies.set(name, value);
    }
    const location = response.headers.get('location');
    return {
      status: response.status,
      text: await response.text(),
      headers: response.headers,
      location: location === null ? null : new URL(location, url).href,
    };
  }
}

/** The first link of a page whose text this is. */
export function linkOf({ text }: Shown, label: string): string | null {
  for (const [, attributes = '', content = ''] of text.matchAll(
    /<a\b([^>]*)>([\s\S]*?)<\/a\s*>/g,
  )) {
    const plain = content.replaceAll(/<[^>]*>/g, '').replaceAll(/\s+/g, ' ');
    if (plain.trim() === label) return must(/href="([^"]+)"/.exec(attributes)?.[1], 'a target');
  }
  return null;
}

/** The value of a hidden field. */
export function hiddenOf({ text }: Shown, name: string): string {
  const found = new RegExp(`name="${name}"\\s+value="([^"]+)"`).exec(text);
  return must(found?.[1], `the field ${name}`);
}

/** What a page says, in one line. */
export function said({ text }: Shown): string {
  const body = text.replace(/[\s\S]*<main/, '<main').replaceAll(/<[^>]*>/g, ' ');
  return body.replaceAll(/\s+/g, ' ').trim();
}
