// A browser that knows forms, links, cookies and redirects, and neither scripts nor styles. It
// refuses what a browser would: a form that leads where the policy of its page does not, and one
// that misses what is required.
import { until } from '../support/until.ts';
import { all, closest, type Element, parse, squeezed, tagged, textOf } from './document.ts';
import type { Countable, Name, Visitor } from './visitor.ts';

const REDIRECTS_MAX = 10;
const TYPED = /^(?:hidden|text|email|date|number)$/;

type Shown = {
  readonly url: URL;
  readonly status: number;
  readonly markup: string;
  readonly document: Element;
  /** The sources that its forms may lead to; null: anywhere. */
  readonly formAction: readonly string[] | null;
  /** A browser loads it again. */
  readonly isRefreshed: boolean;
};

type Cookie = { readonly host: string; readonly path: string; readonly value: string };

export class PlainVisitor implements Visitor {
  readonly #locale: string;
  readonly #cookies: Map<string, Cookie>;
  #shown: Shown | null = null;
  /** What was entered on the page that is shown, by the element. */
  #entered = new Map<Element, string | boolean>();

  constructor(locale = 'en-US', cookies = new Map<string, Cookie>()) {
    this.#locale = locale;
    this.#cookies = cookies;
  }

  /** Another tab: the cookies are the same. */
  another(): PlainVisitor {
    return new PlainVisitor(this.#locale, this.#cookies);
  }

  /** The names of those that it has. */
  cookies(): string[] {
    return [...this.#cookies.keys()];
  }

  open(url: string): Promise<number> {
    return this.#go(new URL(url), null);
  }

  async reload(): Promise<void> {
    await this.#go(this.#page().url, null);
  }

  url(): string {
    return this.#page().url.href;
  }

  arrive(url: string): Promise<void> {
    const isThere = () =>
      url.endsWith('**') ? this.url().startsWith(url.slice(0, -2)) : this.url() === url;
    return this.#until(isThere, () => `to be at ${url}, not at ${this.url()}`);
  }

  title(): Promise<string> {
    return Promise.resolve(textOf(tagged(this.#page().document, 'title')[0]!));
  }

  body(): Promise<string> {
    return Promise.resolve(this.#text());
  }

  heading(name: string): Promise<void> {
    return this.#until(() => this.#named(['h1', 'h2', 'h3'], name).length === 1, name);
  }

  button(name: Name): Promise<void> {
    return this.#until(() => this.#named(['button'], name).length === 1, name);
  }

  alert(): Promise<string> {
    return this.#role('alert');
  }

  status(): Promise<string> {
    return this.#role('status');
  }

  reads(text: string): Promise<void> {
    return this.#until(() => this.#text().includes(text), text);
  }

  async follow(link: Name): Promise<void> {
    const href = this.#only(['a'], link).attributes.get('href') ?? '';
    await this.#go(new URL(href, this.#page().url), null);
  }

  async press(name: Name): Promise<void> {
    await this.button(name);
    await this.#send(this.#only(['button'], name));
  }

  /** It presses the first button of the form. */
  async pressEnter(field: string): Promise<void> {
    await this.#send(tagged(closest(this.#field(field), 'form')!, 'button')[0]!);
  }

  tick(label: string): Promise<void> {
    const input = this.#labelled(label);
    if (input.attributes.get('type') === 'radio') {
      for (const other of this.#fields(input.attributes.get('name')!)) {
        this.#entered.set(other, false);
      }
    }
    this.#entered.set(input, true);
    return Promise.resolve();
  }

  fill(field: string, text: string): Promise<void> {
    const input = this.#field(field);
    const { attributes } = input;
    if (!TYPED.test(attributes.get('type') ?? 'text') || attributes.has('readonly')) {
      throw new Error(`${field} cannot be typed into`);
    }
    this.#entered.set(input, text);
    return Promise.resolve();
  }

  force(field: string, text: string): Promise<void> {
    return this.fill(field, text);
  }

  choose(field: string, value: string): Promise<void> {
    const select = this.#field(field);
    const options = tagged(select, 'option').map(({ attributes }) => attributes.get('value'));
    if (!options.includes(value)) throw new Error(`${field} has no ${value}`);
    this.#entered.set(select, value);
    return Promise.resolve();
  }

  valueOf(field: string): Promise<string> {
    return Promise.resolve(String(this.#valueOf(this.#field(field))));
  }

  markup(): Promise<string> {
    return Promise.resolve(this.#page().markup);
  }

  count(what: Countable): Promise<number> {
    const { document } = this.#page();
    if ('link' in what) return Promise.resolve(this.#named(['a'], what.link).length);
    if ('tag' in what) return Promise.resolve(tagged(document, what.tag).length);
    if ('field' in what) return Promise.resolve(this.#fields(what.field).length);
    return Promise.resolve(all(document, hasRole(what.role)).length);
  }

  buttonLinks(): Promise<string[]> {
    const links = tagged(tagged(this.#page().document, 'main')[0]!, 'a');
    const buttons = links.filter(({ attributes }) =>
      attributes.get('class')?.split(' ').includes('button'),
    );
    return Promise.resolve(buttons.map(({ attributes }) => attributes.get('href')!));
  }

  #page(): Shown {
    if (this.#shown === null) throw new Error('no page is open');
    return this.#shown;
  }

  #text(): string {
    return textOf(tagged(this.#page().document, 'body')[0]!);
  }

  async #role(role: string): Promise<string> {
    await this.#until(() => all(this.#page().document, hasRole(role)).length === 1, role);
    return textOf(all(this.#page().document, hasRole(role))[0]!);
  }

  /** A page that a browser loads again is loaded again until it is so. */
  async #until(isSo: () => boolean, what: Name | (() => string)): Promise<void> {
    const wanted = () => (typeof what === 'function' ? what() : String(what));
    await until('the page goes on', async () => {
      if (isSo() || !this.#page().isRefreshed) return true;
      await this.reload();
      return isSo();
    });
    if (!isSo()) throw new Error(`expected ${wanted()}; ${this.url()} says: ${this.#text()}`);
  }

  #named(tags: readonly string[], name: Name): Element[] {
    const isIt = (text: string) =>
      typeof name === 'string' ? text.toLowerCase().includes(name.toLowerCase()) : name.test(text);
    return tagged(this.#page().document, ...tags).filter(
      (element) =>
        element.attributes.get('aria-hidden') !== 'true' &&
        isIt(textOf(element, { isSpoken: true })),
    );
  }

  #only(tags: readonly string[], name: Name): Element {
    const found = this.#named(tags, name);
    if (found.length !== 1)
      throw new Error(`${found.length} ${tags.join()} ${name}: ${this.#text()}`);
    return found[0]!;
  }

  #fields(name: string): Element[] {
    const fields = tagged(this.#page().document, 'input', 'select', 'textarea');
    return fields.filter(({ attributes }) => attributes.get('name') === name);
  }

  #field(name: string): Element {
    const found = this.#fields(name);
    if (found.length !== 1) throw new Error(`${found.length} fields ${name}: ${this.#text()}`);
    return found[0]!;
  }

  #labelled(label: string): Element {
    const { document } = this.#page();
    const labels = tagged(document, 'label').filter((one) => textOf(one).includes(label));
    const inputs = labels.flatMap((one) => tagged(one, 'input'));
    if (inputs.length !== 1) throw new Error(`${inputs.length} inputs are labelled ${label}`);
    return inputs[0]!;
  }

  #valueOf(element: Element): string | boolean {
    const entered = this.#entered.get(element);
    if (entered !== undefined) return entered;
    const { tag, attributes } = element;
    if (tag === 'textarea') throw new Error('it does not read a textarea yet');
    if (tag === 'input') {
      const type = attributes.get('type') ?? 'text';
      return /^(?:radio|checkbox)$/.test(type)
        ? attributes.has('checked')
        : (attributes.get('value') ?? '');
    }
    const options = tagged(element, 'option');
    const chosen = options.find((option) => option.attributes.has('selected')) ?? options[0];
    return chosen?.attributes.get('value') ?? '';
  }

  #fieldsOf(form: Element, button: Element): URLSearchParams {
    const fields = new URLSearchParams();
    for (const element of tagged(form, 'input', 'select', 'textarea', 'button')) {
      const { attributes } = element;
      const name = attributes.get('name');
      if (name === undefined) continue;
      if (element.tag === 'button') {
        if (element === button) fields.append(name, attributes.get('value') ?? '');
        continue;
      }
      const value = this.#valueOf(element);
      const isMissing = attributes.has('required') && (value === '' || value === false);
      if (isMissing && !form.attributes.has('novalidate')) throw new Error(`${name} is required`);
      if (value === false) continue;
      fields.append(name, value === true ? (attributes.get('value') ?? 'on') : value);
    }
    return fields;
  }

  async #send(button: Element): Promise<void> {
    const form = closest(button, 'form');
    if (form?.attributes.get('method') !== 'post') throw new Error('the button sends no form');
    const { url } = this.#page();
    const action = new URL(form.attributes.get('action') ?? url.href, url);
    await this.#go(action, this.#fieldsOf(form, button));
  }

  async #go(to: URL, form: URLSearchParams | null): Promise<number> {
    const from = this.#shown;
    let [url, body] = [to, form];
    for (let left = REDIRECTS_MAX; left > 0; left -= 1) {
      if (form !== null) expectAllowed(from!, url);
      const response = await this.#ask(url, body, from?.url ?? null);
      const location = response.headers.get('location');
      if (location === null) {
        this.#shown = await shownOf(url, response);
        this.#entered = new Map();
        return response.status;
      }
      url = new URL(location, url);
      body = null;
    }
    throw new Error(`${to.href} leads nowhere`);
  }

  async #ask(url: URL, body: URLSearchParams | null, from: URL | null): Promise<Response> {
    const cookies = [...this.#cookies].filter(
      ([, { host, path }]) => url.hostname === host && url.pathname.startsWith(path),
    );
    const response = await fetch(url, {
      redirect: 'manual',
      ...(body !== null && { method: 'POST', body }),
      headers: {
        'accept-language': this.#locale,
        ...(body !== null && { origin: from?.origin ?? 'null' }),
        ...(cookies.length > 0 && {
          cookie: cookies.map(([name, { value }]) => `${name}=${value}`).join('; '),
        }),
      },
    });
    for (const cookie of response.headers.getSetCookie()) this.#keep(url, cookie);
    return response;
  }

  #keep({ hostname: host, pathname }: URL, cookie: string): void {
    const [pair = '', ...attributes] = cookie.split('; ');
    const folder = pathname.replace(/\/[^/]*$/, '') || '/';
    const [, name = '', value = ''] = /^([^=]*)=(.*)$/.exec(pair) ?? [];
    const path = attributes.find((one) => one.startsWith('Path='))?.slice('Path='.length) ?? folder;
    if (attributes.includes('Max-Age=0')) this.#cookies.delete(name);
    else this.#cookies.set(name, { host, path, value });
  }
}

const hasRole =
  (role: string) =>
  ({ attributes }: Element): boolean =>
    attributes.get('role') === role;

async function shownOf(url: URL, response: Response): Promise<Shown> {
  const { status, headers } = response;
  const text = await response.text();
  const isMarkup = headers.get('content-type')?.startsWith('text/html') === true;
  const markup = isMarkup ? text : `<body>${Bun.escapeHTML(text)}</body>`;
  const policy = headers.get('content-security-policy') ?? '';
  return {
    url,
    status,
    markup,
    document: parse(markup),
    formAction: /form-action ([^;]*)/.exec(policy)?.[1]?.split(' ') ?? null,
    isRefreshed: headers.has('refresh'),
  };
}

/** As Chromium does, with the redirects of the form too. */
function expectAllowed({ url: from, formAction }: Shown, to: URL): void {
  const isAllowed = (source: string) =>
    source === to.protocol ||
    source === to.origin ||
    (source.endsWith(':*') && to.origin.startsWith(source.slice(0, -1))) ||
    (source === "'self'" && from.origin === to.origin);
  if (formAction === null || formAction.some(isAllowed)) return;
  throw new Error(
    squeezed(`the policy of ${from.href} lets no form lead to ${to.href}: ${formAction.join(' ')}`),
  );
}
