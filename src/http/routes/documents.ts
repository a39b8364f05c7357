import { Type } from '@sinclair/typebox';
import { docsPage } from '../openapi/docs-page.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { type Addresses, type OpenApi, openApiOf, type RouteList } from '../openapi/openapi.ts';
import { FixedText } from '../etag.ts';
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
  method: 'GET',
  path: '/docs',
  summary: 'Show the API reference',
  tag,
  answers: { 200: Type.String(), 304: null },
  mediaType: 'text/html',
} as const;

export function documentRoutes({ edge, settings, routes }: DocumentRoutesDeps): Route[] {
  let document: OpenApi | undefined;
  let text: FixedText | undefined;
  let page: FixedText | undefined;
  const open = (): OpenApi => (document ??= openApiOf(routes(), settings));
  return [
    edge.open(
      {
        operationId: 'getOpenApi',
        method: 'GET',
        path: '/openapi.json',
        summary: 'Get the OpenAPI document',
        tag,
        answers: { 200: Type.Object({}, { additionalProperties: Type.Unknown() }), 304: null },
      },
      ({ request }) => {
        text ??= textOf(open());
        return text.answer(request);
      },
    ),
    edge.open(READ, ({ request }) => {
      page ??= pageOf(open());
      return page.answer(request);
    }),
  ];
}

/** A caller keeps it, and asks each time whether it is still the same. */
const KEPT = { 'cache-control': 'no-cache' };

const textOf = (document: OpenApi): FixedText =>
  new FixedText(JSON.stringify(document), {
    'content-type': 'application/json;charset=utf-8',
    ...KEPT,
  });

function pageOf(document: OpenApi): FixedText {
  const page = docsPage(document);
  return new FixedText(page.text, { ...Object.fromEntries(sendPage(page).headers), ...KEPT });
}
