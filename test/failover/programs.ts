// The programs of the stand. They belong to the system: none of them is an npm package.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export type Programs = {
  readonly etcd: string;
  readonly patroni: string;
  readonly haproxy: string;
  /** The folder of postgres, pg_ctl, pg_basebackup and pg_rewind. */
  readonly postgres: string;
};

const VERSION_MIN = 18;
/** Of Debian's packages. */
const POSTGRES = '/usr/lib/postgresql';

const INSTALL = `it needs PostgreSQL ${VERSION_MIN}, Patroni 4, etcd and HAProxy. On a Debian that has them (sid has):
  apt-get install patroni python3-etcd etcd-server haproxy postgresql-18 redis-server
On another one, as root, in a folder of its own with such a Debian:
  debootstrap --variant=minbase --include=patroni,python3-etcd,etcd-server,haproxy,postgresql-18,redis-server sid DIR
  mount --bind /proc DIR/proc; mount --bind /dev DIR/dev; mkdir DIR/srv/tollhouse; mount --bind . DIR/srv/tollhouse
  cp -L $(command -v bun) DIR/usr/local/bin/bun; chroot DIR sh -c 'cd /srv/tollhouse && bun run failover'`;

/** @throws Error that says what to install */
export function findPrograms(): Programs {
  return {
    etcd: found('etcd'),
    patroni: found('patroni'),
    haproxy: found('haproxy'),
    postgres: postgresFolder(),
  };
}

function found(name: string): string {
  const path = Bun.which(name, { PATH: `${process.env['PATH'] ?? ''}:/usr/bin:/usr/sbin` });
  if (path !== null) return path;
  throw new Error(`${name} is not installed: ${INSTALL}`);
}

function postgresFolder(): string {
  const versions = existsSync(POSTGRES) ? readdirSync(POSTGRES).map(Number) : [];
  const newest = Math.max(0, ...versions.filter((version) => version >= VERSION_MIN));
  const folder = join(POSTGRES, String(newest), 'bin');
  if (existsSync(join(folder, 'pg_rewind'))) return folder;
  throw new Error(`PostgreSQL ${VERSION_MIN} is not installed: ${INSTALL}`);
}
