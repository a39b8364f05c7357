import type { CreditCostCreate } from '../client/types.ts';
import { confirmPage } from './parts/confirm.ts';
import { AGGREGATIONS, METER_STATUSES, meterForm, meterPage, metersPage } from './views/meters.ts';
import { pageOf, searched } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { given, Typed } from './serve/typed.ts';

const section = 'products';

export const METER_PAGES: readonly DashboardPage[] = [
  { path: '/meters', title: 'Meters', section, needs: ['listMeters'], show: showMeters },
  {
    path: '/meters/new',
    title: 'New meter',
    section,
    needs: ['createMeter'],
    show: ({ place }) => Promise.resolve(meterForm(place, null)),
    act: { needs: ['createMeter'], run: create },
  },
  {
    path: '/meters/:id',
    title: 'Meter',
    section,
    needs: ['getMeter', 'listAlerts'],
    show: showMeter,
  },
  {
    path: '/meters/:id/edit',
    title: 'Change a meter',
    section,
    needs: ['getMeter', 'updateMeter'],
    show: async ({ api, place, params: { id = '' } }) =>
      meterForm(place, await api.meters.retrieve(id)),
    act: { needs: ['updateMeter'], run: change },
  },
  {
    path: '/meters/:id/delete',
    title: 'Delete a meter',
    section,
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
  const typed = new Typed(visit);
  const meter = given({
    slug: typed.required('slug'),
    name: typed.text('name'),
    description: typed.text('description'),
    unit: typed.text('unit'),
    aggregation: typed.choice('aggregation', AGGREGATIONS),
    eventName: typed.text('event_name'),
    valueProperty: typed.text('value_property'),
    uniqueProperty: typed.text('unique_property'),
    scale: typed.number('scale'),
    creditCosts: costsOf(visit, typed),
  });
  const { id } = await api.meters.create(meter, given({ idempotencyKey: key }));
  return { to: `/meters/${id}`, notice: 'created' };
}

async function change(visit: Visit): Promise<Done> {
  const { api, params } = visit;
  const { id = '' } = params;
  const typed = new Typed(visit);
  const fields = given({
    name: typed.text('name'),
    description: typed.text('description') ?? null,
    unit: typed.text('unit') ?? null,
    status: typed.choice('status', METER_STATUSES),
    creditCosts: costsOf(visit, typed),
  });
  await api.meters.update(id, fields);
  return { to: `/meters/${id}`, notice: 'changed' };
}

/** undefined where the form did not ask: for a meter that does not sum. */
function costsOf({ form }: Visit, typed: Typed): CreditCostCreate[] | undefined {
  const rows = [...form.keys()].flatMap((name) => /^credit_costs\.\d+\./.exec(name)?.[0] ?? []);
  if (rows.length === 0) return undefined;
  return [...new Set(rows)].flatMap((row) => {
    const [featureKey, cost] = [typed.text(`${row}feature_key`), typed.text(`${row}cost`)];
    if (featureKey === undefined && cost === undefined) return [];
    return [{ featureKey: featureKey ?? '', cost: cost ?? '' }];
  });
}
