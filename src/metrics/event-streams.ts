// The streams of events that this process serves.
import type { Registry } from 'prom-client';
import { counter, gauge } from './numbers.ts';

type Stats = { readonly readers: number; readonly sent: number; readonly slow: number };

export function watchEventStreams(registry: Registry, streams: { readonly stats: Stats }): void {
  gauge(registry, {
    name: 'tollhouse_event_streams',
    help: 'Streams of events that are open.',
    read: () => streams.stats.readers,
  });
  counter(registry, {
    name: 'tollhouse_event_stream_events_total',
    help: 'Events on streams: each event once for each of its readers.',
    read: () => streams.stats.sent,
  });
  counter(registry, {
    name: 'tollhouse_event_stream_slow_total',
    help: 'Streams that were ended because too much waited for their reader; not those whose connection was closed after a minute in which it took nothing.',
    read: () => streams.stats.slow,
  });
}
