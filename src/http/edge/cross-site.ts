/**
 * Whether a browser says that a page of another origin sent this. A client that is no browser sends
 * neither header, and has no cookie to misuse. The order is that of Go's
 * `http.CrossOriginProtection`: `Sec-Fetch-Site` first, which holds behind any proxy. Browsers
 * leave it out over plain http; there the host of `Origin` must be the host that was asked.
 */
export function isCrossSite({ headers }: Request): boolean {
  const site = headers.get('sec-fetch-site');
  if (site !== null) return site !== 'same-origin' && site !== 'none';
  const origin = headers.get('origin');
  return origin !== null && URL.parse(origin)?.host !== headers.get('host');
}
