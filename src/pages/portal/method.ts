import { errorSummary } from '../fields.ts';
import { type Html, html } from '../html.ts';
import { instrumentFields } from '../instrument.ts';
import type { Page } from '../layout.ts';
import { frame, head, methodName, refusalOf, told, written } from './parts.ts';
import type { Notice, ReplaceView } from './view.ts';

/** The form that replaces the payment method. */
export function methodPage(view: ReplaceView): Page {
  const { merchant, method, errors, refusal, unfinished, notice } = view;
  if (notice !== null) return donePage(view, notice);
  const wrong = errors.length > 0 || refusal !== null ? 'Error: ' : '';
  const instead = method === null ? null : html` instead of ${methodName(method)}`;
  const content = html`${head(html`Payment method`, view)} ${errorSummary(errors)}
    ${refusalOf(refusal)}
    <p>
      ${written(merchant)} charges it from now on${instead}. Nothing is charged today, but overdue
      invoices are charged again at once.
    </p>
    ${unfinished === null ? form(view) : goOn(view, unfinished)}`;
  return frame(view, { title: `${wrong}Payment method`, content });
}

/** Where the link opens nothing else. */
function donePage(view: ReplaceView, notice: Notice): Page {
  const content = html`${head(html`Payment method`, view)} ${told(notice)}
    <p class="actions">
      <a class="button quiet" href="${view.base}/payment-method">Use another one</a>
    </p>`;
  return frame(view, { title: 'Payment method', content });
}

function form({ home, base, entered, owner, errors, attempt }: ReplaceView): Html {
  const fields =
    owner === null
      ? instrumentFields({ method: entered, errors })
      : html`<p>You enter it on the next page, at ${written(owner)}. Then you come back here.</p>`;
  return html`<form class="stack" method="post" action="${base}/payment-method" novalidate>
    <input type="hidden" name="attempt" value="${attempt}" />
    ${fields}
    <p class="confirm">
      <button class="button">
        ${owner === null ? 'Save payment method' : html`Continue to ${written(owner)}`}
      </button>
      ${back(home)}
    </p>
  </form>`;
}

/** The customer has come back before it was done. */
function goOn({ home }: ReplaceView, { owner, url }: NonNullable<ReplaceView['unfinished']>): Html {
  return html`<p>You have not finished at ${written(owner)}. Nothing has changed yet.</p>
    <p class="confirm">
      <a class="button" href="${url}">Continue to ${written(owner)}</a>
      ${back(home)}
    </p>`;
}

function back(home: string | null): Html | null {
  if (home === null) return null;
  return html`<a class="button quiet" href="${home}">Back, change nothing</a>`;
}
