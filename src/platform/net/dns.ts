// Names resolved without a thread: `dns.lookup` waits for getaddrinfo in a pool that the whole
// process shares. Measured: behind 300 names whose servers are silent, a healthy one took 4 s there
// and 21 ms here.
//
// c-ares remembers answers for as long as their servers say. It is opened anew now and then, so
// that it remembers nothing for longer, and sees a resolv.conf that has changed. /etc/hosts has no
// say: the public internet is asked.
import { promises as dns } from 'node:dns';
import type { Clock } from '../../../ledger/ports.ts';
import type { Resolve } from './public-url.ts';

const TIMEOUT_MS = 1500;
const TRIES = 2;
const OPEN_MS_MAX = 60_000;

export function openNames(options: {
  readonly clock: Clock;
  /** The name servers to ask instead of the machine's. */
  readonly servers?: readonly string[];
}): Resolve {
  const { clock, servers } = options;
  const open = (): dns.Resolver => {
    const resolver = new dns.Resolver({ timeout: TIMEOUT_MS, tries: TRIES });
    if (servers !== undefined) resolver.setServers(servers);
    return resolver;
  };
  let resolver = open();
  let openedAt = clock.monotonic();
  return async (hostname) => {
    if (clock.monotonic() - openedAt > OPEN_MS_MAX) {
      resolver = open();
      openedAt = clock.monotonic();
    }
    // IPv4 first: a machine without IPv6 still has a name's IPv6 addresses to choose from.
    const answers = await Promise.allSettled([
      resolver.resolve4(hostname),
      resolver.resolve6(hostname),
    ]);
    return answers.flatMap((answer) => (answer.status === 'fulfilled' ? answer.value : []));
  };
}
