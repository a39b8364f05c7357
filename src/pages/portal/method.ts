import { errorSummary } from '../fields.ts';
import { html } from '../html.ts';
import { instrumentFields } from '../instrument.ts';
import type { Page } from '../layout.ts';
import { frame, head, methodName, refusalOf, written } from './parts.ts';
import type { ReplaceView } from './view.ts';

/** The form that replaces the payment method. */
export function methodPage(view: ReplaceView): Page {
  const { base, merchant, method, entered, errors, refusal, attempt } = view;
  const wrong = errors.length > 0 || refusal !== null ? 'Error: ' : '';
  const instead = method === null ? null : html` instead of ${methodName(method)}`;
  const content = html`${head(html`Payment method`, view)} ${errorSummary(errors)}
    ${refusalOf(refusal)}
    <p>
      ${written(merchant)} charges it from now on${instead}. Nothing is charged today, but what is
      overdue is tried again at once.
    </p>
    <form class="stack" method="post" action="${base}/payment-method" novalidate>
      <input type="hidden" name="attempt" value="${attempt}" />
      ${instrumentFields({ method: entered, errors })}
      <p class="confirm">
        <button class="button">Save the payment method</button>
        <a class="button quiet" href="${base}">Back, change nothing</a>
      </p>
    </form>`;
  return frame(view, { title: `${wrong}Payment method`, content });
}
