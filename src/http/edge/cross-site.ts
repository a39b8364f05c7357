/**
 * Whether a browser says that a page of another origin sent this. What is no browser sends neither header, and has no cookie or
 * page of anyone to misuse. The order is that of Go's `http.CrossOriginProtection`: `Sec-Fetch-Site` is the browser's own word, and
 * right behind any proxy; browsers leave it out over plain http, where the host of `Origin` has to be the one that was asked.
 */
export function isCrossSite({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('origin');
  return origin !== null && URL.parse(origin)?.host !== headers.get('host');
}
