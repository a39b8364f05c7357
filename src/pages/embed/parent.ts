// /embed.js: the merchant's side of a framed checkout. A script without dependencies, served as it
// is.
//
// Holds: messages count only from the checkout's origin and its own frame. A modal is a dialog: the
// rest of the page is inert, Escape cancels, and the focus returns to where it was.
import { MODAL } from './frame.ts';

export const EMBED_SCRIPT = `// Tollhouse.open(url, {onReady, onPaid, onCanceled, container}) shows a checkout, and gives {close()}.
(() => {
  'use strict';
  const HEIGHT = 640;

  function open(url, options) {
    const { onReady, onPaid, onCanceled, container } = options || {};
    const address = new URL(url, location.href);
    address.searchParams.set('embed', '1');
    const place = typeof container === 'string' ? document.querySelector(container) : container;
    if (container && !place) throw new Error('Tollhouse.open: there is no container ' + container);
    let link = { payment_link_id: null, cancel_url: null };
    let isReady = false;
    let isPaid = false;
    let isOpen = true;

    const frame = document.createElement('iframe');
    frame.title = 'Checkout';
    frame.src = address.href;
    Object.assign(frame.style, { display: 'block', width: '100%', height: HEIGHT + 'px', border: '0' });

    const cancel = () => {
      if (!isOpen) return;
      close();
      if (!isPaid && onCanceled) onCanceled({ ...link });
    };
    const dialog = place ? null : modal(frame, cancel);

    function hear(event) {
      if (event.origin !== address.origin || event.source !== frame.contentWindow) return;
      const said = event.data;
      if (!said || said.source !== 'tollhouse') return;
      link = { payment_link_id: said.payment_link_id, cancel_url: said.cancel_url };
      if (said.type === 'ready' && !isReady) {
        isReady = true;
        if (onReady) onReady({ ...link });
      } else if (said.type === 'resize' && said.height > 0) {
        frame.style.height = said.height + 'px';
      } else if (said.type === 'paid' && !isPaid) {
        isPaid = true;
        if (onPaid) onPaid({ ...link });
      } else if (said.type === 'canceled') {
        cancel();
      }
    }

    function close() {
      if (!isOpen) return;
      isOpen = false;
      window.removeEventListener('message', hear);
      if (dialog) {
        dialog.close();
        dialog.remove();
      }
      frame.remove();
    }

    window.addEventListener('message', hear);
    if (place) {
      place.append(frame);
    } else {
      frame.name = '${MODAL}';
      document.body.append(dialog);
      dialog.showModal();
      frame.focus();
    }
    return { close };
  }

  function modal(frame, cancel) {
    const dialog = document.createElement('dialog');
    dialog.setAttribute('aria-label', 'Checkout');
    Object.assign(dialog.style, {
      width: 'min(100%, 62rem)', maxHeight: '100dvh', padding: '0', border: '0', borderRadius: '12px', overflow: 'auto',
    });
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = '\\u00d7';
    button.setAttribute('aria-label', 'Close');
    Object.assign(button.style, {
      position: 'absolute', top: '8px', right: '8px', width: '36px', height: '36px', border: '0', borderRadius: '50%',
      background: 'rgb(127 127 127 / 25%)', color: 'inherit', font: '20px/1 sans-serif', cursor: 'pointer',
    });
    button.addEventListener('click', cancel);
    dialog.addEventListener('cancel', (event) => {
      event.preventDefault();
      cancel();
    });
    // Without a click on the page before it, a browser closes it without asking.
    dialog.addEventListener('close', cancel);
    dialog.append(button, frame);
    return dialog;
  }

  window.Tollhouse = Object.freeze({ open });
})();
`;
