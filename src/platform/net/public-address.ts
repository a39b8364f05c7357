import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * What IANA has given out so far. The rest holds the forms that carry an IPv4 address inside, and
 * what may be routed in a network.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is one of the public internet. Not: private, loopback, link-local, shared
 * (CGNAT), multicast, reserved, for documentation or benchmarks; IPv6 that stands for an IPv4
 * address (mapped, compatible, NAT64, 6to4, Teredo) whichever it is; a zone; or what is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}
