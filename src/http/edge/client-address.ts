import { isIP } from 'node:net';

/**
 * Whom a limit per address counts. The peer of the connection, unless proxies of our own stand before it (TRUSTED_PROXY_HOPS): each
 * appends to X-Forwarded-For whom it heard from, so what the outermost of them wrote is the client. What stands further left anybody
 * could have sent, and with no proxy all of it, so it is never looked at.
 */
export function clientAddress(
  peer: string,
  { forwardedFor, hops }: { readonly forwardedFor: string | null; readonly hops: number },
): string {
  const written = forwardedFor === null ? [] : forwardedFor.split(',').map((text) => text.trim());
  const claimed = hops === 0 ? undefined : written.at(-hops);
  return networkOf(claimed !== undefined && isIP(claimed) !== 0 ? claimed : peer);
}

/** An IPv6 network of 64 bits is one subscriber, who could take a fresh address for each request. */
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
