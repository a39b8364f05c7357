// The preview of an action on a subscription: what happens, when, and the button that does it.
import { unreachable } from '../../../ledger/kernel/assert.ts';
import { errorOf, errorSummary } from '../fields.ts';
import { type Html, html } from '../html.ts';
import type { Page } from '../layout.ts';
import { day, frame, head, methodName, priceOf, refusalOf, written } from './parts.ts';
import type { Action, ActionView } from './view.ts';

type Words = { readonly title: string; readonly confirm: string; readonly isGrave?: boolean };

const WORDS: Readonly<Record<Action, Words>> = {
  cancel: { title: 'Cancel', confirm: 'Cancel the subscription', isGrave: true },
  uncancel: { title: 'Keep', confirm: 'Keep the subscription' },
  unschedule: { title: 'Take back the change of', confirm: 'Take the change back' },
  pause: { title: 'Pause', confirm: 'Pause the subscription' },
  resume: { title: 'Resume', confirm: 'Resume the subscription' },
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
        html`The change does not begin, and the subscription goes on as it is.`,
        html`If the bank pays all the same, all of it is refunded.`,
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
  const further = isSold
    ? 'what was used beyond the plan is charged, and nothing more.'
    : 'no further charge.';
  const later = html`<strong>At the end of the ${trialEnd === null ? 'period' : 'trial'}</strong>
    ${keeps}; ${further} Until then you can change your mind.`;
  const unpaid = overdue === 'clear' ? null : html`What is unpaid is not collected any more.`;
  const now = html`<strong>Now</strong> Access ends at once; ${further} Nothing is paid back for the
    rest of the ${trialEnd === null ? 'period' : 'trial'}. ${unpaid}`;
  // A scheduled cancellation can only be brought forward.
  const modes = cancelAt === null ? [['at_period_end', later] as const] : [];
  const chosen = cancelAt === null ? entered.mode : 'immediate';
  const change =
    subscription.pending === null
      ? null
      : will([
          html`The change that waits for its payment is taken back. If the bank pays all the same,
          all of it is refunded.`,
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
  if (status === 'paused') return will([html`It does not end, and stays paused.`]);
  return will([
    html`The subscription goes on as before.`,
    html`The next payment of ${priceOf(price)} is on ${day(periodEnd, timeZone)}.`,
  ]);
}

function pause({ subscription, entered, errors, resumeDays, merchant }: ActionView): Html {
  const { first, last } = resumeDays;
  const isWrong = errors.some(({ field }) => field === 'resumes_at');
  const when = html`<div class="field">
    <label for="resumes_at">Resume by itself on (optional)</label>
    <small class="hint" id="resumes_at-hint"
      >Left empty, it stays paused until you resume it.</small
    >
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
        : html`Nothing new is charged while it is paused. What is unpaid is still collected.`,
      subscription.cancelAt === null ? null : html`It still ends when it was to end.`,
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
        ><strong>Keep the invoices coming</strong> Periods go on, and ${written(merchant)} may bill
        them later. Otherwise there are no invoices for this time.</span
      >
    </label>`;
}

function resume({ subscription, method, timeZone }: ActionView): Html {
  const { periodEnd, price, resumeIsCharged, cancelAt, overdue } = subscription;
  const ends = cancelAt === null ? null : html`It still ends on ${day(cancelAt, timeZone)}.`;
  if (overdue === 'blocked' && !resumeIsCharged) {
    return will([html`Access is back as soon as what is overdue is paid.`, ends]);
  }
  if (!resumeIsCharged) {
    return will([
      html`Access is back at once.`,
      html`The period that has begun runs until ${day(periodEnd, timeZone)}; nothing is charged for
      it again.`,
      ends,
    ]);
  }
  const to = method === null ? null : html` to ${methodName(method)}`;
  return will([
    html`A new period begins now, and ${priceOf(price)} is charged at once${to}.`,
    html`Access is back as soon as it is paid.`,
    cancelAt === null ? null : html`It ends with that period.`,
  ]);
}
