// The form of the hosted page: its fields, and what the buyer has to correct.
import { type Static, Type } from '@sinclair/typebox';
import { shownTotal } from '../../pages/checkout/form.ts';
import type { FieldError, OpenView } from '../../pages/checkout/view.ts';
import type { Order } from '../../payments/payments.ts';
import type { Terms } from '../checkout/session.ts';
import type { KnownBuyer, FormState } from '../checkout/view.ts';
import { validator } from '../edge/validate.ts';
import { readInstrument } from './instrument.ts';
import { Body, Email, Name, oneOf } from './values.ts';

const Field = (description: string) => Type.Optional(Type.String({ description }));

/** Every field is optional: the page shows what is wrong beside the field. */
export const PayForm = Body({
  total: Field(
    'The total that the page showed. If it has changed, nothing is charged and the page is ' +
      'shown again.',
  ),
  action: Field(
    '`update` and `remove_discount` show the page again and pay nothing; `give_up` cancels an ' +
      'attempt that waits at the processor.',
  ),
  attempt: Field('The attempt to cancel.'),
  currency: Field('One of those that the page offers.'),
  discount_code: Field('Empty for none.'),
  email: Field('If the checkout has none.'),
  name: Field(''),
  payment_method: Field('`card` or `bank_debit`.'),
  card_number: Field(''),
  card_expiry: Field('MM/YY'),
  card_cvc: Field(''),
  iban: Field(''),
});

/** The form of the sandbox's bank. */
export const ChallengeForm = Body({
  answer: oneOf(['complete', 'fail']),
});

export type PayForm = Static<typeof PayForm>;

/** What the buyer has to correct before there can be an order. */
export type Correction = {
  readonly status: number;
  readonly errors: readonly FieldError[];
  readonly notice: OpenView['notice'];
};

export type Reading =
  | { readonly kind: 'order'; readonly order: Order }
  | ({ readonly kind: 'mend' } & Correction);

export const TOTAL_CHANGED: Correction = {
  status: 409,
  errors: [],
  notice: { kind: 'total_changed' },
};

const email = validator(Email);
const name = validator(Name);

/** Terms are checked first: the buyer sees the right total before correcting a card number. */
export function readOrder(
  form: PayForm,
  page: {
    readonly terms: Terms;
    readonly asks: OpenView['asks'];
    readonly said: KnownBuyer;
    readonly now: number;
  },
): Reading {
  const { terms, asks, said, now } = page;
  const { total, currency, discount } = terms.quote;
  if (form.action !== undefined) return mend({ status: 200 });
  if (terms.errors.length > 0) return mend({ status: 400 });
  if (form.total !== undefined && form.total !== shownTotal({ total, currency })) {
    return mend(TOTAL_CHANGED);
  }
  const errors: FieldError[] = [];
  const typed = enteredOf(form);
  if (said.email === null && !email.Check(typed.email)) {
    errors.push({ field: 'email', message: 'Enter an e-mail address, such as ada@example.com.' });
  }
  if (said.name === null && typed.name !== '' && !name.Check(typed.name)) {
    errors.push({ field: 'name', message: 'Enter a shorter name.' });
  }
  const read = asks === 'instrument' ? readInstrument(typed.method, form, now) : NO_INSTRUMENT;
  if (!read.ok) errors.push(...read.errors);
  if (errors.length > 0 || !read.ok) return mend({ status: 400, errors });
  return {
    kind: 'order',
    order: {
      email: said.email === null ? typed.email : null,
      name: said.name === null && typed.name !== '' ? typed.name : null,
      currency,
      discountCode: discount?.code ?? null,
      total,
      instrument: read.instrument,
    },
  };
}

function mend(what: { readonly status: number } & Partial<Correction>): Reading {
  return { kind: 'mend', errors: [], notice: null, ...what };
}

const NO_INSTRUMENT = { ok: true, instrument: null } as const;

/**
 * The entered values that the page shows again: never a card's number or code, nor an account's.
 */
export function enteredOf(form: PayForm): Pick<FormState, 'email' | 'name' | 'method'> {
  return {
    email: form.email?.trim() ?? '',
    name: form.name?.trim() ?? '',
    method: form.payment_method === 'bank_debit' ? 'bank_debit' : 'card',
  };
}

/** The code that was entered; undefined where the form does not say. */
export function codeOf({ action, discount_code: code }: PayForm): string | undefined {
  return action === 'remove_discount' ? '' : code?.trim();
}
