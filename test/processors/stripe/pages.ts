// The hosted pages as plain HTML: where the buyer pays, and where the bank asks.
import { type Books, idOf } from './books.ts';
import { answer, pay } from './buyer.ts';
import type { Typed } from './cards.ts';
import { intentOf, sessionOf, setupOf } from './sessions.ts';
import type { Intent, Session } from './types.ts';

export type PageReply =
  | { readonly status: number; readonly html: string }
  | { readonly location: string };

/** Shows the page of a session, or pays on it where a form came. */
export function sessionPage(
  books: Books,
  session: Session,
  form: URLSearchParams | null,
): PageReply {
  if (session.status === 'complete') return { location: backTo(session) };
  if (session.status !== 'open') return over();
  if (form === null)
    return { status: 200, html: payForm(books, session, messageOf(books, session)) };
  const paid = pay(books, session, typedOf(form));
  if (paid.kind === 'challenge') return { location: `${books.url()}/3ds/${asked(session)}` };
  if (paid.kind === 'done' || paid.kind === 'processing') return { location: backTo(session) };
  const message = paid.kind === 'not_taken' ? paid.message : messageOf(books, session);
  return { status: 402, html: payForm(books, session, message) };
}

/** Shows what the bank asks, or takes the buyer's answer where a form came. */
export function challengePage(books: Books, id: string, form: URLSearchParams | null): PageReply {
  const session = sessionOf(books, id);
  if (session !== null && session.status !== 'open') return sessionPage(books, session, null);
  if (form === null) return { status: 200, html: challengeForm(id) };
  answer(books, id, form.get('answer') === 'complete');
  if (session !== null) {
    // Read again: the answer may have completed it.
    const { url } = session;
    return { location: url ?? backTo(session) };
  }
  const intent = books.intents.get(id);
  return intent === undefined ? over() : { location: returned(books, intent) };
}

/** Where a session's buyer goes when it is complete. */
function backTo(session: Session): string {
  return (session.success_url ?? '').replaceAll('{CHECKOUT_SESSION_ID}', session.id);
}

function returned(books: Books, intent: Intent): string {
  const url = new URL(books.facts.get(intent.id)?.returnUrl ?? books.url());
  url.searchParams.set('payment_intent', intent.id);
  url.searchParams.set(
    'redirect_status',
    intent.last_payment_error === null ? 'succeeded' : 'failed',
  );
  return url.href;
}

const asked = (session: Session): string => idOf(session.payment_intent ?? session.setup_intent);

function messageOf(books: Books, session: Session): string | null {
  const intent = intentOf(books, session);
  const error = intent?.last_payment_error ?? setupOf(books, session)?.last_setup_error ?? null;
  return error?.message ?? null;
}

function typedOf(form: URLSearchParams): Typed {
  const iban = form.get('iban') ?? '';
  if (iban.trim() !== '') return { iban };
  return {
    number: form.get('number') ?? '',
    expiry: form.get('expiry') ?? '',
    cvc: form.get('cvc') ?? '',
  };
}

function over(): PageReply {
  const html = document('Expired', '<h1>This page has expired</h1>');
  return { status: 410, html };
}

function payForm(books: Books, session: Session, message: string | null): string {
  const takesDebit = session.payment_method_types.some((type) => type !== 'card');
  const amount =
    session.amount_total === null
      ? 'Save a payment method'
      : `${session.amount_total} ${session.currency ?? ''} (smallest unit)`;
  return document(
    'Checkout',
    `<h1>${escape(amount)}</h1>
${message === null ? '' : `<p role="alert">${escape(message)}</p>`}
<form method="post" action="${escape(`${books.url()}/c/pay/${session.id}`)}">
<label>Card number <input name="number" autocomplete="off"></label>
<label>Expiry <input name="expiry" placeholder="MM / YY" autocomplete="off"></label>
<label>CVC <input name="cvc" autocomplete="off"></label>
${takesDebit ? '<label>IBAN <input name="iban" autocomplete="off"></label>' : ''}
<button>Pay</button>
</form>
${session.cancel_url === null ? '' : `<a href="${escape(session.cancel_url)}">Back</a>`}`,
  );
}

function challengeForm(id: string): string {
  return document(
    '3D Secure',
    `<h1>Your bank asks</h1>
<form method="post" action="/3ds/${escape(id)}">
<button name="answer" value="complete">Complete</button>
<button name="answer" value="fail">Fail</button>
</form>`,
  );
}

function document(title: string, body: string): string {
  return `<!doctype html><html lang="en"><meta charset="utf-8"><title>${title}</title><body>${body}</body></html>`;
}

function escape(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;');
}
