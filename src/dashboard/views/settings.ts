// The settings of an organisation, in one mode.
import type { Organization, Seller } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { brandingSection } from './branding.ts';
import { dunningPicture } from '../parts/dunning.ts';
import { field, form } from '../parts/forms.ts';
import { button, facts, heading, section } from '../parts/parts.ts';
import { code } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** What invoices say of the seller. By its name on the wire, and in the client. */
export const SELLER_FIELDS = [
  { name: 'name', of: 'name', label: 'Name', hint: 'On invoices, instead of the name above.' },
  { name: 'address_line1', of: 'addressLine1', label: 'Address' },
  { name: 'address_line2', of: 'addressLine2', label: 'Address, second line' },
  { name: 'postal_code', of: 'postalCode', label: 'Postal code' },
  { name: 'city', of: 'city', label: 'City' },
  { name: 'state', of: 'state', label: 'State' },
  { name: 'country', of: 'country', label: 'Country', hint: 'Two letters, such as AT.' },
  { name: 'tax_id', of: 'taxId', label: 'Tax id' },
  { name: 'email', of: 'email', label: 'E-mail' },
  { name: 'phone', of: 'phone', label: 'Phone' },
] as const satisfies readonly {
  readonly name: string;
  readonly of: keyof Seller;
  readonly label: string;
  readonly hint?: string;
}[];

export function settingsPage(place: Place, organization: Organization): Html {
  const { seller, name, timezone } = organization;
  const change = (to: string) =>
    place.may('updateOrganization') ? [button(place, `/settings/${to}`, 'Change')] : [];
  return html`${heading('Settings', { under: `For ${place.mode} mode only.` })}
  ${section(
    'Organization',
    facts([
      ['Name', name],
      ['Time zone', timezone],
      ['Id', code(organization.id)],
      ...SELLER_FIELDS.map(
        ({ of, label }) =>
          [of === 'name' ? 'Name on invoices' : `Seller: ${label}`, seller[of]] as const,
      ).filter(([, value]) => value !== null),
    ]),
    change('organization'),
  )}
  ${section('When a payment fails', dunningPicture(organization.dunning), change('dunning'))}
  ${brandingSection(organization, change('branding'))} ${section('More', moreOf(place))}`;
}

function moreOf(place: Place): Html {
  return html`<div class="actions">
    ${place.may('listMembers') ? button(place, '/settings/members', 'Members and security') : null}
    ${place.may('getProcessor') ? button(place, '/settings/processor', 'Payment processor') : null}
  </div>`;
}

export function organizationPage(place: Place, organization: Organization): Html {
  return html`${heading('Organization')}
  ${form(place, {
    to: '/settings/organization',
    submit: 'Save',
    fields: [
      field(place, {
        name: 'name',
        label: 'Name',
        value: organization.name,
        isRequired: true,
        hint: 'In test and live mode.',
        autocomplete: 'organization',
      }),
      field(place, {
        name: 'timezone',
        label: 'Time zone',
        value: organization.timezone,
        isRequired: true,
        hint: 'For the start of a day and for times shown, such as Europe/Berlin.',
      }),
      html`<h2>The seller on invoices</h2>`,
      ...SELLER_FIELDS.map((one) =>
        field(place, {
          ...('hint' in one && { hint: one.hint }),
          name: `seller.${one.name}`,
          label: one.label,
          value: organization.seller[one.of] ?? '',
        }),
      ),
    ],
  })}`;
}

export function dunningPage(place: Place, { dunning }: Organization): Html {
  return html`${heading('When a payment fails')} ${dunningPicture(dunning)}
  ${section(
    'Edit',
    form(place, {
      to: '/settings/dunning',
      submit: 'Save',
      fields: [
        field(place, {
          name: 'dunning.retry_days',
          label: 'Retry schedule (days)',
          value: dunning.retryDays.join(', '),
          hint: 'Days after the first failure, ascending: 1, 3, 7. Leave empty for no retries.',
        }),
        field(place, {
          name: 'dunning.block_after_days',
          label: 'Suspend access after (days)',
          value: String(dunning.blockAfterDays),
          isRequired: true,
        }),
        field(place, {
          name: 'dunning.expire_after_days',
          label: 'End the subscription after (days)',
          value: String(dunning.expireAfterDays),
          isRequired: true,
        }),
      ],
    }),
  )}`;
}
