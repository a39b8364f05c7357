// Meters: what is counted, and how.
import type { Alert, CreditCostCreate, Meter } from '../client/types.ts';
import { meterAlertsSection } from './alerts.ts';
import { catalogueHead } from './parts/catalogue.ts';
import { confirmPage } from './parts/confirm.ts';
import { choice, numberField, textField, tick } from './form/field.ts';
import { drawForm, drawRows, filled, read, readRows } from './form/form.ts';
import { button, facts, heading, link } from './parts/parts.ts';
import type { Place } from './parts/place.ts';
import { pager, table } from './parts/tables.ts';
import { badge, code, instant } from './parts/values.ts';
import { pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given } from './form/typed.ts';
import { type Html, html } from '../pages/html.ts';

export const METER_PAGES: readonly DashboardPage[] = [
  {
    path: '/meters',
    title: 'Meters',
    section: 'products',
    needs: ['listMeters'],
    show: showMeters,
  },
  {
    path: '/meters/new',
    title: 'New meter',
    section: 'products',
    needs: ['createMeter'],
    show: ({ place }) => Promise.resolve(meterForm(place, null)),
    act: { needs: ['createMeter'], run: create },
  },
  {
    path: '/meters/:id',
    title: 'Meter',
    section: 'products',
    needs: ['getMeter', 'listAlerts'],
    show: showMeter,
  },
  {
    path: '/meters/:id/edit',
    title: 'Change a meter',
    section: 'products',
    needs: ['getMeter', 'updateMeter'],
    show: async ({ api, place, params: { id = '' } }) =>
      meterForm(place, await api.meters.retrieve(id)),
    act: { needs: ['updateMeter'], run: change },
  },
  {
    path: '/meters/:id/delete',
    title: 'Delete a meter',
    section: 'products',
    needs: ['getMeter', 'deleteMeter'],
    show: async ({ api, place, params: { id = '' } }) => {
      const { name } = await api.meters.retrieve(id);
      return confirmPage(place, {
        title: `Delete ${name}`,
        text: 'Its history is kept, and its slug can be used again. A meter that a product gives or sells cannot be deleted.',
        submit: 'Delete',
        isGrave: true,
        back: `/meters/${id}`,
      });
    },
    act: {
      needs: ['deleteMeter'],
      run: async ({ api, params: { id = '' } }) => {
        await api.meters.del(id);
        return { to: '/meters', notice: 'removed' };
      },
    },
  },
];

async function showMeters({ api, query, place: at }: Visit) {
  const { place, rows } = await searched(at, () => api.meters.list(pageOf(query)));
  return metersPage(place, rows);
}

async function showMeter({ api, place, params: { id = '' } }: Visit) {
  const meter = await api.meters.retrieve(id);
  const alerts = await api.alerts.list({ featureKey: meter.slug });
  return meterPage(place, meter, alerts);
}

async function create(visit: Visit): Promise<Done> {
  const { api, key } = visit;
  const { carry, ...typed } = read(visit, NEW_METER);
  const meter = filled({ ...typed, ...(carry && { carry }), ...costsOf(visit) });
  const { id } = await api.meters.create(meter, given({ idempotencyKey: key }));
  return { to: `/meters/${id}`, notice: 'created' };
}

async function change(visit: Visit): Promise<Done> {
  const { api, params } = visit;
  const { id = '' } = params;
  await api.meters.update(id, { ...read(visit, METER), ...costsOf(visit) });
  return { to: `/meters/${id}`, notice: 'changed' };
}

/** Nothing where the form did not ask: for a meter that does not sum. */
function costsOf(visit: Visit): { readonly creditCosts?: CreditCostCreate[] } {
  const rows = readRows(visit, 'credit_costs', COST);
  if (rows === undefined) return {};
  return { creditCosts: rows.map(({ featureKey = '', cost = '' }) => ({ featureKey, cost })) };
}

const AGGREGATIONS: readonly Meter['aggregation'][] = ['sum', 'count', 'max', 'last', 'unique'];
const METER_STATUSES: readonly Meter['status'][] = ['active', 'archived'];

/** Rows of costs beyond those that there are: those that are left empty do not count. */
const SPARE_ROWS = 3;
const ROWS_MAX = 50;

function metersPage(
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

function meterPage(
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
    meter.carry ? ['Each period begins', 'with the level of the one before'] : null,
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

const COST = (at: number) => ({
  featureKey: textField({ label: `Feature ${at + 1}`, maxlength: 64 }),
  cost: textField({ label: 'Credits a unit', maxlength: 64 }),
});

const SHOWN = {
  name: textField({ label: 'Name' }),
  description: textField({ label: 'Description', maxlength: 1000, isClearable: true }),
  unit: textField({ label: 'Unit', hint: 'Such as calls.', maxlength: 40, isClearable: true }),
};

const METER = { ...SHOWN, status: choice({ label: 'State', values: METER_STATUSES }) };

const NEW_METER = {
  slug: textField({
    label: 'Slug',
    hint: 'The name used in calls: a-z, 0-9, _ and -. It cannot be changed later.',
    isRequired: true,
    maxlength: 64,
  }),
  ...SHOWN,
  aggregation: choice({
    label: 'Aggregation',
    values: AGGREGATIONS,
    hint: 'How the events of a period become its usage. It cannot be changed later.',
  }),
  eventName: textField({
    label: 'Event name',
    hint: 'Leave empty to use the slug. It cannot be changed later.',
  }),
  valueProperty: textField({ label: 'Value property', maxlength: 40 }),
  uniqueProperty: textField({ label: 'Unique property', maxlength: 40 }),
  scale: numberField({ label: 'Decimals', maxlength: 2 }),
  carry: tick({
    label: 'Each period begins with the level of the one before',
    hint: 'For last alone: seats, stored bytes. It cannot be changed later.',
  }),
};

/** Of a meter that sums; null: of a new one. */
function costsFields(place: Place, meter: Meter | null): Html {
  const costs = meter?.creditCosts ?? [];
  const count = Math.min(costs.length + SPARE_ROWS, ROWS_MAX);
  return html`<fieldset class="stack" id="f-credit_costs" tabindex="-1">
    <legend>Credits: the features that this meter pays for</legend>
    <p class="hint">
      Makes the meter a pool of credits for features that sum or count. Empty rows are ignored. A
      changed list applies to each customer from the next period on.
    </p>
    ${drawRows(place, 'credit_costs', COST, { count, values: costs })}
  </fieldset>`;
}

function meterForm(place: Place, meter: Meter | null): Html {
  if (meter === null) {
    const more = [costsFields(place, null)];
    return html`${heading('New meter')} ${drawForm(place, NEW_METER, { submit: 'Create', more })}
      <p>${button(place, '/meters', 'Cancel')}</p>`;
  }
  const more = meter.aggregation === 'sum' ? [costsFields(place, meter)] : [];
  return html`${heading(`Change ${meter.name}`)}
    ${drawForm(place, METER, { submit: 'Save', values: meter, more })}
    <p>${button(place, `/meters/${meter.id}`, 'Cancel')}</p>`;
}
