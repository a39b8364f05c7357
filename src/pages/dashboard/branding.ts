// What the pages and mails for customers look like. The logo is put over the API.
import type { Organization } from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { code, facts, field, form, heading, section } from './parts.ts';
import type { Place } from './place.ts';

export function brandingSection({ branding }: Organization, actions: readonly Html[]): Html {
  const { color, logoUrl, supportEmail, supportUrl } = branding;
  return section(
    'Branding',
    facts([
      ['Colour', color === null ? null : code(color)],
      ['Logo', logoUrl],
      ['Support by e-mail', supportEmail],
      ['Support at', supportUrl],
    ]),
    actions,
  );
}

export function brandingPage(place: Place, { branding }: Organization): Html {
  return html`${heading('Branding', { under: 'On the checkout, the portal, invoices and mails.' })}
  ${form(place, {
    to: '/settings/branding',
    submit: 'Change it',
    fields: [
      field(place, {
        name: 'branding.color',
        label: 'Colour',
        value: branding.color ?? '',
        hint: 'Like #0e5c4a; what is on it and beside it is made readable. Empty: ours.',
      }),
      field(place, {
        name: 'branding.support_email',
        label: 'Support by e-mail',
        type: 'email',
        value: branding.supportEmail ?? '',
      }),
      field(place, {
        name: 'branding.support_url',
        label: 'Support at',
        type: 'url',
        maxlength: 2048,
        value: branding.supportUrl ?? '',
        hint: 'An https address.',
      }),
    ],
  })}`;
}
