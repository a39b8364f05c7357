// What the client is made with, checked once: a wrong number would show as a call that ends at
// once, and a key or an address that cannot be sent would be tried until the deadline. No text of
// an error repeats what may be a secret.

/** The longest time that a timer of JavaScript can wait: beyond it, it waits for none. */
export const TIMER_MS_MAX = 2 ** 31 - 1;

/** A time, at most the longest one. `Infinity` is that. */
export function timeOf(name: string, ms: number): number {
  if (typeof ms !== 'number') throw new TypeError(`${name} must be a number of milliseconds`);
  if (!(ms > 0)) throw new RangeError(`${name} must be more than 0 ms, not ${ms}`);
  return Math.min(ms, TIMER_MS_MAX);
}

export function countOf(name: string, count: number): number {
  if (typeof count !== 'number') throw new TypeError(`${name} must be a number`);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new RangeError(`${name} must be a whole number of at least 1, not ${count}`);
}

/** The characters that a header carries: a line break is none of them. */
export function keyOf(apiKey: string | null): string | null {
  if (apiKey === null || (typeof apiKey === 'string' && /^[\x21-\x7e]+$/.test(apiKey)))
    return apiKey;
  throw new TypeError('apiKey must be the text of a key, without spaces or line breaks, or null');
}

/** An address without the slash at its end. */
export function baseOf(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TypeError('baseUrl must be an address that begins with http: or https:');
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') {
    throw new TypeError(`baseUrl must begin with http: or https:, not ${url.protocol}`);
  }
  if (url.username !== '' || url.password !== '') {
    throw new TypeError('baseUrl has no user and no password');
  }
  if (url.search !== '' || url.hash !== '') throw new TypeError('baseUrl has no query, no hash');
  return url.href.replace(/\/$/, '');
}
