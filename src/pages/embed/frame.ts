// What a framed checkout page has in addition: the only script on our pages, and a cancel button.
//
// Holds: the script posts messages to exactly the origins that may frame the page, and reads
// nothing of the merchant's page. Without the script the page works as well: links open outside the
// frame, and the merchant's page gets no messages.
import { type Html, html } from '../html.ts';
import type { Script } from '../layout.ts';

/** The origins that may frame the page, and the data of each message. */
export type Embed = {
  readonly paymentLinkId: string;
  readonly cancelUrl: string | null;
  readonly origins: readonly string[];
};

/** The name of the frame where `embed.js` shows it as a modal. */
export const MODAL = 'tollhouse-modal';

const DATA_ID = 'tollhouse-embed';

const TEXT = `(() => {
  const { state, paymentLink, cancelUrl, origins } = document.getElementById('${DATA_ID}').dataset;
  if (window.parent === window) {
    const here = new URL(location.href);
    here.searchParams.delete('embed');
    location.replace(here);
    return;
  }
  const all = origins.split(' ').filter(Boolean);
  const originOf = (url) => { try { return new URL(url).origin; } catch { return ''; } };
  const known = location.ancestorOrigins ? location.ancestorOrigins[0] : originOf(document.referrer);
  const targets = all.includes(known) ? [known] : all;
  const say = (type, more) => {
    const message = { source: 'tollhouse', type, payment_link_id: paymentLink, cancel_url: cancelUrl || null, ...more };
    for (const target of targets) window.parent.postMessage(message, target);
  };
  for (const button of document.querySelectorAll('[data-cancel]')) {
    button.hidden = false;
    button.addEventListener('click', () => say('canceled'));
  }
  document.addEventListener('keydown', ({ key, defaultPrevented }) => {
    if (key === 'Escape' && !defaultPrevented && window.name === '${MODAL}') say('canceled');
  });
  // A browser does not do it in a frame of another site.
  const first = document.querySelector('[autofocus]');
  if (first) first.focus();
  // The buyer pays in another tab, and comes back to this one.
  if (state === 'elsewhere') document.addEventListener('visibilitychange', () => {
    if (document.visibilityState === 'visible') location.reload();
  });
  say('ready');
  if (state === 'paid') say('paid');
  const measure = () => say('resize', { height: Math.ceil(document.body.getBoundingClientRect().height) });
  new ResizeObserver(measure).observe(document.body);
})();`;

export const FRAME_SCRIPT: Script = {
  text: TEXT,
  source: `'sha256-${new Bun.CryptoHasher('sha256').update(TEXT).digest('base64')}'`,
};

/** The script's data attributes. */
export function embedData(state: string, { paymentLinkId, cancelUrl, origins }: Embed): Html {
  return html`<div
    id="${DATA_ID}"
    hidden
    data-state="${state}"
    data-payment-link="${paymentLinkId}"
    data-cancel-url="${cancelUrl ?? ''}"
    data-origins="${origins.join(' ')}"
  ></div>`;
}

/**
 * Posts that the buyer cancels, and navigates nowhere. Without a script it is a link out of the
 * frame, where the checkout has a cancel URL.
 */
export function cancelButton({ cancelUrl }: Embed): Html {
  return html`<p class="back">
      <button type="button" class="button quiet" data-cancel hidden>Cancel</button>
    </p>
    ${
      cancelUrl === null
        ? null
        : html`<noscript
            ><p class="back"><a href="${cancelUrl}" target="_top">Cancel</a></p></noscript
          >`
    }`;
}
