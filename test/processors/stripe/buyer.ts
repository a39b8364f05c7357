// What a buyer does on the hosted page, and what the bank then asks.
import type { Books } from './books.ts';
import { type Decline, declining, type Instrument, instrumentOf, type Typed } from './cards.ts';
import { answerChallenge, attempt, createIntent, type Outcome } from './intents.ts';
import { createCustomer, createMethod } from './methods.ts';
import { complete, intentOf, sessionOf, setupOf } from './sessions.ts';
import { answerSetupChallenge, attemptSetup } from './setups.ts';
import type { Intent, Session } from './types.ts';

export type Paid =
  | { readonly kind: Outcome }
  /** The page did not take what was typed, or the session is over: nothing was attempted. */
  | { readonly kind: 'not_taken'; readonly message: string };

/** `because`: the bank declines whatever is typed, for this reason. */
export function pay(
  books: Books,
  session: Session,
  typed: Typed,
  because: Decline | null = null,
): Paid {
  if (session.status !== 'open') return { kind: 'not_taken', message: 'This page has expired.' };
  const read = instrumentOf(typed, books.nowMs());
  if (typeof read === 'string') return { kind: 'not_taken', message: read };
  const instrument = because === null ? read : declining(read, because);
  if (!isOffered(session, instrument)) {
    return { kind: 'not_taken', message: 'This payment method is not offered here.' };
  }
  const method = createMethod(books, instrument, session.currency ?? 'usd');
  const setup = setupOf(books, session);
  const customer = customerFor(books, session);
  let kind: Outcome;
  if (setup !== null) {
    setup.customer = customer;
    kind = attemptSetup(books, setup, method);
  } else {
    const intent = intentOf(books, session) ?? makeIntent(books, session);
    intent.customer = customer;
    kind = attempt(books, intent, method, { isPresent: true });
  }
  if (kind === 'done' || kind === 'processing') complete(books, session);
  return { kind };
}

/** The intent is made when its buyer first tries to pay. */
function makeIntent(books: Books, session: Session): Intent {
  const data = books.intentData.get(session.id);
  if (data === undefined) throw new Error(`no data for the intent of ${session.id}`);
  const intent = createIntent(books, data, { sessionId: session.id });
  session.payment_intent = intent.id;
  return intent;
}

/** The customer that the instrument will belong to, where it will belong to one. */
function customerFor(books: Books, session: Session): string | null {
  if (typeof session.customer === 'string') return session.customer;
  const known = intentOf(books, session)?.customer ?? setupOf(books, session)?.customer;
  if (typeof known === 'string') return known;
  const saves = typeof books.intentData.get(session.id)?.setup_future_usage === 'string';
  if (session.customer_creation !== 'always' && !saves) return null;
  return createCustomer(books, {
    email: session.customer_email ?? 'buyer@example.com',
    name: 'Test Buyer',
  }).id;
}

function isOffered(session: Session, instrument: Instrument): boolean {
  return session.payment_method_types.some(
    (type) => (type === 'card') === (instrument.type === 'card'),
  );
}

/** The buyer answers at the bank, for an intent or a setup. null: nothing is asked there. */
export function answer(books: Books, id: string, isPassed: boolean): Outcome | null {
  const intent = books.intents.get(id);
  const setup = books.setups.get(id);
  const session = sessionOf(books, id);
  if (session !== null && session.status !== 'open') return null;
  const outcome =
    intent !== undefined
      ? answerChallenge(books, intent, isPassed)
      : setup !== undefined
        ? answerSetupChallenge(books, setup, isPassed)
        : null;
  if (session !== null && outcome === 'done') complete(books, session);
  return outcome;
}
