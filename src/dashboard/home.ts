import { homePage } from './views/home.ts';
import type { DashboardPage, Visit } from './serve/page.ts';

export const HOME_PAGES: readonly DashboardPage[] = [
  {
    path: '',
    title: 'Home',
    section: 'home',
    needs: ['getOverview', 'listMeters', 'listProducts', 'listCustomers'],
    show: showHome,
  },
];

async function showHome({ api, place }: Visit) {
  const overview = await api.reports.overview();
  const { data: meters } = await api.meters.list({ limit: 1 });
  const { data: products } = await api.products.list({ limit: 1 });
  const { data: customers } = await api.customers.list({ limit: 1 });
  return homePage(place, overview, { meters, products, hasCustomers: customers.length > 0 });
}
