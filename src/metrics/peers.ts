// Requests between nodes and their results. A node that is alone has none of these.
import type { Registry } from 'prom-client';
import type { PeerStats } from '../platform/peers/peers.ts';
import { counter, gauge } from './numbers.ts';

// prettier-ignore
const COUNTERS = [
  // in the transport's words  help
  ['asked',      'Asks of other nodes.'],
  ['refused',    'Asks that failed at once, because too much was asked already.'],
  ['unsent',     'Asks that never left: the other node could not be reached, or their time was up.'],
  ['lost',       'Asks that were sent and whose answer never came.'],
  ['strangers',  'Connections of somebody without the secret, or who dialled another address.'],
  ['malformed',  'Frames that made no sense.'],
] as const;

export function watchPeers(registry: Registry, peers: { stats(): PeerStats }): void {
  for (const [stat, help] of COUNTERS) {
    counter(registry, {
      name: `tollhouse_peers_${stat}_total`,
      help,
      read: () => peers.stats()[stat],
    });
  }
  gauge(registry, {
    name: 'tollhouse_peers_asking',
    help: 'Asks of other nodes that have no answer yet.',
    read: () => peers.stats().asking,
  });
}
