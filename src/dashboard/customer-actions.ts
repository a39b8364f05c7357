// What may be done about one customer, each on a page of its own.
import type { CustomerChange, CustomerCreate, TrackResult } from '../client/types.ts';
import {
  correctionForm,
  customerForm,
  GRANT_INTERVALS,
  grantForm,
  labelsForm,
  portalLinkForm,
  portalLinkMade,
  spendCapForm,
  voidGrantForm,
} from './views/customer-forms.ts';
import { rowOf } from './serve/lists.ts';
import type { DashboardPage, Done, Visit } from './serve/page.ts';
import { orNone, wrongField } from './serve/refusals.ts';
import { given, Typed } from './form/typed.ts';

/** Of a select: more features than this are named in the address of the form. */
const FEATURES_MAX = 200;
const LABELS_MAX = 200;

const idOf = ({ params }: Visit): string => params['id'] ?? '';
const customerOf = (visit: Visit) => visit.api.customers.retrieve(idOf(visit));
const keyOf = ({ key }: Visit) => (key === undefined ? {} : { idempotencyKey: key });
const back = (visit: Visit, notice: Done['notice']): Done => ({
  to: `/customers/${idOf(visit)}`,
  notice,
});

const section = 'customers';

export const CUSTOMER_ACTIONS: readonly DashboardPage[] = [
  {
    path: '/customers/new',
    title: 'New customer',
    section,
    needs: ['createCustomer'],
    show: (visit) => Promise.resolve(customerForm(visit.place, null)),
    act: { needs: ['createCustomer'], run: createCustomer },
  },
  {
    path: '/customers/:id/edit',
    title: 'Edit customer',
    section,
    needs: ['getCustomer', 'updateCustomer'],
    show: async (visit) => customerForm(visit.place, await customerOf(visit)),
    act: { needs: ['updateCustomer'], run: changeCustomer },
  },
  {
    path: '/customers/:id/grant',
    title: 'Grant',
    section,
    needs: ['getCustomer', 'listMeters', 'createGrant'],
    show: async (visit) => grantForm(visit.place, await customerOf(visit), await metersOf(visit)),
    act: { needs: ['createGrant'], run: grant },
  },
  {
    path: '/customers/:id/grants/:grant/void',
    title: 'Void a grant',
    section,
    needs: ['getCustomer', 'listGrants', 'voidGrant'],
    show: showVoid,
    act: { needs: ['voidGrant'], run: voidGrant },
  },
  {
    path: '/customers/:id/correct',
    title: 'Correct usage',
    section,
    needs: ['getCustomer', 'listMeters', 'trackUsage'],
    show: async (visit) =>
      correctionForm(visit.place, await customerOf(visit), await metersOf(visit)),
    act: { needs: ['trackUsage'], run: correct },
  },
  {
    path: '/customers/:id/spend-cap',
    title: 'Spend cap',
    section,
    needs: ['getCustomer', 'getSpendCap', 'putSpendCap'],
    show: async (visit) =>
      spendCapForm(
        visit.place,
        await customerOf(visit),
        await orNone(visit.api.customers.retrieveSpendCap(idOf(visit))),
      ),
    act: { needs: ['putSpendCap', 'deleteSpendCap'], run: cap },
  },
  {
    path: '/customers/:id/portal-link',
    title: 'Portal link',
    section,
    needs: ['getCustomer', 'createPortalToken'],
    show: async (visit) => portalLinkForm(visit.place, await customerOf(visit)),
    act: { needs: ['createPortalToken'], run: portalLink },
  },
  {
    path: '/customers/:id/labels',
    title: 'Tags and custom fields',
    section,
    needs: ['getCustomer', 'listTags', 'listCustomFields', 'createTag', 'createCustomField'],
    show: showLabels,
    act: {
      needs: ['createTag', 'deleteTag', 'createCustomField', 'deleteCustomField'],
      run: label,
    },
  },
];

async function metersOf({ api }: Visit) {
  const { data } = await api.meters.list({ limit: FEATURES_MAX });
  return data.filter(({ status }) => status === 'active');
}

async function createCustomer(visit: Visit): Promise<Done> {
  const filled = Object.entries(changeOf(visit)).filter(([, value]) => value !== null);
  const made = await visit.api.customers.create(
    Object.fromEntries(filled) as CustomerCreate,
    keyOf(visit),
  );
  return { to: `/customers/${made.id}`, notice: 'created' };
}

async function changeCustomer(visit: Visit): Promise<Done> {
  await visit.api.customers.update(idOf(visit), changeOf(visit));
  return back(visit, 'changed');
}

