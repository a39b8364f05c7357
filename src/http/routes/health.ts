import { Elysia } from 'elysia';
import type { Edge } from '../edge.ts';
import { refuse } from '../errors.ts';
import { Health, Readiness as Ready } from '../wire/health.ts';

export type Readiness = () => { readonly ready: boolean; readonly reason?: string };

/** For whoever runs this: `/health` says that the process is up, `/ready` that it can serve. */
export function healthRoutes({ edge, readiness }: { edge: Edge; readiness: Readiness }) {
  return new Elysia()
    .get(
      '/health',
      ...edge.open(
        {
          operationId: 'getHealth',
          summary: 'Whether the process is up',
          tag: 'Operation',
          answers: { 200: Health },
        },
        () => Response.json({ status: 'ok' }),
      ),
    )
    .get(
      '/ready',
      ...edge.open(
        {
          operationId: 'getReadiness',
          summary: 'Whether it can serve',
          tag: 'Operation',
          answers: { 200: Ready },
        },
        () => {
          const { ready, reason } = readiness();
          if (ready) return Response.json({ status: 'ready' });
          return refuse('service_unavailable', reason ?? 'not ready');
        },
      ),
    );
}
