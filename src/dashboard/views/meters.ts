// Meters: what is counted, and how.
import type { Alert, Meter } from '../../client/types.ts';
import { type Html, html } from '../../pages/html.ts';
import { meterAlertsSection } from './alerts.ts';
import { field, form, select } from '../parts/forms.ts';
import { button, facts, heading, link } from '../parts/parts.ts';
import { pager, table } from '../parts/tables.ts';
import { badge, code, instant } from '../parts/values.ts';
import type { Place } from '../parts/place.ts';
import { catalogueHead } from '../parts/catalogue.ts';
import { optionsOf } from '../parts/words.ts';

export const AGGREGATIONS: readonly Meter['aggregation'][] = [
  'sum',
  'count',
  'max',
  'last',
  'unique',
];
export const METER_STATUSES: readonly Meter['status'][] = ['active', 'archived'];

/** Rows of costs beyond those that there are: those that are left empty do not count. */
const SPARE_ROWS = 3;
const ROWS_MAX = 50;

export function metersPage(
  place: Place,
  { data, hasMore }: { readonly data: readonly Meter[]; readonly hasMore: boolean },
): Html {
  const make = { operation: 'createMeter', to: '/meters/new', label: 'New meter' } as const;
  return html`${catalogueHead(place, 'Meters', make)}
  ${table({
    caption: 'Meters, newest first',
    columns: ['Slug', 'Name', 'Aggregation', 'Unit', 'State', 'Created'],
    rows: data.map((meter) => [
      link(place, `/meters/${meter.id}`, code(meter.slug)),
      meter.name,
      meter.aggregation,
      meter.unit,
      badge(meter.status),
      instant(place, meter.createdAt),
    ]),
    empty: 'No meters yet.',
  })}
  ${pager(place, { hasMore, last: data.at(-1)?.id })}`;
}

export function meterPage(
  place: Place,
  meter: Meter,
  alerts: { readonly data: readonly Alert[]; readonly hasMore: boolean },
): Html {
  const at = `/meters/${meter.id}`;
  return html`${heading(meter.name, {
    under: html`${badge(meter.status)} ${code(meter.slug)}`,
    actions: [
      place.may('updateMeter') ? button(place, `${at}/edit`, 'Change') : null,
      place.may('deleteMeter') ? button(place, `${at}/delete`, 'Delete') : null,
    ],
  })}
  ${facts([
    ['Id', code(meter.id)],
    ['Description', meter.description],
    ['Event name', code(meter.eventName)],
    ['Aggregation', meter.aggregation],
    ['Value property', meter.valueProperty],
    ['Unique property', meter.uniqueProperty],
    ['Unit', meter.unit],
    ['Decimals', String(meter.scale)],
    meter.creditCosts.length === 0 ? null : ['Pays for', costsShown(place, meter)],
    ['Created', instant(place, meter.createdAt)],
    ...Object.entries(meter.metadata).map(([name, text]) => [name, text] as const),
  ])}
  ${meterAlertsSection(place, at, alerts)}`;
}

function costsShown(place: Place, { creditCosts }: Meter): Html {
  return html`<ul>
    ${creditCosts.map(
      ({ featureKey, cost }) =>
        html`<li>${link(place, `/meters/${featureKey}`, code(featureKey))}: ${cost} a unit</li>`,
    )}
  </ul>`;
}

/** Of a meter that sums; null: of a new one. */
function costsFields(place: Place, meter: Meter | null): Html {
  const costs = meter?.creditCosts ?? [];
  const rows = Math.min(costs.length + SPARE_ROWS, ROWS_MAX);
  return html`<fieldset class="stack" id="f-credit_costs" tabindex="-1">
    <legend>Credits: the features that this meter pays for</legend>
    <p class="hint">
      Makes the meter a pool of credits for features that sum or count. Empty rows are ignored. A
      changed list applies to each customer from the next period on.
    </p>
    ${Array.from({ length: rows }, (_, at) => {
      const one = (name: string, label: string, value = '') =>
        field(place, { name: `credit_costs.${at}.${name}`, label, value, maxlength: 64 });
      return html`<div class="tier">
        ${one('feature_key', `Feature ${at + 1}`, costs[at]?.featureKey)}
        ${one('cost', 'Credits a unit', costs[at]?.cost)}
      </div>`;
    })}
  </fieldset>`;
}

export function meterForm(place: Place, meter: Meter | null): Html {
  const shown = [
    field(place, { name: 'name', label: 'Name', value: meter?.name ?? '' }),
    field(place, {
      name: 'description',
      label: 'Description',
      value: meter?.description ?? '',
      maxlength: 1000,
    }),
    field(place, {
      name: 'unit',
      label: 'Unit',
      value: meter?.unit ?? '',
      hint: 'Such as calls.',
      maxlength: 40,
    }),
  ];
  if (meter !== null) {
    const status = select(place, {
      name: 'status',
      label: 'State',
      value: meter.status,
      options: optionsOf(METER_STATUSES),
    });
    const costs = meter.aggregation === 'sum' ? costsFields(place, meter) : null;
    return html`${heading(`Change ${meter.name}`)}
      ${form(place, { to: place.path, submit: 'Save', fields: [...shown, status, costs] })}
      <p>${button(place, `/meters/${meter.id}`, 'Cancel')}</p>`;
  }
  const fixed = [
    field(place, {
      name: 'slug',
      label: 'Slug',
      hint: 'The name used in calls: a-z, 0-9, _ and -. It cannot be changed later.',
      isRequired: true,
      maxlength: 64,
    }),
    ...shown,
    select(place, {
      name: 'aggregation',
      label: 'Aggregation',
      options: optionsOf(AGGREGATIONS),
      hint: 'How the events of a period become its usage. It cannot be changed later.',
    }),
    field(place, {
      name: 'event_name',
      label: 'Event name',
      hint: 'Leave empty to use the slug. It cannot be changed later.',
    }),
    field(place, { name: 'value_property', label: 'Value property', maxlength: 40 }),
    field(place, { name: 'unique_property', label: 'Unique property', maxlength: 40 }),
    field(place, { name: 'scale', label: 'Decimals', maxlength: 2 }),
    costsFields(place, null),
  ];
  return html`${heading('New meter')}
    ${form(place, { to: place.path, submit: 'Create', fields: fixed })}
    <p>${button(place, '/meters', 'Cancel')}</p>`;
}