/** All fields of the form: an empty one is cleared. */
function changeOf(visit: Visit): CustomerChange {
  const typed = new Typed(visit);
  const line = (name: string): string | null => typed.text(name) ?? null;
  const address = {
    line1: line('billing_address.line1'),
    line2: line('billing_address.line2'),
    city: line('billing_address.city'),
    state: line('billing_address.state'),
    postalCode: line('billing_address.postal_code'),
    country: line('billing_address.country'),
  };
  const hasAddress = Object.values(address).some((value) => value !== null);
  return {
    email: line('email'),
    name: line('name'),
    externalCustomerId: line('external_customer_id'),
    billingAddress: hasAddress ? address : null,
    metadata: metadataOf(typed.required('metadata')),
  };
}

/** What it holds is checked where it goes. */
function metadataOf(text: string): Record<string, string> {
  if (text.trim() === '') return {};
  const parsed = parsedOf(text);
  if (typeof parsed === 'object' && parsed !== null && !Array.isArray(parsed)) {
    return parsed as Record<string, string>;
  }
  throw wrongField('metadata', 'must be JSON: {"name": "text"}');
}

function parsedOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

async function grant(visit: Visit): Promise<Done> {
  const typed = new Typed(visit);
  await visit.api.grants.create(
    idOf(visit),
    given({
      featureKey: typed.required('feature_key'),
      amount: typed.text('amount'),
      unlimited: typed.isTicked('unlimited') ? (true as const) : undefined,
      resetInterval: typed.choice('reset_interval', GRANT_INTERVALS),
      effectiveAt: typed.time('effective_at'),
      expiresAt: typed.time('expires_at'),
      priority: typed.number('priority'),
      reason: typed.required('reason'),
    }),
    keyOf(visit),
  );
  return back(visit, 'granted');
}

/** A grant that is not this customer's, or has ended, is not there. */
async function grantOf(visit: Visit) {
  const { data } = await visit.api.grants.list(idOf(visit));
  return rowOf(data, visit.params['grant'], 'grant');
}

async function showVoid(visit: Visit) {
  return voidGrantForm(visit.place, await customerOf(visit), await grantOf(visit));
}

async function voidGrant(visit: Visit): Promise<Done> {
  const { id } = await grantOf(visit);
  await visit.api.grants.voidGrant(id, keyOf(visit));
  return back(visit, 'taken_back');
}

async function correct(visit: Visit): Promise<Done> {
  const typed = new Typed(visit);
  const reason = typed.text('reason');
  if (reason === undefined) throw wrongField('reason', 'is required');
  const body = {
    customerId: (await customerOf(visit)).id,
    featureKey: typed.required('feature_key'),
    value: typed.required('value'),
    metadata: { reason },
  };
  await visit.api.call<TrackResult>('trackUsage', { body }, keyOf(visit));
  return back(visit, 'corrected');
}

async function cap(visit: Visit): Promise<Done> {
  const { api } = visit;
  const typed = new Typed(visit);
  if (typed.isTicked('remove')) {
    await api.customers.delSpendCap(idOf(visit));
    return back(visit, 'removed');
  }
  await api.customers.putSpendCap(idOf(visit), {
    amount: typed.required('amount'),
    currency: typed.required('currency'),
  });
  return back(visit, 'changed');
}

async function portalLink(visit: Visit) {
  const customer = await customerOf(visit);
  const ttlSeconds = Number(new Typed(visit).required('ttl_seconds'));
  const made = await visit.api.portalTokens.create(customer.id, { ttlSeconds }, keyOf(visit));
  return portalLinkMade(visit.place, customer, made);
}

async function showLabels(visit: Visit) {
  const customer = await customerOf(visit);
  const of = { objectId: customer.id, limit: LABELS_MAX };
  const { data: tags } = await visit.api.tags.list(of);
  const { data: fields } = await visit.api.customFields.list(of);
  return labelsForm(visit.place, customer, { tags, fields });
}

async function label(visit: Visit): Promise<Done> {
  const { api, form } = visit;
  const typed = new Typed(visit);
  const on = { objectType: 'customer', objectId: (await customerOf(visit)).id } as const;
  const id = typed.text('id') ?? 'none';
  const done = (notice: Done['notice']): Done => ({
    to: `/customers/${on.objectId}/labels`,
    notice,
  });
  const action = form.get('action');
  switch (action) {
    case 'add_tag':
      await api.tags.create({ ...on, name: typed.required('tag') }, keyOf(visit));
      return done('created');
    case 'add_field': {
      const field = { name: typed.required('name'), value: typed.required('value') };
      await api.customFields.create({ ...on, ...field }, keyOf(visit));
      return done('created');
    }
    case 'remove_tag':
      await api.tags.del(id);
      return done('removed');
    case 'remove_field':
      await api.customFields.del(id);
      return done('removed');
    case null:
    default:
      throw wrongField('action', 'is not on this page');
  }
}
