// The script of the branding page: the preview has the colour that is being typed.
//
// How it works: the page itself is asked for, with the colour in its address, and the styles that
// it comes with take the place of those here. So a colour is made readable in one place (brand.ts).
// Without the script the preview shows what is saved.
import type { Script } from '../../pages/layout.ts';

/** The parameter of the colour to show, in place of the one that is saved. */
export const SHOWN_COLOR = 'color';

const TEXT = `(() => {
  'use strict';
  const field = document.getElementById('f-branding.color');
  const typed = new CSSStyleSheet();
  let shown = field.value;
  let isAsking = false;
  const follow = async () => {
    const color = field.value.trim();
    if (isAsking || color === shown || !/^(?:#[0-9a-f]{6})?$/i.test(color)) return;
    isAsking = true;
    try {
      const reply = await fetch('?${SHOWN_COLOR}=' + encodeURIComponent(color), { redirect: 'error' });
      if (reply.ok) {
        // Not as a document: the policy of this page would complain of the styles of that one.
        const [, brand] = (await reply.text()).matchAll(/<style>([^<]*)/g);
        typed.replaceSync(brand ? brand[1] : '');
        document.adoptedStyleSheets = [typed];
        const [, saved] = document.styleSheets;
        if (saved) saved.disabled = true;
      }
    } catch {
      // Away, or signed out: what is shown stays.
    }
    shown = color;
    isAsking = false;
    void follow();
  };
  field.addEventListener('input', follow);
})();`;

const hash = new Bun.CryptoHasher('sha256').update(TEXT).digest('base64');

export const PREVIEW_SCRIPT: Script = { text: TEXT, source: `'sha256-${hash}'`, asks: true };
