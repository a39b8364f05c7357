import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/**
 * The range that IANA has assigned so far. Outside are the forms that embed an IPv4 address, and
 * what is routed within a network.
 */
const GLOBAL_UNICAST = ipaddr.IPv6.parseCIDR('2000::/3');

/**
 * Whether an address is on the public internet. Not: private, loopback, link-local, shared (CGNAT),
 * multicast, reserved, for documentation or benchmarks; IPv6 that embeds any IPv4 address (mapped,
 * compatible, NAT64, 6to4, Teredo); an address with a zone; a text that is no address.
 */
export function isPublicAddress(text: string): boolean {
  if (isIP(text) === 0 || text.includes('%')) return false;
  const address = ipaddr.parse(text);
  if (address.range() !== 'unicast') return false;
  return address.kind() === 'ipv4' || address.match(GLOBAL_UNICAST);
}
