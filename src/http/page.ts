// A page as a response: nobody keeps it, nobody frames it but who may, and it loads nothing and runs at most the one script of its own.
import type { Page } from '../pages/layout.ts';

export type PageOptions = {
  readonly status?: number;
  /** Sources that its forms may lead to, through redirects too: Chromium follows the whole chain. None where it has no form. */
  readonly formAction?: readonly string[];
  /** Origins of pages that may show it in a frame. */
  readonly framedBy?: readonly string[];
  /** Seconds after which it is asked for again. */
  readonly refreshAfter?: number;
};

export function sendPage(page: Page, options: PageOptions = {}): Response {
  const { status = 200, formAction = [], framedBy = [], refreshAfter } = options;
  const policy = [
    "default-src 'none'",
    `style-src ${page.stylesheet.source}`,
    ...(page.script === null ? [] : [`script-src ${page.script.source}`]),
    'img-src data:',
    `form-action ${formAction.length === 0 ? "'none'" : formAction.join(' ')}`,
    `frame-ancestors ${framedBy.length === 0 ? "'none'" : framedBy.join(' ')}`,
    "base-uri 'none'",
  ];
  return new Response(page.text, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      // Of what it sends elsewhere nobody learns the address, a credential. With no-referrer a browser would hide its origin from
      // us too, and the edge takes a form from its own page only.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      ...(refreshAfter !== undefined && { refresh: String(refreshAfter) }),
    },
  });
}
