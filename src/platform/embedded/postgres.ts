// A PostgreSQL server of our own: its cluster is <services>/postgres, its log
// <services>/postgres.log.
//
// Holds: the cluster appears under its name only when initdb has finished and synced it, so that a
// start that was cut off begins again; two servers never run on one cluster, because everything
// that still works in its directory is ended first (DATA_DIR is locked, so that is an orphan).
// Ending an orphan rather than adopting it costs a checkpoint, and buys that what we supervise is
// always our own child with the settings of this release.
// Does not: upgrade a cluster of another major version.
import { existsSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import postgres from 'postgres';
import type { Credentials } from './credentials.ts';
import { ServiceFailure } from '../failure.ts';
import { makeOwned, type ServiceAccount } from './service-account.ts';
import { postgresBinaries } from './postgres-binaries.ts';
import { POSTGRES_HBA, postgresSettings } from './postgres-settings.ts';
import { syncDirectory, writePrivate } from '../private-file.ts';
import { daemon, endProcesses, processesIn, runOnce, type StopStep } from './processes.ts';
import { supervise, type Log, type ServiceSpec, type Supervised } from './supervisor.ts';

const MAJOR = '18';
const USER = 'tollhouse';
const POLL_MS = 10;
// Fast shutdown (a checkpoint, so it may take a while), then immediate (recovery at the next
// start).
const STOP_STEPS: readonly StopStep[] = [
  { signal: 'SIGINT', waitMs: 60_000 },
  { signal: 'SIGQUIT', waitMs: 10_000 },
  { signal: 'SIGKILL', waitMs: 5000 },
];
// Processes whose postmaster is gone: it would have told them to quit.
const LEFTOVER_STEPS: readonly StopStep[] = [
  { signal: 'SIGQUIT', waitMs: 5000 },
  { signal: 'SIGKILL', waitMs: 5000 },
];

export interface EmbeddedPostgres extends Supervised {
  readonly url: string;
}

/** Starts the server and keeps it running. @throws ServiceFailure */
export async function openPostgres(options: {
  place: ServiceAccount;
  credentials: Credentials;
  connectionsMax: number;
  log: Log;
}): Promise<EmbeddedPostgres> {
  const { place, credentials, connectionsMax, log } = options;
  const binaries = postgresBinaries(place);
  const cluster = join(place.directory, 'postgres');
  if (!existsSync(cluster)) createCluster({ place, binaries, password: credentials.password });
  const version = readFileSync(join(cluster, 'PG_VERSION'), 'utf8').trim();
  if (version !== MAJOR) {
    throw new ServiceFailure(`${cluster} is of PostgreSQL ${version}, this release runs ${MAJOR}`);
  }
  const config = join(place.directory, 'postgres.conf');
  const hba = join(place.directory, 'postgres-hba.conf');
  const local = join(place.directory, 'postgres.local.conf');
  const localFile = existsSync(local) ? local : undefined;
  const settings = postgresSettings({ port: credentials.port, connectionsMax, localFile });
  writePrivate(config, settings, place.account);
  writePrivate(hba, POSTGRES_HBA, place.account);
  const spec: ServiceSpec = {
    name: 'PostgreSQL',
    ...daemon({
      file: join(binaries, 'bin', 'postgres'),
      args: ['-D', cluster, '-c', `config_file=${config}`, '-c', `hba_file=${hba}`],
      account: place.account,
      logFile: join(place.directory, 'postgres.log'),
    }),
    stopSteps: STOP_STEPS,
    prepare: () => clearPostgres(place),
    ready: ({ pid }, signal) => untilReady({ cluster, pid, signal }),
  };
  const supervised = await supervise(spec, log);
  const url = `postgres://${USER}:${credentials.password}@127.0.0.1:${credentials.port}/${USER}`;
  try {
    await ensureDatabase(url);
  } catch (error) {
    await supervised.stop();
    throw new ServiceFailure(`the embedded PostgreSQL refuses us: ${String(error)}`, {
      cause: error,
    });
  }
  return { url, pid: () => supervised.pid(), stop: () => supervised.stop() };
}

function createCluster(options: {
  place: ServiceAccount;
  binaries: string;
  password: string;
}): void {
  const { place, binaries, password } = options;
  const unfinished = join(place.directory, 'postgres.new');
  const passwordFile = join(place.directory, 'password');
  rmSync(unfinished, { recursive: true, force: true });
  makeOwned(unfinished, place.account);
  writePrivate(passwordFile, `${password}\n`, place.account);
  const args = [
    `--pgdata=${unfinished}`,
    `--username=${USER}`,
    `--pwfile=${passwordFile}`,
    '--auth=scram-sha-256',
    '--encoding=UTF8',
    // Sorting by code point does not change when the machine's C library does.
    '--locale=C',
    '--locale-provider=builtin',
    '--builtin-locale=C.UTF-8',
  ];
  const file = join(binaries, 'bin', 'initdb');
  const { ok, output } = runOnce({ file, args, account: place.account });
  rmSync(passwordFile);
  if (!ok) throw new ServiceFailure(`initdb failed: ${output}`);
  renameSync(unfinished, join(place.directory, 'postgres'));
  syncDirectory(place.directory);
}

/** After this nothing runs in the cluster, and no file of an earlier run stands in the way. */
export async function clearPostgres({ directory, account }: ServiceAccount): Promise<void> {
  const cluster = join(directory, 'postgres');
  const name = 'an earlier PostgreSQL';
  const pids = processesIn(cluster, account);
  const postmaster = readStatus(cluster).pid;
  if (pids.includes(postmaster)) {
    await endProcesses({ name, pids: [postmaster], steps: STOP_STEPS });
  }
  const leftovers = processesIn(cluster, account);
  if (leftovers.length > 0) await endProcesses({ name, pids: leftovers, steps: LEFTOVER_STEPS });
  // PostgreSQL would refuse to start if the pid in it happened to be in use again.
  rmSync(join(cluster, 'postmaster.pid'), { force: true });
}

async function untilReady(options: {
  cluster: string;
  pid: number | undefined;
  signal: AbortSignal;
}): Promise<void> {
  // Without a limit: recovery after a crash takes as long as it takes, and stop() ends it.
  while (!options.signal.aborted) {
    const { pid, status } = readStatus(options.cluster);
    if (pid === options.pid && status === 'ready') return;
    await Bun.sleep(POLL_MS);
  }
}

/** The lines of postmaster.pid that pg_ctl reads: the first is the pid, the eighth the state. */
function readStatus(cluster: string): { pid: number; status: string } {
  try {
    const lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n');
    return { pid: Number(lines[0]), status: lines[7]?.trim() ?? '' };
  } catch {
    return { pid: 0, status: '' };
  }
}

async function ensureDatabase(url: string): Promise<void> {
  const maintenance = new URL(url);
  maintenance.pathname = '/postgres';
  const sql = postgres(maintenance.href, {
    max: 1,
    connect_timeout: 10,
    onnotice: () => undefined,
  });
  try {
    const found = await sql`select 1 from pg_database where datname = ${USER}`;
    if (found.length === 0) await sql`create database ${sql(USER)}`;
  } finally {
    await sql.end({ timeout: 5 });
  }
}
