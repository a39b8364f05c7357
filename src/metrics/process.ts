// The process, under the names that dashboards expect. The defaults of prom-client ask V8, so most
// of them are 0 here.
import type { Registry } from 'prom-client';
import type { Clock } from '../../ledger/ports.ts';
import { counter, gauge } from './numbers.ts';

export function watchProcess(registry: Registry, clock: Clock): void {
  const startedAt = clock.now() / 1000 - process.uptime();
  gauge(registry, {
    name: 'process_start_time_seconds',
    help: 'When it started, Unix seconds.',
    read: () => startedAt,
  });
  gauge(registry, {
    name: 'process_resident_memory_bytes',
    help: 'Resident memory.',
    read: () => process.memoryUsage.rss(),
  });
  counter(registry, {
    name: 'process_cpu_seconds_total',
    help: 'Processor time, of user and system.',
    read() {
      const { user, system } = process.cpuUsage();
      return (user + system) / 1e6;
    },
  });
}
