import type { Machine } from '../probes/machine.ts';
import { machineLine, short, table, whole } from '../report/text.ts';
import type { Delivered } from './webhooks.ts';

const TITLES: Readonly<Record<Delivered['name'], string>> = {
  deliveries: 'all due at once, 500 endpoints',
  steady: 'a thousand a second',
  backlog: 'the same, one endpoint has 100,000 due: the others',
  hanging: 'the same, 300 of 500 endpoints hang: the others',
};

export function webhooksMarkdown(results: readonly Delivered[], machine: Machine): string {
  const rows = results.map((result) => [
    TITLES[result.name],
    whole(result.owed),
    result.perSecond === null ? '' : whole(result.perSecond),
    microsOf(result),
    ...latencies(result),
    ...[result.missing, result.again, result.failed].map(String),
  ]);
  const head = [
    'webhooks',
    'owed',
    'per s',
    'CPU us',
    'p50 ms',
    'p99 ms',
    'most ms',
    'missing',
    'again',
    'failed',
  ];
  return [
    table(head, rows),
    'Signed, received and logged. Latency is from the commit of the event to the receiver. CPU us are for each delivery: worker, PostgreSQL, receiver, Redis.',
    machineLine(machine),
  ].join('\n\n');
}

function microsOf({ micros }: Delivered): string {
  if (micros === null) return '';
  const { worker, postgres, receiver, redis } = micros;
  return [worker, postgres, receiver, redis].map(whole).join(' / ');
}

function latencies({ latencyMs }: Delivered): string[] {
  if (latencyMs === null) return ['', '', ''];
  return [latencyMs.p50, latencyMs.p99, latencyMs.max].map(short);
}
