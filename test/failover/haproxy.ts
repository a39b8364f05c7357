// HAProxy in front: one address for the primary, as Patroni reports it.
import { join } from 'node:path';
import type { ServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { writePrivate } from '../../src/platform/private-file.ts';
import { freePort } from '../support/free-port.ts';
import { Daemon } from './daemon.ts';
import type { Member } from './patroni.ts';

export type Front = { readonly port: number; stop(): Promise<void> };

export async function startHaproxy(
  program: string,
  place: ServiceAccount,
  members: readonly Member[],
): Promise<Front> {
  const port = await freePort();
  const file = join(place.directory, 'haproxy.cfg');
  writePrivate(file, settings(port, members), place.account);
  const daemon = new Daemon('haproxy', place, [program, '-db', '-f', file]);
  daemon.start();
  return { port, stop: () => daemon.kill() };
}

/**
 * As in OPERATIONS.md. A former primary loses its sessions: one that hangs would not close them
 * itself.
 */
function settings(port: number, members: readonly Member[]): string {
  const servers = members.map(
    (member) =>
      `  server ${member.name} 127.0.0.1:${member.port} check port ${member.restPort} maxconn 200`,
  );
  return `global
  maxconn 1000
defaults
  mode tcp
  retries 1
  timeout connect 1s
  timeout check 1s
  timeout client 1h
  timeout server 1h
listen tollhouse
  bind 127.0.0.1:${port}
  option httpchk OPTIONS /primary
  http-check expect status 200
  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions
${servers.join('\n')}
`;
}
