// The forms about one customer. Each says what it does before it does it.
import type {
  Customer,
  CustomField,
  LiveGrant,
  Meter,
  PortalToken,
  SpendCap,
  Tag,
} from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { checkbox, field, form, select, textarea } from '../parts/forms.ts';
import { facts, heading, link, section } from '../parts/parts.ts';
import { table } from '../parts/tables.ts';
import { instant, quantity } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';

/** How often an allowance may be given. */
export const GRANT_INTERVALS = ['hour', 'day', 'week', 'month', 'quarter', 'year'] as const;

const titleOf = ({ name, email, externalCustomerId, id }: Customer): string =>
  name ?? email ?? externalCustomerId ?? id;

function about(place: Place, customer: Customer, title: string): Html {
  return heading(title, { under: link(place, `/customers/${customer.id}`, titleOf(customer)) });
}

/** Of a new customer, or of one that is there. */
export function customerForm(place: Place, customer: Customer | null): Html {
  const address = customer?.billingAddress ?? null;
  const metadata = customer === null ? {} : customer.metadata;
  const line = (name: string, label: string, value: string | null | undefined) =>
    field(place, { name, label, value: value ?? '' });
  return html`${customer === null ? heading('New customer') : about(place, customer, 'Edit customer')}
  ${form(place, {
    to: customer === null ? '/customers/new' : `/customers/${customer.id}/edit`,
    submit: customer === null ? 'Create' : 'Save',
    fields: [
      field(place, { name: 'email', label: 'E-mail', value: customer?.email ?? '' }),
      line('name', 'Name', customer?.name),
      field(place, {
        name: 'external_customer_id',
        label: 'Your id',
        value: customer?.externalCustomerId ?? '',
        hint: 'The id that your own programs use for this customer.',
      }),
      line('billing_address.line1', 'Address', address?.line1),
      line('billing_address.line2', 'Address, second line', address?.line2),
      line('billing_address.postal_code', 'Postal code', address?.postalCode),
      line('billing_address.city', 'City', address?.city),
      line('billing_address.state', 'State', address?.state),
      field(place, {
        name: 'billing_address.country',
        label: 'Country',
        value: address?.country ?? '',
        hint: 'Two capital letters, such as DE.',
        maxlength: 2,
      }),
      textarea(place, {
        name: 'metadata',
        label: 'Metadata',
        value: JSON.stringify(metadata, null, 2),
        hint: 'Keys and texts, as JSON: {"crm": "A-17"}',
        maxlength: 40_000,
      }),
    ],
  })}`;
}

export function grantForm(place: Place, customer: Customer, meters: readonly Meter[]): Html {
  return html`${about(place, customer, 'Grant')}
  ${
    meters.length === 0
      ? html`<p class="empty">There is no feature yet. Create a meter first.</p>`
      : form(place, {
          to: `/customers/${customer.id}/grant`,
          submit: 'Grant',
          fields: [
            featureField(place, meters),
            field(place, {
              name: 'amount',
              label: 'Amount',
              hint: 'Leave empty if unlimited.',
            }),
            checkbox(place, { name: 'unlimited', label: 'Unlimited' }),
            select(place, {
              name: 'reset_interval',
              label: 'Resets every',
              options: [
                { value: '', label: 'never' },
                ...GRANT_INTERVALS.map((value) => ({
                  value,
                  label: value,
                })),
              ],
            }),
            field(place, {
              name: 'effective_at',
              label: 'From',
              type: 'datetime-local',
              hint: `In ${place.zone}. Leave empty to start now.`,
            }),
            field(place, {
              name: 'expires_at',
              label: 'Until',
              type: 'datetime-local',
              hint: `In ${place.zone}. Leave empty for no end.`,
            }),
            field(place, {
              name: 'priority',
              label: 'Priority',
              value: '100',
              hint: 'Lower is used first.',
            }),
            field(place, { name: 'reason', label: 'Reason', isRequired: true, maxlength: 500 }),
          ],
        })
  }`;
}

const featureField = (place: Place, meters: readonly Meter[]): Html =>
  select(place, {
    name: 'feature_key',
    label: 'Feature',
    value: place.query.get('feature_key') ?? '',
    options: meters.map(({ slug, name }) => ({ value: slug, label: `${name} (${slug})` })),
  });

