// A customer's input in the portal: JSON from the merchant's backend, or a form from the page.
import { type Static, Type } from '@sinclair/typebox';
import type { SubscriptionAction } from '../../subscriptions/subscriptions.ts';
import { CancelMode } from './subscriptions.ts';
import { timeOf } from './usage.ts';
import { SAMPLE } from './payloads/samples.ts';
import { Body, namedOneOf, Nullable, Timestamp, Uuid } from './values.ts';

const WHICH = { subscription_id: Uuid };
const SAMPLE_WHICH = { subscription_id: SAMPLE.subscriptionId };

export const PortalCancel = Body(
  { ...WHICH, mode: Type.Optional(CancelMode) },
  { ...SAMPLE_WHICH, mode: 'at_period_end' },
);
export const PortalPause = Body(
  {
    ...WHICH,
    resumes_at: Type.Optional(Nullable(Timestamp)),
    keep_invoices: Type.Optional(
      Type.Boolean({
        default: false,
        description:
          'Periods continue and leave draft invoices. Otherwise there are no invoices and no ' +
          'charges.',
      }),
    ),
  },
  { ...SAMPLE_WHICH, resumes_at: '2026-12-01T00:00:00.000Z' },
);
export const PortalResume = Body({ ...WHICH }, SAMPLE_WHICH);
export const PortalUncancel = Body({ ...WHICH }, SAMPLE_WHICH);

export const PortalTopupSwitch = Body({ enabled: Type.Boolean() }, { enabled: false });

const Field = (description: string) => Type.Optional(Type.String({ description }));

export const PauseForm = Body({
  ...WHICH,
  resumes_at: Field('A day, YYYY-MM-DD, or empty for none.'),
  keep_invoices: Type.Optional(Type.Literal('true')),
});

export const TopupSwitchForm = Body({ enabled: namedOneOf(['true', 'false']) });

/** `attempt` identifies one rendering of the form: sent twice, it is one change. */
export const MethodForm = Body({
  attempt: Uuid,
  payment_method: Field('`card` or `bank_debit`.'),
  card_number: Field(''),
  card_expiry: Field('MM/YY'),
  card_cvc: Field(''),
  iban: Field(''),
});

export type MethodForm = Static<typeof MethodForm>;

type Pause = Extract<SubscriptionAction, { kind: 'pause' }>;

/** null: `resumes_at` is invalid. A form gives a day in `zone`; without a zone it is a time. */
export function toPause(
  body: Static<typeof PortalPause> | Static<typeof PauseForm>,
  zone: string | null,
): Pause | null {
  const { resumes_at: given = null, keep_invoices: keeps = false } = body;
  const text = zone !== null && given?.trim() === '' ? null : given;
  const keepInvoices = keeps === true || keeps === 'true';
  if (text === null) return { kind: 'pause', resumesAt: null, keepInvoices };
  const resumesAt = zone === null ? timeOf(text) : startOfDay(text.trim(), zone);
  return resumesAt === null ? null : { kind: 'pause', resumesAt, keepInvoices };
}

const DAY = /^\d{4}-\d\d-\d\d$/;

function startOfDay(text: string, zone: string): number | null {
  if (!DAY.test(text)) return null;
  try {
    return Temporal.PlainDate.from(text).toZonedDateTime(zone).epochMilliseconds;
  } catch {
    // A day that the month does not have.
    return null;
  }
}

/** The days on which a pause may end: from tomorrow, for a year. */
export function resumeDaysOf(now: number, zone: string): { first: string; last: string } {
  const today = Temporal.Instant.fromEpochMilliseconds(now).toZonedDateTimeISO(zone).toPlainDate();
  return {
    first: today.add({ days: 1 }).toString(),
    last: today.add({ days: 365 }).toString(),
  };
}

/** The text that a date field shows again. */
export function dayAgain(text: string | null | undefined): string {
  const day = text?.trim() ?? '';
  return startOfDay(day, 'UTC') === null ? '' : day;
}
