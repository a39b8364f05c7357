// The text of a mail, as plain text and as HTML from the same parts.
//
// Holds: the same mail and the same invoice give the same letter. Typed text stands on one line, so
// that it cannot start a header or look like a line of ours; in HTML it is escaped. Names of buyers
// are left out: a stranger may type any name and have it sent to any address.
import { must, unreachable } from '../../ledger/kernel/assert.ts';
import type { OpenInvoice } from '../../ledger/subscriptions/subscription.ts';
import { showAmount, showDecimal } from '../pages/amount.ts';
import { brandOf } from '../pages/brand.ts';
import type { InvoiceLine, InvoiceRecord } from '../records/invoices.ts';
import type { DueMail } from '../records/mails.ts';
import type { OrganisationRecord } from '../records/organisations.ts';
import { type Letter, oneLine, type Parts, rendered } from './render.ts';

const TEST = 'Test mode: no money was moved.';
const LINK = 'See the invoice';
const PORTAL_LINK = 'Use another payment method';

type About = {
  readonly mail: DueMail;
  readonly organisation: OrganisationRecord;
  /** null where the mail is about none. */
  readonly invoice: InvoiceRecord | null;
  /** Opens the invoice. */
  readonly link: string | null;
  /**
   * Opens the portal, where what is charged is replaced. Only where the mail asks for a payment.
   */
  readonly portal: { readonly href: string; readonly days: number } | null;
  /** Where logos are. */
  readonly appUrl: string;
};

export const asksForPayment = ({ kind }: DueMail): boolean =>
  kind === 'charge_failed' || kind === 'blocked';

/** Whether the invoice was paid or made void meanwhile. */
export const isOutOfDate = (mail: DueMail, invoice: InvoiceRecord | null): boolean =>
  asksForPayment(mail) && invoice?.status !== 'open' && invoice?.status !== 'uncollectible';

export function letterOf(about: About): Letter {
  const { organisation, link, portal, appUrl } = about;
  const parts = partsOf(about);
  const footer = footerOf(about);
  const isTest = organisation.mode === 'test';
  const note = isTest ? TEST : null;
  return {
    subject: `${isTest ? '[Test] ' : ''}${parts.subject}`,
    ...rendered(parts, {
      links: [
        ...(portal === null ? [] : [{ label: PORTAL_LINK, href: portal.href }]),
        ...(link === null ? [] : [{ label: LINK, href: link }]),
      ],
      footer,
      note,
      brand: brandOf(organisation.branding, appUrl),
      sender: oneLine(sellerOf(about).name),
    }),
  };
}

/** Of the seller as the invoice has it, else as it is now. */
export function sellerOf({ invoice, organisation }: Pick<About, 'invoice' | 'organisation'>) {
  const { name } = organisation.seller;
  return invoice?.seller ?? { ...organisation.seller, name: name ?? organisation.name };
}

function partsOf(about: About): Parts {
  const { mail, invoice } = about;
  switch (mail.kind) {
    case 'receipt':
      return receipt(about, must(invoice, 'the invoice that was paid'));
    case 'refund':
      return refund(about, must(invoice, 'the invoice that was paid'), mail.amount);
    case 'charge_failed':
      return chargeFailed(about, { plan: mail.plan, open: must(mail.open, 'what is unpaid') });
    case 'blocked':
      return blocked(about, { plan: mail.plan, open: must(mail.open, 'what is unpaid') });
    case 'ended':
      return ended(about, mail.plan);
    default:
      return unreachable(mail);
  }
}

function receipt(about: About, invoice: InvoiceRecord): Parts {
  const { currency, discountTotal, taxTotal, total } = invoice;
  const seller = oneLine(sellerOf(about).name);
  const show = (amount: bigint): string => showAmount(amount, currency);
  const lines = invoice.lines.map((line) => [whatOf(line), show(line.amount)] as const);
  const more = invoice.lineCount - lines.length;
  return {
    subject: `Receipt ${invoice.number ?? ''} from ${seller}`,
    heading: total === 0n ? 'Thank you' : `You paid ${show(total)}`,
    paragraphs: [
      total === 0n
        ? `Nothing was charged by ${seller}.`
        : `Thank you for your payment to ${seller} on ${day(about, invoice.paidAt)}.`,
    ],
    rows: [
      ...lines,
      ...(more === 0 ? [] : [[`and ${more} more, in the invoice`, ''] as const]),
      ...(discountTotal === 0n ? [] : [['Discount', show(-discountTotal)] as const]),
      ...(taxTotal === 0n ? [] : [['Tax', show(taxTotal)] as const]),
      [`Total ${currency}`, show(total)],
    ],
  };
}

