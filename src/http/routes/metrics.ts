import { createHash, timingSafeEqual } from 'node:crypto';
import { Type } from '@sinclair/typebox';
import type { Registry } from 'prom-client';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';

export type MetricsRoutesDeps = {
  readonly edge: Edge;
  readonly registry: Registry;
  /** The peer address of the connection; empty where there is none. */
  readonly peerOf: (request: Request) => string;
  readonly settings: { readonly metricsToken: string | undefined; readonly proxyHops: number };
};

const READ = {
  operationId: 'getMetrics',
  method: 'GET',
  path: '/metrics',
  summary: 'Get metrics for Prometheus',
  description:
    'For operators. With `METRICS_TOKEN` set, for whoever sends it as `Authorization: Bearer`; ' +
    'without it, for this machine only. Others get 404.',
  tag: 'Operation',
  answers: { 200: Type.String() },
  mediaType: 'text/plain',
  refusals: ['unauthorized', 'not_found'],
} as const;

const LOOPBACK = /^(?:127\.\d+\.\d+\.\d+|::1|::ffff:127\.\d+\.\d+\.\d+)$/;
/** Headers of a proxy: with one of them, the peer is not the client. */
const FORWARDED = ['x-forwarded-for', 'x-real-ip', 'forwarded', 'via'];

export function metricsRoutes(deps: MetricsRoutesDeps): Route[] {
  return [readMetrics(deps)];
}

function readMetrics({ edge, registry, peerOf, settings }: MetricsRoutesDeps): Route {
  const { metricsToken: token, proxyHops } = settings;
  const isFromHere = (request: Request): boolean =>
    proxyHops === 0 &&
    LOOPBACK.test(peerOf(request)) &&
    FORWARDED.every((name) => !request.headers.has(name));
  return edge.open(READ, async ({ request }) => {
    if (token === undefined && !isFromHere(request)) {
      return refuse('not_found', 'no such route');
    }
    if (token !== undefined && !isSame(request.headers.get('authorization'), `Bearer ${token}`)) {
      return refuse('unauthorized', 'the token of the metrics is missing or wrong');
    }
    const text = await registry.metrics();
    return new Response(text, { headers: { 'content-type': registry.contentType } });
  });
}

/** Constant-time comparison. */
function isSame(sent: string | null, expected: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest();
  return timingSafeEqual(hash(sent ?? ''), hash(expected));
}
