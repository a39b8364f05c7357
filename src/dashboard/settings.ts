// The settings of an organisation, in one mode.
import type { Organization, Seller } from '../client/types.ts';
import { brandingSection } from './branding.ts';
import { dunningPicture } from './parts/dunning.ts';
import { type Field, numberField, numbers, textField } from './form/field.ts';
import { drawFields, drawForm, read } from './form/form.ts';
import { button, facts, heading, section } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { code } from './parts/values.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { type Html, html } from '../pages/html.ts';

export const SETTINGS_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings',
    title: 'Settings',
    section: 'settings',
    needs: ['getOrganization'],
    show: async ({ api, place }) => settingsPage(place, await api.organization.retrieve()),
  },
  {
    path: '/settings/organization',
    title: 'Organization',
    section: 'settings',
    needs: ['getOrganization', 'updateOrganization'],
    show: async ({ api, place }) => organizationPage(place, await api.organization.retrieve()),
    act: { needs: ['updateOrganization'], run: changeOrganization },
  },
  {
    path: '/settings/dunning',
    title: 'When a payment fails',
    section: 'settings',
    needs: ['getOrganization', 'updateOrganization'],
    show: async ({ api, place }) => dunningPage(place, await api.organization.retrieve()),
    act: { needs: ['updateOrganization'], run: changeDunning },
  },
];

async function changeOrganization(visit: Visit) {
  await visit.api.organization.update({ ...read(visit, ORGANIZATION), ...read(visit, SELLER) });
  return { to: '/settings', notice: 'changed' } as const;
}

async function changeDunning(visit: Visit) {
  await visit.api.organization.update(read(visit, DUNNING));
  return { to: '/settings', notice: 'changed' } as const;
}

/** What invoices say of the seller. */
const SELLER_LABELS = {
  name: 'Name',
  addressLine1: 'Address',
  addressLine2: 'Address, second line',
  postalCode: 'Postal code',
  city: 'City',
  state: 'State',
  country: 'Country',
  taxId: 'Tax id',
  email: 'E-mail',
  phone: 'Phone',
} as const satisfies Partial<Record<keyof Seller, string>>;

type SellerKey = keyof typeof SELLER_LABELS;
const SELLER_KEYS = Object.keys(SELLER_LABELS) as readonly SellerKey[];
const SELLER_HINTS: Partial<Record<SellerKey, string>> = {
  name: 'On invoices, instead of the name above.',
  country: 'Two letters, such as AT.',
};

function sellerField(key: SellerKey) {
  const hint = SELLER_HINTS[key];
  return textField({
    label: SELLER_LABELS[key],
    isClearable: true,
    ...(hint !== undefined && { hint }),
  });
}

const ORGANIZATION = {
  name: textField({
    label: 'Name',
    isRequired: true,
    hint: 'In test and live mode.',
    autocomplete: 'organization',
  }),
  timezone: textField({
    label: 'Time zone',
    isRequired: true,
    hint: 'For the start of a day and for times shown, such as Europe/Berlin.',
  }),
};

const SELLER = {
  seller: Object.fromEntries(SELLER_KEYS.map((key) => [key, sellerField(key)])) as Readonly<
    Record<SellerKey, Field<string | null>>
  >,
};

const DUNNING = {
  dunning: {
    retryDays: numbers({
      label: 'Retry schedule (days)',
      hint: 'Days after the first failure, ascending: 1, 3, 7. Leave empty for no retries.',
    }),
    blockAfterDays: numberField({ label: 'Suspend access after (days)', isRequired: true }),
    expireAfterDays: numberField({ label: 'End the subscription after (days)', isRequired: true }),
  },
};

function settingsPage(place: Place, organization: Organization): Html {
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
      ...SELLER_KEYS.map(
        (key) =>
          [
            key === 'name' ? 'Name on invoices' : `Seller: ${SELLER_LABELS[key]}`,
            seller[key],
          ] as const,
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

function organizationPage(place: Place, organization: Organization): Html {
  return html`${heading('Organization')}
  ${drawForm(place, ORGANIZATION, {
    to: '/settings/organization',
    submit: 'Save',
    values: organization,
    more: [
      html`<h2>The seller on invoices</h2>`,
      ...drawFields(place, SELLER, { values: organization }),
    ],
  })}`;
}

function dunningPage(place: Place, { dunning }: Organization): Html {
  return html`${heading('When a payment fails')} ${dunningPicture(dunning)}
  ${section(
    'Edit',
    drawForm(place, DUNNING, { to: '/settings/dunning', submit: 'Save', values: { dunning } }),
  )}`;
}
