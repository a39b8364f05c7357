import { Type } from '@sinclair/typebox';
import { EMBED_SCRIPT } from '../../pages/embed/parent.ts';
import type { Edge, Route } from '../edge/edge.ts';
import { FixedText } from '../etag.ts';

const SCRIPT = {
  operationId: 'getEmbedScript',
  method: 'GET',
  path: '/embed.js',
  summary: 'Get the script that embeds a checkout',
  description:
    'For a page at the origin of `success_url` or `cancel_url`. `Tollhouse.open(url, {onReady, onPaid, onCanceled, container})` shows the ' +
    'checkout above the page, or in `container`, and gives `{close()}`. Each callback gets `{payment_link_id, cancel_url}`. After `onPaid` ' +
    'the page decides what follows; the signal to act on is the event `payment.succeeded`. Without the script: a frame of ' +
    '`<url>?embed=1` tells its parent `{source: "tollhouse", type: "ready" | "resize" | "paid" | "canceled", payment_link_id, cancel_url}` ' +
    'by `postMessage`, `resize` with `height`.',
  tag: 'Hosted pages',
  answers: { 200: Type.String(), 304: null },
  mediaType: 'text/javascript',
} as const;

const TEXT = new FixedText(EMBED_SCRIPT, {
  'content-type': 'text/javascript; charset=utf-8',
  // A release reaches merchants' pages within the hour.
  'cache-control': 'public, max-age=3600',
  'x-content-type-options': 'nosniff',
  'cross-origin-resource-policy': 'cross-origin',
});

export function embedRoutes({ edge }: { readonly edge: Edge }): Route[] {
  return [edge.open(SCRIPT, ({ request }) => TEXT.answer(request))];
}
