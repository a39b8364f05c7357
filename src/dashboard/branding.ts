// What customers' pages look like: the colour and where to ask, the logo, and a preview.
import { type Brand, NO_BRAND } from '../pages/brand.ts';
import { parseColor } from '../pages/color.ts';
import { brandingPage, logoPage } from './views/branding.ts';
import { confirmPage } from './parts/confirm.ts';
import { PREVIEW_SCRIPT, SHOWN_COLOR } from './parts/preview-script.ts';
import { IMAGE_TYPES } from '../platform/image.ts';
import { LOGO_BYTES_MAX, LOGO_SIDE_MAX } from '../records/logos.ts';
import type { DashboardPage, Dressed, Visit } from './serve/page.ts';
import { orNone, wrongField } from './serve/refusals.ts';
import { Typed } from './serve/typed.ts';

const section = 'settings';
const LOGO = { bytes: LOGO_BYTES_MAX, side: LOGO_SIDE_MAX, types: IMAGE_TYPES } as const;

export const BRANDING_PAGES: readonly DashboardPage[] = [
  {
    path: '/settings/branding',
    title: 'Branding',
    section,
    needs: ['getOrganization', 'getLogo', 'updateOrganization'],
    show: showBranding,
    act: { needs: ['updateOrganization'], run: changeBranding },
  },
  {
    path: '/settings/branding/logo',
    title: 'Logo',
    section,
    needs: ['putLogo'],
    show: ({ place }) => Promise.resolve(logoPage(place, LOGO)),
    act: { needs: ['putLogo'], takes: { field: 'data', bytesMax: LOGO_BYTES_MAX }, run: putLogo },
  },
  {
    path: '/settings/branding/logo/remove',
    title: 'Remove logo',
    section,
    needs: ['getLogo', 'deleteLogo'],
    show: askRemove,
    act: { needs: ['deleteLogo'], run: removeLogo },
  },
];

async function showBranding({ api, place, query }: Visit): Promise<Dressed> {
  const { branding } = await api.organization.retrieve();
  const logo = await orNone(api.organization.retrieveLogo());
  const { supportEmail, supportUrl } = branding;
  const asked = query.get(SHOWN_COLOR);
  const preview: Brand = {
    ...NO_BRAND,
    color: asked === null ? branding.color : shownColor(asked),
    logo,
    supportEmail,
    supportUrl,
  };
  const content = brandingPage(place, { branding, logo, shown: preview });
  return { content, preview, script: PREVIEW_SCRIPT };
}

const shownColor = (asked: string) => (parseColor(asked) === null ? null : asked);

async function changeBranding(visit: Visit) {
  const typed = new Typed(visit);
  const text = (name: string) => typed.text(`branding.${name}`) ?? null;
  await visit.api.organization.update({
    branding: {
      color: text('color'),
      supportEmail: text('support_email'),
      supportUrl: text('support_url'),
    },
  });
  return { to: '/settings/branding', notice: 'changed' } as const;
}

async function putLogo({ api, file }: Visit) {
  if (file === null) throw wrongField('data', 'is required: choose a file');
  await api.organization.putLogo({ data: Buffer.from(file).toString('base64') });
  return { to: '/settings/branding', notice: 'changed' } as const;
}

async function askRemove({ api, place }: Visit) {
  await api.organization.retrieveLogo();
  return confirmPage(place, {
    title: 'Remove logo',
    text: 'Pages and new mails show only your name.',
    submit: 'Remove',
    back: '/settings/branding',
  });
}

async function removeLogo({ api }: Visit) {
  await api.organization.deleteLogo();
  return { to: '/settings/branding', notice: 'removed' } as const;
}