export function voidGrantForm(place: Place, customer: Customer, grant: LiveGrant): Html {
  return html`${about(place, customer, 'Void a grant')}
  ${facts([
    ['Feature', grant.featureKey],
    ['Given', quantity(grant.amount)],
    ['Left: will be voided', quantity(grant.remaining)],
    ['Used: stays used', quantity(grant.used)],
    ['Since', instant(place, grant.effectiveAt)],
    ['Reason', grant.reason],
  ])}
  ${form(place, {
    to: `/customers/${customer.id}/grants/${grant.id}/void`,
    submit: 'Void grant',
    isGrave: true,
  })}`;
}

export function correctionForm(place: Place, customer: Customer, meters: readonly Meter[]): Html {
  return html`${about(place, customer, 'Correct usage')}
    <p>
      A correction is an event of its own. What was recorded stays, and the difference is recorded
      beside it.
    </p>
    ${form(place, {
      to: `/customers/${customer.id}/correct`,
      submit: 'Record correction',
      fields: [
        featureField(place, meters),
        field(place, {
          name: 'value',
          label: 'Change',
          hint: '-5 removes five units, 5 adds five.',
          isRequired: true,
        }),
        field(place, { name: 'reason', label: 'Reason', isRequired: true, maxlength: 200 }),
      ],
    })}`;
}

export function spendCapForm(place: Place, customer: Customer, cap: SpendCap | null): Html {
  const to = `/customers/${customer.id}/spend-cap`;
  return html`${about(place, customer, 'Spend cap')}
    <p>The most that unbilled usage of this customer may cost in a period.</p>
    ${form(place, {
      to,
      submit: 'Save cap',
      fields: [
        field(place, {
          name: 'amount',
          label: 'Amount',
          value: cap?.amount ?? '',
          isRequired: true,
        }),
        field(place, {
          name: 'currency',
          label: 'Currency',
          value: cap?.currency ?? 'USD',
          maxlength: 3,
        }),
      ],
    })}
    ${
      cap === null || !place.may('deleteSpendCap')
        ? null
        : section(
            'No cap',
            form(place, {
              to,
              submit: 'Remove cap',
              hidden: { remove: 'true' },
              isGrave: true,
            }),
          )
    }`;
}

export function portalLinkForm(place: Place, customer: Customer): Html {
  return html`${about(place, customer, 'Portal link')}
    <p>Anyone with this link can see and change what the customer bought. It is shown once.</p>
    ${form(place, {
      to: `/customers/${customer.id}/portal-link`,
      submit: 'Create link',
      fields: [
        select(place, {
          name: 'ttl_seconds',
          label: 'Valid for',
          options: [
            { value: '3600', label: 'an hour' },
            { value: '86400', label: 'a day' },
          ],
        }),
      ],
    })}`;
}

/** The link itself, on the answer to the form alone. */
export function portalLinkMade(
  place: Place,
  customer: Customer,
  { url, expiresAt }: PortalToken,
): Html {
  return html`${about(place, customer, 'Portal link')}
    <p>Copy it now: it is not shown again. It is valid until ${instant(place, expiresAt)}.</p>
    <p class="secret">${url}</p>`;
}

export function labelsForm(
  place: Place,
  customer: Customer,
  { tags, fields }: { readonly tags: readonly Tag[]; readonly fields: readonly CustomField[] },
): Html {
  const to = `/customers/${customer.id}/labels`;
  const remove = (what: string, id: string) =>
    form(place, { to, submit: 'Remove', hidden: { action: `remove_${what}`, id }, isQuiet: true });
  return html`${about(place, customer, 'Tags and custom fields')}
  ${section('Tags', [
    table({
      caption: 'Tags',
      columns: ['Tag', ''],
      rows: tags.map(({ id, name }) => [name, remove('tag', id)]),
      empty: 'No tags yet.',
    }),
    form(place, {
      to,
      submit: 'Add tag',
      hidden: { action: 'add_tag' },
      fields: [field(place, { name: 'tag', label: 'New tag', maxlength: 100 })],
    }),
  ])}
  ${section('Custom fields', [
    table({
      caption: 'Custom fields',
      columns: ['Field', 'Value', ''],
      rows: fields.map(({ id, name, value }) => [name, value, remove('field', id)]),
      empty: 'No custom fields yet.',
    }),
    form(place, {
      to,
      submit: 'Add field',
      hidden: { action: 'add_field' },
      fields: [
        field(place, { name: 'name', label: 'Name', maxlength: 100 }),
        field(place, { name: 'value', label: 'Value', maxlength: 500 }),
      ],
    }),
  ])}`;
}
