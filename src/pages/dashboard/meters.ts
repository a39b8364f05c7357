// Meters: what is counted, and how.
import type { Alert, Meter } from '../../client/types.ts';
import { type Html, html } from '../html.ts';
import { meterAlertsSection } from './alerts.ts';
import { field, form, select } from './forms.ts';
import { button, facts, heading, link } from './parts.ts';
import { pager, table } from './tables.ts';
import { badge, code, instant } from './values.ts';
import type { Place } from './place.ts';
import { catalogueHead } from './catalogue.ts';
import { optionsOf } from './words.ts';

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
    columns: ['Slug', 'Name', 'Counts', 'Unit', 'State', 'Since'],
    rows: data.map((meter) => [
      link(place, `/meters/${meter.id}`, code(meter.slug)),
      meter.name,
      meter.aggregation,
      meter.unit,
      badge(meter.status),
      instant(place, meter.createdAt),
    ]),
    empty: 'Nothing is counted yet.',
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
    ['Counts', meter.aggregation],
    ['Value from', meter.valueProperty],
    ['Unique by', meter.uniqueProperty],
    ['Unit', meter.unit],
    ['Decimals', String(meter.scale)],
    meter.creditCosts.length === 0 ? null : ['Pays for', costsShown(place, meter)],
    ['Since', instant(place, meter.createdAt)],
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
    <legend>Credits: what it pays for</legend>
    <p class="hint">
      Makes it a pool of credits, for features that sum or count. Rows that are left empty do not
      count. Another list counts for each customer from the next period on.
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
      <p>${button(place, `/meters/${meter.id}`, 'Leave it')}</p>`;
  }
  const fixed = [
    field(place, {
      name: 'slug',
      label: 'Slug',
      hint: 'What calls name it by: a-z, 0-9, _ and -. It stays.',
      isRequired: true,
      maxlength: 64,
    }),
    ...shown,
    select(place, {
      name: 'aggregation',
      label: 'Counts',
      options: optionsOf(AGGREGATIONS),
      hint: 'How the events of a period become its consumption. It stays.',
    }),
    field(place, {
      name: 'event_name',
      label: 'Event name',
      hint: 'Empty: the slug. It stays.',
    }),
    field(place, { name: 'value_property', label: 'Value from', maxlength: 40 }),
    field(place, { name: 'unique_property', label: 'Unique by', maxlength: 40 }),
    field(place, { name: 'scale', label: 'Decimals of a quantity', maxlength: 2 }),
    costsFields(place, null),
  ];
  return html`${heading('New meter')}
    ${form(place, { to: place.path, submit: 'Create', fields: fixed })}
    <p>${button(place, '/meters', 'Leave it')}</p>`;
}
