// The states of a checkout without a form.
import { type Html, html } from '../html.ts';
import { money, ticket, written } from './summary.ts';
import type { CheckoutView, ClosedView, ElsewhereView, Receipt, Sale } from './view.ts';

type Of<Kind extends CheckoutView['kind']> = Extract<CheckoutView, { kind: Kind }>;

type State = {
  readonly mark: Html | null;
  readonly heading: string;
  /** Whether a screen reader announces it as a change. */
  readonly isLive?: boolean;
  readonly text: Html;
  readonly action?: Html | null;
};

export function state({ mark, heading, isLive = false, text, action = null }: State): Html {
  return html`<section class="state stack" ${isLive ? html`role="status"` : null}>
    ${mark}
    <h1>${heading}</h1>
    ${text} ${action}
  </section>`;
}

function beside(sale: Sale, told: Html): Html {
  return html`<div class="told stack">${told} ${ticket(sale, { leads: false, below: null })}</div>`;
}

export function challenge({ sale, bankUrl }: Of<'challenge'>): Html {
  return beside(
    sale,
    state({
      mark: MARKS.wait,
      heading: 'Your bank asks you to confirm',
      isLive: true,
      text: html`<p>
        Confirm the payment with your bank. Nothing is charged before that. This page shows the
        result.
      </p>`,
      action: bankUrl === null ? null : link(bankUrl, html`Continue to your bank`),
    }),
  );
}

/**
 * Where the buyer has not finished, or may have: then there is no address to go on at. In a frame,
 * the page of another opens in a tab of its own.
 */
export function elsewhere(
  view: ElsewhereView,
  { isFramed, cancel }: { readonly isFramed: boolean; readonly cancel: Html | null },
): Html {
  const { sale, attempt, owner, pageUrl, backUrl } = view;
  const tab = isFramed ? html`, which opens in another tab` : null;
  const onward =
    pageUrl === null ? null : link(pageUrl, html`Continue to payment`, isFramed ? '_blank' : null);
  const back =
    backUrl === null
      ? null
      : html`<p class="back"><a href="${backUrl}">Back to ${written(sale.merchant)}</a></p>`;
  return beside(
    sale,
    state({
      mark: MARKS.wait,
      heading:
        pageUrl === null
          ? 'Your payment is under way'
          : isFramed
            ? 'Pay in another tab'
            : 'Your payment is not finished',
      isLive: true,
      text:
        pageUrl === null
          ? html`<p>
              ${written(owner)} has not confirmed it yet. If you have paid there, you need not pay
              again. This page shows the result soon.
            </p>`
          : html`<p>
              You pay on the page of ${written(owner)}${tab}. Nothing is charged before you confirm
              it there. This page shows the result.
            </p>`,
      action: html`${onward}
        <form method="post">
          <input type="hidden" name="attempt" value="${attempt}" />
          <button class="button wide quiet" name="action" value="give_up">Change the order</button>
        </form>
        ${cancel ?? back}`,
    }),
  );
}

export function processing({ sale, email, isSlow }: Of<'processing'>): Html {
  const who = email === null ? null : html`<p class="muted">Paid as ${written(email)}</p>`;
  return beside(
    sale,
    state({
      mark: MARKS.wait,
      heading: isSlow ? 'Your bank is processing it' : 'Your payment is under way',
      isLive: true,
      text: isSlow
        ? html`<p>
              The debit of ${money(sale.total, sale.currency)} was sent to your bank, which can take
              a while. You need not pay again. This page shows the result.
            </p>
            ${who}`
        : html`<p>
              It may have been started in another tab. You need not pay again. This page shows the
              result.
            </p>
            ${who}`,
    }),
  );
}

