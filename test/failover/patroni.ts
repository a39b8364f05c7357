// One PostgreSQL and its Patroni, which decides its role.
import { join } from 'node:path';
import type { ServiceAccount } from '../../src/platform/embedded/service-account.ts';
import { makeOwned } from '../../src/platform/embedded/service-account.ts';
import { writePrivate } from '../../src/platform/private-file.ts';
import { processesIn } from '../../src/platform/embedded/processes.ts';
import { freePort } from '../support/free-port.ts';
import { Daemon, signalAll, type Signal } from './daemon.ts';
import type { Programs } from './programs.ts';

export const PASSWORD = 'of-the-stand';

/** `asynchronous` is here to be seen failing. */
export type Replication = 'quorum' | 'asynchronous';

/** The figures in OPERATIONS.md were measured with these settings. */
function dynamicSettings(replication: Replication) {
  return {
    // The shortest lease that Patroni accepts: how long a dead primary is waited for.
    ttl: 20,
    loop_wait: 5,
    retry_timeout: 5,
    // A commit is answered when the primary and any one standby have it; only a standby that has
    // all of them is promoted.
    synchronous_mode: replication === 'quorum' ? 'quorum' : false,
    // Without a standby nothing is committed, instead of on one disk only.
    synchronous_mode_strict: replication === 'quorum',
    synchronous_node_count: 1,
    // A crashed primary is replaced, not waited for.
    primary_start_timeout: 0,
    // While etcd is unavailable, a primary that all its standbys still answer continues.
    failsafe_mode: true,
    postgresql: {
      use_pg_rewind: true,
      parameters: {
        synchronous_commit: 'on',
        max_connections: 200,
        // A silent standby is given up.
        wal_sender_timeout: '5s',
        wal_receiver_timeout: '5s',
        wal_keep_size: '256MB',
      },
    },
  };
}

export type MemberOptions = {
  readonly name: string;
  readonly programs: Programs;
  readonly place: ServiceAccount;
  readonly etcdHosts: readonly string[];
  readonly replication: Replication;
};

export class Member {
  readonly name: string;
  readonly port: number;
  readonly restPort: number;
  readonly #patroni: Daemon;
  readonly #place: ServiceAccount;
  readonly #data: string;

  private constructor(options: MemberOptions, ports: { port: number; restPort: number }) {
    const { name, programs, place } = options;
    const folder = join(place.directory, name);
    makeOwned(folder, place.account);
    this.name = name;
    this.port = ports.port;
    this.restPort = ports.restPort;
    this.#place = place;
    this.#data = join(folder, 'data');
    const file = join(place.directory, `${name}.json`);
    // JSON is YAML.
    const settings = JSON.stringify(this.#settings(options, folder), null, 2);
    writePrivate(file, settings, place.account);
    this.#patroni = new Daemon(name, place, [programs.patroni, file]);
  }

  static async make(options: MemberOptions): Promise<Member> {
    return new Member(options, { port: await freePort(), restPort: await freePort() });
  }

  /** The superuser's, past the proxy. */
  get url(): string {
    return `postgres://postgres:${PASSWORD}@127.0.0.1:${this.port}/postgres`;
  }

  start(): void {
    this.#patroni.start();
  }

  /** kill -9 of Patroni and of all of PostgreSQL, as if the machine were lost. */
  async kill(): Promise<void> {
    await this.#patroni.kill();
    this.signalPostgres('SIGKILL');
  }

  /** No connection is closed and nothing answers: as if it were cut off, or its machine hung. */
  freeze(): void {
    this.#patroni.signal('SIGSTOP');
    this.signalPostgres('SIGSTOP');
  }

  thaw(): void {
    this.signalPostgres('SIGCONT');
    this.#patroni.signal('SIGCONT');
  }

  /** To the postmaster and all its children. */
  signalPostgres(signal: Signal): void {
    signalAll(processesIn(this.#data, this.#place.account), signal);
  }

  #settings({ name, programs, etcdHosts, replication }: MemberOptions, folder: string) {
    const [listen, rest] = [`127.0.0.1:${this.port}`, `127.0.0.1:${this.restPort}`];
    return {
      scope: 'tollhouse',
      name,
      restapi: { listen: rest, connect_address: rest },
      etcd3: { hosts: etcdHosts },
      bootstrap: {
        dcs: dynamicSettings(replication),
        initdb: [{ encoding: 'UTF8' }, { locale: 'C.UTF-8' }, 'data-checksums'],
      },
      postgresql: {
        listen,
        connect_address: listen,
        data_dir: join(folder, 'data'),
        bin_dir: programs.postgres,
        pgpass: join(folder, 'pgpass'),
        parameters: { unix_socket_directories: folder },
        pg_hba: [
          'host all all 127.0.0.1/32 scram-sha-256',
          'host replication replicator 127.0.0.1/32 scram-sha-256',
        ],
        authentication: {
          superuser: { username: 'postgres', password: PASSWORD },
          replication: { username: 'replicator', password: PASSWORD },
        },
      },
    };
  }
}
