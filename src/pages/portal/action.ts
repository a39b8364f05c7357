// The preview of an action on a subscription: what happens, when, and the button that does it.
import { unreachable } from '../../../ledger/kernel/assert.ts';
import { errorOf, errorSummary } from '../fields.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import { day, frame, head, methodName, priceOf, refusalOf, written } from './parts.ts';
import type { Action, ActionView } from './view.ts';

type Words = { readonly title: string; readonly confirm: string; readonly isGrave?: boolean };

const WORDS: Readonly<Record<Action, Words>> = {
  cancel: { title: 'Cancel', confirm: 'Cancel subscription', isGrave: true },
  uncancel: { title: 'Keep', confirm: 'Keep subscription' },
  unschedule: { title: 'Undo the change of', confirm: 'Undo change' },
  pause: { title: 'Pause', confirm: 'Pause subscription' },
  resume: { title: 'Resume', confirm: 'Resume subscription' },
};

export function actionPage(view: ActionView): Page {
  const { action, subscription, errors, base } = view;
  const { title, confirm, isGrave = false } = WORDS[action];
  const wrong = errors.length > 0 || view.refusal !== null ? 'Error: ' : '';
  const content = html`${head(html`${title} ${written(subscription.plan)}?`, view)}
    ${errorSummary(errors)} ${refusalOf(view.refusal)}
    <form class="stack" method="post" action="${base}/${action}" novalidate>
      <input type="hidden" name="subscription_id" value="${subscription.id}" />
      ${body(view)}
      <p class="confirm">
        <button class="button ${isGrave ? 'grave' : ''}">${confirm}</button>
        <a class="button quiet" href="${base}">Back, change nothing</a>
      </p>
    </form>`;
  return frame(view, { title: `${wrong}${title} ${subscription.plan}`, content });
}

function body(view: ActionView): Html {
  switch (view.action) {
    case 'cancel':
      return cancel(view);
    case 'uncancel':
      return uncancel(view);
    case 'unschedule':
      return will([
        html`The change will not take effect. Your subscription continues as it is.`,
        html`If the bank still pays, the whole payment is refunded.`,
      ]);
    case 'pause':
      return pause(view);
    case 'resume':
      return resume(view);
    default:
      return unreachable(view.action);
  }
}

function will(lines: readonly (Html | null)[]): Html {
  return html`<ul class="will">
    ${lines.filter((line) => line !== null).map((line) => html`<li>${line}</li>`)}
  </ul>`;
}

function cancel({ subscription, entered, timeZone }: ActionView): Html {
  const { cancelAt, periodEnd, overdue, status, trialEnd, sold } = subscription;
  const end = day(cancelAt ?? periodEnd, timeZone);
  const keeps =
    status === 'paused' ? html`It stays paused until ${end}` : html`Access until ${end}`;
  const isSold = sold.length > 0 && trialEnd === null;
  const further = isSold ? 'only usage beyond the plan is charged.' : 'no further charge.';
  const later = html`<strong>At the end of the ${trialEnd === null ? 'period' : 'trial'}</strong>
    ${keeps}; ${further} Until then you can change your mind.`;
  const unpaid = overdue === 'clear' ? null : html`Unpaid invoices are no longer collected.`;
  const now = html`<strong>Now</strong> Access ends at once; ${further} Nothing is refunded for the
    rest of the ${trialEnd === null ? 'period' : 'trial'}. ${unpaid}`;
  // A scheduled cancellation can only be brought forward.
  const modes = cancelAt === null ? [['at_period_end', later] as const] : [];
  const chosen = cancelAt === null ? entered.mode : 'immediate';
  const change =
    subscription.pending === null
      ? null
      : will([
          html`The change that waits for its payment is undone. If the bank still pays, the whole
          payment is refunded.`,
        ]);
  return html`${change}
    <fieldset>
      <legend>When?</legend>
      <div class="options">
        ${[...modes, ['immediate', now] as const].map(
          ([mode, text]) =>
            html`<label class="option">
              <input
                type="radio"
                name="mode"
                value="${mode}"
                ${mode === chosen ? html`checked` : null}
              />
              <span>${text}</span>
            </label>`,
        )}
      </div>
    </fieldset>`;
}

function uncancel({ subscription, timeZone }: ActionView): Html {
  const { periodEnd, price, status } = subscription;
  if (status === 'paused') return will([html`The subscription does not end. It stays paused.`]);
  return will([
    html`The subscription continues as before.`,
    html`The next payment of ${priceOf(price)} is on ${day(periodEnd, timeZone)}.`,
  ]);
}

function pause({ subscription, entered, errors, resumeDays, merchant }: ActionView): Html {
  const { first, last } = resumeDays;
  const isWrong = errors.some(({ field }) => field === 'resumes_at');
  const when = html`<div class="field">
    <label for="resumes_at">Resume automatically on (optional)</label>
    <small class="hint" id="resumes_at-hint">Leave empty to pause until you resume it.</small>
    ${errorOf('resumes_at', errors)}
    <input
      id="resumes_at"
      name="resumes_at"
      type="date"
      min="${first}"
      max="${last}"
      value="${entered.resumesAt}"
      autocomplete="off"
      aria-describedby="resumes_at-hint${isWrong ? ' resumes_at-error' : ''}"
      ${isWrong ? html`aria-invalid="true"` : null}
    />
  </div>`;
  return html`${will([
      html`Access stops at once.`,
      subscription.overdue === 'clear'
        ? html`Nothing is charged while it is paused.`
        : html`Nothing new is charged while it is paused. Unpaid invoices are still collected.`,
      subscription.cancelAt === null ? null : html`It still ends on the date of its cancellation.`,
    ])}
    ${when}
    <label class="option">
      <input
        type="checkbox"
        name="keep_invoices"
        value="true"
        ${entered.keepInvoices ? html`checked` : null}
      />
      <span
        ><strong>Keep invoices</strong> Billing periods continue, and ${written(merchant)} may bill
        them later. Otherwise this time is not invoiced.</span
      >
    </label>`;
}

function resume({ subscription, method, timeZone }: ActionView): Html {
  const { periodEnd, price, resumeIsCharged, cancelAt, overdue } = subscription;
  const ends = cancelAt === null ? null : html`It still ends on ${day(cancelAt, timeZone)}.`;
  if (overdue === 'blocked' && !resumeIsCharged) {
    return will([html`Access returns as soon as the overdue invoices are paid.`, ends]);
  }
  if (!resumeIsCharged) {
    return will([
      html`Access returns at once.`,
      html`The current period runs until ${day(periodEnd, timeZone)} and is not charged again.`,
      ends,
    ]);
  }
  const to = method === null ? null : html` to ${methodName(method)}`;
  return will([
    html`A new period begins now, and ${priceOf(price)} is charged at once${to}.`,
    html`Access returns as soon as it is paid.`,
    cancelAt === null ? null : html`It ends with that period.`,
  ]);
}
