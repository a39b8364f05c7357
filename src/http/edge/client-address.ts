import { isIP } from 'node:net';

/**
 * The client's address, for limits per address. It is the peer of the connection, unless our own
 * proxies stand in front (TRUSTED_PROXY_HOPS): each appends the address it heard from to
 * X-Forwarded-For, so the entry of the outermost one is the client. Anybody can send the entries
 * further left, and without a proxy all of them, so they are never read.
 */
export function clientAddress(peer: string, forwarded: Forwarded): string {
  return networkOf(wholeClientAddress(peer, forwarded));
}

type Forwarded = { readonly forwardedFor: string | null; readonly hops: number };

/** The same, for a record: of IPv6 the whole address. */
export function wholeClientAddress(peer: string, { forwardedFor, hops }: Forwarded): string {
  const written = forwardedFor === null ? [] : forwardedFor.split(',').map((text) => text.trim());
  const claimed = hops === 0 ? undefined : written.at(-hops);
  return claimed !== undefined && isIP(claimed) !== 0 ? claimed : peer;
}

/**
 * An IPv6 network of 64 bits is one subscriber, who could take a fresh address for each request.
 */
function networkOf(address: string): string {
  if (isIP(address) !== 6) return address;
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  const [head = '', tail] = (address.split('%', 1)[0] ?? '').split('::');
  const before = head === '' ? [] : head.split(':');
  const after = tail === undefined || tail === '' ? [] : tail.split(':');
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - before.length - after.length);
  const groups = [...before, ...Array.from({ length: zeros }, () => '0'), ...after];
  const prefix = groups.slice(0, 4).map((group) => Number.parseInt(group, 16).toString(16));
  return `${prefix.join(':')}::/64`;
}
