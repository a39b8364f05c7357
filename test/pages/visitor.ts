// What a person does on a page and reads there, whatever shows it: a browser, with JavaScript or
// without, or `PlainVisitor`, which knows forms and links alone. The long run has the browsers do
// what the short run has done over HTTP.
import type { Page } from 'playwright-core';

/** A string is a part of the name. */
export type Name = string | RegExp;

/** What is named and is not there yet is waited for. */
export interface Visitor {
  /** The status of the answer. */
  open(url: string): Promise<number>;
  reload(): Promise<void>;
  url(): string;
  /** Until it is there; a string that ends with `**` is the beginning of an address. */
  arrive(url: string): Promise<void>;
  title(): Promise<string>;
  /** All its text, with single spaces. */
  body(): Promise<string>;
  heading(name: string): Promise<void>;
  /** A button is there. */
  button(name: Name): Promise<void>;
  alert(): Promise<string>;
  status(): Promise<string>;
  reads(text: string): Promise<void>;
  press(button: Name): Promise<void>;
  follow(link: Name): Promise<void>;
  /** Ticks what has this label. */
  tick(label: string): Promise<void>;
  fill(field: string, text: string): Promise<void>;
  /** More than the field lets in. */
  force(field: string, text: string): Promise<void>;
  /** The key, in a field. */
  pressEnter(field: string): Promise<void>;
  choose(field: string, value: string): Promise<void>;
  valueOf(field: string): Promise<string>;
  markup(): Promise<string>;
  /** How many there are now. */
  count(what: Countable): Promise<number>;
  /** Where the links lead that look like buttons. */
  buttonLinks(): Promise<string[]>;
}

export type Countable =
  | { readonly field: string }
  | { readonly tag: string }
  | { readonly role: 'alert' }
  | { readonly link: Name };

/** In a real browser. */
export class BrowserVisitor implements Visitor {
  readonly page: Page;

  constructor(page: Page) {
    this.page = page;
  }

  async open(url: string): Promise<number> {
    return (await this.page.goto(url))?.status() ?? 0;
  }
  async reload(): Promise<void> {
    await this.page.reload();
  }
  url(): string {
    return this.page.url();
  }
  async arrive(url: string): Promise<void> {
    await this.page.waitForURL(url);
  }
  title(): Promise<string> {
    return this.page.title();
  }
  async body(): Promise<string> {
    return (await this.page.locator('body').innerText()).replaceAll(/\s+/g, ' ').trim();
  }
  async heading(name: string): Promise<void> {
    await this.page.getByRole('heading', { name }).waitFor();
  }
  async button(name: Name): Promise<void> {
    await this.page.getByRole('button', { name }).waitFor();
  }
  async alert(): Promise<string> {
    return this.page.getByRole('alert').innerText();
  }
  async status(): Promise<string> {
    return this.page.getByRole('status').innerText();
  }
  async reads(text: string): Promise<void> {
    await this.page.getByText(text).waitFor();
  }
  async press(name: Name): Promise<void> {
    await this.page.getByRole('button', { name }).click();
  }
  async follow(name: Name): Promise<void> {
    await this.page.getByRole('link', { name }).click();
  }
  async tick(label: string): Promise<void> {
    await this.page.getByLabel(label).check();
  }
  async fill(field: string, text: string): Promise<void> {
    await this.page.fill(`[name=${field}]`, text);
  }
  async force(field: string, text: string): Promise<void> {
    const input = this.page.locator(`[name=${field}]`);
    await input.evaluate('(input) => input.removeAttribute("maxlength")');
    await input.fill(text);
  }
  async pressEnter(field: string): Promise<void> {
    await this.page.press(`[name=${field}]`, 'Enter');
  }
  async choose(field: string, value: string): Promise<void> {
    await this.page.selectOption(`[name=${field}]`, value);
  }
  valueOf(field: string): Promise<string> {
    return this.page.inputValue(`[name=${field}]`);
  }
  markup(): Promise<string> {
    return this.page.content();
  }
  count(what: Countable): Promise<number> {
    if ('link' in what) return this.page.getByRole('link', { name: what.link }).count();
    if ('role' in what) return this.page.getByRole(what.role).count();
    return this.page.locator('tag' in what ? what.tag : `[name=${what.field}]`).count();
  }
  buttonLinks(): Promise<string[]> {
    const hrefs = (links: Element[]) => links.map((link) => link.getAttribute('href')!);
    return this.page.locator('main a.button').evaluateAll(hrefs);
  }
}

type Element = { getAttribute(name: string): string | null };