function whatOf(line: InvoiceLine): string {
  const what = oneLine(line.description);
  if (line.type === 'usage_adjustment') return `Correction: ${what}`;
  const quantity = showDecimal(String(line.quantity));
  return quantity === '1' ? what : `${quantity} x ${what}`;
}

function refund(about: About, { number, currency }: InvoiceRecord, amount: bigint): Parts {
  const seller = oneLine(sellerOf(about).name);
  const shown = showAmount(amount, currency);
  return {
    subject: `Refund of ${shown} from ${seller}`,
    heading: `${shown} is on its way back to you`,
    paragraphs: [
      `${seller} refunded ${shown} of invoice ${number ?? ''} to your payment method. It may take your bank a few days to show it.`,
    ],
    rows: [],
  };
}

type Unpaid = { readonly plan: string; readonly open: OpenInvoice };

function chargeFailed(about: About, { plan, open }: Unpaid): Parts {
  const { retryAt, dunning } = open;
  const amount = amountOf(about, open);
  return {
    subject: `Your payment of ${amount} did not go through`,
    heading: 'Your payment did not go through',
    paragraphs: [
      `We could not collect ${amount} for ${oneLine(plan)}.`,
      retryAt === null
        ? 'The charge is not retried automatically.'
        : `The next attempt is on ${day(about, retryAt)}.`,
      ...(dunning === null
        ? []
        : [
            `If it stays unpaid, your access is blocked on ${day(about, dunning.blockAt)}, and your subscription ends on ${day(about, dunning.expireAt)}.`,
          ]),
      howToPay(about),
    ],
    rows: [],
  };
}

function blocked(about: About, { plan, open }: Unpaid): Parts {
  const name = oneLine(plan);
  const { dunning } = open;
  return {
    subject: `Your access to ${name} is blocked`,
    heading: 'Your access is blocked',
    paragraphs: [
      `We could not collect ${amountOf(about, open)} for ${name}, so your access to it is blocked.`,
      ...(dunning === null
        ? []
        : [
            `Access returns as soon as it is paid. If it stays unpaid, your subscription ends on ${day(about, dunning.expireAt)}.`,
          ]),
      howToPay(about),
    ],
    rows: [],
  };
}

function ended(about: About, plan: string): Parts {
  const name = oneLine(plan);
  return {
    subject: `Your subscription to ${name} has ended`,
    heading: 'Your subscription has ended',
    paragraphs: [
      `Your subscription to ${name} from ${oneLine(sellerOf(about).name)} could not be paid and has ended. Nothing more is charged.`,
    ],
    rows: [],
  };
}

function amountOf({ invoice }: About, { amount }: OpenInvoice): string {
  return showAmount(amount, must(invoice, 'the unpaid invoice').currency);
}

function howToPay(about: About): string {
  const turn = `contact ${oneLine(sellerOf(about).name)}: reply to this mail.`;
  if (about.portal === null) return `To use another payment method, ${turn}`;
  return `To use another payment method, open the link below. It is only for you and works for ${about.portal.days} days. With questions, ${turn}`;
}

/** A date in the time zone of the organisation. */
function day({ organisation }: About, at: Date | number | null): string {
  const timeZone = organisation.timezone;
  return new Intl.DateTimeFormat('en-GB', { dateStyle: 'long', timeZone }).format(at ?? undefined);
}

/** The seller, and where to turn to. */
function footerOf(about: About): readonly string[] {
  const { name, addressLine1, addressLine2, postalCode, city, state, country, taxId, email } =
    sellerOf(about);
  const place = [postalCode, city, state].filter(Boolean).join(' ');
  const { supportEmail, supportUrl } = about.organisation.branding;
  const questions = [supportEmail, supportUrl].filter(Boolean).join(', ');
  const parts = [
    name,
    addressLine1,
    addressLine2,
    place,
    country,
    taxId && `Tax ID: ${taxId}`,
    email,
    questions === '' ? null : `Questions: ${questions}`,
  ];
  return parts.flatMap((part) => (part ? [oneLine(part)] : []));
}
