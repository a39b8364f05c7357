// The fields of a payment instrument: a card, or an account to debit.
import { type FieldError, inputField } from './fields.ts';
import { type Html, html } from './html.ts';

export type Method = 'card' | 'bank_debit';

/** `method` is the selected one. Entered numbers are never sent back. */
export function instrumentFields({
  method: entered,
  errors,
}: {
  readonly method: Method;
  readonly errors: readonly FieldError[];
}): Html {
  const checked = (method: string) => (entered === method ? html`checked` : null);
  return html`<fieldset class="methods">
    <legend>Payment</legend>
    <div class="method">
      <label class="choice">
        <input type="radio" name="payment_method" value="card" ${checked('card')} /> Card
      </label>
      <div class="panel stack">${cardFields(errors)}</div>
    </div>
    <div class="method">
      <label class="choice">
        <input type="radio" name="payment_method" value="bank_debit" ${checked('bank_debit')} />
        Bank debit
      </label>
      <div class="panel stack">${accountField(errors)}</div>
    </div>
  </fieldset>`;
}

function cardFields(errors: readonly FieldError[]): Html {
  const digits = { inputmode: 'numeric', isRequired: true, isCode: true } as const;
  return html`${inputField(
      {
        name: 'card_number',
        label: 'Card number',
        placeholder: '1234 1234 1234 1234',
        autocomplete: 'cc-number',
        maxlength: 30,
        ...digits,
      },
      errors,
    )}
    <div class="pair">
      ${inputField(
        {
          name: 'card_expiry',
          label: 'Expiry date',
          placeholder: 'MM / YY',
          autocomplete: 'cc-exp',
          maxlength: 9,
          ...digits,
        },
        errors,
      )}
      ${inputField(
        {
          name: 'card_cvc',
          label: 'Security code',
          placeholder: 'CVC',
          autocomplete: 'cc-csc',
          maxlength: 4,
          ...digits,
        },
        errors,
      )}
    </div>`;
}

function accountField(errors: readonly FieldError[]): Html {
  return inputField(
    {
      name: 'iban',
      label: 'IBAN',
      hint: 'The money is collected from this account. This can take a while to be confirmed.',
      placeholder: 'DE00 0000 0000 0000 0000 00',
      autocomplete: 'off',
      maxlength: 42,
      isRequired: true,
      isCode: true,
    },
    errors,
  );
}
