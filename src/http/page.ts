// A page as a response: not cached, framed only by the origins that may, loads nothing but its
// images, and runs at most its one script.
import type { Page } from '../pages/layout.ts';

export type PageOptions = {
  readonly status?: number;
  /**
   * Sources that its forms may lead to. Chromium checks redirects too, so the whole chain is
   * listed. None where the page has no form.
   */
  readonly formAction?: readonly string[];
  /** Origins of pages that may show it in a frame. */
  readonly framedBy?: readonly string[];
  /** Seconds until the browser reloads it. */
  readonly refreshAfter?: number;
};

export function sendPage(page: Page, options: PageOptions = {}): Response {
  const { status = 200, formAction = [], framedBy = [], refreshAfter } = options;
  const policy = [
    "default-src 'none'",
    `style-src ${page.stylesheets.map(({ source }) => source).join(' ')}`,
    ...(page.script === null ? [] : [`script-src ${page.script.source}`]),
    ...(page.script?.asks === true ? ["connect-src 'self'"] : []),
    `img-src ${['data:', ...page.images].join(' ')}`,
    `form-action ${formAction.length === 0 ? "'none'" : formAction.join(' ')}`,
    `frame-ancestors ${framedBy.length === 0 ? "'none'" : framedBy.join(' ')}`,
    "base-uri 'none'",
  ];
  return new Response(page.text, {
    status,
    headers: {
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': policy.join('; '),
      // Other origins do not learn the address, which is a credential. With no-referrer a browser
      // would also hide the origin from us, and the edge accepts a form from its own page only.
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
      'x-robots-tag': 'noindex',
      ...(refreshAfter !== undefined && { refresh: String(refreshAfter) }),
    },
  });
}
