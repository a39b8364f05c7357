import { Type } from '@sinclair/typebox';
import { Elysia } from 'elysia';
import { docsPage } from '../openapi/docs-page.ts';
import type { Page } from '../../pages/layout.ts';
import type { Edge } from '../edge/edge.ts';
import { type Addresses, type OpenApi, openApiOf, type RouteList } from '../openapi/openapi.ts';
import { sendPage } from '../page.ts';

export type DocumentRoutesDeps = {
  readonly edge: Edge;
  readonly settings: Addresses;
  /** Called on the first request, when all routes exist. */
  readonly routes: () => RouteList;
};

const tag = 'Documents';

const READ = {
  operationId: 'readDocumentation',
  summary: 'This document, to read',
  tag,
  answers: { 200: Type.String() },
  mediaType: 'text/html',
} as const;

export function documentRoutes({ edge, settings, routes }: DocumentRoutesDeps) {
  let document: OpenApi | undefined;
  let page: Page | undefined;
  const open = (): OpenApi => (document ??= openApiOf(routes(), settings));
  return new Elysia()
    .get(
      '/openapi.json',
      ...edge.open(
        {
          operationId: 'getOpenApi',
          summary: 'This document',
          tag,
          answers: { 200: Type.Object({}, { additionalProperties: Type.Unknown() }) },
        },
        () => Response.json(open()),
      ),
    )
    .get(
      '/docs',
      ...edge.open(READ, () => {
        page ??= docsPage(open());
        return sendPage(page);
      }),
    );
}
