/// <reference lib="esnext.disposable" preserve="true" />
// What the package gives to a page: all but what needs a secret. A page shows its visitor every
// byte of it, so a key has no place there; a server of the merchant adds it, and allows only what
// this visitor may ask.
import { Tollhouse as Client, type TollhouseOptions } from './tollhouse.ts';
export * from './errors.ts';
export { List, type Page, type PageParams } from './page.ts';

declare const location: { readonly href: string };

export class Tollhouse extends Client {
  /** `baseUrl` may be a path of the page's own server. */
  constructor(options: TollhouseOptions) {
    if (options.apiKey !== null) {
      throw new TypeError('an API key is a secret: a page gives null, and its server adds the key');
    }
    const addresses = [options.baseUrl].flat();
    super({ ...options, baseUrl: addresses.map((url) => new URL(url, location.href).href) });
  }
}
