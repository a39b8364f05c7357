// A PostgreSQL of the test's own, and a Redis where none is given, so that it can be killed: as in
// a crash of the machine, nothing is flushed and no connection is closed in order.
import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connectionsOf } from '../../src/fleet.ts';
import { processesIn } from '../../src/platform/embedded/processes.ts';
import { openServices } from '../../src/platform/embedded/services.ts';
import { until } from '../support/until.ts';

export type OwnPostgres = {
  readonly url: string;
  readonly redisUrl: string;
  /**
   * SIGQUIT is an `immediate` stop; SIGKILL leaves the child processes to notice. Resolves when it
   * is down. Its supervisor starts it again, each time after a longer wait.
   */
  crash(signal?: 'SIGQUIT' | 'SIGKILL'): Promise<void>;
  /** Resolves when it accepts connections again. */
  running(): Promise<void>;
  stop(): Promise<void>;
};

/** How many nodes at a time, including killed ones whose connections the server still counts. */
const NODES_MAX = 6;

const LOG = { warn: () => undefined, error: () => undefined };

export async function startOwnPostgres(redisUrl: string | undefined): Promise<OwnPostgres> {
  const dataDir = mkdtempSync(join(tmpdir(), 'tollhouse-chaos-'));
  // When we are root, the account that runs it must be able to enter the directory.
  chmodSync(dataDir, 0o711);
  const connectionsMax = connectionsOf(NODES_MAX);
  const config = { databaseUrl: undefined, redisUrl, dataDir, connectionsMax };
  const services = await openServices(config, LOG);
  const cluster = join(realpathSync(join(dataDir, 'services')), 'postgres');
  const pidFile = join(cluster, 'postmaster.pid');
  function postmaster(): { pid: number; ready: boolean } {
    try {
      const lines = readFileSync(pidFile, 'utf8').split('\n');
      return { pid: Number(lines[0]), ready: lines[7]?.trim() === 'ready' };
    } catch {
      // Between two postmasters.
      return { pid: 0, ready: false };
    }
  }
  let crashed = 0;
  return {
    url: services.databaseUrl,
    redisUrl: services.redisUrl,
    async crash(signal = 'SIGQUIT') {
      crashed = postmaster().pid;
      process.kill(crashed, signal);
      await until('it is down', () => postmaster().pid !== crashed);
    },
    running: () =>
      until('it runs again', () => {
        const { pid, ready } = postmaster();
        return ready && pid !== crashed;
      }),
    async stop() {
      await services.stop();
      if (processesIn(cluster, undefined).length > 0) throw new Error('postgres is still there');
      rmSync(realpathSync(join(dataDir, 'services')), { recursive: true, force: true });
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}
