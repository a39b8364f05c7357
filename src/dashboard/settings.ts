import type { SellerChange } from '../client/types.ts';
import { dunningPage, organizationPage, SELLER_FIELDS, settingsPage } from './views/settings.ts';
import type { DashboardPage, Visit } from './serve/page.ts';
import { Typed } from './serve/typed.ts';

const section = 'settings';

export const SETTINGS_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings',
    title: 'Settings',
    section,
    needs: ['getOrganization'],
    show: async ({ api, place }) => settingsPage(place, await api.organization.retrieve()),
  },
  {
    path: '/settings/organization',
    title: 'Organization',
    section,
    needs: ['getOrganization', 'updateOrganization'],
    show: async ({ api, place }) => organizationPage(place, await api.organization.retrieve()),
    act: { needs: ['updateOrganization'], run: changeOrganization },
  },
  {
    path: '/settings/dunning',
    title: 'When a payment fails',
    section,
    needs: ['getOrganization', 'updateOrganization'],
    show: async ({ api, place }) => dunningPage(place, await api.organization.retrieve()),
    act: { needs: ['updateOrganization'], run: changeDunning },
  },
];

async function changeOrganization(visit: Visit) {
  const typed = new Typed(visit);
  const seller: SellerChange = Object.fromEntries(
    SELLER_FIELDS.map(({ name, of }) => {
      return [of, typed.text(`seller.${name}`) ?? null] as const;
    }),
  );
  await visit.api.organization.update({
    name: typed.required('name'),
    timezone: typed.required('timezone'),
    seller,
  });
  return { to: '/settings', notice: 'changed' } as const;
}

async function changeDunning(visit: Visit) {
  const typed = new Typed(visit);
  const days = (name: string) => Number(typed.required(`dunning.${name}`));
  const retryDays = typed
    .required('dunning.retry_days')
    .split(',')
    .filter((part) => part.trim() !== '')
    .map(Number);
  await visit.api.organization.update({
    dunning: {
      retryDays,
      blockAfterDays: days('block_after_days'),
      expireAfterDays: days('expire_after_days'),
    },
  });
  return { to: '/settings', notice: 'changed' } as const;
}
