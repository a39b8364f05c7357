// The dashboard's one script: parts of a page that change by themselves are kept as they are now.
//
// How it works: while a page has elements with `data-live` and is looked at, the page itself is
// asked for every second, and each such element is replaced by its new self, by id. Without the
// script the page shows what it was loaded with.
//
// Holds: what is on disk is seen within two seconds, where a page takes less than one.
import type { Script } from '../../pages/layout.ts';

/** On a request of the script: nobody asked for it, so it does not keep a session open. */
export const LIVE_HEADER = 'x-live';

const TEXT = `(() => {
  'use strict';
  const EVERY_MS = 1000;
  const parts = () => document.querySelectorAll('[data-live][id]');
  let isAsking = false;
  setInterval(async () => {
    if (isAsking || document.hidden || parts().length === 0) return;
    isAsking = true;
    try {
      const reply = await fetch(location.href, { headers: { '${LIVE_HEADER}': '1' }, redirect: 'error' });
      if (reply.ok) {
        const fresh = new DOMParser().parseFromString(await reply.text(), 'text/html');
        for (const part of parts()) {
          const next = fresh.getElementById(part.id);
          // What is open or has the focus is left alone.
          if (next && next.innerHTML !== part.innerHTML && !part.contains(document.activeElement) && !part.querySelector('details[open]')) part.replaceWith(next);
        }
      }
    } catch {
      // Away, signed out, or no page: what is shown stays, and the next time asks again.
    }
    isAsking = false;
  }, EVERY_MS);
})();`;

const hash = new Bun.CryptoHasher('sha256').update(TEXT).digest('base64');

export const LIVE_SCRIPT: Script = { text: TEXT, source: `'sha256-${hash}'`, asks: true };
