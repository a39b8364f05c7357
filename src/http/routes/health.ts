import type { Settings } from '../../config.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { refuse } from '../edge/errors.ts';
import { Health, Readiness as Ready } from '../wire/health.ts';

export type Readiness = () => { readonly ready: boolean; readonly reason?: string };

/** For operators: `/health` says that the process is up, `/ready` that it can serve. */
export function healthRoutes({
  edge,
  readiness,
  settings,
}: {
  edge: Edge;
  readiness: Readiness;
  settings: Pick<Settings, 'mail'>;
}): Route[] {
  return [
    edge.open(
      {
        operationId: 'getHealth',
        method: 'GET',
        path: '/health',
        summary: 'Check that the process is up',
        tag: 'Operation',
        answers: { 200: Health },
      },
      () => Response.json({ status: 'ok' }),
    ),
    edge.open(
      {
        operationId: 'getReadiness',
        method: 'GET',
        path: '/ready',
        summary: 'Check that the service can answer',
        tag: 'Operation',
        answers: { 200: Ready },
      },
      () => {
        const { ready, reason } = readiness();
        if (ready) {
          const mail = settings.mail === undefined ? 'off' : 'on';
          return Response.json({ status: 'ready', mail });
        }
        return refuse('service_unavailable', reason ?? 'not ready');
      },
    ),
  ];
}
