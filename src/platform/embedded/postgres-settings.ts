// The settings of the embedded PostgreSQL, written anew at every start so that they follow the
// release. What an operator puts into services/postgres.local.conf wins.
import os from 'node:os';

const MIB = 1024 * 1024;

/**
 * @param port on the loopback
 * @param connectionsMax of all that connect
 * @param localFile the operator's own settings; undefined where there are none
 * @param memoryBytes what this process may use, which a container limits below the machine's
 */
export function postgresSettings(options: {
  port: number;
  connectionsMax: number;
  localFile: string | undefined;
  memoryBytes?: number;
}): string {
  const { port, connectionsMax, localFile, memoryBytes = availableMemory() } = options;
  const memoryMb = Math.floor(memoryBytes / MIB);
  // An eighth, because the server shares the machine with us, who hold the working set already.
  const sharedMb = clamp(Math.floor(memoryMb / 8), 64, 512);
  const settings: Record<string, string> = {
    listen_addresses: '127.0.0.1',
    port: `${port}`,
    unix_socket_directories: '',
    max_connections: `${connectionsMax}`,
    password_encryption: 'scram-sha-256',
    timezone: 'UTC',
    log_timezone: 'UTC',

    // The promise of the service rests on these three.
    fsync: 'on',
    synchronous_commit: 'on',
    full_page_writes: 'on',

    shared_buffers: `${sharedMb}MB`,
    effective_cache_size: `${Math.max(Math.floor(memoryMb / 2), sharedMb)}MB`,
    wal_buffers: sharedMb < 512 ? '16MB' : '64MB',
    // Few checkpoints: each one makes the next change of every page log the whole page.
    max_wal_size: '4GB',
    min_wal_size: '256MB',
    checkpoint_timeout: '15min',
    // This build has neither lz4 nor zstd, and pglz costs more processor time than the writes it
    // saves.
    wal_compression: 'off',
    random_page_cost: '1.1',
    jit: 'off',
    // Parallel queries need shared memory that small containers lack, and processors that we use.
    max_parallel_workers_per_gather: '0',
    max_parallel_maintenance_workers: '0',

    // Append-mostly tables and few hot rows: early, small rounds.
    autovacuum_naptime: '15s',
    autovacuum_vacuum_scale_factor: '0.05',
    autovacuum_vacuum_insert_scale_factor: '0.1',
    autovacuum_analyze_scale_factor: '0.05',
    autovacuum_vacuum_cost_limit: '1000',

    log_min_messages: 'warning',
    log_checkpoints: 'off',
    log_line_prefix: '%m [%p] %d ',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name} = '${value}'`);
  return [
    '# Written at every start. Your own settings go into postgres.local.conf beside this file.',
    ...lines,
    ...(localFile === undefined ? [] : [`include = '${localFile}'`]),
    '',
  ].join('\n');
}

/** Only over TCP on the loopback, and only with the password. */
export const POSTGRES_HBA = 'host all all 127.0.0.1/32 scram-sha-256\n';

function availableMemory(): number {
  const limit = process.constrainedMemory();
  return limit > 0 ? Math.min(limit, os.totalmem()) : os.totalmem();
}

function clamp(value: number, min: number, max: number): number {
  return Math.min(Math.max(value, min), max);
}
