// The open checkout: the price, and the one form that pays it.
//
// How: it works without a script. A change of currency or discount submits the form too; the page
// comes back with the new total and what was entered, never with a card's number. The first button
// is the one that pays, because Enter presses the first one.
import { unreachable } from '../../../ledger/kernel/assert.ts';
import { formatMoney } from '../../../ledger/kernel/money.ts';
import { showAmount } from '../amount.ts';
import { errorOf, errorSummary, input, inputField } from '../fields.ts';
import { type Html, html } from '../html.ts';
import { instrumentFields } from '../instrument.ts';
import { money, off, per, ticket, written } from './summary.ts';
import type { Notice, OpenView } from './view.ts';

const EMAIL_LENGTH_MAX = 254;
const NAME_LENGTH_MAX = 255;
const CODE_LENGTH_MAX = 64;

/** `cancel` replaces the link back to the merchant. */
export function checkoutForm(view: OpenView, cancel: Html | null): Html {
  const { sale, errors, notice } = view;
  const pays = payLabel(view);
  return html`<form class="checkout" method="post" novalidate>
    <button class="away" tabindex="-1" aria-hidden="true">${pays}</button>
    <input type="hidden" name="total" value="${shownTotal(sale)}" />
    ${errorSummary(errors)} ${notice === null ? null : noticeOf(notice, view)}
    <div class="bought">${ticket(sale, { leads: true, below: choices(view) })}</div>
    <div class="paying stack">
      ${contact(view)} ${instrument(view)} ${next(view)}
      <button class="button wide" type="submit">${pays}</button>
      ${consent(view)} ${cancel ?? back(view)}
    </div>
  </form>`;
}

/** The total as the form returns it: the server checks that it is still the total. */
export function shownTotal({ total, currency }: { total: bigint; currency: string }): string {
  return `${formatMoney(total, currency)} ${currency}`;
}

function payLabel({ sale, asks }: OpenView): string {
  const amount = showAmount(sale.total, sale.currency);
  if (asks === 'elsewhere') return 'Continue to payment';
  if (sale.recurs?.trialEnd) return 'Start trial';
  if (asks === 'nothing') return sale.recurs === null ? 'Complete order' : 'Subscribe';
  return sale.recurs === null ? `Pay ${amount}` : `Subscribe and pay ${amount}`;
}

function choices(view: OpenView): Html {
  return html`<div class="choices">${currencyChoice(view)} ${discount(view)}</div>`;
}

function currencyChoice({ currencies, sale, errors }: OpenView): Html {
  if (currencies.length < 2) {
    return html`<input type="hidden" name="currency" value="${sale.currency}" />`;
  }
  return html`<div class="field">
    <label for="currency">Currency</label>
    ${errorOf('currency', errors)}
    <div class="joined">
      <select id="currency" name="currency" autocomplete="transaction-currency">
        ${currencies.map(
          (code) =>
            html`<option value="${code}" ${code === sale.currency ? html`selected` : null}>
              ${code} · ${nameOf(code)}
            </option>`,
        )}
      </select>
      <button class="button quiet" name="action" value="update">Change</button>
    </div>
  </div>`;
}

const CURRENCY_NAMES = new Intl.DisplayNames('en', { type: 'currency' });

function nameOf(currency: string): string {
  return CURRENCY_NAMES.of(currency) ?? currency;
}

function discount({ discountCode, sale, entered, errors }: OpenView): Html {
  if (discountCode !== null) {
    return html`<div class="field">
      <span class="label">Discount</span>
      <p class="chip">
        <input type="hidden" name="discount_code" value="${discountCode}" />
        <strong>${written(discountCode)}</strong> ${off(sale.reduction, sale.currency)}
        <button name="action" value="remove_discount">
          <span aria-hidden="true">×</span><span class="away">Remove discount</span>
        </button>
      </p>
    </div>`;
  }
  const field = {
    name: 'discount_code',
    label: 'Discount code',
    value: entered.discountCode,
    autocomplete: 'off',
    maxlength: CODE_LENGTH_MAX,
  } as const;
  return html`<div class="field">
    <label for="discount_code">${field.label}</label>
    ${errorOf('discount_code', errors)}
    <div class="joined">
      ${input(field, errors)}
      <button class="button quiet" name="action" value="update">Apply</button>
    </div>
  </div>`;
}

function contact({ email, name, errors }: OpenView): Html {
  return html`<fieldset class="stack">
    <legend>Contact</legend>
    ${inputField(
      {
        name: 'email',
        label: 'E-mail',
        value: email.value,
        type: 'email',
        inputmode: 'email',
        autocomplete: 'email',
        maxlength: EMAIL_LENGTH_MAX,
        isRequired: !email.isLocked,
        isReadonly: email.isLocked,
      },
      errors,
    )}
    ${inputField(
      {
        name: 'name',
        label: name.isLocked ? 'Name' : 'Name (optional)',
        value: name.value,
        autocomplete: 'name',
        maxlength: NAME_LENGTH_MAX,
        isReadonly: name.isLocked,
      },
      errors,
    )}
  </fieldset>`;
}

function instrument({ asks, entered, errors }: OpenView): Html | null {
  if (asks !== 'instrument') return null;
  return instrumentFields({ method: entered.method, errors });
}

/** Where the buyer goes next, if that is another's page. */
function next({ owner, sale: { total, currency } }: OpenView): Html | null {
  if (owner === null) return null;
  const what =
    total === 0n
      ? html`Nothing is charged today.`
      : html`${money(total, currency)} is charged when you have confirmed it there.`;
  return html`<p>
    You enter your card or your bank account on the next page, at ${written(owner)}. ${what} Then
    you come back here.
  </p>`;
}

/** The buyer's consent, where more is charged than today. */
function consent({ sale: { recurs, merchant }, asks }: OpenView): Html | null {
  if (recurs === null || asks === 'nothing') return null;
  const usage = recurs.sold.length > 0 ? ', and what you use,' : '';
  return html`<p class="muted">
    You allow ${written(merchant)} to charge this ${per(recurs)}${usage} until you cancel.
  </p>`;
}

function noticeOf(notice: Notice, { sale }: OpenView): Html {
  switch (notice.kind) {
    case 'declined':
      return html`<div class="notice bad" role="alert" tabindex="-1" autofocus>
        <h2>The payment did not go through</h2>
        <p dir="auto">${notice.message}</p>
        ${attemptsLeft(notice.attemptsLeft)}
      </div>`;
    case 'total_changed':
      return html`<div class="notice warn" role="alert" tabindex="-1" autofocus>
        <h2>The total is now ${money(sale.total, sale.currency)}</h2>
        <p>Nothing was charged. Please check the total, then pay.</p>
      </div>`;
    default:
      return unreachable(notice);
  }
}

function attemptsLeft(left: number | null): Html | null {
  if (left === null) return html`<p>Nothing was charged. You can try again.</p>`;
  const attempts = left === 1 ? 'one more time' : `${left} more times`;
  return html`<p>Nothing was charged. You can try ${attempts}.</p>`;
}

function back({ backUrl, sale }: OpenView): Html | null {
  if (backUrl === null) return null;
  return html`<p class="back"><a href="${backUrl}">Back to ${written(sale.merchant)}</a></p>`;
}
