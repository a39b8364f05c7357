// Responses where no route matches: 404, 405 with Allow, OPTIONS, and HEAD where there is a GET.
import { Elysia } from 'elysia';
import { andThen } from '../and-then.ts';
import type { Edge } from './edge.ts';
import { refuse } from './errors.ts';
import { urlOf } from './url.ts';

type Known = { readonly method: string; readonly pattern: RegExp };
type RouteList = readonly { readonly method: string; readonly path: string }[];

export type Fallback = (request: Request) => Response | Promise<Response>;

export function createFallback(options: {
  edge: Edge;
  routes: RouteList;
  handle: (request: Request) => Promise<Response>;
}): Fallback {
  const known: Known[] = options.routes.map(({ method, path }) => ({
    method,
    pattern: new RegExp(
      `^${path.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll(/:\w+/g, '[^/]+')}/?$`,
    ),
  }));

  function answer(request: Request): Response | Promise<Response> {
    const path = urlOf(request).pathname;
    const methods = known.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method);
    if (methods.length === 0) {
      return options.edge.finish(request, refuse('not_found', 'no such route'));
    }
    if (methods.includes('GET')) methods.push('HEAD');
    const allow = [...new Set(methods), 'OPTIONS'].join(', ');
    if (request.method === 'OPTIONS')
      return new Response(null, { status: 204, headers: { allow } });
    if (request.method === 'HEAD' && methods.includes('GET'))
      return headOf(request, options.handle);
    const refusal = refuse('method_not_allowed', `allowed here: ${allow}`, { headers: { allow } });
    return options.edge.finish(request, refusal);
  }

  return (request) => andThen(options.edge.enter(), () => answer(request));
}

async function headOf(
  request: Request,
  handle: (request: Request) => Promise<Response>,
): Promise<Response> {
  const asked = new Headers(request.headers);
  // It only looks: what a visit would do is not done.
  asked.delete('sec-fetch-mode');
  const { status, headers } = await handle(
    new Request(request.url, { method: 'GET', headers: asked }),
  );
  return new Response(null, { status, headers });
}

/**
 * Elysia throws for a path without a route, and for nothing else: the edge catches what handlers
 * throw.
 */
export function withFallback(edge: Edge, answer: () => Fallback) {
  return new Elysia().onError({ as: 'global' }, ({ code, error, request }) =>
    code === 'NOT_FOUND' ? answer()(request) : edge.finish(request, edge.failed(request, error)),
  );
}