/** `isFramed`: the link opens outside the frame. */
export function paid(
  { sale, receipt, continueUrl }: Of<'paid'>,
  { isFramed }: { readonly isFramed: boolean },
): Html {
  const { total, currency, merchant } = sale;
  return html`<div class="told stack">
    ${state({
      mark: MARKS.done,
      heading: sale.recurs === null ? 'Paid. Thank you!' : 'Subscribed. Thank you!',
      text:
        total === 0n
          ? html`<p>Nothing was charged today. There is nothing more to do.</p>`
          : html`<p>
              ${money(total, currency)} went to ${written(merchant)}. There is nothing more to do.
            </p>`,
      action:
        continueUrl === null
          ? null
          : link(continueUrl, html`Continue to ${written(merchant)}`, isFramed ? '_top' : null),
    })}
    ${ticket(sale, { leads: false, below: facts(receipt) })}
  </div>`;
}

function facts({ paymentId, email, method, paidAt }: Receipt): Html {
  return html`<dl class="facts">
    <dt>E-mail</dt>
    <dd>${written(email)}</dd>
    <dt>Date</dt>
    <dd><time datetime="${paidAt.toISOString()}">${DATE.format(paidAt)} UTC</time></dd>
    ${
      method === null
        ? null
        : html`<dt>Paid with</dt>
            <dd>${methodName(method)}</dd>`
    }
    <dt>Payment</dt>
    <dd class="code">${paymentId}</dd>
  </dl>`;
}

function methodName({ type, brand, last4 }: NonNullable<Receipt['method']>): Html {
  const name = type === 'bank_debit' ? 'Bank debit' : named(brand ?? 'card');
  return html`${name} <span class="code">•••• ${last4}</span>`;
}

function named(brand: string): string {
  return brand.charAt(0).toUpperCase() + brand.slice(1);
}

const DATE = new Intl.DateTimeFormat('en', {
  dateStyle: 'medium',
  timeStyle: 'short',
  timeZone: 'UTC',
});

const CLOSED: Readonly<Record<ClosedView['kind'], Pick<State, 'heading' | 'text'>>> = {
  expired: {
    heading: 'This checkout has expired',
    text: html`<p>Nothing was charged. To buy it, start again where you came from.</p>`,
  },
  canceled: {
    heading: 'This checkout was canceled',
    text: html`<p>Nothing was charged. It can no longer be paid.</p>`,
  },
  locked: {
    heading: 'Too many attempts',
    text: html`<p>
      Nothing was charged. To protect cards, this checkout takes no more attempts. Start again where
      you came from.
    </p>`,
  },
  unavailable: {
    heading: 'This is no longer for sale',
    text: html`<p>Nothing was charged.</p>`,
  },
};

export function closed({ kind, sale, backUrl }: ClosedView, cancel: Html | null): Html {
  const back = backUrl === null ? null : link(backUrl, html`Back to ${written(sale.merchant)}`);
  const action = cancel ?? back;
  return beside(sale, state({ mark: MARKS.closed, ...CLOSED[kind], action }));
}

export function notFound(): Html {
  return html`<div class="told">
    ${state({
      mark: MARKS.closed,
      heading: 'There is no such checkout',
      text: html`<p>Check that the whole address was copied, or ask for a new link.</p>`,
    })}
  </div>`;
}

/** `target`: where it opens, if not in its place. */
function link(url: string, text: Html, target: '_top' | '_blank' | null = null): Html {
  return html`<p>
    <a class="button wide" href="${url}" ${target === null ? null : html`target="${target}"`}
      ><span>${text}</span></a
    >
  </p>`;
}

function markOf(kind: string, path: Html): Html {
  return html`<svg class="mark ${kind}" viewBox="0 0 48 48" aria-hidden="true">
    <circle cx="24" cy="24" r="22" />
    ${path}
  </svg>`;
}

export const MARKS = {
  done: markOf('done', html`<path d="M14.5 24.5l6.5 6.5 12.5-14" />`),
  wait: markOf('wait', html`<path d="M24 13v11.5l7.5 4.5" />`),
  closed: markOf('closed', html`<path d="M24 13.5v13M24 33.5v.5" />`),
};
